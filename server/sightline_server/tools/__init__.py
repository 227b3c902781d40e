"""One file a tool or a family of tools; `table` lists those that are served.

**Invariant**: importing this package imports no tool, so that what tools are made of can import `tools.base`.
"""
