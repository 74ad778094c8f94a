"""How two answers to a message differ."""

from __future__ import annotations

from typing import Any

import pytest

from intentmatch.core.result import Candidate, Entity, MatchResult, Trace, Verdict
from intentmatch.server.candidates.differences import KINDS, answer, kind_of


def result(verdict: Verdict, intent: str | None = None, **more: Any) -> MatchResult:
    trace = Trace((), "dense", None, "", "")
    fields: dict[str, Any] = {"candidates": (), "rivals": (), "language": "en", "response": None, "trace": trace}
    return MatchResult("a message", verdict, intent, 0.5, 0.51239, **{**fields, **more})


SMALL, LARGE = (Entity("size", value, value, 0, 5) for value in ("small", "large"))
GREET, BYE = (Candidate(name, 0.5) for name in ("greet", "bye"))
MATCHED, REFUSED = result("matched", "greet"), result("out_of_scope")
ASKED = result("ambiguous", rivals=(GREET, BYE))


@pytest.mark.parametrize(
    ("present", "candidate", "kind"),
    [
        (MATCHED, MATCHED, "same"),
        (MATCHED, result("matched", "greet", response="Hello!", language="de"), "same"),
        (ASKED, result("ambiguous", rivals=(BYE, GREET)), "same"),
        (MATCHED, result("matched", "bye"), "other_intent"),
        (MATCHED, result("matched", "greet", entities=(SMALL,)), "other_slots"),
        (result("matched", "greet", entities=(LARGE,)), result("matched", "greet", entities=(SMALL,)), "other_slots"),
        (ASKED, result("ambiguous", rivals=(GREET,)), "other_rivals"),
        (MATCHED, ASKED, "matched_to_ambiguous"),
        (MATCHED, REFUSED, "matched_to_out_of_scope"),
        (ASKED, MATCHED, "ambiguous_to_matched"),
        (ASKED, REFUSED, "ambiguous_to_out_of_scope"),
        (REFUSED, MATCHED, "out_of_scope_to_matched"),
        (REFUSED, ASKED, "out_of_scope_to_ambiguous"),
        (REFUSED, None, "failed"),
    ],
)
def test_kind(present: MatchResult, candidate: MatchResult | None, kind: str) -> None:
    assert kind_of(present, candidate) == kind
    assert kind in KINDS


def test_an_answer_is_described_without_the_message() -> None:
    assert answer(None) is None
    assert answer(ASKED) == {
        "verdict": "ambiguous",
        "intent": None,
        "rivals": ["greet", "bye"],
        "confidence": 0.5124,
    }
