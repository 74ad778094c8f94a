"""Days, times and parts of the day beside each other; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import date, time

from slot_helpers import NOW

from intentmatch.slots.message import Message
from intentmatch.slots.moment_atoms import Atom, joined, without_overlaps
from intentmatch.slots.moment_patterns import patterns


def test_longest_of_overlapping_atoms_wins():
    short, long, other = Atom(0, 3), Atom(0, 6, day=NOW.date()), Atom(7, 9)

    assert without_overlaps([short, long, other]) == [long, other]


def test_atoms_that_mean_nothing_alone_are_dropped():
    text = "morning, tomorrow"
    words = patterns(Message(text, "en", NOW))
    morning, tomorrow = Atom(0, 7, part="morning", alone=False), Atom(9, 17, day=date(2026, 11, 22))

    assert joined([morning], text, words, NOW) == []
    assert [(atom.start, atom.end) for atom in joined([morning, tomorrow], text, words, NOW)] == [(0, 17)]


def test_last_day_of_the_calendar_has_no_day_behind_it():
    text = "x at 0"
    atoms = [Atom(0, 1, day=date.max, part="evening"), Atom(5, 6, clock=time(0), is_exact=True)]

    assert joined(atoms, text, patterns(Message(text, "en", NOW)), NOW)[0].day == date.max
