"""Numbers that are hours or house numbers, unless the utterances say otherwise."""

from __future__ import annotations

import pytest
from slot_helpers import NOW, marked

from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.slots import slot_readers


def numbers(text: str, *utterances: Utterance, language: str = "en") -> list[object]:
    intent = Intent("x", utterances or (marked("order {count=2} pizzas"),), slots=(Slot("count", "number"),))
    return [one.value for one in slot_readers(Registry((intent,)))["x"].read(text, language, NOW).entities]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "2 pizzas at 8", [2]),
        ("en", "2 pizzas at 8 pm", [2]),
        ("en", "2 pizzas at 7 or 8", [2]),
        ("en", "2 or 3 pizzas at 8", [2, 3]),
        ("de", "2 Pizzen um 8", [2]),
        ("de", "2 Pizzen um 18 Uhr", [2]),
        ("en", "3 to 12 Baker Street", [3]),
        ("es", "calle Mayor 5", []),
        ("en", "at 8 pizzas each", [8]),
        ("en", "5", [5]),
    ],
)
def test_hours_and_house_numbers_are_no_counts(language, text, expected):
    assert numbers(text, language=language) == expected


def test_words_of_the_utterances_make_an_hour_a_number():
    heat = marked("set the heating at {count=20}")

    assert numbers("heating at 8", heat) == [8]
    assert numbers("heating at 8 pm", heat) == []
    assert numbers("12 Baker Street", heat) == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "2 packs of ibuprofen 600mg", [2]),
        ("en", "ibuprofen 600 mg", []),
        ("en", "pizza for up to 10 euros", []),
        ("en", "pizza for my daughter of 5 years", []),
        ("en", "pizza, my postcode is 01310-100", []),
        ("pt", "dipirona pra minha filha de 5 anos", []),
        ("en", "order 2 kg of pizza", [2]),
    ],
)
def test_measures_amounts_and_codes_count_something_else(language, text, expected):
    assert numbers(text, language=language) == expected


@pytest.mark.parametrize("text", ["600mg", "10 euros", "5 years"])
def test_number_that_was_asked_for_may_have_a_unit(text):
    intent = Intent("x", (marked("order {count=2} pizzas"),), slots=(Slot("count", "number"),))

    assert len(slot_readers(Registry((intent,)))["x"].fill(text, ["count"], "en", NOW)) == 1


@pytest.mark.parametrize(
    ("language", "text", "count", "time"),
    [
        ("it", "un tavolo per due alle 21", 2, "21:00"),
        ("it", "un tavolo per 4 alle 20:30", 4, "20:30"),
        ("es", "una mesa para dos a las 9", 2, "09:00"),
        ("fr", "une table pour deux à 20h", 2, "20:00"),
        ("pt", "mesa para dois às 20", 2, "20:00"),
        ("pt", "mesa para 2 às 9", 2, "09:00"),
        ("pt", "entregue as 9 caixas", 9, None),
    ],
)
def test_count_before_an_hour_begins_no_range(language, text, count, time):
    intent = Intent("x", (marked("a table for {count=2}"),), slots=(Slot("count", "number"), Slot("time", "time")))
    found = {one.slot: one.value for one in slot_readers(Registry((intent,)))["x"].read(text, language, NOW).entities}

    assert (found.get("count"), found.get("time")) == (count, time)
