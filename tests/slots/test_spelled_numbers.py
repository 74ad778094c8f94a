"""Numbers that another program spells out are read back, in the languages that both know.

`spelled_numbers.json` was made once with num2words 0.5.14 (LGPL, which does not cover what it prints):
`num2words(number, lang=language)` for 0 to 100 and thirty larger numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intentmatch.slots.message import Message
from intentmatch.slots.numbers import find_numbers

SPELLED = json.loads(Path(__file__).with_name("spelled_numbers.json").read_text(encoding="utf-8"))
OTHERWISE = {
    # Articles, which are numbers only beside a unit.
    "es": {"uno"},
    "fa": {"یک", "نه"},  # the second one also means "no"
    "fr": {"un"},
    "it": {"uno"},
    "nl": {"één"},
    "pt": {"um"},
    "tr": {"bir"},
    # Stems before a noun.
    "ar": {"مئتا", "ألفا", "مليونا"},
}
"""Numbers that are not read when they stand alone."""


@pytest.mark.parametrize("language", SPELLED)
def test_spelled_numbers_are_read_back(language):
    wrong = {}
    for number, text in SPELLED[language].items():
        said = text.replace(",", "")  # "one thousand, two hundred": a comma parts numbers
        hits = find_numbers(Message(said, language))
        if [(hit.start, hit.end, hit.value) for hit in hits] != [(0, len(said), int(number))]:
            wrong[said] = number

    assert set(wrong) == OTHERWISE.get(language, set())


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [("je veux dix-sept billets", "fr", 17), ("dix neuf", "fr", 19), ("on bir kişi", "tr", 11), ("onbeş", "tr", 15)],
)
def test_ten_before_units_is_one_number(text, language, value):
    assert [hit.value for hit in find_numbers(Message(text, language))] == [value]
