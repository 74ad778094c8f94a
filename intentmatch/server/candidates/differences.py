"""How the answers of two registries to the same message differ, as one word for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from intentmatch.core.result import MatchResult, Verdict

Kind = Literal[
    "same",
    "other_intent",
    "other_slots",
    "other_rivals",
    "matched_to_ambiguous",
    "matched_to_out_of_scope",
    "ambiguous_to_matched",
    "ambiguous_to_out_of_scope",
    "out_of_scope_to_matched",
    "out_of_scope_to_ambiguous",
    "failed",
]
"""From the present registry's answer to the candidate's; `failed` if the candidate raised an error."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_TO: Mapping[tuple[Verdict, Verdict], Kind] = {
    ("matched", "ambiguous"): "matched_to_ambiguous",
    ("matched", "out_of_scope"): "matched_to_out_of_scope",
    ("ambiguous", "matched"): "ambiguous_to_matched",
    ("ambiguous", "out_of_scope"): "ambiguous_to_out_of_scope",
    ("out_of_scope", "matched"): "out_of_scope_to_matched",
    ("out_of_scope", "ambiguous"): "out_of_scope_to_ambiguous",
}


def kind_of(present: MatchResult, candidate: MatchResult | None) -> Kind:
    """Return how the candidate's answer differs; None stands for an answer that failed.

    Scores, confidences and responses are not compared.
    """
    if candidate is None:
        return "failed"
    if present.verdict != candidate.verdict:
        return _TO[present.verdict, candidate.verdict]
    if present.intent != candidate.intent:
        return "other_intent"
    # As sets: the order of rivals may change with a retraining, and the user is asked about the same ones.
    if _rivals(present) != _rivals(candidate):
        return "other_rivals"
    return "same" if _slots(present) == _slots(candidate) else "other_slots"


def answer(result: MatchResult | None) -> dict[str, Any] | None:
    """Describe an answer without the words of the message; None stays None."""
    if result is None:
        return None
    return {
        "verdict": result.verdict,
        "intent": result.intent,
        "rivals": [rival.intent for rival in result.rivals],
        "confidence": None if result.confidence is None else round(result.confidence, 4),
    }


def _rivals(result: MatchResult) -> set[str]:
    return {rival.intent for rival in result.rivals}


def _slots(result: MatchResult) -> list[tuple[str, str, int, int]]:
    return [(entity.slot, repr(entity.value), entity.start, entity.end) for entity in result.entities]
