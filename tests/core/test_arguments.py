"""Types of arguments, checked as annotations name them, with the place of the mistake."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.core.types import Intent, Registry, Utterance

RIGHT: list[tuple[object, Any]] = [
    ("text", str),
    (None, str | None),
    (3, int),
    (np.int64(3), int),
    (3, float),
    (np.float32(2.5), float),
    (2.5, float | str),
    (True, bool),
    ("list", Literal["list", "any"]),
    (["a", "b"], Sequence[str]),
    ({"a", "b"}, Collection[str]),
    ({"a": 1}, Collection[str]),
    (["a", "b"], tuple[str, ...]),
    (("a", 3), tuple[str, int]),
    ({"a": 1}, Mapping[str, int]),
    ({"a": object()}, Mapping[str, Any]),
    (Path("x"), str | os.PathLike[str]),
    (len, Callable),
    (Utterance("hello"), Utterance),
    ([], Sequence[str] | None),
]

WRONG: list[tuple[object, Any, str]] = [
    (3, str, "x must be text, not 3"),
    ("3", int, "x must be a whole number, not the text '3'"),
    (True, int, "x must be a whole number, not True"),
    (2.5, int, "x must be a whole number, not 2.5"),
    (float("nan"), float, "x must be a number, not nan"),
    (None, float, "x must be a number, not None"),
    (1, bool, "x must be True or False, not 1"),
    (b"x", str | None, "x must be text or None, not bytes"),
    ("abc", Sequence[str], "x must be a list of texts, not the text 'abc'"),
    ("abc", tuple[str, ...] | None, "x must be a list of texts or None, not the text 'abc'"),
    (["a", 3], Sequence[str], "x[1] must be text, not 3"),
    (["a", 3], Sequence[str] | None, "x[1] must be text, not 3"),
    ({3: "a"}, Mapping[str, str], "a key of x must be text, not 3"),
    ({"a": 3}, Mapping[str, str], "x['a'] must be text, not 3"),
    (3, Mapping[str, str], "x must be a mapping, not 3"),
    (3, Callable, "x must be a function, not 3"),
    ("none", Literal["list", "any"], "x must be 'list' or 'any', not the text 'none'"),
    (3, str | os.PathLike[str], "x must be text or a path, not 3"),
    (3, Registry, "x must be a Registry, not 3"),
    (Intent("a", (Utterance(3),)), Intent, "x.utterances[0].text must be text, not 3"),  # type: ignore[arg-type]
    (Intent("a", "b"), Intent, "x.utterances must be a list, not the text 'b'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("value", "expected"), RIGHT)
def test_right_types_are_accepted(value: object, expected: Any) -> None:
    check_argument("x", value, expected)


@pytest.mark.parametrize(("value", "expected", "message"), WRONG)
def test_wrong_types_are_refused_with_their_place(value: object, expected: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check_argument("x", value, expected)
    assert str(caught.value) == message
