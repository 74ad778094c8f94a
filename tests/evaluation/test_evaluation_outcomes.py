"""What an answer is worth, and that it survives the file."""

from __future__ import annotations

import json

import pytest
from answers import outcome

from intentmatch import Matcher
from intentmatch.core.types import Case
from intentmatch.evaluation.outcomes import Negative, Outcome, expected_name


@pytest.mark.parametrize(
    ("expected", "said", "right", "asked"),
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
def test_right_is_the_verdict_that_was_expected(expected, said, right, asked):
    """Matched, refused, or asked about exactly the intents that were named; asking is not answering."""
    found = outcome(expected, said)

    assert (found.right, found.asked) == (right, asked)


@pytest.mark.parametrize(
    ("expected", "leading", "right"), [("a", "a", True), ("a", "b", False), (None, "a", False), (("a", "b"), "b", True)]
)
def test_a_confidence_is_about_the_leading_candidate(expected, leading, right):
    """Whatever the verdict."""
    assert outcome(expected, None, leading=leading).leads_right is right


def test_an_answer_is_written_down_as_it_was_given(matcher: Matcher):
    """Verdict, scores and the nearest utterance are those of the result."""
    result = matcher.match("cancel the order of mine")

    found = Outcome.from_result(Case("cancel the order of mine", "cancel"), result)

    assert (found.verdict, found.intent, found.score) == (result.verdict, result.intent, result.score)
    assert found.leading == result.candidates[0].intent
    assert found.nearest == result.candidates[0].utterance
    assert found.confidence == result.confidence


def test_a_message_without_words_is_refused_with_certainty(matcher: Matcher):
    """It has no candidate and nothing to be sure of."""
    found = Outcome.from_result(Case("?!", None), matcher.match("?!"))

    assert (found.right, found.leading, found.confidence, found.nearest) == (True, None, 0.0, None)


@pytest.mark.parametrize("said", ["a", None, ("a", "b")])
@pytest.mark.parametrize("expected", ["a", None, ("a", "b")])
def test_json_loses_nothing(expected, said):
    """To JSON and back is the same value."""
    found = outcome(expected, said, confidence=None, language="pt-BR")

    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_words_for_what_was_expected_and_said():
    """One word for each kind, and rivals in an order of their own."""
    assert [outcome("a", said).said for said in ("b", None, ("c", "b"))] == ["b", "out_of_scope", "b / c"]
    assert [expected_name(Case("x", e)) for e in ("b", None, ("c", "b"))] == ["b", "out_of_scope", "b / c"]


def test_a_negative_is_taken_only_for_its_own_intent():
    """Another intent may well be right."""
    assert Negative("a", outcome(None, "a")).taken
    assert not Negative("a", outcome(None, "b")).taken
