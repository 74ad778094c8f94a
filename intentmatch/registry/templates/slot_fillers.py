"""What stands for a slot where a template becomes a sentence.

A list has its values for that, in the words of the sentence's language: so what users say most is among the sentences,
and the words around it are learned apart from it. Other kinds have the examples that their author gives. Without any, a
number or a date is what users write, and the rest is its own name: "where is order number" is about what "where is
order 12345" is about, and nothing else is known of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, zip_longest

from intentmatch.core.types import Slot, Utterance
from intentmatch.text.normalize import fold, in_words, language_range

NUMBERS = ("2", "5", "10", "25", "100")
TIMES = ("9:00", "14:30", "18:00", "7:45")
DATES: Mapping[str, tuple[str, ...]] = {
    "ar": ("اليوم", "غدا", "الاثنين"),
    "cs": ("dnes", "zítra", "pondělí"),
    "da": ("i dag", "i morgen", "mandag"),
    "de": ("heute", "morgen", "Montag"),
    "el": ("σήμερα", "αύριο", "Δευτέρα"),
    "en": ("today", "tomorrow", "Monday"),
    "es": ("hoy", "mañana", "lunes"),
    "fi": ("tänään", "huomenna", "maanantaina"),
    "fr": ("aujourd'hui", "demain", "lundi"),
    "he": ("היום", "מחר", "יום שני"),
    "hi": ("आज", "कल", "सोमवार"),
    "id": ("hari ini", "besok", "Senin"),
    "it": ("oggi", "domani", "lunedì"),
    "ja": ("今日", "明日", "月曜日"),
    "ko": ("오늘", "내일", "월요일"),
    "nl": ("vandaag", "morgen", "maandag"),
    "no": ("i dag", "i morgen", "mandag"),
    "pl": ("dzisiaj", "jutro", "poniedziałek"),
    "pt": ("hoje", "amanhã", "segunda-feira"),
    "ro": ("azi", "mâine", "luni"),
    "ru": ("сегодня", "завтра", "понедельник"),
    "sv": ("idag", "imorgon", "måndag"),
    "th": ("วันนี้", "พรุ่งนี้", "วันจันทร์"),
    "tr": ("bugün", "yarın", "pazartesi"),
    "uk": ("сьогодні", "завтра", "понеділок"),
    "vi": ("hôm nay", "ngày mai", "thứ Hai"),
    "zh": ("今天", "明天", "星期一"),
}
"""Today, tomorrow, Monday."""


class Fillers:
    """The fillers of an intent's slots, taken in turn, so that its lines between them show all of a short list."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._slots = {slot.name: slot for slot in slots}
        self._turns: dict[tuple[str, str | None], Iterator[str]] = {}

    def next(self, name: str, language: str | None) -> str:
        """The next text for a slot in a language; of a slot that is not there, its name."""
        turn = self._turns.get((name, language))
        if turn is None:
            slot = self._slots.get(name)
            texts = fillers(slot, language) if slot else [in_words(name)]
            turn = self._turns.setdefault((name, language), cycle(texts))
        return next(turn)


def fillers(slot: Slot, language: str | None) -> list[str]:
    """Everything that may stand for a slot in a sentence of a language, the most usual first; at least one."""
    if slot.examples:
        texts = _in_language(slot.examples, language) or [example.text for example in slot.examples]
    elif slot.kind == "list":
        ways = [_in_language(value.synonyms, language, value.value) for value in slot.values]
        # Every value in one way first, then each in another.
        texts = [text for turn in zip_longest(*ways) for text in turn if text is not None]
    elif slot.kind == "date":
        texts = list(next((DATES[code] for code in language_range(language or "") if code in DATES), ()))
    else:
        texts = list({"number": NUMBERS, "time": TIMES}.get(slot.kind, ()))
    unique: dict[str, str] = {}
    for text in texts or [in_words(slot.name)]:
        unique.setdefault(fold(text), text)
    return list(unique.values())


def _in_language(lines: Iterable[Utterance], language: str | None, *neutral: str) -> list[str]:
    """What is said in a language or what it falls back to; else what is said in none, the neutral first."""
    by_language: dict[str, list[str]] = {"": list(neutral)}
    for line in lines:
        by_language.setdefault(line.language or "", []).append(line.text)
    codes = language_range(language) if language else ()
    return next((by_language[code] for code in (*codes, "") if by_language.get(code)), [])
