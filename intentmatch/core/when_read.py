"""Text that is written when somebody reads it. Until then, a result keeps the values that the text is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

_Value = TypeVar("_Value")


def when_read(make: Callable[..., _Value], *values: Any) -> _Value:
    """Return a stand-in for `make(*values)`, for a field that `made_when_read` names."""
    return partial(make, *values)  # type: ignore[return-value]


def made_when_read(*fields: str) -> Callable[[type[_Value]], type[_Value]]:
    """Decorate a dataclass with slots, so that these fields may hold a stand-in of `when_read`.

    The first read of the field puts the value in its place. Comparing, copying and pickling read all fields.
    """

    def decorate(cls: type[_Value]) -> type[_Value]:
        for name in fields:
            slot = vars(cls)[name]
            setattr(cls, name, property(partial(_made, slot), slot.__set__))
        return cls

    return decorate


def _made(slot: Any, instance: object) -> Any:
    """Return what a slot holds; the value, if it holds a stand-in."""
    value = slot.__get__(instance)
    if isinstance(value, partial):
        # Two threads may both make the value, which is the same.
        value = value()
        slot.__set__(instance, value)
    return value
