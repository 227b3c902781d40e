"""`python -m sightline_server` is the `sightline` command."""

from sightline_server.cli import main

raise SystemExit(main())
