"""Patterns around days and times, by language."""

from __future__ import annotations

import pytest

from intentmatch.slots.message import Message
from intentmatch.slots.moment_patterns import patterns
from intentmatch.slots.moment_words import LATER_WEEKDAYS, MOMENT_WORDS


@pytest.mark.parametrize("language", MOMENT_WORDS)
def test_words_of_each_language_join_a_day_and_a_time(language):
    words = patterns(Message("", language))

    assert words.at.fullmatch(" ")
    assert not words.at.fullmatch(" xyz ")
    assert words.to.fullmatch("-")
    assert set(words.units.values()) == {"week", "month", "year", "weekend"}


def test_language_without_words_has_patterns_that_join_by_a_space_alone():
    words = patterns(Message("", "tlh"))

    assert words.at.fullmatch(", ")
    assert words.periods.search("next week") is None
    assert words.around.search("at 9") is None


def test_message_without_a_language_has_english_patterns():
    assert patterns(Message("")) is patterns(Message("", "en-GB"))


def test_later_weekdays_are_of_known_languages():
    assert set(LATER_WEEKDAYS) <= set(MOMENT_WORDS)
