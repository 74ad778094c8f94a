"""Where words begin and end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.slots.scripts import is_boundary, tokens, words


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
def test_words_are_runs_of_letters_and_characters_of_scripts_without_spaces(text, expected):
    """Signs are none."""
    assert [text[start:end] for start, end in tokens(text)] == expected


def test_the_words_of_scripts_with_spaces_are_some_of_all():
    """Only they can be mistyped."""
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
def test_where_a_word_may_end_and_another_begin(before, after, expected):
    """Anywhere in scripts without spaces, between scripts, and behind a digit."""
    assert is_boundary(before, after) == expected


@given(st.text())
def test_tokens_stand_in_order_and_do_not_touch_signs(text):
    """They are parts of the text, each with something in it, none overlapping."""
    places = [place for pair in tokens(text) for place in pair]

    assert places == sorted(places)
    assert all(start < end for start, end in tokens(text))
