"""Values joined by "or"."""

from __future__ import annotations

import pytest
from slot_helpers import NOW, list_slot, marked

from intentmatch.core.types import Intent, Registry, Slot
from intentmatch.slots import SlotReader, slot_readers
from intentmatch.slots.alternatives import joined_by_or

CITIES = ("Berlin", "Rom", "Paris")


def reader() -> SlotReader:
    slots = (
        list_slot("size", "small", "medium", "large", required=True, questions={"en": "Which size?"}),
        list_slot("origin", *CITIES),
        list_slot("target", *CITIES),
        Slot("day", "date"),
    )
    return slot_readers(Registry((Intent("x", (marked("from {origin=Rom} to {target=Rom}"),), slots=slots),)))["x"]


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("en", "a small or medium pizza", "small or medium?"),
        ("en", "a small or a large one please", "small or a large?"),
        ("en", "small, medium or large", "small, medium or large?"),
        ("en", "small/large", "small/large?"),
        ("de", "small oder large", "small oder large?"),
        ("fr", "small ou large", "small ou large?"),
        ("ar", "small أو large", "small أو large؟"),
        ("ja", "smallかlarge", "smallかlarge？"),
        ("en", "small and large", None),
        ("en", "small, large", None),
        ("en", "small or small", None),
        ("en", "small or perhaps one that is large", None),
    ],
)
def test_alternatives_are_both_returned_and_asked_about(language, text, question):
    reading = reader().read(text, language, NOW)

    assert len([entity for entity in reading.entities if entity.slot == "size"]) > 1
    assert next((missing.question for missing in reading.missing if missing.slot == "size"), None) == question


def test_alternatives_stay_in_one_of_two_equal_slots():
    reading = reader().read("small, to Berlin or Rom on Friday or Monday", "en", NOW)

    assert [(entity.slot, entity.value) for entity in reading.entities] == [
        ("size", "small"),
        ("target", "Berlin"),
        ("target", "Rom"),
        ("day", "2026-11-27"),
        ("day", "2026-11-23"),
    ]
    assert [(one.slot, one.question) for one in reading.missing] == [
        ("target", "Berlin or Rom?"),
        ("day", "Friday or Monday?"),
    ]


def test_a_long_way_between_two_values_joins_nothing():
    assert joined_by_or("a or b", 1, 5, "en")
    assert not joined_by_or("a b", 1, 2, "en")
    assert not joined_by_or("a" + " or the" * 10 + " b", 1, 71, "en")


@pytest.mark.parametrize(
    ("language", "text", "amounts"),
    [
        ("en", "20 to 30 euros", [20, 30]),
        ("en", "20 or 30 euros", [20, 30]),
        ("en", "between 20 and 30 euros", [20, 30]),
        ("en", "20, 25 or 30 euros", [20, 25, 30]),
        ("en", "20 euros or 30", [20, 30]),
        ("en", "20 euros or 30 minutes", [20]),
        ("de", "zwanzig oder dreißig Euro", [20, 30]),
        ("fr", "entre 20 et 30 euros", [20, 30]),
        ("ja", "20か30ユーロ", [20, 30]),
    ],
)
def test_amounts_that_share_a_unit_are_all_asked_about(language, text, amounts):
    pay = Intent("pay", (marked("pay {amount=5 euros}"),), slots=(Slot("amount", "money"),))
    reading = slot_readers(Registry((pay,)))["pay"].read(text, language, NOW)

    assert [one.value for one in reading.entities] == [{"amount": amount, "currency": "EUR"} for amount in amounts]
    mark = "？" if language == "ja" else "?"
    assert [one.question for one in reading.missing] == (
        [f"{text}{mark}".removeprefix("between ").removeprefix("entre ")] if len(amounts) > 1 else []
    )
