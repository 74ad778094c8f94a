"""How well the questions of a registry are answered."""

from __future__ import annotations

import json

import pytest

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.cli.render import evaluation as render
from intentmatch.core.types import TraitQuestion
from intentmatch.evaluation.reports.report import Report, ReportPart
from intentmatch.evaluation.traits import evaluate_traits

YES = [
    "I need it today",
    "this is an emergency",
    "please hurry up",
    "as soon as possible please",
    "I need it right now",
    "hurry, it is an emergency",
    "I need it as soon as possible",
    "it has to be today",
]
NO = [
    "no hurry",
    "there is no hurry",
    "take your time",
    "there is no rush at all",
    "it can wait until next week",
    "no rush",
    "it can wait",
    "next week is early enough",
]
INTENTS = (
    Intent("status", tuple(map(Utterance, ["where is my order", "track my parcel", "when will it arrive"]))),
    Intent("hours", tuple(map(Utterance, ["when are you open", "what are your opening hours"]))),
)


def question(name: str, yes: list[str], no: list[str]) -> TraitQuestion:
    return TraitQuestion(name, {"yes": tuple(map(Utterance, yes)), "no": tuple(map(Utterance, no))})


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    mixed = [*YES[::2], *NO[::2]], [*YES[1::2], *NO[1::2]]
    return Matcher.load(Registry(INTENTS, questions=(question("urgent", YES, NO), question("mixed", *mixed))))


def test_lines_are_answered_without_having_been_learned(matcher):
    urgent, mixed = evaluate_traits(matcher)

    assert (urgent.question, urgent.lines) == ("urgent", 16)
    assert urgent.right > 0.5
    assert urgent.wrong < 0.3
    assert mixed.right < urgent.right
    assert urgent.right + urgent.wrong <= 1.0
    assert 0.0 <= urgent.ece <= 0.5


def test_utterances_of_intents_rarely_have_an_answer(matcher):
    assert evaluate_traits(matcher)[0].answered <= 0.2


def test_a_registry_without_questions_has_no_rows():
    assert evaluate_traits(Matcher.load(Registry(INTENTS))) == ()


def test_a_line_without_which_an_answer_has_none_is_not_measured():
    lone = Matcher.load(Registry(INTENTS, questions=(question("urgent", YES[:1], NO),)))

    assert evaluate_traits(lone)[0].lines < 9


def test_the_report_keeps_and_shows_questions(matcher, capsys):
    report = Report((ReportPart("tests", ()),), questions=evaluate_traits(matcher))

    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))).questions == report.questions
    render.report(report)
    assert "Questions: held-out lines" in capsys.readouterr().out
