"""Several intents in one message: "cancel my order and refund me" is two requests, each with its place.

The message is cut where a clause may end: at punctuation, and at the words that join requests. Every run of pieces is
matched like a message of its own, and that division is taken whose answers are surest together; the whole message is
one of the divisions. Two neighbours never have the same intent, for then they are one request that is told at length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import log
from typing import NamedTuple

from intentmatch.core.result import MatchResult, Part, Stage
from intentmatch.matching.pipeline import MAX_CHARACTERS, Engine, Question
from intentmatch.text.normalize import language_range

# With eight pieces there are 36 clauses to match; who says more at once is telling a story.
_MOST_PIECES = 8
# A clause that is surely right, and a division that is surer by as much for each request that it adds: chosen on
# mixed messages of a development set, so that of messages with one intent about one in a hundred is divided.
_SURE = 0.7
_EACH_MORE = 2.0
_NEVER_SURER = 0.99

_JOINING = {
    "ar": "و ثم أيضا وأيضا كذلك",
    "de": "und dann außerdem danach sowie",
    "en": "and then also plus",
    "es": "y e luego después además también",
    "fa": "و سپس بعد همچنین",
    "fr": "et puis ensuite aussi également",
    "hi": "और फिर",
    "id": "dan lalu kemudian juga",
    "it": "e poi inoltre anche",
    "ja": "そして それから あと",
    "ko": "그리고 그다음에 또",
    "nl": "en dan daarna ook",
    "pl": "i oraz potem także",
    "pt": "e depois também além",
    "ru": "и потом затем также",
    "sv": "och sedan också",
    "tr": "ve sonra ayrıca",
    "uk": "і та потім також",
    "vi": "và rồi",
    "zh": "然后 还有 并且 以及 另外",
}
_WITHOUT_SPACES = frozenset({"ja", "zh"})
_PUNCTUATION = r"[,.;:!?…\n。，、；：！？؛،؟।]"


class Span(NamedTuple):
    """A part of a message, in characters."""

    start: int
    end: int


def match_clauses(engine: Engine, whole: MatchResult, question: Question) -> MatchResult:
    """The answer to a message, with its parts where it is several requests."""
    message = whole.message
    if whole.trace.decided_by in ("exact", "fuzzy", "empty"):
        return whole
    found = pieces(message[:MAX_CHARACTERS], whole.language)
    if not 1 < len(found) <= _MOST_PIECES:
        return whole
    asked = question._replace(language=whole.language)
    clauses = [Span(first.start, last.end) for n, first in enumerate(found) for last in found[n:]]
    texts = [message[span.start : span.end] for span in clauses]
    answers = dict(zip(clauses, engine.match_many(texts, asked), strict=True))
    parts = division(found, {**answers, Span(found[0].start, found[-1].end): whole})
    return _joined(whole, [(span, answers[span]) for span in parts]) if len(parts) > 1 else whole


def pieces(message: str, language: str | None) -> list[Span]:
    """What stands between the places where a clause may end, without the words that join and the spaces around."""
    ends = [0, *(place for match in _ends(language).finditer(message) for place in match.span()), len(message)]
    spans = (_stripped(message, start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))
    return [span for span in spans if span.start < span.end]


def division(found: Sequence[Span], answers: Mapping[Span, MatchResult]) -> list[Span]:
    """The clauses, side by side, whose answers are surest together; `answers` has one for each run of pieces."""
    # For each number of pieces from the left and each last intent, the best way to divide them, and how sure it is.
    best: list[dict[str, tuple[float, list[Span]]]] = [{"": (_EACH_MORE, [])}]
    for last in found:
        ways: dict[str, tuple[float, list[Span]]] = {}
        for first, before in zip(found, best, strict=False):
            span = Span(first.start, last.end)
            sure = _sureness(answers[span])
            intent = answers[span].intent
            if intent is None or sure is None:
                continue
            for previous, (total, spans) in before.items():
                way = total + sure - _EACH_MORE, [*spans, span]
                if previous != intent and way > ways.get(intent, (float("-inf"), [])):
                    ways[intent] = way
        best.append(ways)
    return max(best[-1].values(), default=(0.0, []))[1]


def _sureness(result: MatchResult) -> float | None:
    """The logit of the confidence; None for what is not surely matched."""
    sure = result.score if result.confidence is None else result.confidence
    if result.verdict != "matched" or sure < _SURE:
        return None
    sure = min(sure, _NEVER_SURER)
    return log(sure / (1.0 - sure))


def _joined(whole: MatchResult, parts: Iterable[tuple[Span, MatchResult]]) -> MatchResult:
    """The answer to the first request, for the whole message, with all of them as parts."""
    told = [(span, result) for span, result in parts]
    found = tuple(_part(span, result) for span, result in told)
    first, lead = found[0], told[0][1]
    said = "; ".join(f"“{lead.message}” {lead.intent} {lead.candidates[0].measured}" for _, lead in told)
    reason = f"it is {len(found)} requests: {', '.join(part.intent for part in found)}."
    stages = (*whole.trace.stages, Stage("parts", said))
    trace = replace(lead.trace, stages=stages, reason=reason)
    return replace(lead, message=whole.message, entities=first.entities, parts=found, trace=trace)


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


def _stripped(message: str, start: int, end: int) -> Span:
    text = message[start:end]
    start += len(text) - len(text.lstrip())
    return Span(start, max(start, start + len(text.strip())))


@cache
def _ends(language: str | None) -> re.Pattern[str]:
    """Where a clause may end, in a language; in one that is not known here, as in English."""
    known = next((code for code in language_range(language or "en") if code in _JOINING), "en")
    words = "|".join(re.escape(word) for word in _JOINING[known].split())
    joining = words if known in _WITHOUT_SPACES else rf"(?<!\w)(?:{words})(?!\w)"
    return re.compile(f"{_PUNCTUATION}|{joining}", re.IGNORECASE)
