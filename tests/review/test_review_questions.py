"""The order of the questions, and the chance that each was asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sampled import answer, judged

from intentmatch.review.questions import all_questions, asked_probability, questions_of


def texts(questions):
    return [question.text for question in questions.open]


def test_smallest_chance_for_its_priority_comes_first():
    some = [answer(1, chance=0.2, priority=0.25), answer(2, chance=0.6, priority=1.0), answer(3, chance=0.1)]

    assert texts(questions_of(some)) == ["message 3", "message 2", "message 1"]
    assert texts(questions_of(some[::-1])) == ["message 3", "message 2", "message 1"]


def test_answers_to_one_message_are_one_question():
    some = [answer(1, "hi", chance=0.9), answer(2, chance=0.5), answer(3, "hi", chance=0.3)]
    found = questions_of(some)

    assert texts(found) == ["hi", "message 2"]
    assert (found.open[0].count, found.open[0].number, found.open[0].rank) == (2, 3, 0.3)


def test_judged_skipped_and_hashed_answers_are_not_asked_again():
    some = [
        judged(1, "status"),
        answer(2, judged="skipped"),
        replace(answer(3), text=None),
        answer(4),
    ]
    found = questions_of(some)

    assert texts(found) == ["message 4"]
    assert (len(found.answered), found.skipped, found.hashed) == (1, 1, 1)


def test_chance_to_be_asked_is_that_of_the_smallest_rank():
    rare, frequent = [answer(1, priority=0.25)], [answer(1, priority=0.25), answer(2, priority=0.5)]

    assert asked_probability(rare, 0.4) == pytest.approx(0.1)
    assert asked_probability(frequent, 0.4) == pytest.approx(1.0 - 0.9 * 0.8)
    assert asked_probability(rare, 100.0) == 1.0


def test_weights_come_from_the_first_open_question():
    some = [judged(1, "status", priority=0.5, chance=0.1), answer(2, chance=0.5), answer(3, chance=0.9)]
    found = questions_of(some)

    assert found.threshold == 0.5
    assert [one.probability for one in found.judgements] == [0.25]


def test_all_judged_means_that_all_were_asked():
    found = questions_of([judged(1, "status"), judged(2, None)])

    assert [one.probability for one in found.judgements] == [1.0, 1.0]


def test_new_answers_do_not_throw_the_judgements_away():
    """Until the reviewer has caught up, the numbers are about the time before."""
    before = [judged(number, "status", chance=0.3) for number in range(1, 6)] + [answer(6, chance=0.9)]
    found = questions_of([*before, answer(7, chance=0.01)])

    assert len(found.judgements) == 5
    assert found.threshold == 0.9
    assert found.until == before[-1].time
    caught_up = questions_of([*before, judged(7, None, chance=0.01)])
    assert (len(caught_up.judgements), caught_up.until) == (6, before[-1].time.replace(minute=7))


def test_judgement_beyond_the_first_open_question_does_not_count():
    """It was not asked in its turn, so nobody knows how likely it was to be asked."""
    found = questions_of([answer(1, chance=0.2), judged(2, "status", chance=0.4)])

    assert found.judgements == ()
    assert (found.since, found.until) == (None, None)


def test_question_as_json():
    (question,) = all_questions([answer(1, "hi", verdict="ambiguous", intent=None, nearest=("a", "b"))])

    assert question.to_dict() == {
        "question": 1,
        "text": "hi",
        "language": "en",
        "verdict": "ambiguous",
        "intent": None,
        "nearest": ["a", "b"],
        "confidence": 0.9,
        "count": 1,
        "last": "2026-11-01T00:01:00+00:00",
    }
