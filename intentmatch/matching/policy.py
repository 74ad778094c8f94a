"""Decide between matched, ambiguous and out of scope. Pure: the order of candidates does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from intentmatch.core.result import Candidate, Verdict
from intentmatch.core.settings import DEFAULT_LANGUAGE
from intentmatch.text.normalize import language_range

# A verdict whose expected error is above this is doubtful. Scores have no error rate: there, being near the cut counts.
_DOUBTFUL_ERROR = 0.25
_BAND = 0.05

Measure = Literal["score", "confidence"]


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold, its origin in words, and the measure that is compared with it."""

    value: float
    origin: str
    on: Measure = "score"

    def measure(self, candidate: Candidate) -> float:
        """Return the candidate's score or confidence; the score if it has no confidence."""
        return candidate.score if self.on == "score" or candidate.confidence is None else candidate.confidence


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds and margin. An intent's own threshold wins over its language's, which wins over the default."""

    default: Cut
    by_language: Mapping[str, Cut] = field(default_factory=dict)
    by_intent: Mapping[str, Cut] = field(default_factory=dict)
    margin: float = 0.0
    band: float | None = None
    """Distance to the threshold below which a verdict is doubtful; None to derive doubt from the confidence."""
    margin_on_score: bool = True
    """Whether the margin compares scores, as authors write it, or the evidence that candidates are ranked by."""

    def near(self, best: Candidate, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates within the margin of the best, itself included; none if the margin is 0."""
        measure = attrgetter("score" if self.margin_on_score else "rank")
        most = measure(best)
        return [candidate for candidate in ranked if most - measure(candidate) < self.margin]

    def cut(self, candidate: Candidate, language: str | None = None) -> Cut:
        """Return the threshold for a candidate; without `language`, the language of its nearest utterance counts."""
        if candidate.intent in self.by_intent:
            return self.by_intent[candidate.intent]
        spoken = language or (candidate.utterance.language if candidate.utterance else None)
        for code in language_range(spoken) if spoken and self.by_language else ():
            if code in self.by_language:
                return self.by_language[code]
        return self.default


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its candidates and its reason."""

    verdict: Verdict
    ranked: tuple[Candidate, ...]
    """The winner first, then the others by rank."""
    rivals: tuple[Candidate, ...]
    """The intents to ask about if the verdict is ambiguous, otherwise none. One alone if the message refuses it."""
    cut: Cut | None
    """The threshold of the first candidate."""
    doubtful: bool
    """Whether to ask a reranker."""
    reason: str


def policy_cuts(threshold: Mapping[str, float], origin: str, learned: Cut) -> tuple[Cut, dict[str, Cut]]:
    """Return the default threshold and those by language, from the setting `threshold` or the learned default."""
    by_language = {
        language: Cut(value, f"for {language}, {origin}")
        for language, value in threshold.items()
        if language != DEFAULT_LANGUAGE
    }
    default = Cut(threshold[DEFAULT_LANGUAGE], origin) if DEFAULT_LANGUAGE in threshold else learned
    return default, by_language


def decide(candidates: Sequence[Candidate], policy: Policy, language: str | None = None) -> Decision:
    """Decide what the candidates of a message mean.

    Candidates below their own threshold cannot win. The best of the others wins. If more of them lie within the margin
    of the best, all of these are rivals and the verdict is ambiguous. A candidate equal to its threshold passes.
    """
    ranked = sorted(candidates, key=lambda c: (-c.rank, c.intent))
    if not ranked:
        return Decision("out_of_scope", (), (), None, False, "there is nothing to compare the message with.")

    def passes(candidate: Candidate) -> bool:
        cut = policy.cut(candidate, language)
        return cut.measure(candidate) >= cut.value

    best = next(filter(passes, ranked), None)
    if best is None:
        best = ranked[0]
        cut = policy.cut(best, language)
        reason = f"{best.intent} comes nearest with a {_measured(best, cut)}, below the threshold {_in_words(cut)}."
        return Decision("out_of_scope", tuple(ranked), (), cut, _doubtful(best, cut, policy.band), reason)
    cut = policy.cut(best, language)
    rivals = tuple(filter(passes, policy.near(best, ranked)))
    if ranked[0] is not best:
        ranked.sort(key=lambda c: c is not best)
    doubtful = len(rivals) > 1 or _doubtful(best, cut, policy.band)
    if len(rivals) > 1:
        names = " and ".join(f"{c.intent} ({cut.measure(c):.2f})" for c in rivals)
        reason = f"{names} are within {policy.margin:.2f} of each other."
        return Decision("ambiguous", tuple(ranked), rivals, cut, doubtful, reason)
    lead = _lead(ranked, policy, language)
    reason = f"{best.intent} has a {_measured(best, cut)}, at or above the threshold {_in_words(cut)}{lead}."
    return Decision("matched", tuple(ranked), (), cut, doubtful, reason)


def _doubtful(candidate: Candidate, cut: Cut, band: float | None) -> bool:
    value = cut.measure(candidate)
    if cut.on == "confidence" and band is None:
        expected_error = 1.0 - value if value >= cut.value else value
        return expected_error > _DOUBTFUL_ERROR
    return abs(value - cut.value) < (_BAND if band is None else band)


def _measured(candidate: Candidate, cut: Cut) -> str:
    return f"{cut.on} of {cut.measure(candidate):.2f}"


def _lead(ranked: Sequence[Candidate], policy: Policy, language: str | None) -> str:
    if len(ranked) < 2:
        return ""
    best, second = ranked[:2]
    cut = policy.cut(second, language)
    if second.rank > best.rank:
        return f"; {second.intent} has a {_measured(second, cut)}, but stays below its threshold {_in_words(cut)}"
    return f", and is ahead of {second.intent} with {cut.measure(second):.2f}"


def _in_words(cut: Cut) -> str:
    return f"{cut.value:.2f} ({cut.origin})"
