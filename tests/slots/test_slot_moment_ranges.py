"""Ranges of days and times; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.moments import MomentFinder

MOMENTS = MomentFinder()


@pytest.mark.parametrize(
    ("language", "text", "said", "expected"),
    [
        ("en", "tomorrow evening from 8 to 10", "", "2026-11-22T20:00/2026-11-22T22:00"),
        ("en", "tonight from 8 to 10", "", "2026-11-21T20:00/2026-11-21T22:00"),
        ("en", "10 to 11 am tomorrow", "", "2026-11-22T10:00/2026-11-22T11:00"),
        ("en", "tomorrow 2 pm to 4", "", "2026-11-22T14:00/2026-11-22T16:00"),
        ("en", "Friday 5 pm - 7 pm", "", "2026-11-27T17:00/2026-11-27T19:00"),
        ("en", "5pm on Friday until Sunday noon", "", "2026-11-27T17:00/2026-11-29T12:00"),
        ("en", "between Monday and Wednesday", "Monday and Wednesday", "2026-11-23/2026-11-25"),
        ("en", "tomorrow morning between 9 and 11", "", "2026-11-22T09:00/2026-11-22T11:00"),
        ("en", "tomorrow from 9 til 5", "", "2026-11-22T09:00/2026-11-22T17:00"),
        ("en", "tonight from 10 to 2", "", "2026-11-21T22:00/2026-11-22T02:00"),
        ("en", "22:00 to 2:00", "", "2026-11-21T22:00/2026-11-22T02:00"),
        ("en", "Mon-Wed", "", "2026-11-23/2026-11-25"),
        ("en", "from Mon 7th to Wed 9th December", "Mon 7th to Wed 9th December", "2026-12-07/2026-12-09"),
        ("en", "between the 3rd and the 7th of December", "3rd and the 7th of December", "2026-12-03/2026-12-07"),
        ("de", "Mo-Fr", "", "2026-11-23/2026-11-27"),
        ("de", "zwischen dem 3. und 7. Dezember", "3. und 7. Dezember", "2026-12-03/2026-12-07"),
        ("en", "tomorrow from 12 to 5", "", "2026-11-22T12:00/2026-11-22T17:00"),
        ("en", "from 9 to 5 tomorrow", "", "2026-11-22T09:00/2026-11-22T17:00"),
        ("en", "between 7 and 9 tonight", "", "2026-11-21T19:00/2026-11-21T21:00"),
        ("de", "zwischen 7 und 9 heute Abend", "", "2026-11-21T19:00/2026-11-21T21:00"),
        ("pt", "das 9 às 11 amanhã", "", "2026-11-22T09:00/2026-11-22T11:00"),
        ("pl", "od 3 do 5 grudnia", "3 do 5 grudnia", "2026-12-03/2026-12-05"),
        ("ru", "с 3 до 5 декабря", "3 до 5 декабря", "2026-12-03/2026-12-05"),
        ("tr", "yarın 9'dan 11'e kadar", "yarın 9'dan 11", "2026-11-22T09:00/2026-11-22T11:00"),
        ("de", "morgen zwischen 9 und 11 Uhr", "", "2026-11-22T09:00/2026-11-22T11:00"),
        ("de", "morgen von 9 bis halb elf", "", "2026-11-22T09:00/2026-11-22T10:30"),
        ("es", "mañana de 4 a 6 de la tarde", "", "2026-11-22T16:00/2026-11-22T18:00"),
        ("es", "entre las 9 y las 10", "9 y las 10", "2026-11-22T09:00/2026-11-22T10:00"),
        ("fr", "lundi entre 14h et 16h30", "", "2026-11-23T14:00/2026-11-23T16:30"),
        ("fr", "du lundi 23 au jeudi 26 novembre", "lundi 23 au jeudi 26 novembre", "2026-11-23/2026-11-26"),
        ("it", "domani mattina tra le 9 e le 11", "", "2026-11-22T09:00/2026-11-22T11:00"),
        ("it", "sabato dalle 8 alle 10 di sera", "", "2026-11-28T20:00/2026-11-28T22:00"),
        ("ru", "завтра вечером с 8 до 10", "", "2026-11-22T20:00/2026-11-22T22:00"),
        ("hi", "कल 9 और 11 बजे के बीच", "कल 9 और 11 बजे", "2026-11-22T09:00/2026-11-22T11:00"),
        ("ru", "между понедельником и средой", "понедельником и средой", "2026-11-23/2026-11-25"),
        ("tr", "yarın saat 14'ten 16'ya kadar", "yarın saat 14'ten 16", "2026-11-22T14:00/2026-11-22T16:00"),
        ("ar", "من الساعة 9 إلى 11 صباحا", "9 إلى 11 صباحا", "2026-11-22T09:00/2026-11-22T11:00"),
        ("zh", "周一和周三之间", "周一和周三", "2026-11-23/2026-11-25"),
        ("zh", "明天晚上8点到10点", "", "2026-11-22T20:00/2026-11-22T22:00"),
    ],
)
def test_range_is_found_with_the_half_of_the_day_of_its_ends(language, text, said, expected):
    start, _, end = expected.partition("/")

    assert found(MOMENTS, text, language) == {said or text: {"from": start, "to": end}}


@pytest.mark.parametrize(("language", "text"), [("en", "Monday and Wednesday"), ("zh", "周一和周三")])
def test_two_days_without_between_are_two_days(language, text):
    assert set(found(MOMENTS, text, language).values()) == {"2026-11-23", "2026-11-25"}


@pytest.mark.parametrize(
    "text", ["Dec 29 to Jan 3", "12/29 - 1/3", "from December 29 through January 3", "between Dec 29 and Jan 3"]
)
def test_range_goes_across_months(text):
    assert list(found(MOMENTS, text).values()) == [{"from": "2026-12-29", "to": "2027-01-03"}]
