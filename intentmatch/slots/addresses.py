"""Numbers that are part of a postal address ("12 Baker Street", "calle Mayor 5", "Hauptstr. 5a")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message
from intentmatch.slots.word_patterns import either
from intentmatch.text.normalize import bare

_AFTER_NAME = (
    "street st road rd avenue ave lane ln square sq boulevard blvd crescent terrace parkway "
    "straße strasse str platz weg allee gasse straat laan plein sokak sokağı sk cadde caddesi cad bulvarı mahallesi "
    "улица ул проспект пр-т переулок шоссе бульвар"
)
"""Words for streets that follow the street's name. Some stand before the name in other languages."""
_BEFORE_NAME = (
    "rue avenue boulevard chemin quai impasse allée calle avenida avda plaza paseo carretera via viale piazza "
    "corso vicolo rua praça travessa alameda ulica ul aleja plac улица ул проспект пр переулок площадь "
    "شارع خیابان کوچه بلوار"
)
"""Words for streets that stand before the street's name."""
_ENDINGS = "straße strasse str platz weg allee gasse straat laan plein gracht"
"""Ends of street names that are one word ("Hauptstraße")."""
_UNITS = (
    "apartment apt flat suite unit floor postcode wohnung postleitzahl piso puerta postal "
    "appartement étage interno daire kat дом д квартира кв корпус mieszkania lokal پلاک واحد"
)
"""Words before the number of a house or flat, or before a postal code."""

_NAME = r"(?P<name>(?: [^\W\d_]+){0,3}?)"
_HOUSE = r"(?P<number>[0-9]{1,5}(?:[ -]?[a-z](?![a-z]))?)"
# There the number follows the street, and signs stand between them in place of spaces: "中山路 5号", "3丁目2-1".
_EAST_ASIAN = re.compile(
    r"(?:[路街道巷弄里町村市区]|丁目|番地?) ?[0-9]{1,5}(?:[-の][0-9]{1,5}){0,3} ?(?:号|號|弄|番地|丁目|番|室|楼|樓)?"
)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = (_AFTER_NAME, _BEFORE_NAME, _UNITS, _ENDINGS)
    after, before, units, ending = (either(set(map(bare, some.split()))) for some in words)
    begins, ends = r"(?<![^\W_])", r"(?![^\W_])"
    return (
        re.compile(rf"{begins}{_HOUSE}{_NAME} (?:{after}){ends}"),  # 12 Baker Street
        re.compile(rf"{begins}{_HOUSE} (?:bis |ter )?(?:{before}){ends}"),  # 12 rue de Rivoli
        re.compile(rf"{begins}(?:{after}|{before}){_NAME} {_HOUSE}{ends}"),  # Baker Street 12, calle Mayor 5
        re.compile(rf"{begins}[^\W\d_]{{2,30}}(?:{ending}) {_HOUSE}{ends}"),  # Hauptstraße 5
        re.compile(rf"{begins}(?:{units}) {_HOUSE}{ends}"),  # flat 3
    )


def house_numbers(message: Message) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers of houses, flats and postal codes in a message."""
    text = message.bare
    # Most messages have no digit, and need none of the patterns.
    if not any(map(str.isdigit, text)):
        return
    functional = function_words(message.language)
    for pattern in _patterns():
        for found in pattern.finditer(text):
            # "2 pizzas to Baker Street" is no house number, but "rue de la Paix 5" is one.
            between = found.groupdict().get("name") or ""
            if found.start() == found.start("number") and not functional.isdisjoint(between.split()):
                continue
            if span := message.aligned.span(*found.span("number")):
                yield span
    for found in _EAST_ASIAN.finditer(message.text):
        yield found.span()
