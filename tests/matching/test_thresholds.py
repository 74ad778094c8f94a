"""Thresholds and margin in use: the author's if written, otherwise the learned ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intentmatch.core.errors import Location
from intentmatch.core.settings import resolve
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.threshold_choice import LearnedCut
from intentmatch.matching.policy import Cut
from intentmatch.matching.thresholds import FALLBACK_MARGIN, FALLBACK_THRESHOLD, policy_of

PLAIN = Registry((Intent("greet", (Utterance("hello"),)), Intent("leave", (Utterance("goodbye"),))))


def cut(value: float) -> LearnedCut:
    return LearnedCut(value, precision=0.9, coverage=0.9, refused=0.9, cases=100)


LEARNED = Calibration(
    curve=(-1.0, 4.0),
    cut=cut(0.7),
    by_language={"de": cut(0.6)},
    by_intent={"greet": cut(0.8)},
    sharpness=5.0,
    cases=100,
)


def test_small_registry_uses_fallbacks_on_the_score():
    policy = policy_of(PLAIN, resolve({}), Calibration())

    assert policy.default == Cut(FALLBACK_THRESHOLD, "the default; too few utterances to learn one")
    assert (policy.by_language, policy.by_intent) == ({}, {})
    assert policy.margin == FALLBACK_MARGIN


def test_learned_thresholds_are_on_the_in_scope_probability():
    """Without a margin, the confidences decide when to ask."""
    policy = policy_of(PLAIN, resolve({}), LEARNED)

    assert policy.default == Cut(0.7, "learned from this registry", "in_scope")
    assert policy.by_language == {"de": Cut(0.6, "learned for de", "in_scope")}
    assert policy.by_intent == {"greet": Cut(0.8, "learned for greet", "in_scope")}
    assert policy.margin is None


def test_threshold_learned_from_labelled_messages_says_so():
    policy = policy_of(PLAIN, resolve({}), replace(LEARNED, labelled=LabelledShare(0.2, 0.1, 0.3, 60)))

    assert policy.default.origin == "learned from this registry and 60 labelled messages"


@pytest.mark.parametrize(
    ("refused", "cases", "share", "learned"),
    [(0.0, 42, 0.1, False), (0.0, 42, 0.0, True), (0.0, 60, 0.1, True), (0.1, 42, 0.1, True)],
)
def test_threshold_of_a_tiny_bot_that_refuses_nothing_is_not_used(refused, cases, share, learned):
    """Unless its author expects no out-of-scope message."""
    calibration = replace(LEARNED, cut=replace(cut(0.3), refused=refused, cases=cases))

    policy = policy_of(PLAIN, resolve({"out_of_scope_share": share}), calibration)

    fallback = Cut(FALLBACK_THRESHOLD, "the default; the learned one would refuse nothing")
    assert policy.default == (Cut(0.3, "learned from this registry", "in_scope") if learned else fallback)


def test_threshold_setting_replaces_all_learned_thresholds():
    policy = policy_of(PLAIN, resolve({"threshold": 0.5}), LEARNED)

    assert policy.default == Cut(0.5, "argument")
    assert (policy.by_language, policy.by_intent) == ({}, {})
    assert policy.margin is None


def test_threshold_of_one_language_leaves_the_learned_default():
    policy = policy_of(PLAIN, resolve({"threshold": {"fr": 0.5}}), LEARNED)

    assert policy.default == Cut(0.7, "learned from this registry", "in_scope")
    assert policy.by_language == {"fr": Cut(0.5, "for fr, argument")}
    assert policy.by_intent == {}


@pytest.mark.parametrize("calibration", [Calibration(), LEARNED], ids=["fallback", "learned"])
@pytest.mark.parametrize(
    ("location", "origin"),
    [(None, "the author's, from code"), (Location("bot/a.yaml", 4, 7), "the author's, bot/a.yaml:4")],
)
def test_threshold_of_intent_wins(calibration, location, origin):
    """Even if it is 0."""
    registry = Registry((Intent("greet", (Utterance("hello"),), threshold=0.0, location=location),))

    assert policy_of(registry, resolve({}), calibration).by_intent == {"greet": Cut(0.0, origin)}


def test_percentage_is_on_the_confidence():
    """As the setting, for a language and of an intent; a number beside it stays on the score."""
    registry = Registry((Intent("greet", (Utterance("hello"),), threshold="99.5%"),))

    policy = policy_of(registry, resolve({"threshold": "90%,de=0.4"}), LEARNED)

    assert policy.default == Cut(0.9, "argument", "confidence")
    assert policy.by_language == {"de": Cut(0.4, "for de, argument", "score")}
    assert policy.by_intent == {"greet": Cut(0.995, "the author's, from code", "confidence")}


def test_percentage_needs_a_registry_with_confidences():
    """Without confidences the default threshold on the score stands in, and its origin says so."""
    registry = Registry((Intent("greet", (Utterance("hello"),), threshold="99%"),))

    policy = policy_of(registry, resolve({"threshold": {"default": "90%", "de": 0.3}}), Calibration())

    why = "the default; too few utterances for a confidence, which"
    assert policy.default == Cut(FALLBACK_THRESHOLD, f"{why} 90% needs: argument")
    assert policy.by_intent == {"greet": Cut(FALLBACK_THRESHOLD, f"{why} 99% needs: the author's, from code")}
    assert policy.by_language == {"de": Cut(0.3, "for de, argument")}


@pytest.mark.parametrize("calibration", [Calibration(), LEARNED], ids=["fallback", "learned"])
def test_margin_setting_is_on_the_score(calibration):
    policy = policy_of(PLAIN, resolve({"margin": 0.0}), calibration)

    assert policy.margin == 0.0


def test_band_is_taken_from_the_settings():
    assert policy_of(PLAIN, resolve({"band": 0.25}), LEARNED).band == 0.25
    assert policy_of(PLAIN, resolve({}), LEARNED).band is None
