"""References to files inside a text: stack frames, compiler messages, `path:line`, links to a file of a forge.

**Invariant**: only finds what a text says; whether such a file exists is for the caller to ask. Bounded, linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sightline_core.limits import Limits

_EXTENSION = r"[A-Za-z][A-Za-z0-9+]{0,9}"
_PATH = r"(?:[A-Za-z]:)?[\w@.+\-/\\~]{1,300}\." + _EXTENSION
_FORMS = (
    # Python: File "x.py", line 3, in f
    re.compile(r'File "(?P<path>[^"\n]{1,500})", line (?P<line>\d{1,7})'),
    # A link to a file of a forge, with or without a line.
    re.compile(
        r"/(?:blob|tree|src/commit|raw)/[^/\s]{1,100}/(?P<path>[^\s#?)>\]\"']{1,300})(?:#L(?P<line>\d{1,7}))?"
    ),
    # C#: in C:\a\b.cs:line 12
    re.compile(rf"(?P<path>{_PATH}):line (?P<line>\d{{1,7}})"),
    # node, java, go, rust, C, and most compilers: x.js:10:3, Foo.java:12
    re.compile(rf"(?P<path>{_PATH}):(?P<line>\d{{1,7}})(?::\d{{1,7}})?(?!\w)"),
    # MSVC, TypeScript: x.ts(12,3)
    re.compile(rf"(?P<path>{_PATH})\((?P<line>\d{{1,7}})(?:,\d{{1,7}})?\)"),
    # PHP: in /a/b.php on line 3
    re.compile(rf"(?P<path>{_PATH}) on line (?P<line>\d{{1,7}})"),
    re.compile(rf"(?<![\w/.])(?P<path>{_PATH})(?![\w/(])(?P<line>)"),
)
_JAVA_FRAME = re.compile(
    r"\bat (?P<type>[\w.$]{1,300})\.[\w<>$]{1,100}\((?P<file>\w{1,100}\.\w{1,10}):(?P<line>\d{1,7})\)"
)


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file that a text names, with `/` and as far as it was written; `line` is 0 when none was."""

    path: str
    line: int


def find_references(text: str, limits: Limits) -> tuple[FileReference, ...]:
    """The files a text names, in its order, each place once."""
    found: dict[tuple[str, int], int] = {}
    seen_paths: set[str] = set()
    for match in _JAVA_FRAME.finditer(text):
        # The package of a Java frame is the folder of its file.
        package = match["type"].rsplit(".", 1)[0].replace(".", "/")
        found.setdefault((f"{package}/{match['file']}", int(match["line"])), match.start())
        seen_paths.add(match["file"])
    for form in _FORMS:
        for match in form.finditer(text):
            path = match["path"].replace("\\", "/").rstrip(".")
            if path in seen_paths and not match["line"]:
                continue
            seen_paths.add(path)
            found.setdefault((path, int(match["line"] or 0)), match.start())
            if len(found) >= limits.max_file_references:
                break
    ordered = sorted(found.items(), key=lambda item: (item[1], item[0]))
    return tuple(FileReference(path, line) for (path, line), _ in ordered)[: limits.max_file_references]
