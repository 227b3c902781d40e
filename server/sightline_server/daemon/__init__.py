"""One process per user, version and configuration that holds what all sessions share, and the ways to reach it.

**Invariant**: `place`, `plain_json`, `link`, `launch`, `recall`, `front` and `pump` are light: they use next to
nothing, so that a front takes three megabytes. `places`, `wire`, `client` and `serve_front` use the standard
library and core alone, so that a command starts at once; `process`, `sessions` and `connections` run in the daemon.
"""
