"""Tokenized texts in flat arrays, and typos."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.distill.pieces import Pieces, mistyped

NUMBERS = {"a": [1], "b": [2, 3], "": [], "c": [4, 5, 6]}


@pytest.fixture
def pieces() -> Pieces:
    return Pieces.from_texts(["c", "", "a", "b", ""], NUMBERS.__getitem__)


def test_tokens_are_concatenated_with_starts(pieces: Pieces) -> None:
    assert pieces.numbers.tolist() == [4, 5, 6, 1, 2, 3]
    assert pieces.starts.tolist() == [0, 3, 3, 4, 6, 6]
    assert pieces.lengths.tolist() == [3, 0, 1, 2, 0]
    assert (pieces.numbers.dtype, pieces.starts.dtype) == (np.int32, np.int64)


@pytest.mark.parametrize(
    ("rows", "numbers", "lengths"),
    [
        ([0], [4, 5, 6], [3]),
        ([3, 2, 0], [2, 3, 1, 4, 5, 6], [2, 1, 3]),
        ([2, 2], [1, 1], [1, 1]),
        ([1, 3, 4, 0, 1], [2, 3, 4, 5, 6], [0, 2, 0, 3, 0]),
        ([1, 4], [], [0, 0]),
        ([], [], []),
    ],
)
def test_select_returns_texts_in_the_given_order(
    pieces: Pieces, rows: list[int], numbers: list[int], lengths: list[int]
) -> None:
    found, counts = pieces.select(np.array(rows, dtype=np.int64))

    assert (found.tolist(), counts.tolist()) == (numbers, lengths)


def test_no_texts_give_no_tokens() -> None:
    none = Pieces.from_texts([], NUMBERS.__getitem__)

    assert (none.numbers.tolist(), none.starts.tolist(), none.lengths.tolist()) == ([], [0], [])
    assert none.select(np.array([], dtype=np.int64))[0].tolist() == []


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=8), st.data())
def test_select_round_trip(texts: list[list[int]], data: st.DataObject) -> None:
    pieces = Pieces.from_texts([str(number) for number in range(len(texts))], lambda text: texts[int(text)])
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6))

    found, counts = pieces.select(np.array(rows, dtype=np.int64))

    assert found.tolist() == [number for row in rows for number in texts[row]]
    assert counts.tolist() == [len(texts[row]) for row in rows]


@pytest.mark.parametrize("text", ["", "a", "yes", "a, b, c!", "12345 6789", "我的天"])
def test_short_texts_get_no_typo(text: str) -> None:
    assert {mistyped(text, np.random.default_rng(seed)) for seed in range(50)} == {text}


def one_mistake(text: str, typed: str) -> bool:
    """Whether one letter was left out, doubled, replaced by one of the text, or swapped with the next."""
    letters = [place for place, char in enumerate(text) if char.isalpha()]
    made = {text[:p] + text[p + 1 :] for p in letters}
    made |= {text[:p] + text[p] + text[p:] for p in letters}
    made |= {text[:p] + text[q] + text[p + 1 :] for p in letters for q in letters}
    made |= {text[:p] + text[p + 1] + text[p] + text[p + 2 :] for p in letters if text[p + 1 : p + 2].isalpha()}
    return typed in made


def test_every_kind_of_typo_occurs_at_every_position() -> None:
    text = "ab, cd"
    typed = {mistyped(text, np.random.default_rng(seed)) for seed in range(400)}

    assert {"ba, cd", "b, cd", "aab, cd", "cb, cd", "ab, dc", "ab, c", "ab, cdd", "ab, cb"} <= typed
    assert all(one_mistake(text, result) for result in typed)


TEXTS = st.text(st.sampled_from("abcdéя你 .,!1👍\u0301"), max_size=20) | st.text(max_size=20)


@given(TEXTS, st.integers(0, 2**32))
def test_typo_is_single_deterministic_and_keeps_other_characters(text: str, seed: int) -> None:
    typed = mistyped(text, np.random.default_rng(seed))

    assert abs(len(typed) - len(text)) <= 1
    assert not_letters(typed) == not_letters(text)
    assert typed == text or one_mistake(text, typed)
    assert typed == mistyped(text, np.random.default_rng(seed))


def not_letters(text: str) -> Counter[str]:
    return Counter(char for char in text if not char.isalpha())
