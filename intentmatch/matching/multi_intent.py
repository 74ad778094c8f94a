"""Find several intents in one message: "cancel my order and refund me" is two requests, each with its span.

The message is cut into pieces where a clause may end: at punctuation and at words that join requests. Every run of
pieces is a clause and is matched like a message. Of all ways to divide the message into clauses, the one with the most
certain answers wins; the undivided message is one of them. Neighbouring clauses never have the same intent: they would
be one request. Courtesy is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log

from intentmatch.core.result import MatchResult, Part, Stage
from intentmatch.matching.pipeline import Engine
from intentmatch.reading.reader import MAX_CHARACTERS
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.text.clauses import Span, pieces

# Eight pieces make 36 clauses to match. Longer messages tell a story instead of listing requests.
_MOST_PIECES = 8
# Least confidence of a clause, and by how much each further request must raise the sum of logits. Chosen on mixed
# messages of a development set, so that about one in a hundred messages with a single intent is divided.
_LEAST_CONFIDENCE = 0.7
_COST_OF_A_CLAUSE = 2.0
_MOST_CONFIDENCE = 0.99


def match_clauses(engine: Engine, whole: MatchResult, options: ResolvedOptions) -> MatchResult:
    """Return the answer to a message, with `parts` if it holds several requests."""
    message = whole.message
    # A message that equals an utterance is one request, whatever joining words it has.
    if whole.trace.decided_by in ("exact", "fuzzy", "noise", "empty"):
        return whole
    found = pieces(message[:MAX_CHARACTERS], engine.artefact.registry.own_languages.code(whole.language))
    if not 1 < len(found) <= _MOST_PIECES:
        return whole
    # One message may cause one request to a server, and the whole message may have caused it.
    asked = options._replace(language=whole.language, second_opinion=not getattr(engine.reranker, "remote", False))
    clauses = [Span(first.start, last.end) for n, first in enumerate(found) for last in found[n:]]
    texts = [message[span.start : span.end] for span in clauses]
    answers = dict(zip(clauses, engine.match_many(texts, asked), strict=True))
    parts = division(found, {**answers, Span(found[0].start, found[-1].end): whole})
    # A greeting and a thank-you stand beside the requests.
    asking = [span for span in parts if len(parts) > 1 and not engine.is_courtesy(answers[span])]
    return _joined(whole, [(span, answers[span]) for span in asking]) if len(asking) > 1 else whole


def division(found: Sequence[Span], answers: Mapping[Span, MatchResult]) -> list[Span]:
    """Return the most certain division into clauses; `answers` holds the result of each run of pieces."""
    # Dynamic programming: for each number of pieces from the left and each last intent, the best division and its sum.
    # The first clause is free: only further requests cost something.
    best: list[dict[str, tuple[float, list[Span]]]] = [{"": (_COST_OF_A_CLAUSE, [])}]
    for last in found:
        ways: dict[str, tuple[float, list[Span]]] = {}
        # `best` has an entry for each place up to this piece, so it ends the pairs.
        for first, before in zip(found, best, strict=False):
            span = Span(first.start, last.end)
            logit = _logit(answers[span])
            intent = answers[span].intent
            if intent is None or logit is None:
                continue
            for previous, (total, spans) in before.items():
                way = total + logit - _COST_OF_A_CLAUSE, [*spans, span]
                if previous != intent and way > ways.get(intent, (float("-inf"), [])):
                    ways[intent] = way
        best.append(ways)
    return max(best[-1].values(), default=(0.0, []))[1]


def _logit(result: MatchResult) -> float | None:
    """Return the logit of the confidence; None if the result is not matched with enough confidence."""
    confidence = result.score if result.confidence is None else result.confidence
    if result.verdict != "matched" or confidence < _LEAST_CONFIDENCE:
        return None
    # Utterances that are equal have a confidence of 1, whose logit is infinite.
    confidence = min(confidence, _MOST_CONFIDENCE)
    return log(confidence / (1.0 - confidence))


def _joined(whole: MatchResult, parts: Iterable[tuple[Span, MatchResult]]) -> MatchResult:
    """Return the answer to the first request for the whole message, with all requests as parts."""
    answered = list(parts)
    found = tuple(_part(span, result) for span, result in answered)
    first, lead = found[0], answered[0][1]
    summary = "; ".join(f"“{lead.message}” {lead.intent} {lead.candidates[0].measured}" for _, lead in answered)
    reason = f"it is {len(found)} requests: {', '.join(part.intent for part in found)}."
    stages = (*whole.trace.stages, Stage("parts", summary))
    trace = replace(lead.trace, stages=stages, reason=reason)
    return replace(lead, message=whole.message, entities=first.entities, parts=found, trace=trace, traits=whole.traits)


def _part(span: Span, result: MatchResult) -> Part:
    entities = (replace(e, start=e.start + span.start, end=e.end + span.start) for e in result.entities)
    return Part(
        start=span.start,
        end=span.end,
        intent=result.intent or "",
        score=result.score,
        confidence=result.confidence,
        response=result.response,
        entities=tuple(entities),
        missing=result.missing,
    )
