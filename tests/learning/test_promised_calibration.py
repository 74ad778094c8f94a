"""A promised precision from settings to thresholds: what is fitted, what is tested, and what the bot uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry
from intentmatch.learning.calibration import Calibration, asked_about, calibrate
from intentmatch.learning.cross_validation import RANKED, HeldOut
from intentmatch.learning.promise import Answers, Promise, promised_threshold
from intentmatch.matching.thresholds import policy_of

TARGET = {"precision": 0.95, "confidence": 0.9}


def held_out(count: int, seed: int, *, labelled: bool = False) -> HeldOut:
    """Draw cases of two intents: those with much evidence are in scope and right."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(1.0, 0.5, count)
    known = rng.random(count) < 1.0 / (1.0 + np.exp(-6.0 * (evidence - 0.5)))
    right = known & (rng.random(count) < 0.995)
    ranked = np.full((count, RANKED), -np.inf)
    ranked[:, 0], ranked[:, 1] = evidence, evidence - 2.0
    rows = np.full(count, -1) if labelled else np.arange(count)
    place = np.where(right, 0, RANKED)
    return HeldOut(ranked, rng.integers(0, 2, count), place, known, rows, np.ones(count))


@pytest.fixture(scope="module")
def cases() -> HeldOut:
    return held_out(1500, seed=1)


def calibrated(cases: HeldOut, tested: HeldOut | None, target: dict[str, float] = TARGET) -> Calibration:
    return calibrate(cases, target, ["a", "b"], ["en", "de"] * 750, 0.1, tested=tested)


def test_enough_messages_keep_the_promise_with_one_threshold(cases: HeldOut) -> None:
    found = calibrated(cases, held_out(600, seed=2, labelled=True))

    assert found.promise is not None
    assert (found.promise.kept, found.promise.cases, found.promise.more) == (True, 600, 0)
    assert found.promise.wrong <= 0.05 * found.promise.answered
    assert (found.by_intent, found.by_language) == ({}, {})
    assert found.cut is not None
    assert found.cut.note == ""


def test_too_few_messages_leave_the_threshold_of_the_precision_alone(cases: HeldOut) -> None:
    found, plain = calibrated(cases, held_out(20, seed=3, labelled=True)), calibrated(cases, None, {"precision": 0.95})

    assert found.promise is not None
    assert not found.promise.kept
    assert found.cut is not None
    assert found.cut.note == str(found.promise)
    assert replace(found.cut, note="") == replace(plain.cut, note="")
    assert found.by_intent.keys() == plain.by_intent.keys() != set()


def test_no_message_at_all_and_no_test_at_all(cases: HeldOut) -> None:
    none = calibrated(cases, cases.select(slice(0, 0)))

    assert none.promise is not None
    assert none.promise.cases == 0
    assert "0 labelled messages" in none.cut.note
    assert calibrated(cases, None).promise is None


def shared(cases: HeldOut, share: float) -> HeldOut:
    """Let a second intent be nearly as likely as the first in some cases, and right in half of them."""
    rng = np.random.default_rng(5)
    some = cases.known & (rng.random(len(cases.first)) < share)
    ranked = cases.ranked.copy()
    ranked[some, 1] = ranked[some, 0] - 0.1
    place = np.where(some, rng.integers(0, 2, len(some)), cases.place)
    return replace(cases, ranked=ranked, place=place)


def test_promised_threshold_on_the_confidence_answers_more() -> None:
    """Messages that two intents share are surely in scope, and yet their answers are wrong every second time."""
    cases, messages = shared(held_out(1500, seed=1), 0.15), shared(held_out(600, seed=2, labelled=True), 0.15)
    found = calibrated(cases, messages)
    by_scope = []
    for some in (messages, cases):
        confidences = found.confidences_many(some.ranked)
        asked = asked_about(confidences)
        by_scope.append(Answers(confidences.sum(axis=1), some.right, asked, some.weights))
    other = promised_threshold(by_scope[0], by_scope[1], **TARGET)[1]

    assert found.promise is not None
    assert found.promise.kept
    assert found.cut is not None
    assert found.cut.on == "confidence"
    assert found.promise.answered > 200 > other.answered * other.kept


def test_threshold_of_an_older_artefact_stays_on_the_in_scope_probability(cases: HeldOut) -> None:
    values = calibrated(cases, held_out(600, seed=2, labelled=True)).to_dict()
    del values["cut"]["on"]

    assert Calibration.from_dict(values).cut.on == "in_scope"


def test_tested_messages_do_not_shape_the_confidences(cases: HeldOut) -> None:
    some, others = (calibrated(cases, held_out(600, seed=seed, labelled=True)) for seed in (2, 4))

    assert (some.curve, some.sharpness) == (others.curve, others.sharpness)


def test_promise_is_kept_in_an_artefact(cases: HeldOut) -> None:
    found = calibrated(cases, held_out(600, seed=2, labelled=True))

    assert Calibration.from_dict(found.to_dict()) == found
    assert Calibration.from_dict({**found.to_dict(), "promise": None}).promise is None


def test_policy_says_where_a_promised_threshold_comes_from(cases: HeldOut) -> None:
    found = calibrated(cases, held_out(600, seed=2, labelled=True))
    registry = Registry((Intent("a", ()), Intent("b", ())))
    policy = policy_of(registry, Settings(target=TARGET), found)

    assert policy.default.value == found.cut.value
    assert policy.default.on == "confidence"
    assert policy.default.origin == "learned as the promise of 600 labelled messages"
    tiny = replace(found, cut=replace(found.cut, refused=0.0, cases=40))
    assert policy_of(registry, Settings(target=TARGET), tiny).default.value == found.cut.value
    unkept = replace(tiny, promise=Promise(0.95, 0.9, 5, 4, 0, kept=False, more=100))
    assert policy_of(registry, Settings(target=TARGET), unkept).default.on == "score"
