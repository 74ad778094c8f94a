"""Decide between matched, ambiguous and out of scope. Pure: the order of candidates does not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from intentmatch.core.result import Candidate, Measure, Verdict
from intentmatch.core.setting_values import DEFAULT_LANGUAGE
from intentmatch.core.threshold import Threshold, value_and_measure
from intentmatch.core.when_read import made_when_read, when_read
from intentmatch.learning.calibration import ASK_BELOW, LIKELY_TOGETHER, RIVALS
from intentmatch.text.normalize import language_range

# A verdict whose expected error is above this is doubtful. Scores have no error rate: there, being near the cut counts.
_DOUBTFUL_ERROR = 0.25
_BAND = 0.05

_MOST_EXTRA = 3  # digits
_COUNTS = {2: "two", 3: "three"}

NOTHING_LIKE = "nothing like your lines"
"""Begins the reason of a refusal below the threshold."""

# Under a threshold on the confidence there is nothing to ask without a second intent as likely as this.
_LEAST_OF_SECOND = 0.1

LEAST_OFFERED = 0.05
"""A less likely intent is not offered in a question. With 0.1 instead, 88% of the messages of development sets that are
asked about have the right intent among those offered; with 0.05, 90%."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold, its origin in words, and the measure that is compared with it."""

    value: float
    origin: str
    on: Measure = "score"

    def __str__(self) -> str:
        return self.named()

    def named(self, extra: int = 0) -> str:
        """Return the threshold with its origin, with `extra` more digits."""
        return f"{self.in_words(self.value, extra)} ({self.origin})"

    def in_words(self, value: float, extra: int = 0) -> str:
        """Return a value of the measure for display: a score as a number, a probability as a percentage."""
        return f"{value:.{2 + extra}f}" if self.on == "score" else f"{value:.{extra}%}"


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds and margin. An intent's own threshold wins over its language's, which wins over the default."""

    default: Cut
    by_language: Mapping[str, Cut] = field(default_factory=dict)
    by_intent: Mapping[str, Cut] = field(default_factory=dict)
    margin: float | None = 0.0
    """Intents whose scores are closer than this are ambiguous; None: the confidences decide when to ask."""
    band: float | None = None
    """Distance to the threshold below which a verdict is doubtful; None to derive doubt from the confidence."""
    learned: Mapping[str, Cut] = field(default_factory=dict)
    """The thresholds of intents that hold where an author wrote none."""

    def without_author(self, intent: str) -> Policy:
        """Return the policy as it were if the author had written no threshold for this intent."""
        own = self.by_intent.get(intent)
        if own is None or own == self.learned.get(intent):
            return self
        others = {name: cut for name, cut in self.by_intent.items() if name != intent}
        learned = {intent: self.learned[intent]} if intent in self.learned else {}
        return replace(self, by_intent=others | learned)

    def cut(self, candidate: Candidate, language: str | None = None) -> Cut:
        """Return the threshold for a candidate; without `language`, the language of its nearest utterance counts."""
        if candidate.intent in self.by_intent:
            return self.by_intent[candidate.intent]
        spoken = language or (candidate.utterance.language if candidate.utterance else None)
        for code in language_range(spoken) if spoken and self.by_language else ():
            if code in self.by_language:
                return self.by_language[code]
        return self.default


class Request(NamedTuple):
    """One of several requests in a message as it was read: its first and last part, and the intent of the first."""

    first: str
    last: str
    intent: str


@made_when_read("reason")
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
    requests: tuple[Request, ...] = ()
    """The requests in order if the bot asks because the message has several, otherwise none."""


class CheckedDecision(NamedTuple):
    """A decision after a check that may have changed it, such as the check for a negation."""

    decision: Decision
    says: str | None
    """What was found, for the trace; None if there is nothing to say."""
    is_final: bool = False
    """Whether it stands whatever the parts of the message do."""


def policy_cuts(threshold: Mapping[str, Threshold], origin: str, learned: Cut) -> tuple[Cut, dict[str, Cut]]:
    """Return the default threshold and those by language, from the setting `threshold` or the learned default."""
    by_language = {
        language: author_cut(value, f"for {language}, {origin}")
        for language, value in threshold.items()
        if language != DEFAULT_LANGUAGE
    }
    default = author_cut(threshold[DEFAULT_LANGUAGE], origin) if DEFAULT_LANGUAGE in threshold else learned
    return default, by_language


def author_cut(threshold: Threshold, origin: str) -> Cut:
    """Return a threshold that an author wrote: a percentage is on the confidence, a number on the score."""
    value, measure = value_and_measure(threshold)
    return Cut(value, origin, measure)


def in_scope(candidates: Sequence[Candidate]) -> float | None:
    """Return the probability that a message is in scope: the sum of all confidences; None without confidences."""
    confidences = [candidate.confidence for candidate in candidates if candidate.confidence is not None]
    # A sum of rounded numbers may be a little above 1, and that of parts with different intents well above.
    return min(1.0, sum(confidences)) if confidences else None


def decide(candidates: Sequence[Candidate], policy: Policy, language: str | None = None) -> Decision:
    """Decide what the candidates of a message mean.

    Only the first candidate can win: a threshold never hands the message to the runner-up. Below its threshold the
    message is out of scope, or the bot asks if that threshold is on the score or the confidence and the first intents
    are likely enough together. A candidate equal to its threshold passes. Under a learned threshold, an intent that is
    more likely wrong than right is never matched.
    """
    ranked = sorted(candidates, key=_by_rank)
    if not ranked:
        return Decision("out_of_scope", (), (), None, False, "there is nothing to compare the message with.")
    best, total = ranked[0], in_scope(ranked)
    cut = policy.cut(best, language)
    passes = _passes(best, cut, total)
    rivals = _rivals(ranked, policy, cut, language, total)
    if len(rivals) > 1:
        return Decision("ambiguous", tuple(ranked), rivals, cut, True, when_read(_asks, rivals, policy))
    if passes and policy.margin is None and cut.on == "in_scope" and _is_more_likely_wrong(best):
        return Decision("out_of_scope", tuple(ranked), (), cut, True, when_read(_scattered, best))
    verdict: Verdict = "matched" if passes else "out_of_scope"
    doubtful = _doubtful(best, cut, total, policy.band, passes=passes)
    reason = when_read(_passing if passes else _failing, ranked[:2], cut, total)
    return Decision(verdict, tuple(ranked), (), cut, doubtful, reason)


def _by_rank(candidate: Candidate) -> tuple[float, str]:
    """Sort key: the highest `rank` first."""
    # The name breaks ties, so that the order of the candidates never matters.
    return -candidate.rank, candidate.intent


def _passing(ranked: Sequence[Candidate], cut: Cut, total: float | None) -> str:
    subject = "one of your intents is meant with" if cut.on == "in_scope" else f"{ranked[0].intent} has"
    return f"{subject} {_compared(ranked[0], cut, total)}, at or above the threshold {cut}{_lead(ranked, cut)}."


def _failing(ranked: Sequence[Candidate], cut: Cut, total: float | None) -> str:
    best = ranked[0]
    extra = _digits_apart(best, cut, total)
    measure = "with" if cut.on != "in_scope" else "one of your intents is meant with"
    nearest = f"{best.intent} comes nearest{' ' if measure == 'with' else '; '}{measure}"
    compared = f"{_compared(best, cut, total, extra)}, below the threshold {cut.named(extra)}"
    return f"{NOTHING_LIKE}: {nearest} {compared}."


def _measured(candidate: Candidate, cut: Cut, total: float | None) -> float:
    """Return what is compared with the threshold; the score of a candidate without confidence."""
    if cut.on == "score" or candidate.confidence is None or total is None:
        return candidate.score
    return candidate.confidence if cut.on == "confidence" else total


def _passes(candidate: Candidate, cut: Cut, total: float | None) -> bool:
    return _measured(candidate, cut, total) >= cut.value


def _rivals(
    ranked: Sequence[Candidate], policy: Policy, first: Cut, language: str | None, total: float | None
) -> tuple[Candidate, ...]:
    """Return the candidates to ask about, the first included; fewer than two if there is nothing to ask.

    `first` is the threshold of the first candidate.
    """
    passes = _passes(ranked[0], first, total)
    if policy.margin is not None:
        # By evidence, the first one may have a lower score than others: they are near too, but not under a margin of 0.
        may_ask = passes and policy.margin > 0.0
        near = [c for c in ranked if ranked[0].score - c.score < policy.margin] if may_ask else []
        return tuple(c for c in near if _passes(c, policy.cut(c, language), total))
    on_scope = first.on == "in_scope"
    if on_scope and not passes:
        return ()
    likely = [c for c in ranked[:RIVALS] if (c.confidence or 0.0) >= LEAST_OFFERED]
    if passes and not _is_more_likely_wrong(ranked[0]):
        return ()
    if not on_scope and not _are_likely(likely):
        return ()
    return tuple(likely)


def _are_likely(rivals: Sequence[Candidate]) -> bool:
    confidences = [c.confidence or 0.0 for c in rivals]
    return sum(confidences) >= LIKELY_TOGETHER and len(rivals) > 1 and confidences[1] >= _LEAST_OF_SECOND


def _is_more_likely_wrong(first: Candidate) -> bool:
    return first.confidence is not None and first.confidence <= ASK_BELOW


def _scattered(best: Candidate) -> str:
    return (
        f"{best.intent} comes nearest with a confidence of {best.confidence:.0%}, and no other intent is likely either."
    )


def _asks(rivals: Sequence[Candidate], policy: Policy) -> str:
    several = f"{_COUNTS.get(len(rivals), len(rivals))} of your intents"
    if policy.margin is not None:
        names = " and ".join(f"{c.intent} ({c.score:.2f})" for c in rivals)
        return f"{several}: the scores of {names} are within {policy.margin:.2f} of each other."
    names = " or ".join(f"{c.intent} ({c.confidence:.0%})" for c in rivals)
    return f"{several}: it could be {names}, by their confidence; none of them is likely enough alone."


def _doubtful(candidate: Candidate, cut: Cut, total: float | None, band: float | None, *, passes: bool) -> bool:
    if band is None and cut.on != "score" and candidate.confidence is not None and total is not None:
        expected_error = 1.0 - candidate.confidence if passes else total
        return expected_error > _DOUBTFUL_ERROR
    return abs(_measured(candidate, cut, total) - cut.value) < (_BAND if band is None else band)


def _digits_apart(candidate: Candidate, cut: Cut, total: float | None) -> int:
    """Return how many more digits show a value below its threshold as below it, as in 68.6% and 69.1%."""
    value = _measured(candidate, cut, total)
    return next((n for n in range(_MOST_EXTRA) if cut.in_words(value, n) != cut.in_words(cut.value, n)), _MOST_EXTRA)


def _compared(candidate: Candidate, cut: Cut, total: float | None, extra: int = 0) -> str:
    """Return the measured value with the name of its measure, as in "a score of 0.53"."""
    value = _measured(candidate, cut, total)
    if cut.on == "score" or candidate.confidence is None:
        return f"a score of {value:.{2 + extra}f}"
    return f"a {'probability' if cut.on == 'in_scope' else 'confidence'} of {value:.{extra}%}"


def _lead(ranked: Sequence[Candidate], cut: Cut) -> str:
    """Say how far the first candidate is ahead of the second, both on the same measure."""
    if len(ranked) < 2:
        return ""
    best, second = ranked[:2]
    if cut.on == "score" or best.confidence is None or second.confidence is None:
        return f", and is ahead of {second.intent} with {second.score:.2f}"
    if cut.on == "confidence":
        return f", and is ahead of {second.intent} with {second.confidence:.0%}"
    return f"; {best.intent} has a confidence of {best.confidence:.0%}, {second.intent} of {second.confidence:.0%}"
