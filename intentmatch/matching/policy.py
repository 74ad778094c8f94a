"""What to do with scores. Pure: the same candidates and the same policy give the same decision, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from intentmatch.core.result import Candidate, Verdict
from intentmatch.core.settings import DEFAULT_LANGUAGE
from intentmatch.text.normalize import language_range

# A verdict that is wrong more often than this is worth a second opinion; of scores nobody knows how often, so those
# near the cut are.
_WRONG_TOO_OFTEN = 0.25
_BAND = 0.05

Measure = Literal["score", "confidence"]


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold, where it came from in words, and what is held against it."""

    value: float
    origin: str
    on: Measure = "score"

    def measure(self, candidate: Candidate) -> float:
        """What the candidate has of it; without a confidence, the score."""
        return candidate.score if self.on == "score" or candidate.confidence is None else candidate.confidence


@dataclass(frozen=True, slots=True)
class Policy:
    """The cuts and the margin. An intent's own cut wins over its language's, and that over the default."""

    default: Cut
    by_language: Mapping[str, Cut] = field(default_factory=dict)
    by_intent: Mapping[str, Cut] = field(default_factory=dict)
    margin: float = 0.0
    band: float | None = None
    """How near its cut a candidate is in doubt; None: where the verdict is wrong too often, by its confidence."""
    margin_on_score: bool = True
    """Whether the margin is one of scores, as authors write it, or of the evidence that candidates are ranked by."""

    def near(self, best: Candidate, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Those within the margin of the best; itself among them, but for a margin of 0."""
        of = attrgetter("score" if self.margin_on_score else "rank")
        leads = of(best)
        return [candidate for candidate in ranked if leads - of(candidate) < self.margin]

    def cut(self, candidate: Candidate, language: str | None = None) -> Cut:
        """The cut a candidate is held against; without a language, that of its nearest utterance counts."""
        if candidate.intent in self.by_intent:
            return self.by_intent[candidate.intent]
        spoken = language or (candidate.utterance.language if candidate.utterance else None)
        for code in language_range(spoken) if spoken and self.by_language else ():
            if code in self.by_language:
                return self.by_language[code]
        return self.default


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the candidates it rests on."""

    verdict: Verdict
    ranked: tuple[Candidate, ...]
    """The winner first; then the others by score."""
    rivals: tuple[Candidate, ...]
    """Two or more, when ambiguous; otherwise none."""
    cut: Cut | None
    """What the leading candidate was held against."""
    doubtful: bool
    """Whether a second opinion could change the verdict."""
    reason: str


def policy_cuts(threshold: Mapping[str, float], origin: str, learned: Cut) -> tuple[Cut, dict[str, Cut]]:
    """The default cut and those by language, from the `threshold` setting and what was learned at build time."""
    by_language = {
        language: Cut(value, f"for {language}, {origin}")
        for language, value in threshold.items()
        if language != DEFAULT_LANGUAGE
    }
    default = Cut(threshold[DEFAULT_LANGUAGE], origin) if DEFAULT_LANGUAGE in threshold else learned
    return default, by_language


def decide(candidates: Sequence[Candidate], policy: Policy, language: str | None = None) -> Decision:
    """Matched, ambiguous or out of scope.

    Candidates below their own cut cannot win. Of the others the best wins, unless one more lies within the margin of
    it: then all of those are rivals. A cut of 0.0 is a cut, and what is equal to its cut passes.
    """
    ranked = sorted(candidates, key=lambda c: (-c.rank, c.intent))
    if not ranked:
        return Decision("out_of_scope", (), (), None, False, "there was nothing to compare the message with.")

    def passes(candidate: Candidate) -> bool:
        cut = policy.cut(candidate, language)
        return cut.measure(candidate) >= cut.value

    best = next(filter(passes, ranked), None)
    if best is None:
        best = ranked[0]
        cut = policy.cut(best, language)
        reason = f"{best.intent} comes nearest with a {_measured(best, cut)}, below the threshold {_said(cut)}."
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
    reason = f"{best.intent} has a {_measured(best, cut)}, at or above the threshold {_said(cut)}{lead}."
    return Decision("matched", tuple(ranked), (), cut, doubtful, reason)


def _doubtful(candidate: Candidate, cut: Cut, band: float | None) -> bool:
    held = cut.measure(candidate)
    if cut.on == "confidence" and band is None:
        wrong = 1.0 - held if held >= cut.value else held
        return wrong > _WRONG_TOO_OFTEN
    return abs(held - cut.value) < (_BAND if band is None else band)


def _measured(candidate: Candidate, cut: Cut) -> str:
    return f"{cut.on} of {cut.measure(candidate):.2f}"


def _lead(ranked: Sequence[Candidate], policy: Policy, language: str | None) -> str:
    if len(ranked) < 2:
        return ""
    best, second = ranked[:2]
    cut = policy.cut(second, language)
    if second.rank > best.rank:
        return f"; {second.intent} has a {_measured(second, cut)}, but stays below its threshold {_said(cut)}"
    return f", and is ahead of {second.intent} with {cut.measure(second):.2f}"


def _said(cut: Cut) -> str:
    return f"{cut.value:.2f} ({cut.origin})"
