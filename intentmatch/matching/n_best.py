"""Match a message from speech: several hypotheses of what was said, each with a weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from intentmatch.core.errors import InputError
from intentmatch.core.result import Candidate, MatchResult
from intentmatch.matching.policy import decide

if TYPE_CHECKING:
    from intentmatch.matching.pipeline import Engine
    from intentmatch.matching.question import Question

MOST_HYPOTHESES = 20
_SHOWN = 3

Hypotheses = Sequence[tuple[str, float]]
"""What may have been said, each text with a weight above 0. Only the proportions of the weights count."""


def checked_hypotheses(given: object) -> list[tuple[str, float]]:
    """Return hypotheses with weights that add up to 1, the heaviest first; equal texts are joined.

    Raises `InputError` unless these are 1 to 20 pairs of a text and a finite number above 0.
    """
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise InputError(f"a message must be text, not {type(given).__name__}, or a list of pairs (text, weight)")
    if not 1 <= len(given) <= MOST_HYPOTHESES:
        raise InputError(f"a list of hypotheses has 1 to {MOST_HYPOTHESES} pairs of text and weight, not {len(given)}")
    weights: dict[str, float] = {}
    for number, pair in enumerate(given, 1):
        if not (isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2):
            raise InputError(
                f"a message must be text, or a list of pairs: hypothesis {number} is no pair such as ('hello', 0.6)"
            )
        text, weight = pair
        if not isinstance(text, str):
            raise InputError(f"the text of hypothesis {number} must be text, not {type(text).__name__}")
        number_like = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not (number_like and math.isfinite(weight) and weight > 0):
            raise InputError(f"the weight of hypothesis {number} must be a finite number above 0, and is {weight!r}")
        weights[text] = weights.get(text, 0.0) + float(weight)
    total = sum(weights.values())
    return sorted(((text, weight / total) for text, weight in weights.items()), key=lambda pair: -pair[1])


def match_hypotheses(engine: Engine, given: object, question: Question) -> MatchResult:
    """Return what the user means, whichever of the hypotheses was said.

    The confidence of an intent is the mean of its confidences over the hypotheses, by their weights; the thresholds
    decide on that. The result is of the hypothesis that says most for the first intent: its text is the message, its
    entities are those found in it. Raises `InputError`.
    """
    hypotheses = checked_hypotheses(given)
    everyone = question._replace(top_k=max(question.top_k, len(engine.artefact.registry.intents)))
    results = engine.match_many([text for text, _ in hypotheses], everyone)
    weights = [weight for _, weight in hypotheses]
    candidates = _mixed(results, weights)
    first = max(candidates, key=lambda candidate: candidate.rank).intent if candidates else None
    said = max(zip(results, weights, strict=True), key=lambda pair: pair[1] * _speaks_for(first, pair[0]))[0]
    shown = ", ".join(f"“{text}” {weight:.0%}" for text, weight in hypotheses[:_SHOWN])
    says = f"{shown}; “{said.message}” says most" if len(hypotheses) > 1 else f"“{said.message}” is all that was heard"
    decision = decide(candidates, engine.policy, said.language)
    if len(said.rivals) == 1:
        # A negation keeps the message from being matched, whatever the other hypotheses say.
        decision = replace(decision, verdict=said.verdict, rivals=said.rivals, reason=said.trace.reason)
    return engine.concluded(said, decision, question, says)


def _speaks_for(intent: str | None, result: MatchResult) -> float:
    """Return how much a hypothesis says for an intent: its confidence, or its score above 0."""
    return next((_weight(candidate) for candidate in result.candidates if candidate.intent == intent), 0.0)


def _weight(candidate: Candidate) -> float:
    return max(candidate.score, 0.0) if candidate.confidence is None else candidate.confidence


def _mixed(results: Sequence[MatchResult], weights: Sequence[float]) -> list[Candidate]:
    """Return each intent with its mean confidence and score, and with the utterance that its best hypothesis has."""
    found: dict[str, list[tuple[float, Candidate]]] = {}
    for result, weight in zip(results, weights, strict=True):
        for candidate in result.candidates:
            found.setdefault(candidate.intent, []).append((weight, candidate))
    mixed = []
    for each in found.values():
        best = max(each, key=lambda pair: pair[0] * _weight(pair[1]))[1]
        score = sum(weight * candidate.score for weight, candidate in each)
        known = [weight * candidate.confidence for weight, candidate in each if candidate.confidence is not None]
        confidence = sum(known) if known else None
        mixed.append(replace(best, score=score, confidence=confidence, evidence=confidence))
    return mixed
