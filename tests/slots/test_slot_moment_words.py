"""The table of words around days and times."""

from __future__ import annotations

import re

import pytest

from intentmatch.languages.tables import Table
from intentmatch.slots.moment_words import MOMENT_WORDS


def test_moments_know_the_languages_of_number_words():
    assert set(MOMENT_WORDS) == {*Table[object]("cardinals")} | {"ja", "ko", "vi", "zh"}


@pytest.mark.parametrize("language", MOMENT_WORDS)
def test_each_language_has_words_for_the_main_ideas(language):
    words = MOMENT_WORDS[language]

    assert all([words.next, words.this, words.last, words.week, words.month, words.year, words.weekend, words.later])
    assert all([words.morning, words.afternoon, words.evening, words.night, words.to, words.ago])
    assert "n" in re.compile(words.day_of_month).groupindex
    # Korean "주 " is a week, and "주" begins "주문" (order).
    spaced = (word for field in words[:-1] for word in field.split("|") if word != word.strip(" "))
    assert set(spaced) <= ({"주 ", "달 ", "~전 "} if language == "ko" else set())
