"""The ignore files of a tree: which paths git would ignore, and which ones `.sightlineignore` decides otherwise.

**Invariant**: answers equal git's for the same files (`git check-ignore --no-index` without a global excludes file).
Rule files are hostile: their size and number of rules are bounded, a rule beyond the bound is dropped and the list
says that it is incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sightline_core.limits import Limits
from sightline_indexer.ignore_pattern import Pattern, PatternKind, compile_regex, parse_pattern

_UTF8_MARK = b"\xef\xbb\xbf"
_GLOBS_PER_REGEX = 50  # measured: one alternation beats separate calls, longer ones gain nothing more


@dataclass(slots=True)
class _Orders:
    """For one way of matching: the last rule that names a text, by its place in the file."""

    any_kind: dict[bytes, int] = field(default_factory=dict[bytes, int])
    directory: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def add(self, text: bytes, order: int, *, directory_only: bool) -> None:
        (self.directory if directory_only else self.any_kind)[text] = order

    def last(self, text: bytes, *, is_directory: bool) -> int:
        found = self.any_kind.get(text, -1)
        return max(found, self.directory.get(text, -1)) if is_directory else found

    def texts(self) -> Iterable[bytes]:
        yield from self.any_kind
        yield from self.directory


class RuleList:
    """The rules of one ignore file, for the paths below its directory.

    A path from the walk becomes a path relative to the ignore file by dropping `strip` bytes and putting `prefix`
    in front; the prefix is for files above the walked root. `complete` is False when rules were dropped.
    """

    __slots__ = (
        "_globs",
        "_names",
        "_negated",
        "_paths",
        "_prefix",
        "_strip",
        "_suffix_lengths",
        "_suffixes",
        "complete",
        "leaves",
        "path_globs",
    )

    def __init__(
        self, patterns: Iterable[Pattern], *, strip: int = 0, prefix: bytes = b"", complete: bool = True
    ) -> None:
        self._strip = strip
        self._prefix = prefix
        self.complete = complete
        self._negated: list[bool] = []
        self._names = _Orders()
        self._suffixes = _Orders()
        self._paths = _Orders()
        self._globs: list[tuple[int, Pattern]] = []
        self.path_globs: list[Pattern] = []
        # Directory of a literal path rule -> the last components it names there.
        self.leaves: dict[bytes, set[bytes]] = {}
        for order, pattern in enumerate(patterns):
            self._negated.append(pattern.negated)
            self._add(order, pattern)
        self._globs.reverse()
        self._suffix_lengths = tuple({len(text) for text in self._suffixes.texts()})

    def _add(self, order: int, pattern: Pattern) -> None:
        kind, literal, directory_only = pattern.kind, pattern.literal, pattern.directory_only
        if kind is PatternKind.NAME:
            self._names.add(literal, order, directory_only=directory_only)
        elif kind is PatternKind.NAME_SUFFIX:
            self._suffixes.add(literal, order, directory_only=directory_only)
        elif kind is PatternKind.PATH:
            self._paths.add(literal, order, directory_only=directory_only)
            directory, slash, leaf = literal.rpartition(b"/")
            self.leaves.setdefault(directory + slash, set()).add(leaf)
        else:
            self._globs.append((order, pattern))
            if kind is PatternKind.PATH_GLOB:
                self.path_globs.append(pattern)

    def __len__(self) -> int:
        return len(self._negated)

    @property
    def names(self) -> Iterable[bytes]:
        """The literal names that some rule takes anywhere."""
        return self._names.texts()

    @property
    def suffixes(self) -> Iterable[bytes]:
        """The endings of names that some rule takes anywhere."""
        return self._suffixes.texts()

    @property
    def name_globs(self) -> Iterable[Pattern]:
        """The globs over names."""
        return (pattern for _, pattern in self._globs if pattern.kind is PatternKind.NAME_GLOB)

    def inner(self, path: bytes) -> bytes:
        """A path of the walk as this ignore file sees it."""
        return self._prefix + path[self._strip :]

    def decide(self, path: bytes, *, is_directory: bool) -> bool | None:
        """True: ignored, False: taken back by a `!` rule, None: no rule speaks. The parents are not looked at."""
        return self.decide_inner(self.inner(path), is_directory=is_directory)

    def decide_inner(self, inner: bytes, *, is_directory: bool) -> bool | None:
        """`decide` for a path relative to the directory of this ignore file."""
        name = inner[inner.rfind(b"/") + 1 :]
        order = self._names.last(name, is_directory=is_directory)
        order = max(order, self._paths.last(inner, is_directory=is_directory))
        for length in self._suffix_lengths:
            if length <= len(name):
                order = max(order, self._suffixes.last(name[-length:], is_directory=is_directory))
        for glob_order, pattern in self._globs:
            if glob_order < order:
                break
            if pattern.directory_only and not is_directory:
                continue
            assert pattern.matches is not None
            if pattern.matches(name if pattern.kind is PatternKind.NAME_GLOB else inner):
                order = glob_order
                break
        return None if order < 0 else not self._negated[order]


def parse_rules(data: bytes, limits: Limits, *, strip: int = 0, prefix: bytes = b"") -> RuleList:
    """The rules of an ignore file's bytes. Never raises."""
    complete = len(data) <= limits.max_ignore_file_bytes
    data = data[: limits.max_ignore_file_bytes].removeprefix(_UTF8_MARK)
    patterns: list[Pattern] = []
    globs = 0
    for line in data.split(b"\n"):
        if len(line) > limits.max_ignore_pattern_bytes and not line.startswith(b"#"):
            complete = False
            continue
        pattern = parse_pattern(line.removesuffix(b"\r"), limits)
        if pattern is None:
            continue
        globs += pattern.matches is not None
        if len(patterns) >= limits.max_ignore_rules or globs > limits.max_ignore_globs:
            complete = False
            break
        patterns.append(pattern)
    return RuleList(patterns, strip=strip, prefix=prefix, complete=complete)


def decide(lists: tuple[RuleList, ...], path: bytes, *, is_directory: bool) -> bool | None:
    """The verdict of nested ignore files, outermost first: the innermost that speaks decides."""
    for rules in reversed(lists):
        verdict = rules.decide(path, is_directory=is_directory)
        if verdict is not None:
            return verdict
    return None


class NameIndex:
    """The rules of some lists that look at names alone, merged for one quick question."""

    __slots__ = ("globs", "lists", "names", "suffixes")

    def __init__(self, lists: tuple[RuleList, ...]) -> None:
        self.lists = lists
        self.names = frozenset(name for rules in lists for name in rules.names)
        self.suffixes = tuple({suffix for rules in lists for suffix in rules.suffixes})
        patterns = [pattern for rules in lists for pattern in rules.name_globs]
        self.globs = tuple(_merge_globs(patterns))


class NameFilter:
    """A quick no for the names of one directory: False means that no rule of its lists can speak about the name.

    Most files of a repository match no rule at all, so this is what a walk pays per file.
    """

    __slots__ = ("_globs", "_leaves", "_names", "_paths", "_suffixes")

    def __init__(self, index: NameIndex, directory: bytes) -> None:
        """`directory` is empty for the root and ends with a slash elsewhere."""
        self._names = index.names
        self._suffixes = index.suffixes
        self._globs = index.globs
        leaves: set[bytes] = set()
        paths: list[tuple[bytes, Callable[[bytes], object]]] = []
        for rules in index.lists:
            if rules.leaves or rules.path_globs:
                inner = rules.inner(directory)
                leaves.update(rules.leaves.get(inner, ()))
                for pattern in rules.path_globs:
                    if pattern.matches is not None and pattern.can_match_in(inner):
                        paths.append((inner, pattern.matches))
        self._leaves = leaves
        self._paths = tuple(paths)

    def may_match(self, name: bytes) -> bool:
        """False when no rule speaks about `name`."""
        if name in self._names or name.endswith(self._suffixes) or name in self._leaves:
            return True
        for matches in self._globs:
            if matches(name):
                return True
        return bool(self._paths) and any(matches(inner + name) for inner, matches in self._paths)


def _merge_globs(patterns: list[Pattern]) -> Iterable[Callable[[bytes], object]]:
    plain = [pattern.regex for pattern in patterns if not pattern.backtracks]
    for start in range(0, len(plain), _GLOBS_PER_REGEX):
        merged = b"|".join(plain[start : start + _GLOBS_PER_REGEX])
        matches = compile_regex(merged, backtracks=False)
        if matches is not None:
            yield matches
    for pattern in patterns:
        if pattern.backtracks and pattern.matches is not None:
            yield pattern.matches
