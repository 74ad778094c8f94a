"""The table of words around hours."""

from __future__ import annotations

from datetime import time

import pytest

from intentmatch.slots.clock_words import CLOCK_WORDS


@pytest.mark.parametrize("language", CLOCK_WORDS)
def test_words_of_each_language_are_whole_and_name_times_of_the_day(language):
    words = CLOCK_WORDS[language]
    listed = [*words.before.split("|"), *words.after.split("|"), *words.named, *words.hours, *words.halves]

    assert words.morning
    assert words.afternoon
    assert all(time.fromisoformat(value) for value in words.named.values())
    assert not any(word != word.strip() for word in listed)
    assert set(words.hours.values()) <= set(range(1, 25))
    assert set(words.halves.values()) <= set(range(1, 13))
    assert all(-60 < minutes < 60 for minutes in (*words.minutes_before.values(), *words.minutes_after.values()))
