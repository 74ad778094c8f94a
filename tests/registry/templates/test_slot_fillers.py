"""Fillers: what stands for a slot in a sentence of a language."""

from __future__ import annotations

import pytest

from intentmatch.core.types import Slot, SlotValue, Utterance
from intentmatch.registry.templates.slot_fillers import DATES, Fillers, fillers
from intentmatch.text.normalize import language_code

CITY = Slot(
    "city",
    "list",
    (
        SlotValue("Munich", (Utterance("München", "de"), Utterance("Minga", "de"), Utterance("Monaco", "it"))),
        SlotValue("New York", (Utterance("NYC"), Utterance("nyc!"))),
        SlotValue("Rome"),
    ),
)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("de", ["München", "New York", "Rome", "Minga", "NYC"]),
        ("de-AT", ["München", "New York", "Rome", "Minga", "NYC"]),
        ("it", ["Monaco", "New York", "Rome", "NYC"]),
        ("en", ["Munich", "New York", "Rome", "NYC"]),
        (None, ["Munich", "New York", "Rome", "NYC"]),
    ],
)
def test_a_list_speaks_the_language_of_the_line(language, texts):
    """What has no language will do where nothing has it; every value comes once before any comes twice."""
    assert fillers(CITY, language) == texts


def test_examples_come_before_everything():
    """The author knows best; in another language than any of theirs all will do."""
    slot = Slot("city", "list", CITY.values, examples=(Utterance("Ulm", "de"), Utterance("Bath", "en")))

    assert fillers(slot, "de") == ["Ulm"]
    assert fillers(slot, "fr") == ["Ulm", "Bath"]


@pytest.mark.parametrize(("kind", "language"), [("pattern", "en"), ("any", None), ("date", "sw"), ("date", None)])
def test_what_nothing_is_known_of_is_its_name(kind, language):
    """As people would say it."""
    assert fillers(Slot("order_number", kind), language) == ["order number"]


def test_numbers_times_and_dates_are_what_users_write():
    """Digits in every language, words in those that are known."""
    assert all(text.isdigit() for text in fillers(Slot("x", "number"), "de"))
    assert all(":" in text for text in fillers(Slot("x", "time"), None))
    assert fillers(Slot("x", "date"), "pt-BR") == ["hoje", "amanhã", "segunda-feira"]


def test_dates_are_in_languages():
    """By their codes, three of each."""
    assert [language_code(code) for code in DATES] == list(DATES)
    assert all(len(set(words)) == 3 for words in DATES.values())


def test_fillers_take_turns_in_each_language():
    """And begin again at the end."""
    turns = Fillers([CITY])

    assert [turns.next("city", "en") for _ in range(5)] == ["Munich", "New York", "Rome", "NYC", "Munich"]
    assert turns.next("city", "de") == "München"
    assert turns.next("nobody_knows", "de") == "nobody knows"
