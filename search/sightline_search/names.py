"""Names of definitions as people write them: `Foo`, `foo.bar`, `Foo::bar`, `Foo#bar`, `foo()`, `pkg/mod.Name`.

**Invariant**: a name either is the one that was asked for or it is not; likeness is nobody's business here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from sightline_indexer.records import SymbolRecord

_CALL = re.compile(r"\s*\((?:[^()]|\(\s*\))*\)\s*;?$")
_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_SEPARATOR = re.compile(r"::|->|[.#/\\:]")
_WORD = re.compile(r"[^\W\d][\w$]*[!?=]?|~\w+")
# Words that stand for the enclosing definition and name nothing themselves.
_SELF = frozenset({"self", "this", "cls", "super", "crate", "static", "parent"})
# Files whose name says nothing: the module is called like their folder.
_INDEX_STEMS = frozenset({"__init__", "index", "mod", "lib", "main", "init"})


@dataclass(frozen=True, slots=True)
class SymbolName:
    """A name with what was written before it."""

    name: str
    qualifiers: tuple[str, ...] = ()

    @property
    def dotted(self) -> str:
        """The name with its qualifiers, in the form of the index."""
        return ".".join((*self.qualifiers, self.name))


class NameMatch(IntEnum):
    """How well a definition fits a name; smaller is better."""

    QUALIFIED = 0
    SUFFIX = 1
    MODULE = 2
    NONE = 9


def parse_name(text: str) -> SymbolName | None:
    """The name that a text writes; None when it is not one name."""
    bare = _CALL.sub("", text.strip())
    for _ in range(3):
        bare = _GENERICS.sub("", bare)
    bare = bare.strip().lstrip("*&@.:#\\/").rstrip(".:#")
    if not bare or any(character.isspace() for character in bare):
        return None
    parts = [part for part in _SEPARATOR.split(bare) if part]
    if not parts or not all(_WORD.fullmatch(part) or part.isidentifier() for part in parts[-1:]):
        return None
    qualifiers = tuple(part for part in parts[:-1] if part.lower() not in _SELF)
    return SymbolName(parts[-1], qualifiers)


def match_name(wanted: SymbolName, record: SymbolRecord, *, match_case: bool = True) -> NameMatch:
    """How a definition, whose own name fits already, fits the qualifiers."""
    if not wanted.qualifiers:
        return NameMatch.QUALIFIED if not record.symbol.container else NameMatch.SUFFIX
    fold = _same if match_case else str.casefold
    qualifiers = [fold(part) for part in wanted.qualifiers]
    containers = [fold(part) for part in _SEPARATOR.split(record.symbol.container) if part]
    if containers == qualifiers:
        return NameMatch.QUALIFIED
    if containers[-len(qualifiers) :] == qualifiers:
        return NameMatch.SUFFIX
    # The rest may name the module: `flask.helpers.send_file` is send_file of flask/helpers.py.
    inner = 0
    while inner < len(containers) and inner < len(qualifiers) and containers[-1 - inner] == qualifiers[-1 - inner]:
        inner += 1
    if inner < len(containers):
        return NameMatch.NONE
    rest = qualifiers[: len(qualifiers) - inner]
    return NameMatch.MODULE if _ends_with(_module_parts(record.path, match_case=match_case), rest) else NameMatch.NONE


def _module_parts(path: str, *, match_case: bool) -> list[str]:
    fold = _same if match_case else str.casefold
    folders, _, name = path.rpartition("/")
    parts = [fold(part) for part in folders.split("/") if part]
    stem = fold(name.split(".", 1)[0])
    return parts if stem in _INDEX_STEMS else [*parts, stem]


def _ends_with(modules: list[str], rest: list[str]) -> bool:
    if not rest:
        return True
    # A package name of Go or Java names the folder, not the file.
    return modules[-len(rest) :] == rest or modules[-len(rest) - 1 : -1] == rest


def _same(text: str) -> str:
    return text
