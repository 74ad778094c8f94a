"""A word or two that lines of several intents share is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.result import Candidate
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.matching.fragments import Fragments
from intentmatch.matching.policy import CheckedDecision, Cut, Decision
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.text import ReadText

SHIPPED = Path(__file__).parents[2] / "intents"


def intent(name: str, *lines: str) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines))


REGISTRY = Registry(
    (
        intent("cancel", "cancel my order", "stop the order", "call it off"),
        intent("change", "change my order", "put a lamp into my order"),
        intent("status", "where is my order", "where is the parcel", "track the parcel"),
        intent("hours", "when do you open", "are you open on sunday"),
    )
)
LEARNED = Cut(0.8, "learned from this registry", "in_scope")
FRAGMENTS = Fragments(
    REGISTRY, WordAlignment.fit([known_pieces(line.text) for line in REGISTRY.utterances], REGISTRY.owners)
)


def matched(**confidences: float) -> Decision:
    ranked = tuple(Candidate(name, 0.5, confidence=value) for name, value in confidences.items())
    return Decision("matched", ranked, (), None, False, "")


def rivals(decision: Decision) -> list[str]:
    return [rival.intent for rival in decision.rivals]


def test_word_in_lines_of_several_intents_is_asked_about():
    checked = FRAGMENTS.check(matched(cancel=0.6, change=0.2, status=0.1, hours=0.01), ReadText("order"))

    assert (checked.decision.verdict, rivals(checked.decision)) == ("ambiguous", ["cancel", "change", "status"])
    assert checked.says == "“order” is in lines of 3 intents"
    assert checked.decision.reason == "“order” is in lines of 3 intents, and does not say which is meant."


def test_rivals_are_the_likeliest_with_the_first_candidate_before_them():
    checked = FRAGMENTS.check(matched(hours=0.4, cancel=0.2, change=0.2, status=0.1), ReadText("order"))

    assert rivals(checked.decision) == ["hours", "cancel", "change"]


def test_intent_that_is_likely_in_neither_way_is_not_offered():
    checked = FRAGMENTS.check(matched(status=0.48, cancel=0.47, hours=0.02), ReadText("where order"))

    assert checked.says is None  # both words are in a line of one intent only
    checked = FRAGMENTS.check(matched(cancel=0.5, change=0.4, hours=0.02), ReadText("my order"))
    assert rivals(checked.decision) == ["cancel", "change"]


@pytest.mark.parametrize(
    ("key", "confidences"),
    [
        ("parcel", {"status": 0.6, "cancel": 0.3}),  # only lines of one intent
        ("order", {"cancel": 0.75, "status": 0.15}),  # (0.83 + 0.5) / 2: most lines and confidence are one intent's
        ("my order", {"change": 0.95, "cancel": 0.01}),  # half of the lines are another's, but the head is sure
        ("lamp order my", {"cancel": 0.6, "change": 0.2}),  # more than two words
        ("order zebra", {"cancel": 0.6, "change": 0.2}),  # no line has both
        ("the", {"cancel": 0.6, "change": 0.2}),  # a stop word alone
        ("", {"cancel": 0.6, "change": 0.2}),
    ],
)
def test_other_messages_stay_matched(key, confidences):
    decision = matched(**confidences)

    assert FRAGMENTS.check(decision, ReadText(key)) == CheckedDecision(decision, None)


def test_stop_words_do_not_count():
    assert rivals(FRAGMENTS.check(matched(cancel=0.6, change=0.2), ReadText("for the order")).decision) == [
        "cancel",
        "change",
    ]


def test_only_allowed_intents_are_counted():
    decision = matched(cancel=0.5, change=0.4)

    assert FRAGMENTS.check(decision, ReadText("order"), allowed=[0]).says is None
    assert FRAGMENTS.check(decision, ReadText("order"), allowed=[0, 1]).says == "“order” is in lines of 2 intents"


def test_lines_that_another_intent_answers_first_do_not_count():
    decision = matched(cancel=0.5, change=0.4)
    line_of_cancel, lines_of_change = 0, [3, 4]

    assert FRAGMENTS.check(decision, ReadText("order"), allowed=[0, 1], hidden=[line_of_cancel]).says is not None
    assert FRAGMENTS.check(decision, ReadText("order"), allowed=[0, 1], hidden=lines_of_change).says is None


@pytest.mark.parametrize(
    ("verdict", "cut", "asked"),
    [
        ("ambiguous", LEARNED, False),
        ("out_of_scope", LEARNED, True),
        ("out_of_scope", Cut(0.9, "the author's", "confidence"), False),
        ("out_of_scope", None, False),
    ],
)
def test_refusal_by_a_learned_threshold_becomes_a_question(verdict, cut, asked):
    other = Decision(verdict, matched(cancel=0.4, change=0.2).ranked, (), cut, False, "")

    checked = FRAGMENTS.check(other, ReadText("order"))

    assert rivals(checked.decision) == (["cancel", "change"] if asked else [])
    assert (checked.says is not None) == asked


def test_word_that_is_more_likely_out_of_scope_stays_refused():
    refused = Decision("out_of_scope", matched(cancel=0.3, change=0.1).ranked, (), LEARNED, False, "")

    assert FRAGMENTS.check(refused, ReadText("order")) == CheckedDecision(refused, None)


def test_without_confidences_or_words_nothing_is_asked():
    decision = matched(cancel=0.6, change=0.2)
    without = Decision("matched", (Candidate("cancel", 0.9), Candidate("change", 0.8)), (), None, False, "")

    assert FRAGMENTS.check(without, ReadText("order")).says is None
    assert Fragments(REGISTRY, None).check(decision, ReadText("order")).says is None


@pytest.fixture(scope="module")
def shipped() -> Matcher:
    return Matcher.load(SHIPPED)


@pytest.mark.parametrize("message", ["order", "ORDER!", "my order", "Bestellung", "commande", "订单", "delivery"])
def test_lone_word_is_asked_about(shipped, message):
    result = shipped.match(message)

    assert (result.verdict, result.intent) == ("ambiguous", None)
    assert 2 <= len(result.rivals) <= 3
    # Below that, the bot asks anyway.
    assert "fragment" in [stage.name for stage in result.trace.stages] or result.candidates[0].confidence < 0.5


@pytest.mark.parametrize(
    ("message", "expected"), [("password", "password_reset"), ("hi", "greeting"), ("track order", "order_status")]
)
def test_lone_word_of_one_intent_is_matched(shipped, message, expected):
    assert shipped.match(message).intent == expected


def test_authors_margin_decides_alone_when_to_ask(shipped):
    assert Matcher.load(SHIPPED, margin=0.0).match("delivery").verdict == "matched"
