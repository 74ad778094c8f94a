"""Words of languages for dates."""

from __future__ import annotations

import pytest

from intentmatch.slots.date_words import date_words, month_names, order_of_dates, short_weekday_names


@pytest.mark.parametrize(
    ("language", "name", "number"),
    [("en", "november", 11), ("de-AT", "marz", 3), ("pl", "grudniu", 12), ("no", "mai", 5)],
)
def test_months_have_their_numbers(language, name, number):
    assert month_names(language)[name] == number


def test_short_weekdays_are_no_other_words():
    pattern, numbers = short_weekday_names("de")

    assert numbers["fr"] == 4
    assert "so" not in numbers
    assert pattern.search("am fr")


@pytest.mark.parametrize(
    ("language", "order"), [(None, "MDY"), ("en", "MDY"), ("en-GB", "DMY"), ("de", "DMY"), ("zh", "YMD"), ("xx", "DMY")]
)
def test_order_of_dates_is_that_of_the_language(language, order):
    assert order_of_dates(language) == order


def test_a_language_without_data_has_no_words():
    assert date_words("xx") is None
    assert month_names("xx") == {}
