"""Days, times and parts of the day beside each other; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import date, time

import pytest
from slot_helpers import NOW, found

from intentmatch.slots.message import Message
from intentmatch.slots.moment_atoms import Atom, joined, without_overlaps
from intentmatch.slots.moment_patterns import patterns
from intentmatch.slots.moments import MomentFinder

MOMENTS = MomentFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "tonight at 2 am", "2026-11-22T02:00"),
        ("en", "tonight at 12", "2026-11-22T00:00"),
        ("en", "tomorrow night at 12", "2026-11-23T00:00"),
        ("zh", "明天晚上12点", "2026-11-23T00:00"),
        ("es", "mañana a las 12 de la noche", "2026-11-23T00:00"),
        ("en", "tomorrow at 12 am", "2026-11-22T00:00"),
        ("es", "5 de la tarde el lunes", "2026-11-23T17:00"),
        ("en", "5 pm the 5th", "2026-12-05T17:00"),
        ("en", "tomorrow by 5", "2026-11-22T05:00"),
        ("en", "next Friday after 6", "2026-11-27T06:00"),
        ("en", "2026-12-24T18:00", "2026-12-24T18:00"),
        ("en", "Monday after next", "2026-11-30"),
        ("en", "ten to nine on Monday", "2026-11-23T08:50"),
        ("en", "12/24 at 8pm", "2026-12-24T20:00"),
        ("en", "today at 4", "2026-11-21T16:00"),
        ("en", "today at 11", "2026-11-21T11:00"),
        ("en", "today at 04:00", "2026-11-21T04:00"),
        ("en", "Fri at 7", "2026-11-27T07:00"),
        ("en", "Thurs 6pm", "2026-11-26T18:00"),
        ("en", "tmrw at 9", "2026-11-22T09:00"),
        ("de", "heute Mitternacht", "2026-11-22T00:00"),
        ("de", "in 2 Tagen mittags", "2026-11-23T12:00"),
        ("es", "jueves de la semana que viene", "2026-11-26"),
        ("es", "semana que viene el jueves", "2026-11-26"),
        ("fr", "jeudi de la semaine prochaine", "2026-11-26"),
        ("es", "lunes al mediodía", "2026-11-23T12:00"),
        ("tr", "15 Aralık salı günü saat 9", "2026-12-15T09:00"),
        ("de", "übernächsten Montag um zehn nach acht", "2026-11-30T08:10"),
        ("de", "morgen Nachmittag gegen 4", "2026-11-22T16:00"),
        ("de", "heute Nacht um 2", "2026-11-21T02:00"),
        ("es", "jueves 26 de noviembre a las 8 de la noche", "2026-11-26T20:00"),
        ("fr", "mardi en huit", "2026-12-01"),
        ("ar", "بعد غد في الخامسة مساء", "2026-11-23T17:00"),
        ("pt", "amanhã às oito e dez da noite", "2026-11-22T20:10"),
        ("ko", "내일 오후 3시", "2026-11-22T15:00"),
        ("ja", "明日の夜8時", "2026-11-22T20:00"),
    ],
)
def test_day_and_time_beside_each_other_are_one(language, text, expected):
    assert found(MOMENTS, text, language) == {text: expected}


@pytest.mark.parametrize(("language", "text"), [("en", "the sun and the sat"), ("de", "mo"), ("de", "so ein fr")])
def test_short_weekday_alone_is_no_day(language, text):
    assert found(MOMENTS, text, language) == {}


def test_ending_of_a_turkish_hour_is_not_in_the_span():
    assert found(MOMENTS, "salı günü sabah 10 buçukta", "tr") == {"salı günü sabah 10 buçuk": "2026-11-24T10:30"}
    assert found(MOMENTS, "pazartesi saat dokuzda", "tr") == {"pazartesi saat dokuz": "2026-11-23T09:00"}


def test_longest_of_overlapping_atoms_wins():
    short, long, other = Atom(0, 3), Atom(0, 6, day=NOW.date()), Atom(7, 9)

    assert without_overlaps([short, long, other]) == [long, other]


def test_atoms_that_mean_nothing_alone_are_dropped():
    text = "morning, tomorrow"
    words = patterns(Message(text, "en", NOW))
    morning, tomorrow = Atom(0, 7, part="morning", alone=False), Atom(9, 17, day=date(2026, 11, 22))

    assert joined([morning], text, words, NOW.date()) == []
    assert [(atom.start, atom.end) for atom in joined([morning, tomorrow], text, words, NOW.date())] == [(0, 17)]


def test_last_day_of_the_calendar_has_no_day_behind_it():
    text = "x at 0"
    atoms = [Atom(0, 1, day=date.max, part="evening"), Atom(5, 6, clock=time(0), is_exact=True)]

    assert joined(atoms, text, patterns(Message(text, "en", NOW)), NOW.date())[0].day == date.max
