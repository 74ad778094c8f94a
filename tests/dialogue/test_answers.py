"""Which of several choices an answer means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.dialogue.answers import choice_by_number, choice_by_words


@pytest.mark.parametrize("answer", ["2", " 2 ", "2.", "2)", "02", "٢", "২", "２", "2️⃣", "②", "“2”"])
def test_a_number_is_one_in_any_script(answer):
    """With what people put around it, and as an emoji."""
    assert choice_by_number(answer, 3) == 2


@pytest.mark.parametrize(
    "answer", ["", "  ", "0", "4", "22", "2000", "2 3", "two", "2x", "½", "Ⅱ", "1.5", "🙂", "\udcff"]
)
def test_what_is_no_number_of_a_choice_is_none(answer):
    """It may be words, or a number of something else."""
    assert choice_by_number(answer, 3) is None


@given(st.text(), st.integers(0, 6))
def test_a_number_is_never_out_of_bounds(answer, count):
    """Whatever is said."""
    number = choice_by_number(answer, count)

    assert number is None or 1 <= number <= count


@given(st.integers(1, 99))
def test_every_choice_has_its_number(number):
    """However many there are."""
    assert choice_by_number(str(number), 99) == number


ORDERS = [{"Where is my order?", "order status"}, {"Cancel an order", "Bestellung stornieren"}, {"None of these"}]


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("where is my order", 1),
        ("ORDER STATUS!", 1),
        ("cancel an ordr", 2),
        ("bestellung storniern", 2),
        ("none of these", 3),
        ("something else", None),
        ("order", None),
        ("", None),
        ("?!", None),
        ("\udcff", None),
    ],
)
def test_a_choice_is_meant_by_its_name(answer, number):
    """Any of its names, mistyped a little; no more than that, for the matcher knows better."""
    assert choice_by_words(answer, ORDERS) == number


def test_names_that_are_too_alike_are_told_apart_to_the_letter():
    """A mistyped one may be either."""
    choices = [{"Room 11"}, {"Room 12"}]

    assert choice_by_words("room 12", choices) == 2
    assert choice_by_words("room 1", choices) is None
    assert choice_by_words("same", [{"Same"}, {"same"}]) is None


@given(st.text(), st.lists(st.sets(st.text(), max_size=3), max_size=4))
def test_any_words_among_any_names_are_one_choice_or_none(answer, choices):
    """Whatever the names are, and where there are none."""
    number = choice_by_words(answer, choices)

    assert number is None or 1 <= number <= len(choices)
