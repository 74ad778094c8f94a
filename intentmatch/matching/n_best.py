"""Match a message from speech: several hypotheses of what was said, each with a weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

from intentmatch.core.errors import InputError
from intentmatch.core.result import Candidate, MatchResult, Trait, Verdict
from intentmatch.matching.policy import decide

if TYPE_CHECKING:
    from intentmatch.matching.pipeline import Engine
    from intentmatch.reading.resolved_options import ResolvedOptions

MOST_HYPOTHESES = 20
_SHOWN = 3
# Sums of equal weights differ in their last digits, and a refusal wins at equal weight.
_SAME_WEIGHT = 1e-9

Hypotheses = Sequence[tuple[str, float]]
"""What may have been said, each text with a weight above 0. Only the proportions of the weights count."""


def checked_hypotheses(given: object) -> list[tuple[str, float]]:
    """Return hypotheses with weights that add up to 1, the heaviest first; equal texts are joined.

    Raises `InputError` unless these are 1 to 20 pairs of a text and a finite number above 0.
    """
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise InputError(f"a message must be text, not {type(given).__name__}, or a list of pairs (text, weight)")
    if not 1 <= len(given) <= MOST_HYPOTHESES:
        hint = "; keep the heaviest" if given else ""
        raise InputError(
            f"a list of hypotheses has 1 to {MOST_HYPOTHESES} pairs of text and weight, not {len(given)}{hint}"
        )
    weights: dict[str, float] = {}
    for number, pair in enumerate(given, 1):
        if not (isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2):
            raise InputError(
                f"a message must be text, or a list of pairs: hypothesis {number} is no pair such as ('hello', 0.6)"
            )
        text, weight = pair
        if not isinstance(text, str):
            raise InputError(f"the text of hypothesis {number} must be text, not {type(text).__name__}")
        number_like = isinstance(weight, Real) and not isinstance(weight, bool)  # those of NumPy are among them
        if not (number_like and math.isfinite(weight) and weight > 0):
            hint = "; of a log-probability, give the exponential" if number_like and weight < 0 else ""
            raise InputError(
                f"the weight of hypothesis {number} must be a finite number above 0, and is {weight!r}{hint}"
            )
        weights[text] = weights.get(text, 0.0) + float(weight)
    total = sum(weights.values())
    if not math.isfinite(total):
        raise InputError("the weights of the hypotheses are too large: their sum is no finite number")
    return sorted(((text, weight / total) for text, weight in weights.items()), key=lambda pair: -pair[1])


def match_hypotheses(engine: Engine, given: object, options: ResolvedOptions) -> MatchResult:
    """Return what the user means, whichever of the hypotheses was said.

    The confidence of an intent is the mean of its confidences over the hypotheses, by their weights; the thresholds
    decide on that. The result is of the hypothesis that says most for the first intent: its text is the message, its
    entities are those found in it. If hypotheses with half of the weight that speaks for that intent refuse it ("do not
    cancel my order"), the bot asks. Raises `InputError`.
    """
    hypotheses = checked_hypotheses(given)
    # All candidates: an intent that one hypothesis ranks low still counts in the mean.
    everyone = options._replace(top_k=max(options.top_k, len(engine.artefact.registry.intents)), answers_each=False)
    results = engine.match_many([text for text, _ in hypotheses], everyone)
    heard = [(result, weight) for result, (_, weight) in zip(results, hypotheses, strict=True)]
    candidates = _mixed(heard)
    first = max(candidates, key=lambda candidate: candidate.rank).intent if candidates else None
    refusing = _refusing(first, heard)
    said = max(refusing or heard, key=lambda pair: pair[1] * _speaks_for(first, pair[0]))[0]
    decision = decide(candidates, engine.policy, said.language)
    if refusing:
        decision = replace(decision, verdict=said.verdict, rivals=said.rivals, reason=said.trace.reason)
    said = replace(said, traits=_mean_traits(heard))
    return engine.concluded(said, decision, options, _says(hypotheses, said.message, decision.verdict))


def _says(hypotheses: Sequence[tuple[str, float]], message: str, verdict: Verdict) -> str:
    """Describe the decision for the trace."""
    if len(hypotheses) == 1:
        return f"“{message}” is all that was heard: {verdict}"
    shown = ", ".join(f"“{text}” {weight:.0%}" for text, weight in hypotheses[:_SHOWN])
    more = f" and {len(hypotheses) - _SHOWN} more" if len(hypotheses) > _SHOWN else ""
    return f"{shown}{more}; “{message}” says most: {verdict}"


def _refusing(intent: str | None, heard: Sequence[tuple[MatchResult, float]]) -> list[tuple[MatchResult, float]]:
    """Return the hypotheses that refuse an intent, if they weigh as much as those that ask for it; otherwise none."""
    # One rival alone is how a decision says that the message refuses it.
    refusing = [pair for pair in heard if [rival.intent for rival in pair[0].rivals] == [intent]]
    asking = sum(weight for result, weight in heard if result.intent == intent)
    return refusing if sum(weight for _, weight in refusing) >= asking - _SAME_WEIGHT else []


def _speaks_for(intent: str | None, result: MatchResult) -> float:
    """Return how much a hypothesis says for an intent: its confidence, or its score above 0."""
    return next((_weight(candidate) for candidate in result.candidates if candidate.intent == intent), 0.0)


def _weight(candidate: Candidate) -> float:
    return max(candidate.score, 0.0) if candidate.confidence is None else candidate.confidence


def _mixed(heard: Sequence[tuple[MatchResult, float]]) -> list[Candidate]:
    """Return each intent with its mean confidence and score, and with the utterance that its best hypothesis has.

    The mean of confidences is unknown if one of them is.
    """
    found: dict[str, list[tuple[float, Candidate]]] = {}
    for result, weight in heard:
        for candidate in result.candidates:
            found.setdefault(candidate.intent, []).append((weight, candidate))
    mixed = []
    for each in found.values():
        best = max(each, key=lambda pair: pair[0] * _weight(pair[1]))[1]
        score = sum(weight * candidate.score for weight, candidate in each)
        known = [weight * candidate.confidence for weight, candidate in each if candidate.confidence is not None]
        confidence = sum(known) if len(known) == len(each) else None
        mixed.append(replace(best, score=score, confidence=confidence, evidence=confidence))
    return mixed


def _mean_traits(heard: Sequence[tuple[MatchResult, float]]) -> dict[str, Trait]:
    """Return the traits of a message that was heard in several ways: the mean confidences by their weights."""
    return {
        name: Trait.of(
            {
                answer: sum(weight * result.traits[name].confidences[answer] for result, weight in heard)
                for answer in trait.confidences
            }
        )
        for name, trait in heard[0][0].traits.items()
    }
