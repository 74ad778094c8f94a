"""Texts that fill the slots of a template when it is expanded into sentences.

A list slot is filled with its values, in the language of the sentence. The model thus sees common values, and learns
the words around them separately. Other kinds use the examples of their author. Without examples, numbers, dates, times
and the like use common texts, and all other slots use their own name: "where is order number" is close enough to "where
is order 12345".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, zip_longest

from intentmatch.core.types import Slot, Utterance
from intentmatch.languages.tables import Table
from intentmatch.text.normalize import fold, in_words, language_range

NUMBERS = ("2", "5", "10", "25", "100")
TIMES = ("9:00", "14:30", "18:00", "7:45")
EVERYWHERE: Mapping[str, tuple[str, ...]] = {
    "number": NUMBERS,
    "time": TIMES,
    "money": ("20 €", "$50", "100 €"),
    "temperature": ("20 °C", "18 °C", "22 °C"),
    "email": ("anna@example.com", "info@example.org"),
    "phone": ("+1 415 555 2671", "+44 20 7946 0958"),
    "url": ("www.example.com", "https://example.org"),
}
"""Texts of kinds that are written alike in all languages."""
_SAMPLES = Table[Mapping[str, tuple[str, ...]]]("samples")
_SAMPLE_OF = {"date": "date", "datetime": "date", "duration": "duration", "ordinal": "ordinal"}


class Fillers:
    """Fillers of an intent's slots, used in rotation so that its lines together cover short lists."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._slots = {slot.name: slot for slot in slots}
        self._turns: dict[tuple[str, str | None], Iterator[str]] = {}

    def next(self, name: str, language: str | None) -> str:
        """Return the next text for a slot in a language; an unknown slot is filled with its name."""
        turn = self._turns.get((name, language))
        if turn is None:
            slot = self._slots.get(name)
            texts = fillers(slot, language) if slot else [in_words(name)]
            turn = self._turns.setdefault((name, language), cycle(texts))
        return next(turn)


def fillers(slot: Slot, language: str | None) -> list[str]:
    """Return the texts that fill a slot in a language, the most usual first; at least one."""
    if slot.examples:
        # Examples in another language are nearer to what users write than the slot's name.
        texts = _in_language(slot.examples, language) or [example.text for example in slot.examples]
    elif slot.kind == "list":
        ways = [_in_language(value.synonyms, language, value.value) for value in slot.values]
        # Each value once, then the synonyms.
        texts = [text for turn in zip_longest(*ways) for text in turn if text is not None]
    elif slot.kind in _SAMPLE_OF:
        texts = list(samples(_SAMPLE_OF[slot.kind], language or ""))
    else:
        texts = list(EVERYWHERE.get(slot.kind, ()))
    unique: dict[str, str] = {}
    # Values that differ only in case or punctuation would make the same sentence twice.
    for text in texts or [in_words(slot.name)]:
        unique.setdefault(fold(text), text)
    return list(unique.values())


def samples(kind: str, language: str) -> tuple[str, ...]:
    """Return texts of a kind ("date", "duration" or "ordinal") in a language or in its fallbacks."""
    by_kind = (_SAMPLES.get(code, {}) for code in language_range(language))
    return next((texts[kind] for texts in by_kind if kind in texts), ())


def _in_language(lines: Iterable[Utterance], language: str | None, *neutral: str) -> list[str]:
    """Return the texts of a language or of its fallbacks, else `neutral` and the texts without a language."""
    by_language: dict[str, list[str]] = {"": list(neutral)}
    for line in lines:
        by_language.setdefault(line.language or "", []).append(line.text)
    codes = language_range(language) if language else ()
    return next((by_language[code] for code in (*codes, "") if by_language.get(code)), [])
