"""Text that is written when somebody reads it. Until then, a result keeps the values that the text is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

_Value = TypeVar("_Value")


def when_read(make: Callable[..., _Value], *values: Any) -> _Value:
    """Return a stand-in for `make(*values)`, for a field that `made_when_read` names."""
    return cast("_Value", partial(make, *values))


def made_when_read(*fields: str) -> Callable[[type[_Value]], type[_Value]]:
    """Decorate a dataclass with slots, so that these fields may hold a stand-in of `when_read`.

    The first read of the field puts the value in its place. Comparing, copying and pickling read all fields.
    """

    def decorate(cls: type[_Value]) -> type[_Value]:
        for name in fields:
            setattr(cls, name, _Field(vars(cls)[name]))
        return cls

    return decorate


class _Field:
    """Wraps the descriptor of a slot."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = self._slot.__get__(instance, owner)
        if isinstance(value, partial):
            # Two threads may both make the value, which is the same.
            value = value()
            self._slot.__set__(instance, value)
        return value

    def __set__(self, instance: object, value: object) -> None:
        self._slot.__set__(instance, value)
