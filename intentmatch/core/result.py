"""What the matcher answers: one `MatchResult` for every message, with all that led to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from intentmatch.core.types import Utterance

Verdict = Literal["matched", "ambiguous", "out_of_scope"]

StageName = Literal[
    "clean",
    "language",
    "exact",
    "fuzzy",
    "encode",
    "coverage",
    "dense",
    "head",
    "reranker",
    "decide",
    "otherwise",
    "slots",
    "parts",
]
"""The stages of the pipeline, in the order in which a trace lists them. A message passes only some of them."""

DecidedBy = Literal["exact", "fuzzy", "dense", "head", "reranker", "empty"]
"""The stage whose scores the verdict rests on; "empty" when there was nothing to score."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An intent with its score for one message, before or after deciding."""

    intent: str
    score: float
    """Similarity in [-1, 1]: 1.0 is the author's own line. Not a probability."""
    utterance: Utterance | None = None
    """The utterance nearest to the message."""
    title: str | None = None
    confidence: float | None = None
    """Calibrated probability that it is what the user wants; None where the registry is too small to calibrate on."""
    evidence: float | None = field(default=None, repr=False)
    """What candidates are ranked by: a number on the registry's own scale. Without it, the score."""

    @property
    def measured(self) -> str:
        """For people: the confidence where there is one, otherwise the score."""
        return f"{self.score:.2f}" if self.confidence is None else f"{self.confidence:.0%}"

    @property
    def rank(self) -> float:
        """Higher comes first."""
        return self.score if self.evidence is None else self.evidence


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline and what it found."""

    name: StageName
    says: str
    microseconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """How a decision came about."""

    stages: tuple[Stage, ...]
    decided_by: DecidedBy
    """The stage whose scores the verdict rests on: "exact", "fuzzy", "dense", "head", "reranker" or "empty"."""
    threshold: float | None
    """The cut the leading candidate was held against; None when nothing was scored."""
    threshold_origin: str
    """Where that cut came from, in words."""
    reason: str
    """Why this verdict, in words."""


@dataclass(frozen=True, slots=True)
class Entity:
    """The value of a slot, found in a message."""

    slot: str
    value: str | int | float
    """What the bot needs: the value of a list whatever the synonym, a number, an ISO 8601 date or time, or the text."""
    text: str
    """As it stands in the message: `message[start:end]`."""
    start: int
    """In characters (code points) of the message as it was received."""
    end: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A required slot that the message does not hold."""

    slot: str
    question: str | None
    """What to ask for it, in the language of the result where the author wrote it in that."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several requests in a message."""

    start: int
    """In characters (code points) of the message as it was received."""
    end: int
    intent: str
    score: float
    confidence: float | None
    response: str | None
    entities: tuple[Entity, ...]
    """Of the intent's slots; their places are in the whole message."""
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The one answer to a message. Its shape is the same whatever the verdict."""

    message: str
    """As it was received."""
    verdict: Verdict
    intent: str | None
    """The intent, when `verdict` is "matched"; otherwise None."""
    score: float
    """Of the leading candidate; 0.0 when there is none."""
    confidence: float | None
    """Calibrated probability that the leading candidate is what the user wants; None where the registry is too
    small to calibrate on."""
    candidates: tuple[Candidate, ...]
    """Ranked, best first."""
    rivals: tuple[Candidate, ...]
    """The intents to ask about, when `verdict` is "ambiguous"; otherwise empty."""
    language: str | None
    """The caller's, otherwise that of the registry's languages in which the message reads likeliest."""
    response: str | None
    """The author's response of the matched intent, in that language where there is one."""
    trace: Trace
    entities: tuple[Entity, ...] = ()
    """The values of the matched intent's slots, in the order of the message."""
    missing: tuple[Missing, ...] = ()
    """The required slots of the matched intent that the message does not hold, in the order of the intent."""
    parts: tuple[Part, ...] = ()
    """Two or more, where the message is several requests and the setting `several_intents` asks for that; `intent` and
    what goes with it are then those of the first."""

    def explain(self) -> str:
        """Why this answer, in a few sentences for the author of the intents."""
        lines = [f"{_HEADLINES[self.verdict]}: {self.trace.reason}"]
        if self.candidates and (nearest := self.candidates[0].utterance) is not None:
            place = f" ({nearest.location.short})" if nearest.location else ""
            lines.append(f"The nearest utterance of {self.candidates[0].intent} is “{nearest.text}”{place}.")
        if self.confidence is not None:
            lines.append(f"Confidence that {self.candidates[0].intent} is right: {self.confidence:.0%}.")
        if self.entities:
            lines.append(f"Found: {', '.join(f'{e.slot}={e.value}' for e in self.entities)}.")
        if self.missing:
            lines.append(f"Missing: {', '.join(missing.slot for missing in self.missing)}.")
        others = [f"{c.intent} {c.measured}" for c in self.candidates[1:4]]
        if others:
            lines.append(f"Next: {', '.join(others)}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values: what the command line prints with `--json` and the webhook answers."""
        return {
            "message": self.message,
            "verdict": self.verdict,
            "intent": self.intent,
            "score": self.score,
            "confidence": self.confidence,
            "language": self.language,
            "response": self.response,
            "candidates": [_candidate_dict(c) for c in self.candidates],
            "rivals": [_candidate_dict(c) for c in self.rivals],
            "entities": [asdict(entity) for entity in self.entities],
            "missing": [asdict(missing) for missing in self.missing],
            "parts": [asdict(part) for part in self.parts],
            "trace": {
                "decided_by": self.trace.decided_by,
                "threshold": self.trace.threshold,
                "threshold_origin": self.trace.threshold_origin,
                "reason": self.trace.reason,
                "stages": [
                    {"name": s.name, "says": s.says, "microseconds": round(s.microseconds, 1)}
                    for s in self.trace.stages
                ],
            },
        }


_HEADLINES: Mapping[Verdict, str] = {"matched": "Matched", "ambiguous": "Ambiguous", "out_of_scope": "Out of scope"}


def _candidate_dict(candidate: Candidate) -> dict[str, Any]:
    nearest = candidate.utterance
    return {
        "intent": candidate.intent,
        "title": candidate.title,
        "score": candidate.score,
        "confidence": candidate.confidence,
        "utterance": nearest.text if nearest else None,
        "language": nearest.language if nearest else None,
        "location": nearest.location.short if nearest and nearest.location else None,
    }
