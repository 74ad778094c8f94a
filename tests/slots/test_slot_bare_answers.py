"""Answers to one question that are a number alone; tests of whole dialogues are in `tests/dialogue`."""

from __future__ import annotations

import pytest

from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.slots import slot_readers

SLOTS = tuple(Slot(kind, kind) for kind in ("number", "time", "ordinal", "temperature", "money"))
READER = slot_readers(Registry((Intent("x", (Utterance("say", "en"),), slots=SLOTS),)))["x"]


def answered(kind: str, text: str, language: str) -> list[object]:
    return [entity.value for entity in READER.fill(text, [kind], language)]


@pytest.mark.parametrize(
    ("kind", "language", "text", "value"),
    [
        ("time", "en", "8", "08:00"),
        ("ordinal", "en", "two", 2),
        ("temperature", "de", "zwanzig", {"amount": 20, "unit": None}),
        ("money", "nl", "150", {"amount": 150, "currency": None}),
        ("money", "en", "it was 54.20", {"amount": 54.2, "currency": None}),
        ("money", "pl", "30 zl", {"amount": 30, "currency": "PLN"}),
        ("number", "tr", "iki buçuk", 2.5),
        ("number", "it", "uno e mezzo", 1.5),
        ("number", "pt", "três e meia", 3.5),
        ("number", "fr", "un", 1),
        ("number", "vi", "năm người", 5),
    ],
)
def test_number_alone_is_what_was_asked_for(kind, language, text, value):
    assert answered(kind, text, language) == [value]


@pytest.mark.parametrize(
    ("kind", "language", "text"),
    [
        ("number", "en", "at 8"),
        ("number", "de", "18 Uhr"),
        ("number", "tr", "saat iki buçuk"),
        ("number", "it", "alle due e mezza"),
        ("number", "fa", "نه"),
        ("time", "fa", "نه"),
        ("time", "en", "25"),
        ("time", "vi", "năm người"),
        ("money", "en", "a dozen"),
    ],
)
def test_time_or_a_word_with_another_meaning_is_no_number(kind, language, text):
    assert answered(kind, text, language) == []
