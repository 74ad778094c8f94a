"""Days with times, ranges and lengths from now; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

import sys
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.core.errors import MissingExtraError
from intentmatch.slots.message import Message
from intentmatch.slots.moments import DayFinder, MomentFinder

MOMENTS = MomentFinder()


def value(written: str) -> object:
    start, _, end = written.partition("/")
    return {"from": start, "to": end} if end else start


@pytest.mark.parametrize(
    ("language", "text", "said", "expected"),
    [
        ("en", "tomorrow at 8", "tomorrow at 8", "2026-11-22T08:00"),
        ("en", "at 8 tomorrow", "8 tomorrow", "2026-11-22T08:00"),
        ("en", "tomorrow evening at 8", "tomorrow evening at 8", "2026-11-22T20:00"),
        ("en", "at 9", "9", "2026-11-22T09:00"),
        ("en", "at 6 pm", "6 pm", "2026-11-21T18:00"),
        ("en", "on Friday", "Friday", "2026-11-27"),
        ("en", "in an hour", "in an hour", "2026-11-21T11:00"),
        ("en", "in 3 days", "in 3 days", "2026-11-24"),
        ("en", "20 minutes ago", "20 minutes ago", "2026-11-21T09:40"),
        ("en", "within two weeks", "within two weeks", "2026-12-05"),
        ("en", "next week", "next week", "2026-11-23/2026-11-29"),
        ("en", "this weekend", "this weekend", "2026-11-21/2026-11-22"),
        ("en", "last month", "last month", "2026-10-01/2026-10-31"),
        ("en", "next year", "next year", "2027-01-01/2027-12-31"),
        ("en", "tomorrow morning", "tomorrow morning", "2026-11-22T06:00/2026-11-22T12:00"),
        ("en", "tonight", "tonight", "2026-11-21T18:00/2026-11-21T22:00"),
        ("en", "from Friday to Monday", "Friday to Monday", "2026-11-27/2026-11-30"),
        ("en", "between 2 and 4 pm", "2 and 4 pm", "2026-11-21T14:00/2026-11-21T16:00"),
        ("en", "from 2 to 4 pm tomorrow", "2 to 4 pm tomorrow", "2026-11-22T14:00/2026-11-22T16:00"),
        ("en", "tomorrow from 10 pm to 2 am", "tomorrow from 10 pm to 2 am", "2026-11-22T22:00/2026-11-23T02:00"),
        ("en", "December 3 to 7", "December 3 to 7", "2026-12-03/2026-12-07"),
        ("en", "December 28 to January 3", "December 28 to January 3", "2026-12-28/2027-01-03"),
        ("en", "from the 5th to the 9th", "5th to the 9th", "2026-12-05/2026-12-09"),
        ("en", "9:00-17:00", "9:00-17:00", "2026-11-22T09:00/2026-11-22T17:00"),
        ("de", "morgen um 9 Uhr", "morgen um 9 Uhr", "2026-11-22T09:00"),
        ("de", "am 5. um 10 Uhr", "5. um 10 Uhr", "2026-12-05T10:00"),
        ("de", "nächste Woche", "nächste Woche", "2026-11-23/2026-11-29"),
        ("de", "nächsten Freitag um 18:30", "nächsten Freitag um 18:30", "2026-11-27T18:30"),
        ("de", "vom 3. bis 7. Dezember", "3. bis 7. Dezember", "2026-12-03/2026-12-07"),
        ("de", "vom 24. bis zum 27. Dezember", "24. bis zum 27. Dezember", "2026-12-24/2026-12-27"),
        ("es", "del 24 al 27 de diciembre", "24 al 27 de diciembre", "2026-12-24/2026-12-27"),
        ("de", "vor zwei Stunden", "vor zwei Stunden", "2026-11-21T08:00"),
        ("fr", "demain à 8h", "demain à 8h", "2026-11-22T08:00"),
        ("fr", "la semaine prochaine", "semaine prochaine", "2026-11-23/2026-11-29"),
        ("fr", "il y a une heure", "il y a une heure", "2026-11-21T09:00"),
        ("es", "mañana por la tarde", "mañana por la tarde", "2026-11-22T12:00/2026-11-22T18:00"),
        ("es", "dentro de dos horas", "dentro de dos horas", "2026-11-21T12:00"),
        ("it", "domani mattina", "domani mattina", "2026-11-22T06:00/2026-11-22T12:00"),
        ("it", "tra mezz'ora", "tra mezz'ora", "2026-11-21T10:30"),
        ("pt", "amanhã às 10h", "amanhã às 10h", "2026-11-22T10:00"),
        ("pt", "na próxima semana", "próxima semana", "2026-11-23/2026-11-29"),
        ("pt", "daqui a duas horas", "daqui a duas horas", "2026-11-21T12:00"),
        ("nl", "morgen om 9 uur", "morgen om 9 uur", "2026-11-22T09:00"),
        ("nl", "volgende week", "volgende week", "2026-11-23/2026-11-29"),
        ("nl", "over een uur", "over een uur", "2026-11-21T11:00"),
        ("pl", "jutro o 9:00", "jutro o 9:00", "2026-11-22T09:00"),
        ("pl", "za godzinę", "za godzinę", "2026-11-21T11:00"),
        ("pl", "w przyszłym tygodniu", "przyszłym tygodniu", "2026-11-23/2026-11-29"),
        ("ru", "завтра в 9:00", "завтра в 9:00", "2026-11-22T09:00"),
        ("ru", "через два часа", "через два часа", "2026-11-21T12:00"),
        ("ru", "на прошлой неделе", "прошлой неделе", "2026-11-09/2026-11-15"),
        ("ru", "с пятницы по воскресенье", "пятницы по воскресенье", "2026-11-27/2026-11-29"),
        ("ru", "завтра с 9 до 11", "завтра с 9 до 11", "2026-11-22T09:00/2026-11-22T11:00"),
        ("ru", "на выходных", "выходных", "2026-11-21/2026-11-22"),
        ("pl", "od piątku do niedzieli", "piątku do niedzieli", "2026-11-27/2026-11-29"),
        ("de", "am Wochenende", "Wochenende", "2026-11-21/2026-11-22"),
        ("en", "tomorrow from 9 to 11", "tomorrow from 9 to 11", "2026-11-22T09:00/2026-11-22T11:00"),
        ("tr", "cumadan pazara", "cumadan pazar", "2026-11-27/2026-11-29"),
        ("tr", "yarın saat 9:00", "yarın saat 9:00", "2026-11-22T09:00"),
        ("tr", "gelecek hafta", "gelecek hafta", "2026-11-23/2026-11-29"),
        ("ar", "بعد ساعة", "بعد ساعة", "2026-11-21T11:00"),
        ("ar", "الأسبوع القادم", "الأسبوع القادم", "2026-11-23/2026-11-29"),
        ("fa", "هفته آینده", "هفته آینده", "2026-11-23/2026-11-29"),
        ("fa", "دو ساعت دیگر", "دو ساعت دیگر", "2026-11-21T12:00"),
        ("zh", "明天早上8点", "明天早上8点", "2026-11-22T08:00"),
        ("zh", "两个小时后", "两个小时后", "2026-11-21T12:00"),
        ("zh", "下周", "下周", "2026-11-23/2026-11-29"),
        ("zh", "周一到周三", "周一到周三", "2026-11-23/2026-11-25"),
        ("ja", "明日の午後3時", "明日の午後3時", "2026-11-22T15:00"),
        ("ja", "来週", "来週", "2026-11-23/2026-11-29"),
        ("ja", "1時間後", "1時間後", "2026-11-21T11:00"),
        ("tlh", "2026-11-22 18:30", "2026-11-22 18:30", "2026-11-22T18:30"),
    ],
)
def test_moment_is_found(language, text, said, expected):
    assert found(MOMENTS, text, language) == {said: value(expected)}


@pytest.mark.parametrize("text", ["good morning", "two people", "from 2 to 4", "an hour", "next", "may I"])
def test_other_words_are_no_moments(text):
    assert found(MOMENTS, text) == {}


def at(text: str, now: datetime) -> list[object]:
    return [hit.value for hit in MOMENTS.find(Message(text, "en", now))]


def test_leap_days_and_ends_of_months():
    assert at("next month", datetime(2028, 1, 31)) == [{"from": "2028-02-01", "to": "2028-02-29"}]
    assert at("in a month", datetime(2027, 1, 31)) == ["2027-02-28"]
    assert at("in a year", datetime(2028, 2, 29)) == ["2029-02-28"]
    assert at("the 31st", datetime(2027, 2, 1)) == ["2027-03-31"]
    assert at("the 29th at 8 am", datetime(2028, 2, 20)) == ["2028-02-29T08:00"]
    assert at("tomorrow at 8", datetime(2028, 2, 28)) == ["2028-02-29T08:00"]


def test_hours_from_now_cross_changes_of_the_clocks_and_days_keep_the_time():
    berlin = ZoneInfo("Europe/Berlin")
    spring, autumn = datetime(2026, 3, 29, 1, 30, tzinfo=berlin), datetime(2026, 10, 25, 1, 30, tzinfo=berlin)

    assert at("in 1 hour", spring) == ["2026-03-29T03:30"]
    assert at("in 2 hours", autumn) == ["2026-10-25T02:30"]
    assert at("tomorrow at 1:30", spring) == ["2026-03-30T01:30"]
    assert at("at 8 am", datetime(2026, 3, 29, 9, tzinfo=berlin)) == ["2026-03-30T08:00"]


def test_ends_of_the_calendar_give_no_moment():
    assert at("in 1000000 years", datetime(2026, 1, 1)) == []
    assert at("next week", datetime(9999, 12, 31)) in ([], [{"from": "9999-12-27", "to": "9999-12-31"}])
    assert at("next year", datetime(9999, 12, 31)) == []
    assert at("at 8 am", datetime(9999, 12, 31, 9)) == ["9999-12-31T08:00"]


def test_missing_dateparser_raises_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dateparser", None)
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        MomentFinder()


PIECES = (
    *("tomorrow", "at", "8", "pm", "to", "Friday", "next week", "in an hour", "from", "the 5th", "-", "2", "and"),
    *("between", "下周", "到", "8点", "morgen um", "bis"),
)


@given(
    st.lists(st.sampled_from(PIECES)).map(" ".join) | st.text(),
    st.sampled_from(["en", "de", "zh", "ru", "ja", "tlh", None]),
    st.datetimes(),
)
def test_any_text_at_any_time_gives_valid_moments(text, language, now):
    for hit in MOMENTS.find(Message(text, language, now)):
        assert 0 <= hit.start < hit.end <= len(text)
        parts = list(hit.value.values()) if isinstance(hit.value, dict) else [hit.value]
        moments = [datetime.fromisoformat(str(part)) for part in parts]
        assert moments == sorted(moments)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "monday in two weeks", "2026-12-07"),
        ("en", "saturday in two weeks", "2026-12-05"),
        ("en", "a week from tomorrow", "2026-11-29"),
        ("en", "two days before friday", "2026-11-25"),
        ("en", "the day after next friday", "2026-11-28"),
        ("en", "in two weeks on monday", "2026-12-07"),
        ("de", "zwei Tage nach dem 1. Dezember", "2026-12-03"),
        ("de", "morgen in einer Woche", "2026-11-29"),
        ("fr", "deux jours avant vendredi", "2026-11-25"),
        ("en", "the first of December", "2026-12-01"),
        ("en", "December the twenty-second", "2026-12-22"),
        ("es", "el quince de marzo de 2028", "2028-03-15"),
        ("it", "il primo gennaio", "2027-01-01"),
        ("ru", "двадцать третье февраля", "2027-02-23"),
    ],
)
def test_a_day_is_read_in_words_and_counted_from_another_day(language, text, expected):
    assert list(found(DayFinder(), text, language).values()) == [expected]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "April 31 at 5 pm"),
        ("en", "5 pm on April 31"),
        ("en", "Monday to April 31"),
        ("es", "30 de febrero a las 5"),
        ("ja", "2月30日 15時"),
        ("en", "Monday, 5 December at 5 pm"),
        ("de", "Montag in acht Tagen"),
        ("en", "in 8 days, on Monday"),
    ],
)
def test_impossible_day_takes_its_time_with_it(language, text):
    assert found(MOMENTS, text, language) == {}


def test_weekday_of_a_length_from_now_is_a_part_of_it():
    assert found(MOMENTS, "in 9 days, on Monday", "en") == {"in 9 days, on Monday": "2026-11-30"}
