"""Fillers: the texts that replace a slot in sentences of a language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import pytest

from intentmatch.core.types import Intent, Registry, Slot, SlotKind, SlotValue, Utterance
from intentmatch.languages.tables import Table
from intentmatch.registry.templates.slot_fillers import Fillers, fillers
from intentmatch.slots import slot_readers

SAMPLES = Table[Mapping[str, tuple[str, ...]]]("samples")

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
def test_list_fillers_follow_the_language_of_the_line(language, texts):
    """Texts without a language are the fallback; every value comes once before any synonym."""
    assert fillers(CITY, language) == texts


def test_examples_take_precedence():
    """In a language without examples, all examples are used."""
    slot = Slot("city", "list", CITY.values, examples=(Utterance("Ulm", "de"), Utterance("Bath", "en")))

    assert fillers(slot, "de") == ["Ulm"]
    assert fillers(slot, "fr") == ["Ulm", "Bath"]


@pytest.mark.parametrize(("kind", "language"), [("pattern", "en"), ("any", None), ("date", "tl"), ("date", None)])
def test_slot_without_texts_is_filled_with_its_name(kind, language):
    assert fillers(Slot("order_number", kind), language) == ["order number"]


def test_numbers_times_and_dates_have_common_texts():
    assert all(text.isdigit() for text in fillers(Slot("x", "number"), "de"))
    assert all(":" in text for text in fillers(Slot("x", "time"), None))
    assert fillers(Slot("x", "date"), "pt-BR") == ["hoje", "amanhã", "segunda-feira"]


def test_samples_have_three_texts_per_language():
    assert all(len(set(texts)) == 3 for kinds in SAMPLES.values() for texts in kinds.values())
    assert {kind for kinds in SAMPLES.values() for kind in kinds} == {"date", "duration", "ordinal"}


@pytest.mark.parametrize("kind", [kind for kind in get_args(SlotKind) if kind not in ("list", "pattern", "any")])
def test_fillers_of_each_kind_are_read_back_as_its_values(kind):
    for language in (code for code, kinds in SAMPLES.items() if "ordinal" in kinds):
        slot = Slot("x", kind)
        registry = Registry((Intent("a", (Utterance("a", language),), slots=(slot,)),))
        for text in fillers(slot, language):
            entities = slot_readers(registry)["a"].read(text, language).entities
            assert [entity.text for entity in entities] == [text], (language, text)


def test_fillers_rotate_separately_for_each_language():
    turns = Fillers([CITY])

    assert [turns.next("city", "en") for _ in range(5)] == ["Munich", "New York", "Rome", "NYC", "Munich"]
    assert turns.next("city", "de") == "München"
    assert turns.next("nobody_knows", "de") == "nobody knows"
