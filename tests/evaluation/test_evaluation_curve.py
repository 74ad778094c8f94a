"""The learning curve and the advice derived from it."""

from __future__ import annotations

from answers import LINES, registry_of
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.evaluation import held_out
from intentmatch.evaluation.curve import SHARES, Point, hints, learning_curve
from intentmatch.evaluation.folds import split


def test_last_point_equals_held_out_accuracy(matcher: Matcher):
    points = learning_curve(matcher, folds=3, seed=2)

    numbers = held_out(matcher, folds=3, seed=2).numbers
    assert [point.share for point in points] == list(SHARES)
    assert points[-1].accuracy == numbers.accuracy


def test_registries_grow_and_every_intent_keeps_an_utterance(matcher: Matcher):
    sizes = [point.utterances for point in learning_curve(matcher, folds=3)]

    assert sizes == sorted(sizes)
    assert sizes[0] >= len(LINES)


def test_every_point_evaluates_the_same_cases(matcher: Matcher):
    for point in learning_curve(matcher, folds="loo"):
        assert point.cases == {"status": 7, "cancel": 5, "hours": 5}
        assert point.accuracy == sum(point.right.values()) / 17


def test_no_curve_if_nothing_can_be_held_out():
    lonely = Matcher.load(registry_of({"a": ["hello"], "b": ["bye now"]}), encoder=WordHashEncoder(), cache="off")

    assert learning_curve(lonely) == ()


def test_folds_of_negatives_only_are_skipped():
    registry = registry_of(
        {"a": ["hello", "good day to you"], "b": ["bye now"]}, {"b": ["bye bye birdie", "what else"]}
    )
    matcher = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")
    artefact = matcher.artefact

    rounds = split(registry, artefact.vectors, artefact.negative_vectors, "loo", 0).folds
    points = learning_curve(matcher, folds="loo")

    assert any(not fold.utterances for fold in rounds)
    assert [point.utterances for point in points] == [2, 2, 2, 2]


def curve(half: dict[str, int], full: dict[str, int], cases: dict[str, int]) -> list[Point]:
    return [Point(share, 10, 0.5, cases, full if share == 1.0 else half) for share in SHARES]


def test_hints_tell_intents_that_need_more_utterances():
    """Rising: more utterances. Poor and flat: other advice. Good, or changed by a single case: no advice."""
    half = {"rising": 10, "flat": 10, "good": 15, "steep": 4, "noise": 5, "plain": 17}
    full = {"rising": 14, "flat": 10, "good": 20, "steep": 12, "noise": 6, "plain": 17}

    found = hints(curve(half, full, {**dict.fromkeys(full, 20), "noise": 10}))

    assert [(hint.intent, hint.says.split(";")[0]) for hint in found] == [
        ("steep", "more utterances should help"),
        ("rising", "more utterances should help"),
        ("flat", "similar utterances will not help"),
    ]


def test_no_curve_gives_no_hints():
    assert hints(()) == []
