"""The rules that hold inside each directory of a root: what belongs into the index and what is left out.

**Invariant**: the same rules answer for a whole walk and for a single path. Rule files are read below the root
without following links. A tracked file is never lost to a git-ignore rule; a secret is never let in by any rule.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from sightline_core.limits import Limits
from sightline_core.paths import RepoRoot
from sightline_indexer.ignore_rules import NameFilter, NameIndex, RuleList, decide, parse_rules
from sightline_indexer.repo_ref import GitDirectory, find_git_directory, git_directory_at, read_regular
from sightline_indexer.secrets import is_secret
from sightline_indexer.tracked import TrackedPaths, read_tracked


class SkipReason(StrEnum):
    """Why something is not in the index; the keys of `skipped` in `index_status`."""

    IGNORED = "ignored"
    HIDDEN = "hidden"
    BUILT_IN = "built_in"
    CACHE = "cache"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    SECRET = "secret"  # noqa: S105  a reason, not a password
    SYMLINK = "symlink"
    NOT_REGULAR = "not_regular"
    BAD_NAME = "bad_name"
    UNREADABLE = "unreadable"
    DUPLICATE = "duplicate"
    BINARY = "binary"
    PARSE = "parse"


GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".sightlineignore"
CACHE_TAG = "CACHEDIR.TAG"
VENV_MARK = "pyvenv.cfg"
GIT_NAME = ".git"
# Any of these appearing, changing or going away may change what belongs into the index.
RULE_FILES = frozenset((GIT_IGNORE, OWN_IGNORE, CACHE_TAG, VENV_MARK, GIT_NAME))
BUILT_IN_SKIPS = frozenset((b".git", b"node_modules", b"__pycache__", b".tox", b".venv"))
_CACHE_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree that the walk is in: how its paths differ from the walk's, and what it tracks."""

    git: GitDirectory
    tracked: TrackedPaths
    strip: int
    prefix: bytes

    def tracks(self, path: bytes) -> bool:
        """True when the walk's `path` is a tracked file."""
        return self.prefix + path[self.strip :] in self.tracked

    def tracks_below(self, path: bytes) -> bool:
        """True when the walk's directory `path` holds tracked files, or is a submodule."""
        return self.tracked.has_below(self.prefix + path[self.strip :])


class DirectoryRules:
    """The rules that hold inside one directory.

    `tracked_only` marks a directory that git ignores and that is entered for its tracked files alone.
    """

    __slots__ = ("_filter", "git_rules", "index", "own_rules", "parent", "path", "repository", "tracked_only")

    def __init__(
        self,
        path: bytes,
        *,
        git_rules: tuple[RuleList, ...] = (),
        own_rules: tuple[RuleList, ...] = (),
        repository: Repository | None = None,
        tracked_only: bool = False,
        index: NameIndex | None = None,
    ) -> None:
        self.path = path  # empty for the root, else with a trailing slash
        self.parent = os.fsdecode(path[:-1])
        self.git_rules = git_rules
        self.own_rules = own_rules
        self.repository = repository
        self.tracked_only = tracked_only
        self.index = index or NameIndex(git_rules + own_rules)
        self._filter = NameFilter(self.index, path)

    def file_reason(self, name: str, raw: bytes) -> SkipReason | None:
        """Why the file `name` is left out by rule; None when it belongs into the index."""
        if (self.tracked_only or self._filter.may_match(raw)) and self._is_ignored(raw):
            return SkipReason.IGNORED
        if is_secret(name, self.parent):
            return SkipReason.SECRET
        return SkipReason.BUILT_IN if raw == b".git" else None

    def _is_ignored(self, raw: bytes) -> bool:
        path = self.path + raw
        own = decide(self.own_rules, path, is_directory=False)
        if own is True:
            return True
        tracked = self.repository is not None and self.repository.tracks(path)
        if tracked:
            return False
        return self.tracked_only or (own is None and decide(self.git_rules, path, is_directory=False) is True)

    def directory_reason(self, raw: bytes) -> tuple[SkipReason | None, bool]:
        """Why the directory is left out, and if it is not, whether only for its tracked files."""
        if raw in BUILT_IN_SKIPS:
            return SkipReason.BUILT_IN, False
        path = self.path + raw
        hidden = raw.startswith(b".")
        if not hidden and not self.tracked_only and not self._filter.may_match(raw):
            return None, False
        own = decide(self.own_rules, path, is_directory=True)
        if own is True:
            return SkipReason.IGNORED, False
        tracked = self.repository is not None and self.repository.tracks_below(path)
        ignored = self.tracked_only or (own is None and decide(self.git_rules, path, is_directory=True) is True)
        if not tracked and (hidden or ignored):
            return (SkipReason.HIDDEN if hidden else SkipReason.IGNORED), False
        return None, ignored


class RuleReader:
    """Reads the rule files of a root, from the directories above it down to wherever the walk goes.

    `incomplete` collects the rule files that could not be applied whole.
    """

    def __init__(self, root: RepoRoot, limits: Limits) -> None:
        self._root = root.path
        self._limits = limits
        self.incomplete: list[str] = []

    def root_rules(self, descriptor: int, names: Collection[str]) -> DirectoryRules:
        """The rules inside the root itself; `descriptor` is the open directory and `names` what it holds."""
        git = find_git_directory(self._root, self._limits)
        if git is None:
            return self._with_files(DirectoryRules(b""), descriptor, names)
        below = os.path.relpath(self._root, git.work_tree)
        prefix = b"" if below == "." else os.fsencode(below) + b"/"
        above, root_is_ignored = self._rules_above(git, prefix)
        repository = Repository(git, self._tracked(git), 0, prefix)
        # A repository that ignores the root, such as one around a whole home directory, has no say in it.
        if root_is_ignored and not repository.tracked.has_below(prefix[:-1]):
            return self._with_files(DirectoryRules(b""), descriptor, names)
        return self._with_files(DirectoryRules(b"", git_rules=above, repository=repository), descriptor, names)

    def enter(
        self, parent: DirectoryRules, raw: bytes, descriptor: int, names: Collection[str], *, tracked_only: bool
    ) -> DirectoryRules | SkipReason:
        """The rules inside a directory of `parent`, or why it is left out after a look inside."""
        path = parent.path + raw + b"/"
        repository = parent.repository
        if CACHE_TAG in names and self._has_cache_tag(descriptor):
            return SkipReason.CACHE
        if VENV_MARK in names and not (repository and repository.tracks(path + VENV_MARK.encode())):
            return SkipReason.BUILT_IN
        rules = DirectoryRules(
            path,
            git_rules=parent.git_rules,
            own_rules=parent.own_rules,
            repository=repository,
            tracked_only=tracked_only,
            index=parent.index,
        )
        if GIT_NAME in names:
            git = git_directory_at(os.path.join(self._root, os.fsdecode(path[:-1])), self._limits)
            if git is not None and repository is not None and git.common == repository.git.common:
                # A linked work tree of the same repository would show every file twice.
                return SkipReason.BUILT_IN
            if git is not None:
                rules = DirectoryRules(
                    path,
                    git_rules=self._exclude_file(git, len(path), b""),
                    own_rules=parent.own_rules,
                    repository=Repository(git, self._tracked(git), len(path), b""),
                )
        return self._with_files(rules, descriptor, names)

    def _with_files(self, rules: DirectoryRules, descriptor: int, names: Collection[str]) -> DirectoryRules:
        git_rules = rules.git_rules + self._rule_file(GIT_IGNORE, rules.path, descriptor, names)
        own_rules = rules.own_rules + self._rule_file(OWN_IGNORE, rules.path, descriptor, names)
        if git_rules is rules.git_rules and own_rules is rules.own_rules:
            return rules
        return DirectoryRules(
            rules.path,
            git_rules=git_rules,
            own_rules=own_rules,
            repository=rules.repository,
            tracked_only=rules.tracked_only,
        )

    def _rule_file(self, name: str, path: bytes, descriptor: int, names: Collection[str]) -> tuple[RuleList, ...]:
        if name not in names:
            return ()
        data = read_regular(name, self._limits.max_ignore_file_bytes, directory=descriptor, follow_links=False)
        shown = os.fsdecode(path) + name
        if data is None:
            # git does not follow a link there either; a file that may not be read is worth a word.
            if not _is_link(name, descriptor):
                self.incomplete.append(shown)
            return ()
        return self._listed(parse_rules(data, self._limits, strip=len(path)), shown)

    def _listed(self, rules: RuleList, shown: str) -> tuple[RuleList, ...]:
        if not rules.complete:
            self.incomplete.append(shown)
        return (rules,) if len(rules) else ()

    def _rules_above(self, git: GitDirectory, prefix: bytes) -> tuple[tuple[RuleList, ...], bool]:
        """The rules between the top of the work tree and the root, and whether they ignore the root itself."""
        lists = self._exclude_file(git, 0, prefix)
        parts = prefix[:-1].split(b"/") if prefix else []
        for number, _ in enumerate(parts):
            directory = b"/".join(parts[:number])
            inner = b"/".join(parts[number:]) + b"/"
            path = os.path.join(git.work_tree, os.fsdecode(directory), GIT_IGNORE)
            data = read_regular(path, self._limits.max_ignore_file_bytes, follow_links=False)
            if data is not None:
                lists += self._listed(parse_rules(data, self._limits, prefix=inner), path)
            # Both kinds of list put their prefix in front of a path of the walk; asking about a parent of the
            # root needs the path from the list's own directory, which is that prefix cut short.
            if _ignores_parent(lists, len(parts) - number - 1):
                return lists, True
        return lists, False

    def _exclude_file(self, git: GitDirectory, strip: int, prefix: bytes) -> tuple[RuleList, ...]:
        path = os.path.join(git.common, "info", "exclude")
        data = read_regular(path, self._limits.max_ignore_file_bytes)
        return () if data is None else self._listed(parse_rules(data, self._limits, strip=strip, prefix=prefix), path)

    def _tracked(self, git: GitDirectory) -> TrackedPaths:
        tracked = read_tracked(git, self._limits)
        if not tracked.readable:
            self.incomplete.append(os.path.join(git.path, "index"))
        return tracked

    def _has_cache_tag(self, descriptor: int) -> bool:
        head = read_regular(CACHE_TAG, len(_CACHE_SIGNATURE), directory=descriptor, follow_links=False)
        return head is not None and head.startswith(_CACHE_SIGNATURE)


def _ignores_parent(lists: tuple[RuleList, ...], components_below: int) -> bool:
    for rules in reversed(lists):
        inner = rules.inner(b"")[:-1]
        directory = inner.rsplit(b"/", components_below)[0] if components_below else inner
        verdict = rules.decide_inner(directory, is_directory=True)
        if verdict is not None:
            return verdict
    return False


def _is_link(name: str, descriptor: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except OSError:
        return False
