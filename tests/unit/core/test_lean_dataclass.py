"""A lean dataclass does what a frozen one does."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, replace

import pytest

from sightline_core.lean_dataclass import lean_dataclass


@lean_dataclass
class Lean:
    a: int = 1
    b: float = 2.0


@dataclass(frozen=True, kw_only=True)
class Full:
    a: int = 1
    b: float = 2.0


@pytest.mark.parametrize("values", [{}, {"a": 5}, {"a": 5, "b": 0.5}])
def test_it_is_made_changed_compared_and_shown_like_a_frozen_dataclass(values: dict) -> None:
    lean, full = Lean(**values), Full(**values)
    assert asdict(lean) == asdict(full)
    assert [item.name for item in fields(lean)] == [item.name for item in fields(full)]
    assert repr(lean) == repr(full).replace("Full", "Lean")
    assert lean == Lean(**values)
    assert hash(lean) == hash(Lean(**values))
    assert asdict(replace(lean, b=7.0)) == asdict(replace(full, b=7.0))
    assert replace(lean, b=7.0) != lean
    assert lean != full
    assert pickle.loads(pickle.dumps(lean)) == lean
    assert copy.deepcopy(lean) == lean


def test_a_value_that_equals_the_default_is_the_default() -> None:
    assert Lean(a=1) == Lean()
    assert hash(Lean(a=1)) == hash(Lean())


def test_it_cannot_be_changed_and_takes_no_other_fields() -> None:
    lean = Lean()
    with pytest.raises(FrozenInstanceError):
        lean.a = 2
    with pytest.raises(FrozenInstanceError):
        del lean.a
    for wrong in (lambda: Lean(c=1), lambda: Lean(1), lambda: replace(lean, c=1)):
        with pytest.raises(TypeError):
            wrong()
