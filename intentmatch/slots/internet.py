"""Slots of the kinds "email" and "url"."""

from __future__ import annotations

import re

from intentmatch.slots.message import Message, SlotHit
from intentmatch.text.redact import TOP_LEVEL

_LETTERS = "A-Za-z0-9À-ÖØ-öø-ɏЀ-ӿ"
_LABEL = rf"[{_LETTERS}](?:[{_LETTERS}-]{{0,61}}[{_LETTERS}])?"
_LOCAL = re.compile(rf"[{_LETTERS}_!#$%&'*+/=?^`{{|}}~-]+(?:\.[{_LETTERS}_!#$%&'*+/=?^`{{|}}~-]+)*$")
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,8}}\.(?:xn--[a-z0-9-]{{1,59}}|[A-Za-zЀ-ӿ]{{2,24}})(?![{_LETTERS}])")
_LONGEST_LOCAL = 64

_PATH = r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]"
_LONGEST_URL = 2000
_URL = re.compile(
    rf"(?<![{_LETTERS}@.-])(?:"
    rf"(?P<scheme>[a-z][a-z0-9+]{{1,9}}://)(?:{_PATH}|[À-ÖØ-öø-ɏЀ-ӿ]){{1,{_LONGEST_URL}}}"
    rf"|(?:www\.{_LABEL}(?:\.{_LABEL}){{0,8}}|(?:{_LABEL}\.){{1,8}}(?:{'|'.join(TOP_LEVEL.split())}))"
    rf"(?![{_LETTERS}@-])(?::[0-9]{{2,5}})?(?:[/?#]{_PATH}{{0,{_LONGEST_URL}}})?)",
    re.IGNORECASE,
)
_ENDS = ".,;:!?'"
_BRACKETS = {")": "(", "]": "["}


def find_emails(message: Message) -> list[SlotHit]:
    """Return all e-mail addresses, their domains in lower case."""
    text, hits = message.text, []
    place = text.find("@")
    while place >= 0:
        # Looking back from each @ over 64 characters (RFC 5321) keeps the time linear: one pattern for whole addresses
        # is quadratic in rows of letters.
        local = _LOCAL.search(text[max(place - _LONGEST_LOCAL, 0) : place])
        domain = _DOMAIN.match(text, place + 1)
        if local and domain:
            start, end = place - len(local[0]), domain.end()
            if text[start - 1 : start] not in (".", "@") and text[end : end + 1] != "@":
                hits.append(SlotHit(*message.aligned.widened(start, end), text[start : place + 1] + domain[0].lower()))
        place = text.find("@", place + 1)
    return hits


def find_urls(message: Message) -> list[SlotHit]:
    """Return all addresses of web pages, with "https://" before those without a scheme; no e-mail addresses."""
    text = message.text
    if "." not in text and "://" not in text:
        return []
    hits = []
    for found in _URL.finditer(text):
        end = _end(text, *found.span())
        first = text[found.start() : end].partition(".")[0]
        # "A.b@c.com" is an e-mail address, and "e.g" no page.
        if text[end : end + 1] == "@" or (not found["scheme"] and len(first) < 2):
            continue
        value = text[found.start() : end]
        span = message.aligned.widened(found.start(), end)
        hits.append(SlotHit(*span, value if found["scheme"] else f"https://{value}"))
    return hits


def _end(text: str, start: int, end: int) -> int:
    """Return the end of an address without the punctuation of the sentence."""
    while end > start:
        last = text[end - 1]
        opening = _BRACKETS.get(last)
        # A bracket that is opened within the address belongs to it: ".../Berlin_(Band)".
        if last not in _ENDS and (opening is None or text.count(opening, start, end) >= text.count(last, start, end)):
            break
        end -= 1
    return end
