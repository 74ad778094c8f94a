"""Outcomes: correctness of an answer, labels, and JSON round trips."""

from __future__ import annotations

import json

import pytest
from answers import outcome

from intentmatch import Matcher
from intentmatch.core.types import Case
from intentmatch.evaluation.outcomes import Negative, Outcome, expected_name


@pytest.mark.parametrize(
    ("expected", "answer", "right", "asked"),
    [
        ("a", "a", True, False),
        ("a", "b", False, False),
        ("a", None, False, False),
        ("a", ("a", "b"), False, True),
        ("a", ("b", "c"), False, False),
        (None, None, True, False),
        (None, "a", False, False),
        (None, ("a", "b"), False, False),
        (("a", "b"), ("b", "a"), True, False),
        (("a", "b"), ("a", "b", "c"), False, False),
        (("a", "b"), "a", False, False),
        (("a", "b"), None, False, False),
    ],
)
def test_right_and_asked_for_each_kind_of_expectation(expected, answer, right, asked):
    found = outcome(expected, answer)

    assert (found.right, found.asked) == (right, asked)


@pytest.mark.parametrize(
    ("expected", "leading", "right"), [("a", "a", True), ("a", "b", False), (None, "a", False), (("a", "b"), "b", True)]
)
def test_leads_right_compares_the_first_candidate(expected, leading, right):
    assert outcome(expected, None, leading=leading).leads_right is right


def test_outcome_copies_the_match_result(matcher: Matcher):
    result = matcher.match("cancel the order of mine")

    found = Outcome.from_result(Case("cancel the order of mine", "cancel"), result)

    assert (found.verdict, found.intent, found.score) == (result.verdict, result.intent, result.score)
    assert found.leading == result.candidates[0].intent
    assert found.nearest == result.candidates[0].utterance
    assert found.confidence == result.confidence


def test_message_without_words_has_confidence_zero(matcher: Matcher):
    found = Outcome.from_result(Case("?!", None), matcher.match("?!"))

    assert (found.right, found.leading, found.confidence, found.nearest) == (True, None, 0.0, None)


@pytest.mark.parametrize("answer", ["a", None, ("a", "b")])
@pytest.mark.parametrize("expected", ["a", None, ("a", "b")])
def test_json_round_trip(expected, answer):
    found = outcome(expected, answer, confidence=None, language="pt-BR")

    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_labels_of_expected_and_given_answers():
    assert [outcome("a", answer).answer for answer in ("b", None, ("c", "b"))] == ["b", "out_of_scope", "b / c"]
    assert [expected_name(Case("x", e)) for e in ("b", None, ("c", "b"))] == ["b", "out_of_scope", "b / c"]


def test_negative_is_taken_only_by_its_own_intent():
    assert Negative("a", outcome(None, "a")).taken
    assert not Negative("a", outcome(None, "b")).taken
