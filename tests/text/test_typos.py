"""Typing mistakes, and differences that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typo_pairs import DIFFERENT, OPPOSITES, TYPOS

from intentmatch.text.normalize import fold
from intentmatch.text.typos import ALONE, IN_A_LINE, IN_CONTEXT, Tolerance, letters_of, only_typos

FOLDED = st.text().map(fold)
WORDS = st.lists(st.text("abcdeé1注", min_size=1, max_size=9), max_size=4).map(" ".join)


@pytest.mark.parametrize(("message", "utterance"), TYPOS)
def test_typing_mistakes_are_recognised(message, utterance):
    assert only_typos(fold(message), fold(utterance))
    assert only_typos(fold(utterance), fold(message))


@pytest.mark.parametrize(("message", "utterance"), DIFFERENT)
def test_other_differences_are_no_typing_mistakes(message, utterance):
    assert not only_typos(fold(message), fold(utterance))
    assert not only_typos(fold(utterance), fold(message))


@pytest.mark.parametrize(("message", "opposite"), OPPOSITES)
def test_known_word_is_not_mistyped(message, opposite):
    """One letter can turn a word into its opposite."""
    assert only_typos(fold(message), fold(opposite))
    assert not only_typos(fold(message), fold(opposite), known=fold(message).split())


def test_letters_leave_out_spaces():
    assert letters_of("where is it") == "whereisit"


@given(WORDS | FOLDED)
def test_a_text_is_a_typing_mistake_of_itself(text):
    """`only_typos` is reflexive."""
    assert only_typos(text, text)


@given(WORDS | FOLDED, WORDS | FOLDED)
def test_typing_mistakes_go_both_ways(text, other):
    """`only_typos` is symmetric, and raises for no text."""
    assert only_typos(text, other) == only_typos(other, text)


@given(WORDS, st.data())
def test_where_the_spaces_are_makes_no_difference(text, data):
    """A lost or added space is a typing mistake."""
    place = data.draw(st.integers(0, len(text)))

    assert only_typos(text, fold(text[:place] + " " + text[place:]))
    assert only_typos(text, text.replace(" ", "", 1))


@pytest.mark.parametrize(("letters", "mistakes"), [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2), (30, 2)])
def test_longer_words_may_have_more_mistakes(letters: int, mistakes: int) -> None:
    assert Tolerance(4, 8).mistakes(letters) == mistakes


def test_less_evidence_beside_a_word_allows_fewer_mistakes() -> None:
    for letters in range(20):
        assert IN_CONTEXT.mistakes(letters) >= IN_A_LINE.mistakes(letters) >= ALONE.mistakes(letters)
