"""Makes the README's terminal pictures by running the real commands: `make pictures`."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
COLUMNS = 104
MAX_LINES = 34
CELL, LINE, PAD, BAR = 7.83, 18, 16, 34
COLOURS = {"31": "#ff8177", "32": "#8fd19e", "33": "#e0b04c", "35": "#d3a0f5", "36": "#6fd0dd", "34": "#8db4ff"}
SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m")
OTHER_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]")
# Name of the picture, and the commands in it.
PICTURES = {
    "search": ["sightline index -q .", 'sightline search -n 4 -C "merge live symbols with index hits"'],
    "answer": ["sightline locate Gate.accepts_token --json | python3 -m json.tool"],
    "doctor": ["sightline doctor ."],
}


def main() -> None:
    """Run every command in a copy of this repository and draw what it printed."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(os.path.realpath(scratch), "sightline")
        os.makedirs(tree)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
        for name, commands in PICTURES.items():
            lines: list[str] = []
            for command in commands:
                lines.append(f"\x1b[32m$\x1b[0m {command}")
                lines += printed(command, tree, scratch)
            (HERE / "pictures").mkdir(exist_ok=True)
            (HERE / "pictures" / f"{name}.svg").write_text(drawn(lines[:MAX_LINES]), "utf-8")
            sys.stdout.write("\n".join(lines) + "\n")


def printed(command: str, tree: str, scratch: str) -> list[str]:
    """What a command prints on a terminal of its own, with the folder named as a reader's would be."""
    ours, theirs = pty.openpty()
    env = {
        **os.environ,
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm-256color",
        "SIGHTLINE_DATA_DIR": os.path.join(scratch, ".cache", "sightline"),
        "HOME": scratch,
    }
    with subprocess.Popen(["/bin/sh", "-c", command], cwd=tree, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        pieces: list[bytes] = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                # The terminal is gone with its last writer.
                break
            if not piece:
                break
            pieces.append(piece)
    os.close(ours)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{shlex.join([command])} failed: {b''.join(pieces).decode()}")
    text = b"".join(pieces).decode("utf-8", "replace").replace(os.path.realpath(scratch), "~")
    text = OTHER_SEQUENCE.sub("", text).replace(os.path.dirname(sys.executable), "~/.local/bin")
    return [line.split("\r")[-1] for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]


def drawn(lines: list[str]) -> str:
    """The lines as an SVG of a terminal window."""
    width, height = PAD * 2 + COLUMNS * CELL, BAR + PAD + LINE * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        "<style>text{font:13px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e3e7ee;"
        "white-space:pre}</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#191d25"/>',
        *(f'<circle cx="{20 + 18 * at}" cy="18" r="5.5" fill="#3a4252"/>' for at in range(3)),
    ]
    parts += [f'<text x="{PAD}" y="{BAR + 12 + LINE * at}">{spans(line)}</text>' for at, line in enumerate(lines)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def spans(line: str) -> str:
    """One line with its colours; every piece is placed by its cell, whatever the width of the font."""
    made: list[str] = []
    style, at, cell = "", 0, 0
    for match in [*SEQUENCE.finditer(line), None]:
        piece = line[at : match.start() if match else len(line)][: COLUMNS - cell]
        if piece:
            place = f'x="{PAD + cell * CELL:.1f}" textLength="{len(piece) * CELL:.1f}"'
            made.append(f"<tspan {place}{style}>{escape(piece)}</tspan>")
            cell += len(piece)
        if match:
            style = styled(match[1])
            at = match.end()
    return "".join(made)


def styled(code: str) -> str:
    """The attributes of a colour sequence."""
    made = ""
    for part in code.split(";"):
        made += {"1": ' font-weight="700"', "2": ' opacity=".65"'}.get(part, "")
        made += f' fill="{COLOURS[part]}"' if part in COLOURS else ""
    return made


if __name__ == "__main__":
    main()
