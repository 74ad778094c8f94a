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
DURATIONS: Mapping[str, tuple[str, ...]] = {
    "ar": ("10 دقائق", "ساعة", "3 أيام"),
    "de": ("10 Minuten", "eine Stunde", "3 Tage"),
    "en": ("10 minutes", "an hour", "3 days"),
    "es": ("10 minutos", "una hora", "3 días"),
    "fa": ("۱۰ دقیقه", "یک ساعت", "۳ روز"),
    "fr": ("10 minutes", "une heure", "3 jours"),
    "it": ("10 minuti", "un'ora", "3 giorni"),
    "ja": ("10分", "1時間", "3日間"),
    "nl": ("10 minuten", "een uur", "3 dagen"),
    "pl": ("10 minut", "godzinę", "3 dni"),
    "pt": ("10 minutos", "uma hora", "3 dias"),
    "ru": ("10 минут", "час", "3 дня"),
    "tr": ("10 dakika", "bir saat", "3 gün"),
    "zh": ("10分钟", "一小时", "3天"),
}
ORDINALS: Mapping[str, tuple[str, ...]] = {
    "ar": ("الأول", "الثاني", "الأخير"),
    "de": ("erste", "zweite", "letzte"),
    "en": ("first", "second", "last"),
    "es": ("primero", "segundo", "último"),
    "fa": ("اول", "دوم", "آخر"),
    "fr": ("premier", "deuxième", "dernier"),
    "it": ("primo", "secondo", "ultimo"),
    "ja": ("最初", "二番目", "最後"),
    "nl": ("eerste", "tweede", "laatste"),
    "pl": ("pierwszy", "drugi", "ostatni"),
    "pt": ("primeiro", "segundo", "último"),
    "ru": ("первый", "второй", "последний"),
    "tr": ("birinci", "ikinci", "son"),
    "zh": ("第一", "第二", "最后一"),
}
DATES: Mapping[str, tuple[str, ...]] = {
    "ar": ("اليوم", "غدا", "الاثنين"),
    "cs": ("dnes", "zítra", "pondělí"),
    "da": ("i dag", "i morgen", "mandag"),
    "de": ("heute", "morgen", "Montag"),
    "el": ("σήμερα", "αύριο", "Δευτέρα"),
    "en": ("today", "tomorrow", "Monday"),
    "es": ("hoy", "mañana", "lunes"),
    "fa": ("امروز", "فردا", "دوشنبه"),
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
"""Today, tomorrow and Monday in each language."""
_BY_LANGUAGE = {"date": DATES, "datetime": DATES, "duration": DURATIONS, "ordinal": ORDINALS}


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
        texts = _in_language(slot.examples, language) or [example.text for example in slot.examples]
    elif slot.kind == "list":
        ways = [_in_language(value.synonyms, language, value.value) for value in slot.values]
        # Each value once, then the synonyms.
        texts = [text for turn in zip_longest(*ways) for text in turn if text is not None]
    elif slot.kind in _BY_LANGUAGE:
        by_language = _BY_LANGUAGE[slot.kind]
        texts = list(next((by_language[code] for code in language_range(language or "") if code in by_language), ()))
    else:
        texts = list(EVERYWHERE.get(slot.kind, ()))
    unique: dict[str, str] = {}
    for text in texts or [in_words(slot.name)]:
        unique.setdefault(fold(text), text)
    return list(unique.values())


def _in_language(lines: Iterable[Utterance], language: str | None, *neutral: str) -> list[str]:
    """Return the texts of a language or of its fallbacks, else `neutral` and the texts without a language."""
    by_language: dict[str, list[str]] = {"": list(neutral)}
    for line in lines:
        by_language.setdefault(line.language or "", []).append(line.text)
    codes = language_range(language) if language else ()
    return next((by_language[code] for code in (*codes, "") if by_language.get(code)), [])
