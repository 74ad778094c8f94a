"""Ordinals."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.ordinals import OrdinalFinder


@pytest.mark.parametrize(
    ("language", "text", "said", "value"),
    [
        ("en", "the second one", "second", 2),
        ("en", "the 21st row", "21st", 21),
        ("en", "my last order", "last", -1),
        ("de", "das zweite", "zweite", 2),
        ("de", "im dritten Stock", "dritten", 3),
        ("de", "der 3. Eintrag", "3.", 3),
        ("de", "den letzten", "letzten", -1),
        ("es", "la 2ª opción", "2ª", 2),
        ("es", "el tercero", "tercero", 3),
        ("fr", "le 1er", "1er", 1),
        ("fr", "la deuxième", "deuxième", 2),
        ("it", "il 3° piano", "3°", 3),
        ("it", "la quarta", "quarta", 4),
        ("it", "l'ultimo", "ultimo", -1),
        ("fr", "l’onzième", "onzième", 11),
        ("en", "a third one", "third", 3),
        ("en", "the one before last", "one before last", -2),
        ("pt", "o terceiro", "terceiro", 3),
        ("pt", "o 2º", "2º", 2),
        ("pt", "a terceira", "terceira", 3),
        ("nl", "de 2e", "2e", 2),
        ("nl", "de laatste", "laatste", -1),
        ("pl", "drugi wynik", "drugi", 2),
        ("ru", "второй", "второй", 2),
        ("ru", "3-й вариант", "3-й", 3),
        ("ru", "последнюю", "последнюю", -1),
        ("tr", "ikinci seçenek", "ikinci", 2),
        ("tr", "3. olanı", "3.", 3),
        ("ar", "الثاني", "الثاني", 2),
        ("fa", "سوم", "سوم", 3),
        ("zh", "第三个", "第三", 3),
        ("zh", "第12页", "第12", 12),
        ("ja", "二番目の", "二番目", 2),
        ("ja", "第3回", "第3", 3),
        ("tlh", "second", "second", 2),
    ],
)
def test_ordinal_is_found(language, text, said, value):
    assert found(OrdinalFinder(), text, language) == {said: value}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "two of 3"),
        ("de", "am 3.12."),
        ("en", "3rdparty"),
        ("ru", "пятница"),
        ("de", "acht"),
        ("en", "a third of them"),
        ("en", "one fifth"),
        ("fr", "un cinquième de la somme"),
        ("it", "un terzo del totale"),
    ],
)
def test_other_numbers_are_no_ordinals(language, text):
    assert found(OrdinalFinder(), text, language) == {}
