"""One word may make a text a refusal."""

from __future__ import annotations

import pytest

from intentmatch.reading.dialogue_acts import acts_of
from intentmatch.reading.refusing_word import refusing_word


@pytest.mark.parametrize(
    ("text", "word", "without"),
    [
        ("my card was not stolen", "not", "my card was stolen"),
        ("mein Pass wurde nicht gestohlen", "nicht", "mein Pass wurde gestohlen"),
        ("there is no extra fee on my statement", "no", "there is extra fee on my statement"),
    ],
)
def test_word_without_which_a_text_is_no_refusal_is_found(text: str, word: str, without: str) -> None:
    found = refusing_word(text, acts_of(text).refuses)

    assert found is not None
    assert (found.word, found.without) == (word, without)
    assert found.acts == acts_of(without)


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("where is my card", 0.9),  # no word refuses alone
        ("find the calories of ghirardelli", 0.9),  # a name means nothing, whatever it reads like
        ("do not cancel it, no, do not", 1.0),  # without one of them it is a refusal still
        ("my card was not stolen", 0.001),  # it does not read like a refusal
        ("no", 1.0),
        ("", 1.0),
        (" ".join(["no", *["word"] * 30]), 0.9),  # a tale
    ],
)
def test_there_may_be_no_such_word(text: str, refuses: float) -> None:
    assert refusing_word(text, refuses) is None
