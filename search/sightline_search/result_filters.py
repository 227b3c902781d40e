"""Which files and definitions a search may return.

**Invariant**: one place decides for every mode, so that a filter means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from sightline_core.limits import Limits
from sightline_indexer.definitions import DefinitionRow
from sightline_indexer.file_traits import FileTrait
from sightline_indexer.records import stored_kind
from sightline_search.model import Filters
from sightline_search.path_globs import path_matcher

FileTest = Callable[[str, str, int], bool]


def file_test(filters: Filters, limits: Limits) -> FileTest:
    """Whether a file, given by path, language and traits, may be returned; raises `invalid_input` for a bad glob."""
    wanted = path_matcher(filters.paths, limits) if filters.paths else None
    unwanted = path_matcher(filters.exclude, limits) if filters.exclude else None

    def accepts(path: str, language: str, traits: int) -> bool:
        if filters.language and language != filters.language:
            return False
        if not filters.include_tests and traits & FileTrait.TEST:
            return False
        if wanted is not None and not wanted(path):
            return False
        return unwanted is None or not unwanted(path)

    return accepts


def symbol_test(filters: Filters, limits: Limits) -> Callable[[DefinitionRow], bool] | None:
    """Whether a definition may be returned; None when every one may."""
    if filters == Filters():
        return None
    accepts = file_test(filters, limits)

    def accepts_symbol(row: DefinitionRow) -> bool:
        if filters.kind is not None and stored_kind(row.kind) is not filters.kind:
            return False
        file = row.file
        return accepts(file.path, file.language, file.traits)

    return accepts_symbol
