"""Check that a caller's arguments have the types that the signatures of the public functions name."""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from intentmatch.core.errors import InputError

_WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    os.PathLike: "a path",
    Mapping: "a mapping",
    Callable: "a function",
}
_PLAIN = {str, bool, int, type(None)}
_LISTS = (tuple, Sequence, Collection)


def check_argument(name: str, value: object, expected: Any) -> None:
    """Raise `InputError` unless a value has the expected type, with the place inside the value that does not.

    `expected` is a type as in an annotation: text, numbers, `None`, unions, literals, `tuple[X, ...]`, `Sequence[X]`,
    `Collection[X]`, `Mapping[K, V]`, functions, classes, and dataclasses, whose fields are checked too. `True` is no
    number, one text is no list of texts, and any sequence may stand for a tuple.
    """
    if (wrong := _mistake(name, value, expected)) is not None:
        place, found, wanted = wrong
        raise InputError(f"{place} must be {_describe(wanted)}, not {_describe_value(found)}")


def _mistake(place: str, value: object, expected: Any) -> tuple[str, object, Any] | None:
    """Return the first place of a wrong type, with its value and the type that belongs there."""
    plain = type(value) if type(value) in _PLAIN else None
    if plain and (plain is expected or (type(expected) is types.UnionType and plain in get_args(expected))):
        return None  # quickly, for the many texts of a registry
    origin = get_origin(expected) or expected
    if origin is Any:
        return None
    if origin in (Union, types.UnionType):
        return _mistake_in_union(place, value, expected)
    if origin is Literal:
        return None if value in get_args(expected) else (place, value, expected)
    if not _is_a(value, origin):
        return place, value, expected
    return next(filter(None, (_mistake(*part) for part in _parts(place, value, expected))), None)


def _mistake_in_union(place: str, value: object, expected: Any) -> tuple[str, object, Any] | None:
    """Return None if one type of a union fits, and otherwise the mistake of the type whose outside fits."""
    mistakes = [_mistake(place, value, kind) for kind in get_args(expected)]
    if None in mistakes:
        return None
    # A mistake inside the value says more than "no type of the union fits".
    return next((wrong for wrong in mistakes if wrong is not None and wrong[0] != place), (place, value, expected))


def _is_a(value: object, kind: Any) -> bool:
    # `True` is an `int` to Python; as a number it is a mistake of the caller.
    if isinstance(value, bool) and kind in (int, float):
        return False
    if kind is float:
        # `Real` also takes the numbers of NumPy. NaN passes every comparison that would refuse it later.
        return isinstance(value, Real) and not math.isnan(value)
    if kind is int:
        return isinstance(value, Integral)
    if kind in _LISTS:
        # A text is a sequence of texts to Python: `allowed="cancel"` would be six names.
        return isinstance(value, Sequence if kind is tuple else kind) and not isinstance(value, (str, bytes))
    return callable(value) if kind is Callable else isinstance(value, kind)


def _parts(place: str, value: Any, expected: Any) -> list[tuple[str, object, Any]]:
    """Return place, value and expected type of everything inside a value."""
    origin, inner = get_origin(expected), get_args(expected)
    if isinstance(expected, type) and is_dataclass(expected):
        hints = _hints(expected)
        return [(f"{place}.{field.name}", getattr(value, field.name), hints[field.name]) for field in fields(expected)]
    if origin is Mapping and inner:
        keys = [(f"a key of {place}", key, inner[0]) for key in value]
        return keys + [(f"{place}[{key!r}]", one, inner[1]) for key, one in value.items()]
    if origin in _LISTS and inner:
        if origin is tuple and inner[-1] is not Ellipsis:
            return [(f"{place}[{number}]", *pair) for number, pair in enumerate(zip(value, inner, strict=False))]
        return [(f"{place}[{number}]", one, inner[0]) for number, one in enumerate(value)]
    return []


@cache
def _hints(dataclass: Any) -> dict[str, Any]:
    return get_type_hints(dataclass)


def _describe(expected: Any) -> str:
    origin = get_origin(expected) or expected
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_describe, get_args(expected))))
    if origin is Literal:
        return " or ".join(map(repr, get_args(expected)))
    if origin in _LISTS:
        inner = [kind for kind in get_args(expected) if kind is not Ellipsis]
        several = {str: " of texts", int: " of whole numbers", float: " of numbers"}
        return "a list" + (several.get(inner[0], "") if len(inner) == 1 else "")
    return _WORDS.get(origin) or f"a {origin.__name__}"


def _describe_value(value: object) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    return f"the text {value[:40]!r}" if isinstance(value, str) else type(value).__name__
