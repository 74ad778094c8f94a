"""The examples in the languages' files: each section of patterns finds one and leaves one alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from intentmatch.languages import own
from intentmatch.languages.files import plain_section
from intentmatch.languages.sections import WITH_EXAMPLES
from intentmatch.languages.tables import FOLDER, codes, read_section, sections_of
from intentmatch.slots.clock import find_times
from intentmatch.slots.durations import find_durations
from intentmatch.slots.message import Find, Message
from intentmatch.slots.moments import find_moments
from intentmatch.slots.money import find_money
from intentmatch.slots.numbers import find_numbers
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.temperatures import find_temperatures

NOW = datetime(2026, 11, 21, 10)
"""A Saturday."""
FINDERS: Mapping[str, Find] = {
    "cardinals": find_numbers,
    "number_forms": find_numbers,
    "ordinals": find_ordinals,
    "currencies": find_money,
    "cents": find_money,
    "degrees": find_temperatures,
    "durations": find_durations,
    "clock": find_times,
    **dict.fromkeys(
        (
            *("days", "weekdays", "last_weekdays", "months", "weekday_moves"),
            *("day_parts", "weekday_parts", "moments"),
        ),
        find_moments,
    ),
}

RECORDS = ("cardinals", "number_forms", "ordinals", "durations", "moments", "clock")
"""Sections with fields."""
ELSEWHERE = {"number_forms.vague", "number_forms.of", "number_forms.compared", "ordinals.part_articles"}
"""Fields that the values of slots are checked by, not found: `tests/slots` has their cases."""
IDLE = {
    "ar": {"cardinals.articles", "cardinals.inside"},
    "de": {"moments.at"},
    "fa": {"cardinals.compounding"},
    "fr": {"moments.at"},
    "ja": {"number_forms.more", "clock.morning", "clock.afternoon", "clock.night", "clock.parts_first"},
    "ms": {"moments.night"},
    "pl": {"moments.at"},
    "sw": {"moments.later", "moments.ago"},
    "tr": {"cardinals.compounding"},
    "zh": {"number_forms.more", "moments.year", "moments.around"},
}
"""Fields whose words another field of the language has too, so that no message is read by them alone."""


def value_of(find: Find, text: str, language: str) -> str | None:
    """Return the value with the longest span, as the files write it: `20 EUR`, `2026-11-23 2026-11-29`."""
    hits = find(Message(text, language, NOW))
    return shown(max(hits, key=lambda hit: hit.end - hit.start).value) if hits else None


def shown(value: Any) -> str:
    return " ".join(str(part) for part in value.values() if part is not None) if isinstance(value, dict) else str(value)


@pytest.mark.parametrize("code", codes())
def test_each_section_of_patterns_has_its_examples(code):
    examples = read_section(code, "examples") or {}

    assert list(examples) == [name for name in WITH_EXAMPLES if name in sections_of(code)]
    assert all(section["finds"] and section["leaves"] for section in examples.values())


@pytest.mark.parametrize("code", [code for code in codes() if "examples" in sections_of(code)])
def test_examples_are_found_and_left_alone(code):
    for section, examples in read_section(code, "examples").items():
        find = FINDERS[section]
        assert {text: value_of(find, text, code) for text in examples["finds"]} == examples["finds"], section
        assert {text: value_of(find, text, code) for text in examples["leaves"]} == dict.fromkeys(examples["leaves"]), (
            section
        )


@pytest.mark.parametrize("section", [name for name in WITH_EXAMPLES if name not in ("degrees", "currencies", "cents")])
def test_an_example_needs_the_section_of_its_language(section):
    """Read as a language without words, few of the messages have a value: the files make the difference."""
    found = [
        value_of(FINDERS[section], text, "tlh") == value
        for code in codes()
        for text, value in (read_section(code, "examples") or {}).get(section, {"finds": {}})["finds"].items()
    ]

    assert sum(found) <= len(found) / 4


@pytest.mark.parametrize("code", [code for code in codes() if "examples" in sections_of(code)])
def test_each_field_is_needed_by_an_example(code, monkeypatch):
    """Without the words of a field, an example of its section fails: a field that nobody checks may say anything."""
    file = FOLDER / f"{code}.yaml"
    idle = set()
    for section, examples in read_section(code, "examples").items():
        fields = plain_section(file, section)
        names = [name for name in fields if section in RECORDS and f"{section}.{name}" not in ELSEWHERE]
        for field in names:
            without = f"{code}@{section}.{field}"
            left = {name: value for name, value in fields.items() if name != field}
            form = own.OwnForm({section: left}, frozenset({section}))
            monkeypatch.setattr(own, "_FORMS", {without: form})
            find = FINDERS[section]
            found = {text: value_of(find, text, without) for text in examples["finds"]}
            spared = any(value_of(find, text, without) for text in examples["leaves"])
            if found == examples["finds"] and not spared:
                idle.add(f"{section}.{field}")

    assert idle == IDLE.get(code, set())
