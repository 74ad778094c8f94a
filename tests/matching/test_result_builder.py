"""Results that are built from decisions."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import UnknownNameError
from intentmatch.core.result import Candidate
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.matching.policy import Cut, Policy, decide
from intentmatch.matching.result_builder import ResultBuilder
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.trace import TraceRecorder

SIZE = Slot("size", "list", values=(SlotValue("small"), SlotValue("large")), required=True)
ORDER = Intent(
    "order",
    (Utterance("order a pizza", "en"),),
    title="Order",
    titles={"de": "Bestellen"},
    responses={"en": "Coming.", "de": "Kommt."},
    slots=(SIZE,),
    confirm=True,
)
GREET = Intent("greet", (Utterance("hello", "en"),))
BUILDER = ResultBuilder(Registry((ORDER, GREET)), tolerant=True)
RANKED = [Candidate("order", 0.9, None, "Order"), Candidate("greet", 0.2, None, "greet")]
POLICY = Policy(Cut(0.5, "test"))


def test_match_has_response_entities_and_title_in_the_language() -> None:
    recorder = TraceRecorder()

    result = BUILDER.result(
        "large pizza", ResolvedOptions(1, "de"), decide(RANKED, POLICY), recorder, decided_by="dense"
    )

    assert (result.verdict, result.intent, result.score, result.response) == ("matched", "order", 0.9, "Kommt.")
    assert [c.title for c in result.candidates] == ["Bestellen"]
    assert [(e.slot, e.value) for e in result.entities] == [("size", "large")]
    assert result.confirm
    assert [stage.name for stage in result.trace.stages] == ["slots"]
    assert (result.trace.threshold, result.trace.decided_by) == (0.5, "dense")


def test_message_without_a_language_is_answered_in_the_first() -> None:
    result = BUILDER.result("12", ResolvedOptions(2), decide(RANKED, POLICY), TraceRecorder(), decided_by="dense")

    assert (result.language, result.response) == (None, "Coming.")
    assert [missing.slot for missing in result.missing] == ["size"]
    assert len(result.candidates) == 2


def test_refused_message_has_neither_intent_nor_response() -> None:
    decision = decide(RANKED, Policy(Cut(0.95, "test")))

    result = BUILDER.result("large pizza", ResolvedOptions(5, "en"), decision, TraceRecorder(), decided_by="dense")

    assert (result.verdict, result.intent, result.response, result.entities) == ("out_of_scope", None, None, ())
    assert result.score == 0.9
    assert not result.confirm


def test_decision_without_candidates_has_score_zero() -> None:
    result = BUILDER.result("?", ResolvedOptions(5), decide((), POLICY), TraceRecorder(), decided_by="empty")

    assert (result.score, result.candidates, result.trace.threshold) == (0.0, (), None)


def test_slots_are_filled_from_an_answer() -> None:
    assert [e.value for e in BUILDER.fill("large", "order", ["size"], ResolvedOptions(top_k=1, language="en"))] == [
        "large"
    ]
    assert BUILDER.fill("large", "greet", None, ResolvedOptions(top_k=1, language="en")) == ()


def test_unknown_slot_raises() -> None:
    with pytest.raises(UnknownNameError, match="colour"):
        BUILDER.fill("large", "greet", ["colour"], ResolvedOptions(top_k=1, language="en"))


@pytest.mark.parametrize(("language", "expected"), [("tk", [3]), ("tr", [3]), ("de", [])])
def test_values_in_a_language_without_words_for_them_are_read_in_the_bots(language: str, expected: list[int]) -> None:
    """A short Turkish message may read like a Turkmen one; a German one is read as German."""
    many = Intent("buy", (Utterance("bilet alacağım", "tr"),), slots=(Slot("count", "number"),))
    builder = ResultBuilder(Registry((many,)), tolerant=True)
    options = ResolvedOptions(1, language, foreign=language != "tr")

    assert [entity.value for entity in builder.entities("üç bilet", "buy", options)] == expected
