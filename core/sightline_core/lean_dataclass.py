"""A frozen dataclass of very many fields that costs next to nothing to define.

`dataclasses` writes and compiles code for every field of a class, which for the limits took 10 ms of every process,
an eighth of a quick command. Here no code is written; what a class can do is the same, and tests compare.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def lean_dataclass(cls: type[T]) -> type[T]:
    """Like `dataclass(frozen=True, kw_only=True)`, for fields that all have defaults which cannot be changed."""

    def init(self: Any, **values: Any) -> None:
        unknown = values.keys() - cls.__dict__["__dataclass_fields__"].keys()
        if unknown:
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        # A field that is not here is found in the class, where its default stands.
        self.__dict__.update(values)

    def equal(self: Any, other: object) -> bool:
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    def digest(self: Any) -> int:
        return hash(_values(self))

    def shown(self: Any) -> str:
        return (
            f"{cls.__qualname__}({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in fields(self))})"
        )

    def refuse(_self: object, name: str, _value: object = None) -> NoReturn:
        raise FrozenInstanceError(f"cannot change field {name!r}")

    methods = {
        "__init__": init,
        "__eq__": equal,
        "__hash__": digest,
        "__repr__": shown,
        "__setattr__": refuse,
        "__delattr__": refuse,
    }
    for name, method in methods.items():
        setattr(cls, name, method)
    return dataclass(init=False, eq=False, repr=False)(cls)


def _values(instance: Any) -> tuple[Any, ...]:
    return tuple(getattr(instance, item.name) for item in fields(instance))
