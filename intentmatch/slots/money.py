"""Slots of kind "money": amounts with a currency, as `{"amount": 50, "currency": "EUR"}` with the code of ISO 4217.

A sign or name that several currencies share is that of the language's region ("$" in en-CA is CAD), otherwise the most
usual one: "$" is USD, "peso" is MXN, "¥" is CNY in Chinese and JPY elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from intentmatch.languages.own import with_english
from intentmatch.languages.structure import structure_of
from intentmatch.languages.tables import Table
from intentmatch.slots.message import Message, SlotHit
from intentmatch.slots.number_forms import NUMBER_FORMS, NumberForms
from intentmatch.slots.numbers import number_at, tidy
from intentmatch.slots.quantities import Quantity, Units
from intentmatch.slots.range_words import ends_a_part
from intentmatch.text.normalize import base_language

_NAMES = Table[Mapping[str, str]]("currencies")
"""Names of currencies by language; English ones are read in every language."""
_REGIONS = {
    "$": {"AU": "AUD", "CA": "CAD", "NZ": "NZD", "HK": "HKD", "TW": "TWD", "SG": "SGD", "MX": "MXN", "AR": "ARS",
          "CL": "CLP", "CO": "COP"},
    "peso": {"AR": "ARS", "CL": "CLP", "CO": "COP", "UY": "UYU", "DO": "DOP", "PH": "PHP"},
    "dollar": {"AU": "AUD", "CA": "CAD", "NZ": "NZD", "HK": "HKD", "SG": "SGD"},
    "pound": {"EG": "EGP"},
    "shilingi": {"KE": "KES", "UG": "UGX"},
}  # fmt: skip
"""Signs and beginnings of names whose currency depends on the region of the language."""
_CENTS = (
    "cent=EUR cents=EUR penny=GBP pence=GBP p=GBP centime=EUR centimes=EUR céntimos=EUR céntimo=EUR centavos=MXN "
    "centavo=MXN centesimi=EUR centesimo=EUR cêntimos=EUR копеек=RUB копейки=RUB коп=RUB kuruş=TRY grosz=PLN "
    "grosze=PLN groszy=PLN центов=EUR центы=EUR rappen=CHF"
)
"""Hundredths with the currency that they are of if no amount stands before them."""
_CENTS_OF = Table[Mapping[str, str]]("cents")
_SIGNS = Table[Mapping[str, str]]("currency_signs")
"""Signs and codes of currencies, which may stand before and after the amount."""
_CENT = "cent "
"""What the unit of cents begins with, before its currency."""
_REST = re.compile(r" ?(?:(?:and|und|et|y|con|e|i|en) )?")
"""What stands between an amount and its cents: "3€50", "twelve euros fifty"."""
# "Twelve euros five" may go on with five of something else; cents below ten are said with a nought.
_LEAST_REST, _MOST_REST = 10, 99
_WORDS_TOO = frozenset(["try", "mad", "ron", "sar", "cop", "rub"])
"""Codes that are words too: they are read before the amount only."""


def find_money(message: Message) -> list[SlotHit]:
    """Return amounts in the message's language, with an added amount of cents ("5 euros 20 cents")."""
    found: list[tuple[int, int, float, str]] = []
    for amount in _units(message.language).find(message):
        number, unit = amount.value, amount.unit.removeprefix(_CENT)
        if unit == amount.unit:
            found.append(_with_rest(message, amount))
            continue
        before = found[-1] if found else None
        if before and len(message.text[before[1] : amount.start].split()) <= 1 and amount.start - before[1] < 8:
            found[-1] = (before[0], amount.end, before[2] + number / 100, before[3])
        else:
            found.append((amount.start, amount.end, number / 100, unit))
    # 3.1 + 20 / 100 is 3.3000000000000003.
    return [
        SlotHit(*message.aligned.widened(start, end), {"amount": tidy(number, 4), "currency": currency})
        for start, end, number, currency in found
    ]


def _with_rest(message: Message, amount: Quantity) -> tuple[int, int, float, str]:
    """Return an amount with the cents behind it that are a number alone, which ends the message or a part of it."""
    gap = _REST.match(message.plain, amount.end)
    rest = number_at(message, gap.end()) if gap else None
    if rest and isinstance(rest.value, int) and isinstance(amount.value, int) and ends_a_part(message, rest.end):
        is_tenths = rest.value < _LEAST_REST and "tenths_behind_amount" in structure_of(message.base_language)
        if is_tenths or _LEAST_REST <= rest.value <= _MOST_REST:
            return amount.start, rest.end, amount.value + rest.value / (10 if is_tenths else 100), amount.unit
    return amount.start, amount.end, amount.value, amount.unit


@lru_cache(maxsize=64)
def _units(language: str | None) -> Units:
    first = base_language(language) if language else "en"
    # Of "en" this is the whole code, which is no region.
    region = (language or "").rpartition("-")[2]
    signs, names = (
        {word: code for each in with_english(first) for word, code in table.get(each, {}).items()}
        for table in (_SIGNS, _NAMES)
    )
    for start, currencies in _REGIONS.items():
        if region in currencies:
            own = (name for name in names if name.startswith(start) and " " not in name)  # not "dollars américains"
            names |= dict.fromkeys(own, currencies[region])
            signs |= {sign: currencies[region] for sign in signs if sign == start}
    cents = {word: _CENT + code for word, _, code in (part.partition("=") for part in _CENTS.split())}
    cents |= {word: _CENT + code for word, code in _CENTS_OF.get(first, {}).items()}
    known = {**cents, **{sign: code for sign, code in signs.items() if sign not in _WORDS_TOO}, **names}
    return Units(known, signs, NUMBER_FORMS.get(first, NumberForms()).of)
