"""Dates in digits, by name and relative to today, in many languages; today is a Saturday."""

from __future__ import annotations

import importlib
import sys
from datetime import date, datetime

import pytest
from dateparser.data.languages_info import language_order
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import NOW, found

from intentmatch.core.errors import MissingExtraError
from intentmatch.slots.days import DateFinder
from intentmatch.slots.message import Message

DATES = DateFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "today or tomorrow", {"today": "2026-11-21", "tomorrow": "2026-11-22"}),
        ("en", "the day after tomorrow", {"day after tomorrow": "2026-11-23"}),
        ("en", "on Friday", {"Friday": "2026-11-27"}),
        ("en", "saturday", {"saturday": "2026-11-28"}),
        ("en", "last monday, next monday", {"last monday": "2026-11-16", "next monday": "2026-11-23"}),
        ("en", "in 3 days", {"in 3 days": "2026-11-24"}),
        ("en", "in two weeks", {"in two weeks": "2026-12-05"}),
        ("en", "a week ago", {"a week ago": "2026-11-14"}),
        ("en", "in 3 months", {"in 3 months": "2027-02-21"}),
        ("en", "22nd of November", {"22nd of November": "2026-11-22"}),
        ("en", "Nov. 5th, 2028", {"Nov. 5th, 2028": "2028-11-05"}),
        ("en", "march 5", {"march 5": "2027-03-05"}),
        ("en", "11/22/2026", {"11/22/2026": "2026-11-22"}),
        ("en", "22/11/2026", {"22/11/2026": "2026-11-22"}),
        ("en", "3/4", {"3/4": "2027-03-04"}),
        ("en-GB", "3/4/27", {"3/4/27": "2027-04-03"}),
        ("en", "2026-11-22", {"2026-11-22": "2026-11-22"}),
        ("de", "übermorgen oder heute", {"übermorgen": "2026-11-23", "heute": "2026-11-21"}),
        ("de", "nächsten Freitag", {"nächsten Freitag": "2026-11-27"}),
        ("de", "am 22.11. um 18 Uhr", {"22.11.": "2026-11-22"}),
        ("de", "3.5.2027", {"3.5.2027": "2027-05-03"}),
        ("de", "in drei Tagen", {"in drei Tagen": "2026-11-24"}),
        ("de", "am 5. Mai", {"5. Mai": "2027-05-05"}),
        ("fr", "après-demain", {"après-demain": "2026-11-23"}),
        ("fr", "le 1er mai", {"1er mai": "2027-05-01"}),
        ("fr", "dans une semaine", {"dans une semaine": "2026-11-28"}),
        ("es", "pasado mañana", {"pasado mañana": "2026-11-23"}),
        ("es", "man\u0303ana", {"man\u0303ana": "2026-11-22"}),
        ("es", "el 22 de noviembre de 2027", {"22 de noviembre de 2027": "2027-11-22"}),
        ("it", "dopodomani", {"dopodomani": "2026-11-23"}),
        ("pt-BR", "sexta-feira", {"sexta-feira": "2026-11-27"}),
        ("nl", "over drie dagen", {"over drie dagen": "2026-11-24"}),
        ("tr", "yarın, cumaya", {"yarın": "2026-11-22", "cuma": "2026-11-27"}),
        ("tr", "üç gün sonra", {"üç gün sonra": "2026-11-24"}),
        ("ru", "в пятницу", {"пятницу": "2026-11-27"}),
        ("bn", "৫ মে", {"৫ মে": "2027-05-05"}),
        ("ta", "5 மே", {"5 மே": "2027-05-05"}),
        ("hi", "5 जन", {}),
        ("ru", "через 3 дня", {"через 3 дня": "2026-11-24"}),
        ("pl", "22 listopada", {"22 listopada": "2026-11-22"}),
        ("ar", "غدا", {"غدا": "2026-11-22"}),
        ("ar", "٢٢ نوفمبر ٢٠٢٦", {"٢٢ نوفمبر ٢٠٢٦": "2026-11-22"}),
        ("fa", "پس فردا", {"پس فردا": "2026-11-23"}),
        ("hi", "कल", {"कल": "2026-11-22"}),
        ("th", "พรุ่งนี้", {"พรุ่งนี้": "2026-11-22"}),
        ("zh", "我要后天的票", {"后天": "2026-11-23"}),
        ("zh", "3天后或三天后", {"3天后": "2026-11-24", "三天后": "2026-11-24"}),
        ("zh", "2026年11月22日", {"2026年11月22日": "2026-11-22"}),
        ("ja", "１１月２２日に", {"１１月２２日": "2026-11-22"}),
        ("ja", "明日の金曜日", {"明日": "2026-11-22", "金曜日": "2026-11-27"}),
        ("ko", "내일은 금요일에", {"내일": "2026-11-22", "금요일": "2026-11-27"}),
        ("ko", "3일 후에", {"3일 후": "2026-11-24"}),
        ("tlh", "2026-11-22, tomorrow", {"2026-11-22": "2026-11-22"}),
        (None, "tomorrow", {"tomorrow": "2026-11-22"}),
    ],
)
def test_date_is_found(language, text, expected):
    assert found(DATES, text, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I may be second in may"),
        ("en", "sun and sat"),
        ("en", "november 2026"),
        ("en", "at 5 or 18:30, 10.5"),
        ("en", "version 1.2.3"),
        ("en", "30/2/2026, 2026-13-01, 31 November"),
        ("en", "next week"),
        ("en", "in 999 years or in 9999 years"),
        ("de", "so, mit di und morgens um 18 Uhr"),
        ("fr", "à 18 heures"),
        ("zh", "一点"),
        ("en", "5 days"),
    ],
)
def test_months_hours_and_impossible_days_are_not_dates(language, text):
    assert {text: day for text, day in found(DATES, text, language).items() if not day.startswith("3025")} == {}


def test_every_dateparser_language_knows_tomorrow():
    missed = []
    for language in language_order:
        data = importlib.import_module(f"dateparser.data.date_translation_data.{language}").info
        for word in data.get("relative-type", {}).get("in 1 day", ()):
            if "2026-11-22" not in found(DATES, f"({word})", language).values():
                missed.append((language, word))

    assert len(language_order) > 190
    assert missed == []


def test_dates_are_relative_to_the_given_time():
    """A leap day without a year is the next one."""

    def day(text: str, now: datetime) -> object:
        return [hit.value for hit in DATES.find(Message(text, "en", now))]

    assert day("tomorrow", datetime(2027, 12, 31, 23)) == ["2028-01-01"]
    assert day("22 November", datetime(2026, 11, 22)) == ["2026-11-22"]
    assert day("22 November", datetime(2026, 11, 23)) == ["2027-11-22"]
    assert day("29 February", datetime(2026, 11, 22)) == ["2028-02-29"]
    assert day("in 1 month", datetime(2027, 1, 31)) == ["2027-02-28"]
    assert day("tomorrow", datetime(9999, 12, 31)) == []
    assert day("3 months ago", datetime(1, 1, 1)) == []


def test_missing_dateparser_raises_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dateparser", None)
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        DateFinder()


@given(st.dates(date(2026, 11, 21), date(2099, 12, 31)))
def test_any_date_is_found_in_every_notation(day):
    iso = day.isoformat()
    writings = [
        (iso, "en"),
        (f"{day.month}/{day.day}/{day.year}", "en"),
        (f"{day.day} {day:%B} {day.year}", "en"),
        (f"{day:%b} {day.day}, {day.year}", "en"),
        (f"{day.day}.{day.month}.{day.year}", "de"),
        (f"{day.year}年{day.month}月{day.day}日", "ja"),
    ]
    for text, language in writings:
        assert found(DATES, f"({text})", language) == {text: iso}


LANGUAGES = st.sampled_from(["en", "de", "zh", "ko", "tr", "th", "ar", "en-AU", "zh-Hant-TW", "tlh", None])


@given(st.text() | st.text(st.sampled_from("0123456789./- ３年月日tomrw nfayi")), LANGUAGES, st.datetimes())
def test_any_text_at_any_time_gives_valid_dates(text, language, now):
    for hit in DATES.find(Message(text, language, now)):
        assert date.fromisoformat(str(hit.value))
        assert 0 <= hit.start < hit.end <= len(text)


def test_now_is_a_saturday():
    assert NOW.weekday() == 5


def test_every_language_of_dateparser_is_read() -> None:
    for language in language_order:
        assert found(DateFinder(), "2026-11-23", language) == {"2026-11-23": "2026-11-23"}
