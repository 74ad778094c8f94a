"""Rows of an inbox: messages redacted or hashed before they are written, and read back."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import reduce
from typing import Any

from intentmatch.inbox.store import Entry, Missed
from intentmatch.text.normalize import fold
from intentmatch.text.redact import WORDS, redact

CHARACTERS = 1000
"""Characters kept of a message, to keep the inbox small. Longer messages make no good utterances."""

# "No intent" in the database: NULLs would not count as the same key.
_NONE = ""


def row_of(entry: Entry, mode: str, salt: bytes) -> dict[str, Any] | None:
    """Return what is stored of a message, redacted or hashed as the mode says; None for one without words."""
    redacted = redact(entry.text)
    if not (entry.corrected or _has_words(redacted)):
        return None
    text = entry.text if mode == "plain" else redacted
    return {
        "key": _key_of_kept(text, salt),
        "text": None if mode == "hashed" else _storable(text)[:CHARACTERS],
        "language": entry.language,
        "verdict": entry.verdict,
        "intents": json.dumps(entry.intents) if entry.intents else None,
        "confidence": entry.confidence,
        "seen": 0 if entry.corrected else 1,
        "time": entry.time,
        "intent": _storable(entry.intent or _NONE),
    }


def renaming(old: str, new: str) -> dict[str, str]:
    """Return two names of an intent, as they are stored alone and in a list."""
    return {
        "old": _storable(old),
        "new": _storable(new),
        "old_in_list": json.dumps(old),
        "new_in_list": json.dumps(new),
    }


def given_back(text: str, mode: str, salt: bytes) -> dict[str, Any]:
    """Return key and text of a handled message, as the mode stores them."""
    kept = text if mode == "plain" else redact(text)
    return {"key": _key_of_kept(kept, salt), "text": None if mode == "hashed" else _storable(kept)[:CHARACTERS]}


def key_of(text: str, mode: str, salt: bytes) -> bytes:
    """Return the salted hash by which a message is found."""
    return _key_of_kept(text if mode == "plain" else redact(text), salt)


def _key_of_kept(kept: str, salt: bytes) -> bytes:
    # With a salt, since short messages are guessed from their plain hash.
    return hashlib.blake2b(fold(kept).encode("utf-8", "replace"), key=salt, digest_size=16).digest()


def missed_of(row: Sequence[Any], corrections: Mapping[str | None, int]) -> Missed:
    """Return the message of a row: id, text, language, verdict, intents, confidence, count, first and last."""
    number, text, language, verdict, intents, confidence, count, first, last = row
    nearest = tuple(json.loads(intents or "[]"))
    return Missed(number, text, language, verdict, nearest, confidence, count, _date(first), _date(last), corrections)


def drift_of(text: str | None) -> dict[str, Any] | None:
    """Return what a check for drift has found, as it is kept; None for a text that no check has written."""
    try:
        found = json.loads(text or "")
        numbers = [found["checked"], found["messages"]]
        kinds = [finding["kind"] for finding in found["findings"]]
        # `bool` is an `int`, and no number of messages.
        valid = all(type(one) in (int, float) and math.isfinite(one) for one in numbers)
        return found if valid and all(isinstance(kind, str) for kind in kinds) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _has_words(text: str) -> bool:
    """Whether a redacted message has letters or symbols besides numbers and addresses, for which bots ask."""
    rest = reduce(lambda left, word: left.replace(word, ""), WORDS, text)
    return any(unicodedata.category(character)[0] in "LS" for character in rest)


def _storable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
