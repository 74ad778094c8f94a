"""Outcomes: a test case and the matcher's answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from intentmatch.core.errors import Location
from intentmatch.core.result import MatchResult, Verdict
from intentmatch.core.types import Case, Utterance


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case and the answer to it."""

    case: Case
    verdict: Verdict
    intent: str | None
    """The matched intent."""
    leading: str | None
    """The intent of the first candidate, whatever the verdict."""
    rivals: tuple[str, ...]
    score: float
    confidence: float | None
    """Probability that the first candidate is correct; None if the registry was too small to calibrate."""
    nearest: Utterance | None
    """The nearest utterance of the first candidate."""
    threshold: float | None = None
    """Threshold that the first candidate had to reach."""
    reason: str = ""
    """The reason for the verdict, from the trace."""
    threshold_on: str | None = None
    """What the threshold was compared with: "score", "confidence" or "in_scope"; None if nothing was scored."""
    scope: float | None = None
    """Probability that the message is in scope; None if the registry was too small to calibrate."""
    reranked: bool = False
    """Whether the verdict was in doubt, so that the reranker was asked; with or without an answer from it."""

    @classmethod
    def from_result(cls, case: Case, result: MatchResult) -> Outcome:
        """Create the outcome of a case from a match result."""
        first = result.candidates[0] if result.candidates else None
        # Noise, and a message without words or without any token known to the encoder, is always refused.
        is_empty = result.trace.decided_by in ("empty", "noise")
        return cls(
            case=case,
            verdict=result.verdict,
            intent=result.intent,
            leading=first.intent if first else None,
            rivals=tuple(rival.intent for rival in result.rivals),
            score=result.score,
            confidence=0.0 if is_empty else result.confidence,
            nearest=first.utterance if first else None,
            threshold=result.trace.threshold,
            reason=result.trace.reason,
            threshold_on=result.trace.threshold_on,
            scope=0.0 if is_empty else result.in_scope,
            reranked=any(stage.name == "reranker" for stage in result.trace.stages),
        )

    @property
    def in_scope(self) -> bool:
        """Whether an intent was expected."""
        return self.case.expected is not None

    @property
    def right(self) -> bool:
        """Whether the verdict is the expected one.

        One expected intent: matched with it. Out of scope: refused. Several intents: ambiguous between exactly these.
        """
        if isinstance(self.case.expected, tuple):
            return self.verdict == "ambiguous" and set(self.rivals) == set(self.case.expected)
        if self.case.expected is None:
            return self.refused
        return self.intent == self.case.expected

    @property
    def refused(self) -> bool:
        """Whether the verdict is out of scope."""
        return self.verdict == "out_of_scope"

    @property
    def asked(self) -> bool:
        """Whether the verdict is ambiguous and the one expected intent is among the rivals."""
        return self.verdict == "ambiguous" and self.case.expected in self.rivals

    @property
    def leads_right(self) -> bool:
        """Whether the first candidate is (one of) the expected intents, which the confidence predicts."""
        expected = self.case.expected
        return self.leading is not None and (
            self.leading in expected if isinstance(expected, tuple) else self.leading == expected
        )

    @property
    def answer(self) -> str:
        """The answer as a label: the intent, "out_of_scope", or the rivals."""
        return self.intent or (" / ".join(sorted(self.rivals)) if self.rivals else self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        expected = self.case.expected
        return {
            "text": self.case.text,
            "expected": list(expected) if isinstance(expected, tuple) else expected,
            "language": self.case.language,
            "location": _place_to_list(self.case.location),
            "right": self.right,
            "verdict": self.verdict,
            "intent": self.intent,
            "leading": self.leading,
            "rivals": list(self.rivals),
            "score": self.score,
            "confidence": self.confidence,
            "nearest": self.nearest
            and {
                "text": self.nearest.text,
                "language": self.nearest.language,
                "location": _place_to_list(self.nearest.location),
            },
            "threshold": self.threshold,
            "reason": self.reason,
            "threshold_on": self.threshold_on,
            "scope": self.scope,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Outcome:
        """Read the values that `to_dict` returned."""
        expected, nearest = values["expected"], values["nearest"]
        return cls(
            case=Case(
                values["text"],
                tuple(expected) if isinstance(expected, list) else expected,
                values["language"],
                _place_from_list(values["location"]),
            ),
            verdict=values["verdict"],
            intent=values["intent"],
            leading=values["leading"],
            rivals=tuple(values["rivals"]),
            score=float(values["score"]),
            confidence=values["confidence"],
            nearest=nearest and Utterance(nearest["text"], nearest["language"], _place_from_list(nearest["location"])),
            # Reports of earlier releases with this schema lack these four.
            threshold=values.get("threshold"),
            reason=values.get("reason", ""),
            threshold_on=values.get("threshold_on"),
            scope=values.get("scope"),
        )


class Negative(NamedTuple):
    """A held-out negative utterance and its outcome."""

    owner: str
    """The intent that it must not match."""
    outcome: Outcome
    """The outcome; its case has no expected intent, since another intent may be correct."""

    @property
    def taken(self) -> bool:
        """Whether it was matched with the intent that excludes it."""
        return self.outcome.intent == self.owner


def expected_name(case: Case) -> str:
    """Return the expected answer as a label: the intent, "out_of_scope", or the rivals."""
    if isinstance(case.expected, tuple):
        return " / ".join(sorted(case.expected))
    return case.expected or "out_of_scope"


def _place_to_list(place: Location | None) -> list[Any] | None:
    return None if place is None else [place.path, place.line, place.column]


def _place_from_list(values: list[Any] | None) -> Location | None:
    return None if values is None else Location(*values)
