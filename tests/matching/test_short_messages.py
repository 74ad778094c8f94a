"""A message of a few words that asks for nothing is refused, unless a line is like it."""

from __future__ import annotations

import pytest

from intentmatch import Candidate, Intent, Registry, Utterance
from intentmatch.core.result import Measure
from intentmatch.matching.policy import CheckedDecision, Cut, Decision
from intentmatch.matching.short_messages import ShortMessages
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText

OPTIONS = ResolvedOptions(3, "en")
LINE = "is the printer working again"


def intent(name: str, *lines: str) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines))


SHORT = ShortMessages(
    Registry(
        (
            intent("printing", LINE, "how much is a photocopy", "printer"),
            intent("city", "Boston", "New York", "I want to fly to Boston"),
            intent("open", "are you open at 10 am", "10 am"),
        )
    )
)


def matched(
    score: float, name: str = "printing", line: str = LINE, *, confidence: float = 0.8, on: Measure = "in_scope"
) -> Decision:
    best = Candidate(name, score, Utterance(line, "en"), confidence=confidence)
    return Decision("matched", (best,), (), Cut(0.8, "learned", on), False, "")


@pytest.mark.parametrize(
    ("text", "decision", "says"),
    [
        ("no", matched(0.34), "“no” is an answer"),
        ("no thanks", matched(0.54, confidence=0.95), "“no thanks” is an answer"),
        ("maybe", matched(0.45, "city", "Boston"), "“maybe” is an answer"),
        ("please", matched(0.34), "“please” is too short for a score of 0.34"),
        # Two lone words are more alike than that if they mean the same.
        ("vtr", matched(0.44, line="PZR"), "“vtr” is too short for a score of 0.44"),
        ("thank you", matched(0.49), "“thank you” is too short for a score of 0.49"),
        ("at 9 am", matched(0.49, confidence=0.95), "“at 9 am” is a value alone"),
        ("500", matched(0.7, line="print 500 pages", confidence=0.95), "“500” is a value alone"),
        ("01719-876543", matched(0.7), "“01719 876543” is a value alone"),
    ],
)
def test_message_that_asks_for_nothing_is_refused(text, decision, says):
    checked = SHORT.check(decision, ReadText(text), OPTIONS)

    assert (checked.decision.verdict, checked.says) == ("out_of_scope", says)
    nearest = decision.ranked[0].intent
    assert checked.decision.reason == f"nothing like your lines: {nearest} comes nearest, but {says}."


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("copier", matched(0.35)),  # a word that may be a part of a line
        ("business hours", matched(0.34)),  # two words
        ("printer", matched(0.3)),  # a word of the line
        ("thank you", matched(0.5)),
        ("Chicago", matched(0.3, "city", "Boston")),  # most lines of the intent are as short
        ("at 9 am", matched(0.49, "open", "10 am")),  # the line is a value as well
        ("agent please", matched(0.3, confidence=0.9)),  # the head is sure
        ("no", matched(0.3, on="score")),  # the author's threshold
        ("nope", matched(0.54, line="no, not this time")),  # the line is such an answer as well
        ("stop", matched(0.3, line="stop the printer")),  # a part of the line
        ("no?", matched(0.54)),
        ("打印", matched(0.3)),  # no spaces between words
        ("the page that I printed is blank", matched(0.3)),
    ],
)
def test_other_messages_stay_matched(text, decision):
    assert SHORT.check(decision, ReadText(text), OPTIONS) == CheckedDecision(decision, None)


@pytest.mark.parametrize("verdict", ["out_of_scope", "ambiguous"])
def test_other_verdicts_stay(verdict):
    decision = Decision(verdict, matched(0.3).ranked, (), None, False, "")

    assert SHORT.check(decision, ReadText("no"), OPTIONS) == CheckedDecision(decision, None)
