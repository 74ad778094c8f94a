"""Which messages of users to erase, wherever they are kept."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.text.normalize import fold
from intentmatch.text.redact import redact

ERASED = "‹erased›"
"""Stands where words were erased and the rest stays."""

# Fewer letters stand in nearly every message, and would erase all of them.
_SHORTEST_PART = 3
# Clocks of several machines differ by seconds; a mark further ahead would forbid all writing until then.
_SECONDS_AHEAD = 60.0
# Stores cut a message after so many characters.
_CUT = 1000


def last_erased(mark: float | None, now: float) -> float:
    """Return when words were last erased from a store that keeps this `mark`, in seconds since the epoch.

    What was said before then, and waits in the memory of any process, must not be written any more. The mark holds no
    words. Minus infinity without one, and for one that lies far ahead, because the clock was set back.
    """
    return -math.inf if mark is None or mark > now + _SECONDS_AHEAD else mark


@dataclass(frozen=True, slots=True)
class Erasure:
    """One message by its `text`, or all messages that contain the words `contains`.

    Case, punctuation and spaces make no difference. A `text` also means the message as redaction has left it.
    """

    text: str | None = None
    contains: str | None = None
    _forms: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The words as they were written, and as a redacted store has them."""

    def __post_init__(self) -> None:
        """Raises `InputError` unless one of the two is given, with at least three letters or digits in `contains`."""
        check_argument("text", self.text, str | None)
        check_argument("contains", self.contains, str | None)
        if (self.text is None) == (self.contains is None):
            raise InputError("name the messages to erase by one of `text` and `contains`")
        if self.text is not None and not fold(self.text):
            raise InputError("the message to erase must contain words")
        if self.contains is not None and len(fold(self.contains).replace(" ", "")) < _SHORTEST_PART:
            raise InputError(f"`contains` must have at least {_SHORTEST_PART} letters or digits")
        words = self.text or self.contains or ""
        # A part that is nothing but a number would stand for every number.
        forms = [words] if self.contains is not None else dict.fromkeys([words, redact(words)])
        object.__setattr__(self, "_forms", tuple(forms))

    def covers(self, stored: str | None) -> bool:
        """Whether a message is to be erased, given its text as it is stored, cut from 1,000 characters on."""
        if stored is None:
            return False
        if self.contains is not None:
            return fold(self.contains) in fold(stored)
        kept = fold(stored)
        # A store has only the beginning of a longer message.
        cut = len(stored) >= _CUT
        return any(fold(form) == kept or (cut and fold(form).startswith(kept)) for form in self._forms)

    def quoted_in(self, text: str) -> bool:
        """Whether a longer text, such as a note, has the words."""
        return self._quotes.search(text) is not None or self._has(text)

    def without(self, text: str) -> str:
        """Return a longer text with `ERASED` in place of the words."""
        return ERASED.join(map(self._without_spellings, self._quotes.split(text)))

    def _without_spellings(self, text: str) -> str:
        """Replace the words where they are spelt in another way, such as "STRASSE" for "straße"."""
        kept = ""
        while self._has(text):
            places = range(len(text) + 1) if self.text is None else _edges(text)
            # From the last place to begin to the first to end.
            end = places[bisect_left(places, True, key=lambda place: self._has(text[:place]))]
            begin = places[bisect_left(places, True, key=lambda place: not self._has(text[place:end])) - 1]
            kept, text = f"{kept}{text[:begin]}{ERASED}", text[end:]
        return kept + text

    def without_in(self, value: Any) -> Any:
        """Return JSON values with `ERASED` in place of the words in each text."""
        if isinstance(value, str):
            return self.without(value)
        if isinstance(value, list):
            return [self.without_in(each) for each in value]
        return {name: self.without_in(each) for name, each in value.items()} if isinstance(value, dict) else value

    def without_in_json(self, text: str) -> str:
        """Return a JSON text with `ERASED` in place of the words."""
        values = json.loads(text)
        changed = self.without_in(values)
        return text if changed == values else json.dumps(changed, ensure_ascii=False)

    def quoted_in_json(self, text: str) -> bool:
        """Whether a JSON text has the words. A text that is no JSON is looked at as it is."""
        try:
            return self.without_in_json(text) != text
        except ValueError:
            return self.quoted_in(text)

    def _has(self, text: str) -> bool:
        """Whether a text has the words as stores compare them: see `covers`."""
        edge = "" if self.text is None else " "
        folded = f"{edge}{fold(text)}{edge}"
        return any(f"{edge}{fold(form)}{edge}" in folded for form in self._forms)

    @property
    def _quotes(self) -> re.Pattern[str]:
        around = (r"(?<!\w)", r"(?!\w)") if self.text is not None else ("", "")
        words = (re.findall(r"\w+", form) or [re.escape(form)] for form in self._forms)
        forms = (r"\W+".join(each) for each in words)
        return re.compile(f"{around[0]}(?:{'|'.join(forms)}){around[1]}", re.IGNORECASE)


def _edges(text: str) -> list[int]:
    """Return where words begin and end."""
    return sorted({0, len(text), *(place for found in re.finditer(r"\s+", text) for place in found.span())})
