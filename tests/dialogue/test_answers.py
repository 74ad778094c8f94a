"""Finding the choice that an answer means."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.dialogue.answers import (
    choice_by_number,
    choice_by_words,
    learned_yes_or_no,
    may_be_value,
    spoken_choice,
    yes_or_no,
)
from intentmatch.dialogue.phrases import shipped


@pytest.mark.parametrize("answer", ["2", " 2 ", "2.", "2)", "02", "٢", "২", "２", "2️⃣", "②", "“2”"])
def test_number_in_any_script_is_understood(answer):
    assert choice_by_number(answer, 3) == 2


@pytest.mark.parametrize(
    "answer", ["", "  ", "0", "4", "22", "2000", "2 3", "two", "2x", "½", "Ⅱ", "1.5", "🙂", "\udcff"]
)
def test_other_answers_are_not_numbers(answer):
    assert choice_by_number(answer, 3) is None


@given(st.text(), st.integers(0, 6))
def test_number_is_within_bounds_for_any_text(answer, count):
    number = choice_by_number(answer, count)

    assert number is None or 1 <= number <= count


@given(st.integers(1, 99))
def test_every_choice_has_its_number(number):
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
def test_choice_is_found_by_any_of_its_names_with_small_typos(answer, number):
    assert choice_by_words(answer, ORDERS) == number


def test_similar_names_need_an_exact_answer():
    choices = [{"Room 11"}, {"Room 12"}]

    assert choice_by_words("room 12", choices) == 2
    assert choice_by_words("room 1", choices) is None
    assert choice_by_words("same", [{"Same"}, {"same"}]) is None


@given(st.text(), st.lists(st.sets(st.text(), max_size=3), max_size=4))
def test_any_text_gives_one_choice_or_none(answer, choices):
    number = choice_by_words(answer, choices)

    assert number is None or 1 <= number <= len(choices)


@pytest.mark.parametrize("code", sorted(shipped()))
def test_every_number_word_means_its_choice(code):
    said = shipped()[code]
    phrases = [said, shipped()["en"]]

    for number, names in enumerate(said.numbers.split(","), 1):
        for name in names.split("/"):
            assert spoken_choice(name, phrases) == number, name
    for word in said.neither.split(","):
        assert spoken_choice(word, phrases) == "neither", word


@given(st.text())
def test_any_answer_is_read_or_left_alone(answer):
    phrases = [shipped()["vi"], shipped()["en"]]
    said, choice = yes_or_no(answer, phrases), spoken_choice(answer, phrases)

    assert said is None or said.yes in (True, False, None)
    assert choice is None or choice in ("several", "neither") or choice >= 0


@pytest.mark.parametrize("answer", ["yes " * 5_000, "no " * 5_000, "\u4e0d" * 20_000, "\u5bf9" * 20_000, "1 " * 9_000])
def test_long_answer_is_no_yes_and_takes_no_time(answer):
    phrases = [shipped()["zh"], shipped()["en"]]
    said = yes_or_no(answer, phrases)

    assert said is None or not said.yes
    assert spoken_choice(answer, phrases) is None


@pytest.mark.parametrize(
    ("answer", "yes"),
    [
        ("go for it then", True),
        ("that's exactly what I want", True),
        ("I'd rather leave it", False),
        ("lass es lieber bleiben", False),
        ("only if it costs nothing", None),
        ("let me think about it", None),
        ("go for it then?", None),
        ("go for it 👎", None),
        ("no, go for it then", None),
        ("where is my parcel", None),
    ],
)
def test_answers_in_other_words_are_learned(answer, yes):
    found = learned_yes_or_no(answer, [shipped()["en"]])

    assert (found.yes if found else None) is yes


def test_answers_by_somebody_who_knew_neither_the_words_nor_the_network():
    """The card `intentmatch/reading/answers.md` has the figures by half; an answer is read as a dialogue reads it."""
    _, *lines = Path(__file__).with_name("fresh_answers.tsv").read_text("utf-8").splitlines()
    read: Counter[tuple[str, bool | None]] = Counter()
    for language, answer, label in (line.split("\t") for line in lines):
        phrases = [shipped()[language], shipped()["en"]]
        by_words = yes_or_no(answer, phrases)
        decided = by_words and by_words.yes is not None
        said = by_words if decided else learned_yes_or_no(answer, phrases)
        read[label, said.yes if said else None] += 1

    assert read["yes", True] >= 100  # of 128; the words alone understand 79
    assert read["no", False] >= 65  # of 96
    assert sum(read[label, True] for label in ("no", "unsure", "conditional", "neither")) == 0


def test_free_text_by_somebody_who_did_not_know_the_network():
    """The card `intentmatch/reading/answers.md` has the figures of a dialogue, which are lower, by half."""
    _, *lines = Path(__file__).with_name("free_answers.tsv").read_text("utf-8").splitlines()
    taken: Counter[str] = Counter()
    for _, _, answer, kind, _ in (line.split("\t") for line in lines):
        taken[kind] += may_be_value(answer)

    assert taken["value"] >= 145  # of 168
    assert taken["drop"] <= 24  # of 72
    assert taken["later"] <= 21  # of 84
    assert taken["else"] <= 55  # of 84
