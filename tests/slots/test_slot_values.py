"""Values that finders find in messages of many languages: the files of `values/`, one for each kind of slot.

Each file maps a promise to languages and their messages. `- at 6 pm: {6 pm: "18:00"}` is a message, the text of the
value in it, and the value. Quote what YAML would convert, such as "18:00" and "no".
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from slot_helpers import found

from intentmatch.slots.clock import find_times
from intentmatch.slots.days import find_dates
from intentmatch.slots.durations import find_durations
from intentmatch.slots.internet import find_emails, find_urls
from intentmatch.slots.moments import find_moments
from intentmatch.slots.money import find_money
from intentmatch.slots.numbers import find_numbers
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.phones import find_phones
from intentmatch.slots.temperatures import find_temperatures

FILES = sorted(Path(__file__).with_name("values").glob("*.yaml"))
FINDERS = {
    "date": find_dates,
    "datetime": find_moments,
    "duration": find_durations,
    "email": find_emails,
    "money": find_money,
    "number": find_numbers,
    "ordinal": find_ordinals,
    "phone": find_phones,
    "temperature": find_temperatures,
    "time": find_times,
    "url": find_urls,
}


def test_every_kind_has_a_file():
    assert [file.stem for file in FILES] == sorted(FINDERS)


@pytest.mark.parametrize(
    ("kind", "language", "text", "expected"),
    [
        pytest.param(file.stem, language, *case, id=f"{file.stem}: {promise}: {language}: {case[0]}")
        for file in FILES
        for promise, languages in yaml.safe_load(file.read_text(encoding="utf-8")).items()
        for language, messages in languages.items()
        for message in messages
        for case in message.items()
    ],
)
def test_values_are_found(kind, language, text, expected):
    values = found(FINDERS[kind], text, language)

    assert values == expected
    assert [type(value) for value in values.values()] == [type(value) for value in expected.values()]
