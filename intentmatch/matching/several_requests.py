"""Answer each of several requests in one message: "cancel my order and refund me" has two, each with its span.

`message_parts` finds them in the message as it is read. Here they get their places in the message as it was typed, and
each is matched like a message of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rapidfuzz.distance import Levenshtein

from intentmatch.core.result import MatchResult, Part, Stage
from intentmatch.matching.policy import Request
from intentmatch.pieces.unigram import normalized
from intentmatch.reading.reader import MAX_CHARACTERS, Reading
from intentmatch.text.clauses import Span, stripped

_ENDS = " .,;:!?…&+–—-\n。，、；：！？؛،؟।"


def answer_each(
    reading: Reading,
    asked: MatchResult,
    requests: Sequence[Request],
    match: Callable[[Sequence[str]], Sequence[MatchResult]],
) -> MatchResult:
    """Return the answers to several requests as the parts of one result, or `asked` if one of them is in doubt."""
    message = reading.message[:MAX_CHARACTERS]
    spans = _spans(reading.meant.text, message, requests)
    answers = match([message[span.start : span.end] for span in spans])
    if not answers or any(answer.intent is None for answer in answers):
        return asked
    parts = tuple(map(_part, spans, answers))
    lead = answers[0]
    summary = "; ".join(f"“{answer.message}” {answer.intent} {answer.candidates[0].measured}" for answer in answers)
    reason = f"it is {len(parts)} requests: {', '.join(part.intent for part in parts)}."
    trace = replace(lead.trace, stages=(*asked.trace.stages, Stage("parts", summary)), reason=reason)
    return replace(
        lead, message=asked.message, entities=parts[0].entities, parts=parts, trace=trace, traits=asked.traits
    )


def _spans(read: str, typed: str, requests: Sequence[Request]) -> list[Span]:
    """Return the places of requests in a message as it was typed; none if they are not found."""
    # Parts are cut from the message as it was read, or from its normalised form.
    sources = ((text, _places(text, requests)) for text in (read, normalized(read)))
    source, places = next((pair for pair in sources if pair[1]), ("", []))
    steps = Levenshtein.opcodes(source, typed)

    def typed_place(place: int) -> int:
        step = next(step for step in steps if place < step.src_end)
        return min(step.dest_start + place - step.src_start, step.dest_end)

    found = (stripped(typed, typed_place(start), typed_place(end - 1) + 1) for start, end in places)
    return [Span(start, max(start + 1, start + len(typed[start:end].rstrip(_ENDS)))) for start, end in found]


def _places(source: str, requests: Sequence[Request]) -> list[Span]:
    """Return where requests stand in a text, one after the other; none if one is missing."""
    found, end = [], 0
    for request in requests:
        start = source.find(request.first, end)
        # The last part may be the first one.
        last = start if request.last == request.first else source.find(request.last, start)
        if start < 0 or last < 0:
            return []
        end = last + len(request.last)
        found.append(Span(start, end))
    return found


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
