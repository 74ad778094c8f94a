"""Numbers of houses and flats."""

from __future__ import annotations

import pytest

from intentmatch.slots.addresses import house_numbers
from intentmatch.slots.message import Message


@pytest.mark.parametrize(
    ("text", "language", "numbers"),
    [
        ("12 Baker Street", "en", ["12"]),
        ("send it to Baker Street 12b, flat 3", "en", ["12b", "3"]),
        ("calle Mayor 5, Madrid", "es", ["5"]),
        ("12 rue de Rivoli", "fr", ["12"]),
        ("12 bis avenue Foch", "fr", ["12"]),
        ("Hauptstraße 5 und Lindenweg 7", "de", ["5", "7"]),
        ("via Garibaldi 10", "it", ["10"]),
        ("улица Ленина 4, квартира 9", "ru", ["4", "9"]),
        ("Keizersgracht 100", "nl", ["100"]),
        ("南京路100号", "zh", ["路100号"]),
        ("2 pizzas to Baker Street", "en", []),
        ("two tables", "en", []),
        ("place 2 orders", "en", []),
        ("we drive 5 km", "en", []),
    ],
)
def test_house_numbers_are_found(text, language, numbers):
    assert sorted({text[slice(*span)] for span in house_numbers(Message(text, language))}) == sorted(numbers)
