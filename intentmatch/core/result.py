"""Match results: one `MatchResult` per message, with its candidates, entities and trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Literal

from intentmatch.core.types import Utterance, Value
from intentmatch.core.when_read import made_when_read

Verdict = Literal["matched", "ambiguous", "out_of_scope"]

Measure = Literal["score", "confidence", "in_scope"]
"""What a threshold is compared with: the first candidate's score or confidence, or the in-scope probability."""

StageName = Literal[
    "clean",
    "language",
    "exact",
    "fuzzy",
    "spelling",
    "noise",
    "values",
    "encode",
    "coverage",
    "dense",
    "words",
    "head",
    "reranker",
    "decide",
    "free_text",
    "without_values",
    "fragment",
    "negation",
    "acts",
    "follow_up",
    "otherwise",
    "n_best",
    "slots",
    "parts",
]
"""The stages of the pipeline, in the order in which a trace lists them. A message passes only some of them."""

CheckName = Literal["free_text", "without_values", "fragment", "negation", "acts", "follow_up"]
DecidedBy = Literal["exact", "fuzzy", "noise", "dense", "head", "reranker", CheckName, "empty"]
"""The stage that led to the verdict; "empty" when there was nothing to score. "free_text", "without_values",
"fragment", "negation" and "acts" were added in 0.3.0."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An intent with its score for one message."""

    intent: str
    score: float
    """Cosine similarity in [-1, 1]; 1.0 for one of the author's own utterances. Not a probability."""
    utterance: Utterance | None = None
    """The utterance nearest to the message."""
    title: str | None = None
    confidence: float | None = None
    """Calibrated probability that the user wants this intent; None if the registry is too small to calibrate. The
    confidences of one message add up to at most 1, unless its parts mean different intents: each of these has the
    confidence of its part."""
    evidence: float | None = field(default=None, repr=False)
    """Fused score that candidates are ranked by, on a scale of its own for each registry; None: ranked by `score`."""
    words: float | None = field(default=None, repr=False)
    """Word similarity of message and intent in [0, 1], a part of the evidence; None if not compared.
    Added in 0.3.0."""

    @property
    def measured(self) -> str:
        """The confidence as a percentage, or the score if there is no confidence; for display."""
        return f"{self.score:.2f}" if self.confidence is None else f"{self.confidence:.0%}"

    @property
    def rank(self) -> float:
        """Sort key of the ranking; higher comes first."""
        return self.score if self.evidence is None else self.evidence


@made_when_read("says")
@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline, what it found in words, and how long it took."""

    name: StageName
    says: str
    microseconds: float = field(default=0.0, compare=False)


@made_when_read("stages", "reason")
@dataclass(frozen=True, slots=True)
class Trace:
    """How a decision was made. Stages and reason are put in words when they are first read."""

    stages: tuple[Stage, ...]
    decided_by: DecidedBy
    """The stage that led to the verdict: "exact", "fuzzy", "noise", "dense", "head", "reranker", "free_text",
    "without_values", "fragment", "negation", "acts", "follow_up" or "empty"."""
    threshold: float | None
    """The threshold that the best candidate was compared with; None if nothing was scored."""
    threshold_origin: str
    """Where the threshold came from, in words."""
    reason: str
    """The reason for the verdict, in words."""
    threshold_on: Measure | None = None
    """What was compared with the threshold; None if nothing was scored."""


@dataclass(frozen=True, slots=True)
class Entity:
    """The value of a slot, found in a message."""

    slot: str
    value: Value
    """Normalised value: the list value for a synonym, a number, an ISO 8601 date, time or duration, a mapping for money
    (`amount`, `currency`), temperatures (`amount`, `unit`) and ranges of time (`from`, `to`), or the text itself. The
    currency or the unit of a number alone, which the bot asked for, is None."""
    text: str
    """`message[start:end]`."""
    start: int
    """Offset in characters (code points) of the message as received."""
    end: int

    @property
    def shown(self) -> str:
        """The value for display: "20 EUR" for an amount of money, "2026-11-23 to 2026-11-29" for a range.

        Added in 0.3.0.
        """
        if not isinstance(self.value, Mapping):
            return str(self.value)
        parts = [str(part) for part in self.value.values() if part is not None]
        return (" to " if "from" in self.value else " ").join(parts)


@dataclass(frozen=True, slots=True)
class Missing:
    """A slot to ask about.

    It is a required one without a value in the message, or one for which the message offers several values ("small or
    medium"), which are among the entities.
    """

    slot: str
    question: str | None
    """The author's question for the slot, in the language of the result if there is one; for several values the words
    of the message: "small or medium?"."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several requests in a message."""

    start: int
    """Offset in characters (code points) of the message as received."""
    end: int
    intent: str
    score: float
    confidence: float | None
    response: str | None
    entities: tuple[Entity, ...]
    """Entities of this intent; their offsets count from the start of the whole message."""
    missing: tuple[Missing, ...]


@dataclass(frozen=True, slots=True)
class Trait:
    """What a message says to one of the registry's questions, whatever its intent. Added in 0.3.0."""

    answer: str | None
    """The likeliest answer if it is likelier than all else; None if the message does not say."""
    confidence: float
    """Calibrated probability of the likeliest answer; 0.0 if the message says nothing."""
    confidences: Mapping[str, float]
    """Calibrated probability of each answer. What they leave of 1 is that the message does not say."""

    @classmethod
    def of(cls, confidences: Mapping[str, float]) -> Trait:
        """Return the trait with these confidences."""
        best = max(confidences, key=confidences.__getitem__)
        confidence = confidences[best]
        return cls(best if confidence > MORE_LIKELY_THAN_NOT else None, confidence, confidences)


MORE_LIKELY_THAN_NOT = 0.5


LEAST_SALIENCE = 0.5
"""A word with less is ignored: it counts half as much as the mean word of its message."""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A word of a message and the word of an utterance that it met, made by `Matcher.word_matches`. Added in 0.3.0."""

    word: str
    """As the tokenizer reads it: in lower case, and corrected if it was a typing mistake."""
    met: str
    """The nearest word of the utterance, however far."""
    similarity: float
    """Cosine similarity of the two in [0, 1]."""
    weight: float
    """Share of the word in the message in [0, 1]: words that few utterances have, and salient ones, weigh more."""
    salience: float = 1.0
    """How much the word counts in the message, 1 on the mean; a greeting beside a request has far less. Added in
    0.3.0."""

    @property
    def is_ignored(self) -> bool:
        """Whether the word hardly counts. Added in 0.3.0."""
        return self.salience < LEAST_SALIENCE


@made_when_read("traits")
@dataclass(frozen=True, slots=True)
class MatchResult:
    """The answer to a message. All fields exist for every verdict."""

    message: str
    """The message as received."""
    verdict: Verdict
    intent: str | None
    """The matched intent; None unless `verdict` is "matched"."""
    score: float
    """Score of the best candidate; 0.0 if there is none."""
    confidence: float | None
    """Calibrated probability that the user wants the best candidate; None if the registry is too small to calibrate."""
    candidates: tuple[Candidate, ...]
    """Best first."""
    rivals: tuple[Candidate, ...]
    """The intents to ask the user about if `verdict` is "ambiguous"; otherwise empty. One alone is an intent that the
    message refuses: "please don't cancel my order"."""
    language: str | None
    """The language that the caller gave; otherwise the message's own, whether the registry has it or not. None if there
    is nothing to tell it by, as in a number."""
    response: str | None
    """The author's response for the matched intent: see `Intent.response`. If `language` is None, the language of the
    first utterance stands for it."""
    trace: Trace
    entities: tuple[Entity, ...] = ()
    """Slot values found for the matched intent, in the order of the message."""
    missing: tuple[Missing, ...] = ()
    """Slots of the matched intent to ask about, in the order of the intent: see `Missing`."""
    parts: tuple[Part, ...] = ()
    """Two or more requests of one message, if the setting `several_intents` is on. `intent`, `entities` and the like
    are then those of the first part."""
    confirm: bool = False
    """Whether the author wants the user to confirm the matched intent before the bot acts (`confirm: true`). Added
    in 0.3.0."""
    in_scope: float | None = None
    """Calibrated probability that the user wants one of the intents: the sum of the confidences of all candidates. None
    if the registry is too small to calibrate. Added in 0.3.0."""
    traits: Mapping[str, Trait] = field(default_factory=dict)
    """What the message says to each question of the registry, by the question's name. Added in 0.3.0."""

    @property
    def is_follow_up(self) -> bool:
        """Whether the message does not stand alone and is of the intent of the turn before. Added in 0.3.0."""
        return any(stage.name == "follow_up" for stage in self.trace.stages)

    def explain(self, words: Sequence[WordMatch] = ()) -> str:
        """Explain the verdict in a few sentences for the author of the intents.

        `words` are what `Matcher.word_matches` returns; `Matcher.explain` passes them.

        `words` was added in 0.3.0.
        """
        lines = [f"{_HEADLINES[self.verdict]}: {self.trace.reason}"]
        if (heard := next((stage.says for stage in self.trace.stages if stage.name == "n_best"), None)) is not None:
            lines.append(f"Numbers are means over what was heard: {heard}.")
        if self.candidates and (nearest := self.candidates[0].utterance) is not None:
            place = f" ({nearest.location.short})" if nearest.location else ""
            lines.append(f"The nearest utterance of {self.candidates[0].intent} is “{nearest.text}”{place}.")
        lines += _words(words)
        if self.confidence is not None:
            lines.append(f"Confidence that {self.candidates[0].intent} is right: {self.confidence:.0%}.")
        if self.entities:
            lines.append(f"Found: {', '.join(f'{e.slot}={e.shown}' for e in self.entities)}.")
        if self.missing:
            lines.append(f"Missing: {', '.join(missing.slot for missing in self.missing)}.")
        if self.traits:
            lines.append(f"Questions: {traits_in_words(self.traits)}.")
        others = [f"{c.intent} {c.measured}" for c in self.candidates[1:4]]
        if others:
            lines.append(f"Next: {', '.join(others)}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the result in a notebook: verdict, reason, entities and the best candidates."""
        return _html(self)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON values, as the command line prints with `--json` and the webhook returns."""
        return {
            "message": self.message,
            "verdict": self.verdict,
            "intent": self.intent,
            "score": self.score,
            "confidence": self.confidence,
            "in_scope": self.in_scope,
            "language": self.language,
            "response": self.response,
            "candidates": [_candidate_dict(c) for c in self.candidates],
            "rivals": [_candidate_dict(c) for c in self.rivals],
            "entities": [asdict(entity) for entity in self.entities],
            "missing": [asdict(missing) for missing in self.missing],
            "parts": [asdict(part) for part in self.parts],
            "confirm": self.confirm,
            "traits": {name: asdict(trait) for name, trait in self.traits.items()},
            "trace": {
                "decided_by": self.trace.decided_by,
                "threshold": self.trace.threshold,
                "threshold_on": self.trace.threshold_on,
                "threshold_origin": self.trace.threshold_origin,
                "reason": self.trace.reason,
                "stages": [
                    {"name": s.name, "says": s.says, "microseconds": round(s.microseconds, 1)}
                    for s in self.trace.stages
                ],
            },
        }


# Least similarity of words that have met, and the most words that are shown: the heaviest.
_MET, _SHOWN_WORDS = 0.5, 8
# The most candidates in a notebook.
_SHOWN_CANDIDATES = 5

_HEADLINES: Mapping[Verdict, str] = {"matched": "Matched", "ambiguous": "Ambiguous", "out_of_scope": "Out of scope"}


def _words(matches: Sequence[WordMatch]) -> list[str]:
    """Return sentences on the words that met a word of the utterance, and on the others, in the message's order."""
    heaviest = sorted((one for one in matches if not one.is_ignored), key=lambda one: -one.weight)
    # Chosen by weight, and shown as they stand in the message.
    shown = sorted(heaviest[:_SHOWN_WORDS], key=matches.index)
    ignored = [one.word for one in matches if one.is_ignored][:_SHOWN_WORDS]
    met = [f"{one.word} ~ {one.met} {one.similarity:.2f}" for one in shown if one.similarity >= _MET]
    alone = [f"{one.word} {one.similarity:.2f}" for one in shown if one.similarity < _MET]
    sentences = (("Words that match", met), ("Words without a match", alone), ("Ignored", ignored))
    return [f"{what}: {', '.join(listed)}." for what, listed in sentences if listed]


def traits_in_words(traits: Mapping[str, Trait]) -> str:
    """Return the answer to each question: "urgent yes 93%, mood not said (happy 12%)"."""
    return ", ".join(f"{name} {_trait_in_words(trait)}" for name, trait in traits.items())


def _trait_in_words(trait: Trait) -> str:
    if trait.answer is not None:
        return f"{trait.answer} {trait.confidence:.0%}"
    likeliest = sorted(trait.confidences.items(), key=lambda pair: -pair[1])
    if sum(trait.confidences.values()) > MORE_LIKELY_THAN_NOT:
        # The message says something, but not clearly what.
        return f"undecided ({', '.join(f'{answer} {share:.0%}' for answer, share in likeliest[:2])})"
    return f"not said ({likeliest[0][0]} {likeliest[0][1]:.0%})"


def _html(result: MatchResult) -> str:
    """Return the message, the verdict and the best candidates. Every text is escaped."""
    decided = result.intent or result.verdict.replace("_", " ")
    rows = [
        f"<tr><td>{escape(each.intent)}</td><td>{escape(each.measured)}</td>"
        f"<td>{escape(each.utterance.text if each.utterance else '')}</td></tr>"
        for each in result.candidates[:_SHOWN_CANDIDATES]
    ]
    found = "".join(f"<li>{escape(one.slot)}: {escape(one.shown)}</li>" for one in result.entities)
    table = (
        "<table><thead><tr><th>candidate</th><th>confidence or score</th><th>nearest utterance</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return (
        f"<div><p><q>{escape(result.message)}</q> → <strong>{escape(decided)}</strong></p>"
        f"<p>{escape(result.trace.reason)}</p>{f'<ul>{found}</ul>' if found else ''}{table if rows else ''}</div>"
    )


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
