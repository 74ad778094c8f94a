"""A message that is nothing but a value is told from one that names something."""

from __future__ import annotations

import pytest

from intentmatch.slots.values_alone import is_value_alone


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "10 Uhr"),
        ("de", "um 10 Uhr bitte"),
        ("de", "zwei"),
        ("de", "0171 2345678"),
        ("en", "at 6 pm"),
        ("en", "the second"),
        ("en", "ann@example.com"),
        ("es", "veinte euros"),
        (None, "1,234"),
    ],
)
def test_values_with_function_words_are_values_alone(language: str | None, text: str) -> None:
    assert is_value_alone(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "Zimmer 5"), ("de", "10 Termine"), ("en", "A3 copies"), ("en", "the"), ("pl", "Lipowa 5"), ("en", "")],
)
def test_message_with_another_word_or_without_value_is_none(language: str, text: str) -> None:
    assert not is_value_alone(text, language)
