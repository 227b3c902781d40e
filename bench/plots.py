"""Bar charts as SVG, written by hand; readable on light and dark pages."""

from __future__ import annotations

import math
from html import escape

_WIDTH, _LABEL, _ROW, _TOP = 720, 190, 30, 44
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2330}.t{font-weight:600;font-size:15px}.s{fill:#5b6577}"
    ".b{fill:#9fb3c8}.o{fill:#2f5fe0}rect.g{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e3e7ee}.s{fill:#9aa4b5}.b{fill:#4a5a70}.o{fill:#7ba2ff}rect.g{fill:#191d25}}"
)


def bars(title: str, rows: list[tuple[str, float]]) -> str:
    """One bar a tool, fastest first, on a logarithmic scale; ours stand out."""
    ordered = sorted(rows, key=lambda row: row[1])
    low = math.log10(min(seconds for _, seconds in ordered)) - 0.5
    span = max(0.1, math.log10(max(seconds for _, seconds in ordered)) - low)
    room = _WIDTH - _LABEL - 110
    height = _TOP + _ROW * len(ordered) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f'<rect class="g" width="{_WIDTH}" height="{height}" rx="8"/>',
        f'<text class="t" x="16" y="27">{escape(title[0].upper() + title[1:])}</text>',
        f'<text class="s" x="{_WIDTH - 16}" y="27" text-anchor="end">median, logarithmic scale</text>',
    ]
    for at, (tool, seconds) in enumerate(ordered):
        top = _TOP + at * _ROW
        length = max(2.0, (math.log10(seconds) - low) / span * room)
        kind = "o" if tool.startswith("Sightline") else "b"
        told = f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
        parts += [
            f'<text x="{_LABEL - 8}" y="{top + 16}" text-anchor="end">{escape(tool)}</text>',
            f'<rect class="{kind}" x="{_LABEL}" y="{top + 3}" width="{length:.1f}" height="18" rx="3"/>',
            f'<text class="s" x="{_LABEL + length + 8:.1f}" y="{top + 16}">{told}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
