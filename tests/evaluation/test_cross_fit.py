"""Test cases are answered by matchers that did not learn from them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.types import Case
from intentmatch.evaluation.cross_fit import cross_fitted
from intentmatch.evaluation.run import _facts, evaluate, on_cases

WORDS = ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]
STARTS = ["cancel", "show", "find", "where is", "change", "send"]
TESTS = [Case(f"please {start} my {word}", word) for word in WORDS for start in STARTS[:4]]
TESTS += [Case(f"{word} of the moon", None) for word in ("weather", "colour", "size", "age", "name")]


def matcher(*tests: Case, share: float | str = "tests") -> Matcher:
    intents = (Intent(word, tuple(Utterance(f"{start} the {word}", "en") for start in STARTS)) for word in WORDS)
    return Matcher.load(Registry(tuple(intents), tests=tests), encoder=WordHashEncoder(), out_of_scope_share=share)


def test_no_case_is_answered_by_a_matcher_that_learned_from_it():
    bot = matcher(*TESTS, TESTS[0])

    rounds = list(cross_fitted(bot, bot.registry.tests))

    assert sorted(position for positions, _ in rounds for position in positions) == [*range(len(TESTS) + 1)]
    assert len(rounds) == 10
    assert 0 in next(positions for positions, _ in rounds if len(TESTS) in positions)
    for positions, answers in rounds:
        assert answers.artefact.calibration.labelled.cases == len(TESTS) + 1 - len(positions)
        assert answers.artefact.calibration.curve is not None
        assert answers.artefact.calibration != bot.artefact.calibration


def test_other_cases_are_answered_by_the_matcher_itself():
    bot, other = matcher(*TESTS), Case("open the door", "door")

    rounds = list(cross_fitted(bot, [other, TESTS[3]]))

    assert rounds[0] == ([0], bot)
    assert [positions for positions, _ in rounds[1:]] == [[1]]


@pytest.mark.parametrize("share", [0.2, "tests"])
def test_nothing_is_split_if_nothing_was_learned(share: float | str):
    """With 29 messages nothing is learned."""
    tests = TESTS if share == 0.2 else TESTS[:29]
    bot = matcher(*tests, share=share)

    assert list(cross_fitted(bot, tests)) == [([*range(len(tests))], bot)]
    assert list(cross_fitted(bot, [])) == []


def test_one_message_repeated_leaves_nothing_to_learn_from():
    bot = matcher(*[TESTS[0]] * 30)

    ((_, answers),) = cross_fitted(bot, bot.registry.tests)

    assert answers.artefact.calibration.labelled is None


def test_outcomes_are_in_the_order_of_the_cases():
    bot = matcher(*TESTS)
    cases = [replace(case, text=case.text.upper()) for case in TESTS[::-1]] + [Case("open the door", "door")]

    found = on_cases(bot, cases)

    assert [outcome.case.text for outcome in found.outcomes] == [case.text for case in cases]


def test_held_out_utterances_are_measured_for_the_share_of_the_tests():
    bot = matcher(*TESTS)

    report = evaluate(bot, folds=2, robustness=False)

    assert report.parts[0].out_of_scope_share == bot.artefact.out_of_scope_share
    assert [part.name for part in report.parts] == ["held_out", "tests"]


def test_promise_is_measured_by_thresholds_of_other_tests():
    intents = (Intent(word, tuple(Utterance(f"{start} the {word}", "en") for start in STARTS)) for word in WORDS)
    target = {"precision": 0.5, "confidence": 0.7}
    bot = Matcher.load(Registry(tuple(intents), tests=tuple(TESTS)), encoder=WordHashEncoder(), target=target)

    rounds = list(cross_fitted(bot, TESTS))

    assert bot.artefact.calibration.promise.cases == len(TESTS)
    assert len(rounds) == 10
    for positions, answers in rounds:
        assert answers.artefact.calibration.promise.cases == len(TESTS) - len(positions)
    assert str(_facts(bot, 5, 0)["promise"]).startswith("a precision of 50% with a confidence of 70% ")
