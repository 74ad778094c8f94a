"""What one answer was worth: a case, and what the matcher made of it."""

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
    """As matched."""
    leading: str | None
    """The intent of the first candidate, whatever the verdict."""
    rivals: tuple[str, ...]
    score: float
    confidence: float | None
    """That the leading candidate is right. None where the registry was too small to calibrate on."""
    nearest: Utterance | None
    """The utterance of the leading candidate that the answer rests on."""
    threshold: float | None = None
    """What the leading candidate was held against."""
    reason: str = ""
    """Why this verdict, in the matcher's words."""

    @classmethod
    def from_result(cls, case: Case, result: MatchResult) -> Outcome:
        """What the matcher made of a case."""
        first = result.candidates[0] if result.candidates else None
        # A message without words, or without a piece that the encoder knows, is refused with certainty.
        certain = result.trace.decided_by == "empty"
        return cls(
            case=case,
            verdict=result.verdict,
            intent=result.intent,
            leading=first.intent if first else None,
            rivals=tuple(rival.intent for rival in result.rivals),
            score=result.score,
            confidence=0.0 if certain else result.confidence,
            nearest=first.utterance if first else None,
            threshold=result.trace.threshold,
            reason=result.trace.reason,
        )

    @property
    def in_scope(self) -> bool:
        """Whether some intent should have answered."""
        return self.case.expected is not None

    @property
    def right(self) -> bool:
        """The verdict that was expected.

        One intent: matched with it. Out of scope: refused. Several intents: the bot asks about those and no others.
        """
        if isinstance(self.case.expected, tuple):
            return self.verdict == "ambiguous" and set(self.rivals) == set(self.case.expected)
        if self.case.expected is None:
            return self.refused
        return self.intent == self.case.expected

    @property
    def refused(self) -> bool:
        """The verdict is out of scope."""
        return self.verdict == "out_of_scope"

    @property
    def asked(self) -> bool:
        """Not right yet, but the one expected intent is among those that the bot asks about."""
        return self.verdict == "ambiguous" and self.case.expected in self.rivals

    @property
    def leads_right(self) -> bool:
        """The first candidate is (one of) what was expected: what a confidence is about."""
        expected = self.case.expected
        return self.leading is not None and (
            self.leading in expected if isinstance(expected, tuple) else self.leading == expected
        )

    @property
    def said(self) -> str:
        """The answer in a word: the intent, "out_of_scope", or the rivals."""
        return self.intent or (" / ".join(sorted(self.rivals)) if self.rivals else self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
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
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Outcome:
        """The inverse of `to_dict`."""
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
            # Reports of earlier releases of this schema do without the two.
            threshold=values.get("threshold"),
            reason=values.get("reason", ""),
        )


class Negative(NamedTuple):
    """A negative utterance that was held out, and what it was taken for."""

    owner: str
    """The intent that it must not match."""
    outcome: Outcome
    """Its case expects nothing in particular: another intent may well be right."""

    @property
    def taken(self) -> bool:
        """Whether it was matched to the one intent that it is not."""
        return self.outcome.intent == self.owner


def expected_name(case: Case) -> str:
    """What was expected in a word: the intent, "out_of_scope", or the intents to be asked about."""
    if isinstance(case.expected, tuple):
        return " / ".join(sorted(case.expected))
    return case.expected or "out_of_scope"


def _place_to_list(place: Location | None) -> list[Any] | None:
    return None if place is None else [place.path, place.line, place.column]


def _place_from_list(values: list[Any] | None) -> Location | None:
    return None if values is None else Location(*values)
