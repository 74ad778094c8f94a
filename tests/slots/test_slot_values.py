"""Values that finders find in messages of many languages: the files of `values/`, one for each kind of slot.

Each file maps a promise to languages and their messages. `- at 6 pm: {6 pm: "18:00"}` is a message, the text of the
value in it, and the value. Quote what YAML would convert, such as "18:00" and "no".
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from slot_helpers import found

from intentmatch.slots.clock import TimeFinder
from intentmatch.slots.days import DateFinder
from intentmatch.slots.durations import DurationFinder
from intentmatch.slots.internet import EmailFinder, UrlFinder
from intentmatch.slots.moments import MomentFinder
from intentmatch.slots.money import MoneyFinder
from intentmatch.slots.numbers import NumberFinder
from intentmatch.slots.ordinals import OrdinalFinder
from intentmatch.slots.phones import PhoneFinder
from intentmatch.slots.temperatures import TemperatureFinder

FILES = sorted(Path(__file__).with_name("values").glob("*.yaml"))
FINDERS = {
    "date": DateFinder(),
    "datetime": MomentFinder(),
    "duration": DurationFinder(),
    "email": EmailFinder(),
    "money": MoneyFinder(),
    "number": NumberFinder(),
    "ordinal": OrdinalFinder(),
    "phone": PhoneFinder(),
    "temperature": TemperatureFinder(),
    "time": TimeFinder(),
    "url": UrlFinder(),
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
