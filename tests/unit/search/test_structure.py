"""Outlines, containment and related definitions."""

from __future__ import annotations

import pytest

from sightline_core.errors import ErrorCode, SightlineError
from sightline_core.limits import DEFAULT_LIMITS
from sightline_core.paths import RepoRoot
from sightline_indexer.store import Snapshot
from sightline_search.hierarchy import Direction, symbol_hierarchy
from sightline_search.outline import OutlineDepth, outline
from sightline_search.related import RelatedScope, find_related


def test_an_outline_is_nested(snapshot: Snapshot) -> None:
    shown = outline(snapshot, "src/shop/cart.py", limits=DEFAULT_LIMITS)
    tree = [(item.symbol.name, [child.symbol.name for child in item.children]) for item in shown.items]
    assert tree == [("Cart", ["add_item", "total"]), ("CartFullError", [])]
    assert shown.left_out == 2


def test_an_outline_can_show_values_and_the_top_alone(snapshot: Snapshot) -> None:
    shown = outline(snapshot, "src/shop/cart.py", OutlineDepth.TOP, values=True, limits=DEFAULT_LIMITS)
    assert [item.symbol.name for item in shown.items] == ["MAX_ITEMS", "Cart", "CartFullError"]
    assert all(not item.children for item in shown.items)


def test_the_outline_of_a_missing_file_names_near_ones(snapshot: Snapshot) -> None:
    with pytest.raises(SightlineError) as caught:
        outline(snapshot, "src/crt.py", limits=DEFAULT_LIMITS)
    assert caught.value.code is ErrorCode.FILE_NOT_FOUND
    assert "src/shop/cart.py" in caught.value.data["did_you_mean"]


def test_ancestors_and_descendants(snapshot: Snapshot) -> None:
    up = symbol_hierarchy(snapshot, "add_item", limits=DEFAULT_LIMITS)
    assert [(level.hit.name, level.distance) for level in up.levels] == [("Cart", 1)]
    down = symbol_hierarchy(snapshot, "Cart", direction=Direction.DESCENDANTS, limits=DEFAULT_LIMITS)
    assert {level.hit.name for level in down.levels} >= {"add_item", "total"}


def test_methods_written_outside_their_type_are_its_descendants(snapshot: Snapshot) -> None:
    down = symbol_hierarchy(snapshot, "Handler", direction=Direction.DESCENDANTS, limits=DEFAULT_LIMITS)
    assert "ServeRequest" in {level.hit.name for level in down.levels}


def test_a_name_that_nothing_has_is_not_found(snapshot: Snapshot) -> None:
    with pytest.raises(SightlineError) as caught:
        symbol_hierarchy(snapshot, "Crat", limits=DEFAULT_LIMITS)
    assert caught.value.code is ErrorCode.SYMBOL_NOT_FOUND
    assert "Cart" in caught.value.data["did_you_mean"]


def test_a_name_that_several_have_is_ambiguous_until_a_path_says_which(snapshot: Snapshot) -> None:
    with pytest.raises(SightlineError) as caught:
        symbol_hierarchy(snapshot, "SessionStore", limits=DEFAULT_LIMITS)
    assert caught.value.code is ErrorCode.AMBIGUOUS_SYMBOL
    assert [item["path"] for item in caught.value.data["candidates"]] == ["web/cache.ts", "web/session.ts"]
    chosen = symbol_hierarchy(snapshot, "SessionStore", path="web/cache.ts", limits=DEFAULT_LIMITS)
    assert chosen.symbol.path == "web/cache.ts"


def test_a_path_picks_a_member(snapshot: Snapshot) -> None:
    chain = symbol_hierarchy(snapshot, "total", path="src/shop/cart.py", limits=DEFAULT_LIMITS)
    assert [level.hit.name for level in chain.levels] == ["Cart"]


def test_related_definitions_are_told_apart(snapshot: Snapshot, root: RepoRoot) -> None:
    found = find_related(snapshot, root, "Cart", scope=RelatedScope.MODULE, limit=50, limits=DEFAULT_LIMITS)
    relations = {(item.hit.name, item.relation) for item in found.related}
    assert ("CartFullError", "same_file") in relations
    assert ("compute_discount", "imported") in relations
    assert ("parseHTTPDate", "same_module") in relations


def test_the_file_scope_stays_in_the_file_and_its_imports(snapshot: Snapshot, root: RepoRoot) -> None:
    found = find_related(snapshot, root, "Cart", limit=50, limits=DEFAULT_LIMITS)
    assert {item.relation for item in found.related} == {"same_file", "imported"}
