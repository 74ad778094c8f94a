"""Results of a matcher, made without a matcher."""

from __future__ import annotations

from typing import Any

from intentmatch.core.result import Candidate, MatchResult, Trace, Verdict


def result(message: str, verdict: Verdict = "out_of_scope", **other: Any) -> MatchResult:
    """Make a result for a message whose nearest intent is `status`."""
    candidates = tuple(Candidate(name, 0.4) for name in other.pop("nearest", ("status", "cancel")))
    defaults = {
        "intent": candidates[0].intent if verdict == "matched" else None,
        "score": 0.4,
        "confidence": 0.3,
        "candidates": candidates,
        "rivals": candidates if verdict == "ambiguous" else (),
        "language": None,
        "response": None,
        "trace": Trace((), "dense", 0.38, "learned", "because."),
    }
    return MatchResult(message, verdict, **{**defaults, **other})
