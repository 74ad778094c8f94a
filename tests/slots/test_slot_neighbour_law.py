"""The neighbour law: a word beside a value that changes it is read with it, or the value is refused."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance, Value
from intentmatch.slots import SlotReader, slot_readers

NOW = datetime(2026, 11, 27, 10)
WORDS, BESIDE = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("neighbours.yaml", "beside.yaml")
)
LANGUAGES = sorted(WORDS)
KINDS = ("number", "ordinal", "date", "time", "datetime", "duration", "money", "temperature", "phone", "email", "url")
IN_DIGITS = {"number": "5", "date": "2026-12-01", "time": "18:30", "datetime": "2026-12-01", "phone": "+442079460958",
             "email": "anna@example.com", "url": "https://example.com"}  # fmt: skip


@lru_cache
def reader(kind: str) -> SlotReader:
    slots = (Slot("v", kind),)  # type: ignore[arg-type]
    return slot_readers(Registry((Intent("x", (Utterance("value", "en"),), slots=slots),)))["x"]


def values(kind: str, text: str, language: str) -> list[Value]:
    return [entity.value for entity in reader(kind).read(text, language, NOW).entities]


def said(kind: str, language: str) -> str:
    return WORDS[language].get("date" if kind == "datetime" else kind) or IN_DIGITS[kind]


def beside(kind: str, language: str) -> list[str]:
    """Return messages in which a word beside the value of `said` changes it."""
    value, words = said(kind, language), WORDS[language]
    gap = "" if language in ("ja", "zh") else " "
    more, minus, month, scale = (words[name] for name in ("more", "minus", "month", "scale"))
    texts = []
    if kind in ("number", "duration", "money", "temperature"):
        texts += [minus + gap + value]
    if kind in ("number", "date", "datetime", "ordinal"):
        texts += [f"{more} {value}", f"{month} {value}"]
    if kind in ("number", "date", "datetime", "ordinal", "time"):
        texts += [f"{value} {more}", f"{value} {month}"]
    if kind == "number":
        texts += [value + gap + scale]
    if kind in ("ordinal", "date", "datetime"):
        texts += [f"{words['unit']} {value}", f"{value} {words['unit']}"]
    if kind in ("date", "datetime"):
        texts += [linked.format(value) for linked in words["linked"]]
    if kind in ("money", "temperature", "duration"):
        texts += [f"{value} {more}", f"{more} {value}"]
    return texts


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("phone", "email", "url")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_alone_is_read_and_not_beside_a_word_that_changes_it(language, kind):
    alone = values(kind, said(kind, language), language)

    assert len(alone) == 1, said(kind, language)
    assert [text for text in beside(kind, language) if values(kind, text, language) == alone] == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("duration", "money", "temperature", "url")])
@pytest.mark.parametrize("code", ["1.{}", "{}.7", "3/{}", "{}/3", "7:{}", "{}:7", "1-2-{}", "{}-1-2", "{}#7"])
def test_a_part_of_a_code_is_no_value(kind, code):
    value = IN_DIGITS.get(kind, "2nd")

    assert values(kind, code.format(value), "en") != values(kind, value, "en")


@pytest.mark.parametrize(
    ("kind", "language", "text", "expected"),
    [
        pytest.param(kind, language, *case, id=f"{promise}: {kind}: {language}: {case[0]}")
        for promise, kinds in BESIDE.items()
        for kind, languages in kinds.items()
        for language, messages in languages.items()
        for message in messages
        for case in message.items()
    ],
)
def test_words_beside_a_value_change_it_or_leave_it(kind, language, text, expected):
    assert values(kind, text, language) == expected


def test_a_neighbour_that_is_the_value_of_another_slot_leaves_a_value():
    slots = Slot("day", "date"), Slot("guests", "number")
    both = slot_readers(Registry((Intent("x", (Utterance("table", "en"),), slots=slots),)))["x"]
    found = both.read("December 5 12 people", "en", NOW).entities

    assert [(one.slot, one.value) for one in found] == [("day", "2026-12-05"), ("guests", 12)]
    assert [one.value for one in both.read("table Friday 4", "en", NOW).entities] == ["2026-12-04", 4]


@given(
    st.text() | st.text(st.sampled_from("5 1-./:@ tomywek一万日半,½")),
    st.sampled_from(KINDS),
    st.sampled_from(LANGUAGES),
)
def test_any_text_is_read(text, kind, language):
    assert all(one.text for one in reader(kind).read(text, language, NOW).entities)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "anyone but the doctor Martin", []),
        ("en", "with Nguyen, not Martin", ["Nguyen"]),
        ("en", "not with Martin please", []),
        ("en", "why is Martin not in today", ["Martin"]),
        ("en", "I can not find Martin", ["Martin"]),
        ("fr", "avec n'importe qui sauf le docteur Martin", []),
        ("fr", "avec Nguyen au lieu de Martin", ["Nguyen"]),
        ("fr", "pas Martin", []),
        ("de", "alle außer Martin", []),
        ("de", "das geht nicht bei Martin", ["Martin"]),
        ("es", "con Nguyen, no con Martin", ["Nguyen"]),
        ("es", "más o menos con Martin", ["Martin"]),
        ("it", "tutti tranne Martin", []),
        ("pt", "com Nguyen em vez do Martin", ["Nguyen"]),
        ("nl", "iedereen behalve Martin", []),
        ("pl", "wszyscy oprócz Martin", []),
        ("ru", "к Nguyen, а не к Martin", ["Nguyen"]),
        ("ru", "точно не к Martin", []),
        ("sv", "Nguyen i stället för Martin", ["Nguyen"]),
        ("tr", "Martin değil Nguyen olsun", ["Nguyen"]),
    ],
)
def test_name_that_is_said_not_to_be_meant_is_no_value(language: str, text: str, expected: list[str]) -> None:
    words = ("doctor", "docteur")
    names = [SlotValue(name, tuple(Utterance(f"{word} {name}") for word in words)) for name in ("Martin", "Nguyen")]
    slot = Slot("who", "list", tuple(names))
    reader = slot_readers(Registry((Intent("book", (Utterance("book", language),), slots=(slot,)),)))["book"]

    assert [entity.value for entity in reader.read(text, language).entities] == expected
