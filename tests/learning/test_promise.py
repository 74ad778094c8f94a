"""Promised precisions: kept as often as they say, and what is missing is said."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.learning.promise import Answers, Promise, last_kept, promised_threshold, sequence

PRECISION, CONFIDENCE = 0.95, 0.9


def messages(rng: np.random.Generator, count: int, *, harder: float = 0.0, asked: float = 0.03) -> Answers:
    """Draw messages whose answers are right the more often the higher their confidence."""
    sure = rng.beta(3.0, 1.0, count)
    right = rng.random(count) < np.clip(0.3 + 0.72 * sure - harder, 0.0, 0.995)
    return Answers(sure, right, rng.random(count) < asked, np.ones(count))


def precision_of(population: Answers, threshold: float) -> float:
    given = (population.confidence >= threshold) & ~population.asked
    return float(population.right[given].mean())


@pytest.fixture(scope="module")
def population() -> Answers:
    return messages(np.random.default_rng(1), 200_000)


@pytest.mark.parametrize("harder", [0.0, 0.02], ids=["as held-out utterances", "harder than they"])
def test_promise_is_kept_at_least_as_often_as_it_says(harder: float) -> None:
    """Of 150 promises at most 15 may fail; more than 27 have a chance below 0.1% if each fails with 10%."""
    rng = np.random.default_rng(2)
    held_out, everyone = messages(rng, 1000), messages(rng, 100_000, harder=harder)
    broken = made = 0
    thresholds = sequence(held_out, 400, PRECISION, 1.0 - CONFIDENCE)
    for _ in range(150):
        last = last_kept(*messages(rng, 400, harder=harder).at(thresholds), 400, PRECISION, 1.0 - CONFIDENCE)
        if last is not None:
            made += 1
            broken += precision_of(everyone, float(thresholds[last])) < PRECISION
    assert broken <= 27
    assert made > 40


def test_a_plain_choice_on_the_same_messages_would_break_it(population: Answers) -> None:
    """The lowest threshold at which 95% of the labelled answers are right is too low about every second time."""
    rng = np.random.default_rng(3)
    held_out, broken = messages(rng, 1000), 0
    thresholds = sequence(held_out, 400, PRECISION, 0.1)
    for _ in range(100):
        given, wrong = messages(rng, 400).at(thresholds)
        place = np.flatnonzero(wrong <= (1.0 - PRECISION) * given)[-1]
        broken += precision_of(population, float(thresholds[place])) < PRECISION
    assert broken > 25


def test_more_messages_answer_more(population: Answers) -> None:
    rng = np.random.default_rng(4)
    held_out, answered = messages(rng, 1000), []
    for count in (150, 500, 5000):
        thresholds = sequence(held_out, count, PRECISION, 0.1)
        shares = [(population.confidence >= one).mean() for one in thresholds]
        found = [last_kept(*messages(rng, count).at(thresholds), count, PRECISION, 0.1) for _ in range(30)]
        answered.append(np.mean([0.0 if one is None else shares[one] for one in found]))

    assert answered == sorted(answered)
    assert answered[2] > answered[0] + 0.05


def test_lowest_kept_threshold_of_the_sequence_is_chosen() -> None:
    rng = np.random.default_rng(10)
    held_out, labelled = messages(rng, 1000), messages(rng, 2000)
    threshold, promise = promised_threshold(labelled, held_out, PRECISION, CONFIDENCE)
    thresholds = sequence(held_out, 2000, PRECISION, 1.0 - CONFIDENCE)
    given, wrong = labelled.at(thresholds)
    last = last_kept(given, wrong, 2000, PRECISION, 1.0 - CONFIDENCE)

    assert threshold == thresholds[last]
    assert promise == Promise(PRECISION, CONFIDENCE, 2000, int(given[last]), int(wrong[last]), kept=True, more=0)


def test_too_few_messages_promise_nothing_and_say_how_many_are_missing() -> None:
    """45 answers without a mistake are the fewest: 0.95**45 is just below 10%."""
    rng = np.random.default_rng(5)
    held_out = messages(rng, 1000)
    few = messages(rng, 10)
    perfect = few._replace(right=np.ones(10, dtype=bool))
    threshold, promise = promised_threshold(perfect, held_out, PRECISION, CONFIDENCE)

    assert (threshold, promise.kept, promise.cases) == (None, False, 10)
    assert promise.more is not None
    assert promise.more + 10 >= 45
    assert f"about {promise.more} more are needed" in str(promise)
    nothing = Answers(*(one[:0] for one in few))
    assert promised_threshold(nothing, held_out, PRECISION, CONFIDENCE)[1].more is not None


def test_estimate_of_the_missing_messages_is_about_right() -> None:
    """With as many as it says, the promise is made about half of the time or more."""
    rng = np.random.default_rng(6)
    held_out = messages(rng, 1000)
    first = messages(rng, 60)
    _, promise = promised_threshold(first._replace(right=first.confidence > 0.3), held_out, PRECISION, CONFIDENCE)
    more = promise.more or 0
    made = [
        promised_threshold(messages(rng, 60 + 2 * more), held_out, PRECISION, CONFIDENCE)[1].kept for _ in range(20)
    ]

    assert sum(made) >= 10


def test_hopeless_answers_need_no_more_messages() -> None:
    rng = np.random.default_rng(7)
    held_out = messages(rng, 1000, harder=0.5)
    threshold, promise = promised_threshold(messages(rng, 500, harder=0.5), held_out, 0.99, CONFIDENCE)

    assert (threshold, promise.more) == (None, None)
    assert "no threshold seems precise enough" in str(promise)


def test_questions_are_no_answers() -> None:
    rng = np.random.default_rng(8)
    asked = messages(rng, 300, asked=1.0)

    assert promised_threshold(asked, messages(rng, 1000), PRECISION, CONFIDENCE)[0] is None


def test_sequence_falls_from_a_likely_success_to_everything() -> None:
    """With more messages it may begin stricter, where fewer are answered."""
    held_out = messages(np.random.default_rng(9), 1000)
    some, many = sequence(held_out, 200, PRECISION, 0.1), sequence(held_out, 5000, PRECISION, 0.1)

    assert some[-1] == many[-1] == 0.0
    assert (np.diff(some) < 0).all()
    assert len(many) >= len(some)


def test_sequence_ends_with_the_first_failure() -> None:
    given = np.array([100.0, 110.0, 120.0, 130.0])

    assert last_kept(given, np.array([0.0, 1.0, 9.0, 0.0]), 200, PRECISION, 0.1) == 1
    assert last_kept(given, np.array([9.0, 0.0, 0.0, 0.0]), 200, PRECISION, 0.1) is None


def test_words_of_a_kept_promise() -> None:
    promise = Promise(0.95, 0.9, 400, 320, 9, kept=True, more=0)

    assert str(promise) == (
        "a precision of 95% with a confidence of 90% is promised: "
        "400 labelled messages, 320 answered, 9 of these wrongly"
    )
