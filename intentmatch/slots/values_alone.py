"""Recognise a message that is nothing but a value: "10 o'clock", "two hours", "0171 2345678".

Days are left out: their words come with the extra `dates`, and no answer of a bot may depend on what is installed.
"""

from __future__ import annotations

from datetime import datetime

from intentmatch.slots.bare_answers import says_nothing_else
from intentmatch.slots.message import Message, readable
from intentmatch.slots.reader import FINDERS


def is_value_alone(text: str, language: str | None, now: datetime | None = None) -> bool:
    """Return whether a message has a value of a kind that any bot may ask for, and function words beside it at most.

    Digits without a letter are a value in any case.

    `language` is one of a bot's own forms, as `OwnLanguages.code` gives it.
    """
    if not any(map(str.isalpha, text)) and any(map(str.isdigit, text)):
        return True
    message = Message(readable(text), language, now)
    found = [hit[:2] for find in FINDERS.values() for hit in find(message)]
    return bool(found) and says_nothing_else(message, found)
