"""The values that move between the rooms, and the two Protocols that third parties implement."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from intentmatch.errors import Location
from intentmatch.text import language_range

Vectors = NDArray[np.float32]
"""Rows of float32, one text a row: shape `(texts, dim)`."""

Kind = Literal["utterance", "query"]
"""What a text is to an asymmetric encoder: a line of the registry, or a message to be matched."""

Verdict = Literal["matched", "ambiguous", "out_of_scope"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One example line of an author."""

    text: str
    """As the author wrote it."""
    language: str | None = None
    """BCP-47 code, or None where the author named none."""
    location: Location | None = None
    """Where it stands; None when it came from code."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a user may want, with the author's examples of it."""

    name: str
    utterances: tuple[Utterance, ...]
    negatives: tuple[Utterance, ...] = ()
    """Messages that look like this intent and are not: `not:` in the YAML."""
    title: str | None = None
    """Shown to users when the bot asks "did you mean ...?"."""
    description: str | None = None
    threshold: float | None = None
    """The author's own cut on the score; wins over every other threshold."""
    responses: Mapping[str, str] = field(default_factory=dict)
    """Language code to what the bot says; the key "" holds a response without a language."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The author's own data, handed through untouched."""
    location: Location | None = None

    def response(self, language: str | None) -> str | None:
        """The response for a language or what it falls back to; else one without a language, English, any."""
        wanted = language_range(language) if language else []
        for key in (*wanted, "", "en", *self.responses):
            if key in self.responses:
                return self.responses[key]
        return None


@dataclass(frozen=True, slots=True)
class Case:
    """A message with the answer that its author expects: what an evaluation asks."""

    text: str
    expected: str | tuple[str, ...] | None
    """The intent; None for out of scope; several where the bot should ask which of them is meant."""
    language: str | None = None
    """BCP-47 code, for the tables: like any user, a case does not tell the matcher."""
    location: Location | None = None


@dataclass(frozen=True)
class Registry:
    """All intents of a bot, with the `settings:` and the `tests:` their author gave."""

    intents: tuple[Intent, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The merged `settings:` blocks, values still as text."""
    setting_locations: Mapping[str, Location] = field(default_factory=dict)
    tests: tuple[Case, ...] = ()
    """They change no answer, so neither the fingerprint nor an artefact knows of them."""

    def __len__(self) -> int:
        return len(self.intents)

    def __iter__(self) -> Iterator[Intent]:
        return iter(self.intents)

    def __getitem__(self, name: str) -> Intent:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, Intent]:
        return {intent.name: intent for intent in self.intents}

    @cached_property
    def utterances(self) -> tuple[Utterance, ...]:
        """All utterances, intent by intent: the order of the rows of every matrix that is made of them."""
        return tuple(utterance for intent in self.intents for utterance in intent.utterances)

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """For each of `utterances`, the position of its intent."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.utterances)

    @cached_property
    def negatives(self) -> tuple[Utterance, ...]:
        """All negative utterances, in the same order."""
        return tuple(negative for intent in self.intents for negative in intent.negatives)

    @cached_property
    def negative_owners(self) -> tuple[int, ...]:
        """For each of `negatives`, the position of its intent."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.negatives)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages that utterances are written in, sorted."""
        return tuple(sorted({utterance.language for utterance in self.utterances if utterance.language}))

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of everything in the registry that can change an answer; places in files do not count."""
        content = [
            [
                intent.name,
                [[u.text, u.language] for u in intent.utterances],
                [[u.text, u.language] for u in intent.negatives],
                intent.title,
                intent.description,
                intent.threshold,
                dict(intent.responses),
                dict(intent.metadata),
            ]
            for intent in self.intents
        ]
        text = json.dumps([content, dict(self.settings)], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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

    name: str
    says: str
    microseconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """How a decision came about."""

    stages: tuple[Stage, ...]
    decided_by: str
    """The stage whose scores were decided on: "exact", "fuzzy", "dense", "reranker" or "empty"."""
    threshold: float | None
    """The cut the leading candidate was held against; None when nothing was scored."""
    threshold_origin: str
    """Where that cut came from, in words."""
    reason: str
    """Why this verdict, in words."""


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

    def explain(self) -> str:
        """Why this answer, in a few sentences for the author of the intents."""
        lines = [f"{_HEADLINES[self.verdict]}: {self.trace.reason}"]
        if self.candidates and (nearest := self.candidates[0].utterance) is not None:
            place = f" ({nearest.location.short})" if nearest.location else ""
            lines.append(f"The nearest utterance of {self.candidates[0].intent} is “{nearest.text}”{place}.")
        if self.confidence is not None:
            lines.append(f"Confidence that {self.candidates[0].intent} is right: {self.confidence:.0%}.")
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


@runtime_checkable
class Encoder(Protocol):
    """Text to vectors. The laws are in `tests/contracts/encoder.py` and hold for every implementation.

    Two more members are optional, and looked for by `languages.Coverage` alone. `languages: frozenset[str] | None` are
    the BCP-47 codes that the encoder was trained on, None where it does not say. `unknown(text: str) -> str` gives the
    letters of a cleaned text that it cannot read, in their order.
    """

    @property
    def name(self) -> str:
        """For people: the kind of encoder and its model."""

    @property
    def dim(self) -> int:
        """Numbers in a vector."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors do: weights, pooling, prompts, truncation, normalisation."""

    @property
    def tolerance(self) -> float:
        """How far a number may move between batches, devices or precisions of this encoder."""

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Shape `(len(texts), dim)`, rows in the order of the texts, each of unit length.

        A text that the encoder knows nothing about (an empty one, say) is a row of zeros.
        """


@runtime_checkable
class Reranker(Protocol):
    """A slower, better judge of whether a message and an utterance mean the same."""

    @property
    def name(self) -> str:
        """For people: the kind of reranker and its model."""

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """One number in [0, 1] for each utterance; shape `(len(utterances),)`."""
