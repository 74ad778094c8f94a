"""Word boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.scripts import is_boundary, tokens, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two words", ["two", "words"]),
        ("a4 b2b", ["a4", "b2b"]),
        ("要iphone手机", ["要", "iphone", "手", "机"]),
        ("東京へバスで", ["東", "京", "へ", "バス", "で"]),
        ("서울에서 3시", ["서울에서", "3", "시"]),
        ("c# & 👩", ["c"]),
        ("मुझे", ["मुझे"]),
        ("", []),
    ],
)
def test_tokens_are_words_or_single_characters_of_unspaced_scripts(text, expected):
    assert [text[start:end] for start, end in tokens(text)] == expected


def test_words_are_a_subset_of_tokens():
    text = "我要 two バス"

    assert [text[start:end] for start, end in words(text)] == ["two"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "b", False),
        ("a", "1", False),
        ("1", "a", True),
        ("1", "2", False),
        ("a", " ", True),
        ("a", "#", True),
        ("a", "北", True),
        ("北", "京", True),
        ("の", "の", True),
        ("バ", "ス", False),
        ("ス", "で", True),
        ("서", "울", False),
        ("k", "서", True),
        ("ก", "ข", True),
    ],
)
def test_word_boundaries_between_characters(before, after, expected):
    assert is_boundary(before, after) == expected


@given(st.text())
def test_tokens_are_ordered_disjoint_and_without_signs(text):
    places = [place for pair in tokens(text) for place in pair]

    assert places == sorted(places)
    assert all(start < end for start, end in tokens(text))
