"""The server: MCP over stdio and HTTP, workspaces, sessions, tools and the command line.

**Invariant**: MCP, HTTP and JSON Schema are known here and nowhere else.
"""
