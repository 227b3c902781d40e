"""One process per user, version and configuration that holds what all sessions share, and the ways to reach it.

**Invariant**: `places`, `wire`, `link`, `launch`, `front` and `client` use the standard library and core alone, so
that a front or a command costs next to nothing; `process`, `sessions` and `connections` run in the daemon.
"""
