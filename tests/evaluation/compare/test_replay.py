"""What a candidate would have answered otherwise: grouped by cause, the worst first."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from intentmatch import Matcher, Registry
from intentmatch.core.types import Case, Intent, Utterance
from intentmatch.evaluation.compare.changes import AnswerChange
from intentmatch.evaluation.compare.replay import _cause, _kind, replay, to_json
from intentmatch.evaluation.logs import Log, LoggedMessage
from intentmatch.evaluation.outcomes import Outcome

LINES = {
    "status": ["where is my order", "track my parcel", "has it been shipped yet", "where is my parcel"],
    "cancel": ["cancel my order", "call off my purchase", "stop my order", "I do not want it any more"],
}


def registry(lines: dict[str, list[str]]) -> Registry:
    intents = [Intent(name, tuple(Utterance(text, "en") for text in texts)) for name, texts in lines.items()]
    return Registry(tuple(intents))


def matcher(lines: dict[str, list[str]]) -> Matcher:
    return Matcher.load(registry(lines), cache="off")


@pytest.fixture(scope="module")
def old() -> Matcher:
    return matcher(LINES)


def logged(text: str, count: int = 1, **answers: int) -> LoggedMessage:
    known = Counter({("matched", intent): number for intent, number in answers.items()})
    return LoggedMessage(Case(text, None, "en"), count, known)


LOG = Log(
    (
        logged("track the parcel", 3, status=2, cancel=1),
        logged("cancel my order"),
        logged("sing a song about bread", 2),
        logged("where is my order"),
    ),
    5,
)


def test_moved_line_is_the_cause_of_what_it_changes(old: Matcher) -> None:
    moved = {
        "status": [text for text in LINES["status"] if text != "track my parcel"],
        "cancel": [*LINES["cancel"], "track my parcel"],
    }

    found = replay(old, matcher(moved), LOG, names=("then", "now"))

    worst = found.causes[0]
    assert worst.text == "its nearest utterance moved here from status: “track my parcel”"
    assert (worst.direct, worst.received, worst.kinds["other_intent"]) == (True, 3, 3)
    assert [one.message.case.text for one in worst.differences] == ["track the parcel"]
    assert found.not_as_logged == 1
    values = json.loads(to_json(found))
    assert (values["messages"], values["distinct"], values["skipped_lines"]) == (7, 4, 5)
    assert values["causes"][0]["differences"][0]["logged"][0] == {"verdict": "matched", "intent": "status", "count": 2}
    assert values["otherwise"] == found.received == sum(values["kinds"].values())


def test_removed_and_new_intents_are_causes(old: Matcher) -> None:
    other = {"status": LINES["status"], "songs": ["sing a song", "sing me a song about bread", "a song please"]}

    found = {cause.text: cause for cause in replay(old, matcher(other), LOG).causes}

    assert found["the intent songs is new"].kinds["gained"] == 2
    assert "the intent cancel was removed" in found


def test_same_or_renamed_intents_change_nothing(old: Matcher) -> None:
    renamed = {"status": LINES["status"], "order_cancel": LINES["cancel"]}

    assert replay(old, matcher(renamed), LOG).causes == ()
    assert replay(old, old, LOG).received == 0


def outcome(verdict: Any = "matched", intent: str | None = "a", **more: Any) -> Outcome:
    values: dict[str, Any] = {
        "leading": "a",
        "rivals": (),
        "score": 0.8,
        "confidence": 0.9,
        "nearest": None,
        "threshold": 0.5,
    }
    return Outcome(Case("x", None), verdict, intent, **{**values, **more})


@pytest.mark.parametrize(
    ("old_one", "new_one", "kind"),
    [
        (outcome(), outcome(intent="b"), "other_intent"),
        (outcome(), outcome("out_of_scope", None), "lost"),
        (outcome(), outcome("ambiguous", None), "asked"),
        (outcome("ambiguous", None), outcome("out_of_scope", None), "otherwise"),
        (outcome("out_of_scope", None), outcome(), "gained"),
    ],
)
def test_how_an_answer_changes(old_one: Outcome, new_one: Outcome, kind: str) -> None:
    assert _kind(AnswerChange("messages", "other", old_one, new_one, (), False)) == kind


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"leading": "b"}, "the first is now b instead of a"),
        ({"leading": None}, "the first is now nothing instead of a"),
        ({"threshold": 0.7}, "the threshold of a changed from 0.50 to 0.70"),
        ({"rivals": ("b", "a")}, "too close to tell apart: a and b"),
        ({"confidence": 0.2}, "the confidence of a fell"),
        ({"confidence": 0.95}, "the confidence of a rose"),
        ({"confidence": None, "score": 0.1}, "the score of a fell"),
    ],
)
def test_cause_without_an_edited_line(changed: dict[str, Any], cause: str) -> None:
    old_one = outcome()

    assert (
        _cause(AnswerChange("messages", "other", old_one, replace(old_one, **changed), ("a reason",), False)) == cause
    )


def test_rivals_that_part_are_a_cause_too() -> None:
    change = AnswerChange("messages", "other", outcome(rivals=("a", "b")), outcome(), ("a reason",), False)

    assert _cause(change) == "no longer too close to tell apart: a and b"


def test_threshold_is_no_cause_of_other_rivals() -> None:
    asked, now = outcome("ambiguous", None, rivals=("a", "b")), outcome("ambiguous", None, rivals=("a", "b", "c"))
    change = AnswerChange("messages", "other", asked, replace(now, threshold=0.7), ("a reason",), False)

    assert _cause(change) == "too close to tell apart: a and b and c"
