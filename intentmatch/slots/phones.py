"""Slots of kind "phone": telephone numbers, as digits after "+" if the country is written ("+442079460958").

Numbers are recognised by their form, without the plans of countries: seven to fifteen digits in groups, or in one run
that begins with "+" or "0" or has nine digits or more. An extension follows as in RFC 3966: "+4930901820;ext=12".
"""

from __future__ import annotations

import re

from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.word_patterns import any_of

# At most 15 digits by E.164; below seven, house numbers, years and amounts are more frequent.
_FEWEST, _MOST = 7, 15
_FEWEST_IN_A_RUN = 9
_NUMBER = re.compile(
    r"(?:(?<![0-9a-z_.,/@#-])(?<![0-9]:)|(?<![0-9])(?=[+(]))"
    r"(?P<number>(?:\+ ?)?(?:\([0-9+]{1,5}\)|[0-9])(?:[ ./-]{0,2}(?:\([0-9]{1,5}\)|[0-9])){5,18})"
    r"(?:,? ?(?:ext|extension|x|durchwahl|anexo|poste|int|interno|доб)\.? ?(?P<ext>[0-9]{1,5}))?"
    r"(?![0-9a-z]|[.,/:-][0-9]|@)"
)
_DATE = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:[ .][0-9]{3}){1,4}")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,4}){3}")
"""An IP address, or a version."""
_PLACE = re.compile(r"[0-9]{1,3}\.[0-9]{3,8} [0-9]{1,3}\.[0-9]{3,8}")
"""Coordinates."""
_YEARS = re.compile(r"(?:19|20)[0-9]{2}(?:[ /-](?:19|20)[0-9]{2})+")
_CHECKED = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2}-[0-9]{1,2}")
"""A number of a person or company with its check digits."""
_BOOK = re.compile(r"97[89][ -](?:[0-9]+[ -]){3}[0-9]")
_OTHERS = (_DATE, _ADDRESS, _PLACE, _YEARS, _CHECKED, _BOOK)
_CODES = (
    "ip version v isbn iban bic vat ust-idnr steuernummer order bestellung bestellnummer invoice rechnung "
    "rechnungsnummer customer kundennummer account konto kontonummer postcode zip plz ticket booking reference serial "
    "card karte kartennummer pedido factura commande facture ordine fattura zamówienie заказ счет sipariş fatura 订单 "
    "订单号 注文"
)
_IS = "(?: (?:is|number|no|nr|id|code|ist|est|es))*[.:#]* ?#?"
_CODE_BEFORE = re.compile(f"{any_of(map(plain, _CODES.split()))}{_IS}$")
"""Words before a number that is no telephone number."""
_LONGEST_BEFORE = 40
# The nought in "+44 (0)20" is dialled within the country only.
_TRUNK = re.compile(r"^(\+[^(]*)\(0\)")


def find_phones(message: Message) -> list[SlotHit]:
    """Return all telephone numbers."""
    hits = []
    for found in _NUMBER.finditer(message.plain):
        place = found.start()
        if _CODE_BEFORE.search(message.plain, max(place - _LONGEST_BEFORE, 0), place):
            continue
        value = _value(found["number"])
        if value is not None:
            value += f";ext={found['ext']}" if found["ext"] else ""
            hits.append(SlotHit(*message.aligned.widened(*found.span()), value))
    return hits


def _value(written: str) -> str | None:
    """Return the number without what separates its groups; None for dates, amounts, and too few or many digits."""
    digits = "".join(filter(str.isdecimal, _TRUNK.sub(r"\1", written)))
    international = written.startswith(("+", "(+", "00"))
    digits = digits.removeprefix("00") if written.startswith("00") else digits
    if not _FEWEST <= len(digits) <= _MOST:
        return None
    if not international:
        # A short run of digits is an amount or an order more often than a telephone number.
        if written.isdecimal() and len(digits) < _FEWEST_IN_A_RUN and not written.startswith("0"):
            return None
        if any(other.fullmatch(written) for other in _OTHERS):
            return None
        if _THOUSANDS.fullmatch(written) and len(digits) < _FEWEST_IN_A_RUN:
            return None
    return f"+{digits}" if international else digits
