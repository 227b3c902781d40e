"""The page's files over HTTP.

**Invariant**: what is served here holds nothing of a workspace, so it needs no token; whatever the page shows it asks
from the MCP endpoint, through the gate. The page loads nothing from elsewhere and runs nothing inline.
"""

from __future__ import annotations

from importlib import resources

from starlette.responses import RedirectResponse, Response

UI_PATH = "/ui"
_TYPES = {
    "page.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "highlight.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def page_response(path: str) -> Response | None:
    """The file at a path below `/ui`, or None when there is none."""
    if path == UI_PATH:
        # Relative addresses in the page need the slash.
        return RedirectResponse(f"{UI_PATH}/", 307, headers=_HEADERS)
    name = path.removeprefix(f"{UI_PATH}/") or "page.html"
    if name not in _TYPES:
        return None
    body = resources.files("sightline_server.ui").joinpath("assets", name).read_bytes()
    return Response(body, headers={**_HEADERS, "Content-Type": _TYPES[name]})
