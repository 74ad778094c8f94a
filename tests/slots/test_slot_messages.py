"""Labelled messages in eight languages: how exactly slots are found, and that the two halves stay apart."""

from __future__ import annotations

import pytest
from slot_messages import HALVES, MOMENT_KINDS, Score, bot, labelled, measure, messages, summed

from intentmatch.core.types import Slot

REACH = {"any": 0.85}
"""Least F1 of exact spans on the development half; 0.95 for all other kinds."""
KEPT_REACH = {"any": 0.85}
"""Least F1 on the kept half; 0.9 for all other kinds."""


def test_there_are_400_messages_in_eight_languages_and_no_message_is_in_both_halves():
    registry = bot()
    development, kept = (list(messages(half, registry)) for half in HALVES)

    assert len(development) + len(kept) >= 400
    assert abs(len(development) - len(kept)) <= 10
    assert len({one.language for one in development}) == len({one.language for one in kept}) == 8
    assert not {one.text for one in development} & {one.text for one in kept}


@pytest.mark.parametrize(("half", "reach", "others"), [("development", REACH, 0.95), ("kept", KEPT_REACH, 0.9)])
def test_spans_and_values_of_each_kind_are_found(half, reach, others):
    scores = summed(measure(half)[0], 0)

    assert {kind: score.f1 for kind, score in scores.items() if score.f1 < reach.get(kind, others)} == {}
    assert {kind: score.values_right for kind, score in scores.items() if score.values_right < 0.95} == {}
    assert {slot.kind for slot in bot().slots} == set(scores)


def test_moments_are_280_messages_in_eight_languages_and_no_message_is_in_both_halves():
    registry = bot()
    development, kept = (list(messages(half, registry, "moments")) for half in HALVES)

    assert len(development) + len(kept) >= 280
    assert min(len(development), len(kept)) >= 120
    assert len({one.language for one in development}) == len({one.language for one in kept}) == 8
    assert not {one.text for one in development} & {one.text for one in kept}


def test_days_times_and_ranges_are_found_in_more_forms():
    scores = summed(measure("development", "moments")[0], 0)

    assert {kind: scores[kind].f1 for kind in MOMENT_KINDS if scores[kind].f1 < 0.95} == {}
    assert {kind: scores[kind].values_right for kind in MOMENT_KINDS if scores[kind].values_right < 0.95} == {}


def test_marks_give_span_and_value():
    slots = {"day": Slot("day", "date"), "amount": Slot("amount", "money"), "who": Slot("who", "any")}
    found = labelled("[who|Al], [amount|5 € please|5 EUR|5 €] [day|the 5th|2026-12-05|5th]", "en", "x", slots)

    assert found.text == "Al, 5 € please the 5th"
    assert [(found.text[one.start : one.end], one.value) for one in found.values] == [
        ("Al", "Al"),
        ("5 €", {"amount": 5.0, "currency": "EUR"}),
        ("5th", "2026-12-05"),
    ]


def test_score_of_nothing_is_full():
    assert (Score().f1, Score().values_right) == (1.0, 1.0)
    assert Score(2, 2, 1, 1).plus(Score(2, 2, 2, 1)) == Score(4, 4, 3, 2)
    assert Score(4, 4, 3, 2).f1 == 0.75
