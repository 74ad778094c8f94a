"""Answers of the matcher: the result of one message, its explanation, and one turn of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from intentmatch.cli.render import output

if TYPE_CHECKING:
    from intentmatch.core.result import Candidate, Entity, MatchResult, Measure, Part
    from intentmatch.dialogue import Turn
    from intentmatch.matching.matcher import Matcher

_COLOURS = {"matched": "green", "ambiguous": "yellow", "out_of_scope": "red"}


def result(found: MatchResult) -> None:
    """Print one answer: the verdict, the numbers behind the verdict, and the runners-up."""
    from intentmatch.core.result import traits_in_words

    headline = found.intent or found.verdict.replace("_", " ")
    title = found.candidates[0].title if found.intent else None
    output.say(output.style(headline, fg=_COLOURS[found.verdict], bold=True) + (f"  {title}" if title else ""))
    facts = [f"score {found.score:.2f}{_threshold(found, 'score')}"]
    if found.confidence is not None:
        # Without an intent, it is the confidence of a candidate, whose name must stand beside it.
        nearest = "" if found.intent else f" in {found.candidates[0].intent}"
        facts.insert(0, f"confidence {found.confidence:.0%}{nearest}{_threshold(found, 'confidence')}")
    if found.in_scope is not None and found.trace.threshold_on == "in_scope":
        facts.append(f"in scope {found.in_scope:.0%}{_threshold(found, 'in_scope')}")
    if found.language:
        facts.append(f"language {found.language}")
    output.say("  " + "   ".join(facts))
    if found.traits:
        output.say(f"  questions: {traits_in_words(found.traits)}")
    runners_up = found.candidates[1:] if found.intent else found.candidates
    if found.intent:
        output.say(f"  nearest: {_nearest(found.candidates[0])}")
        if found.confirm:
            output.say("  to be confirmed by the user")
        for line in _slots(found):
            output.say(f"  {line}")
        for part in found.parts:
            output.say(f"  “{found.message[part.start : part.end]}”: {_of_part(part)}")
    else:
        output.say(f"  {found.trace.reason}")
    if runners_up:
        output.echo()
        measure = "score" if found.confidence is None else "confidence"
        output.table(
            ["runners-up" if found.intent else "candidates", measure, "nearest utterance"],
            [[c.intent, c.measured, _nearest(c)] for c in runners_up],
        )


def _of_part(part: Part) -> str:
    """Return what one of several requests asks for, with the values of its slots."""
    confidence = "" if part.confidence is None else f" ({part.confidence:.0%})"
    return "   ".join([f"{part.intent}{confidence}", *_entities(part.entities)])


def _threshold(found: MatchResult, measure: Measure) -> str:
    """Return the threshold with its origin if it was compared with this measure; otherwise an empty string."""
    threshold, trace = found.trace.threshold, found.trace
    if threshold is None or trace.threshold_on != measure:
        return ""
    words = f"{threshold:.2f}" if measure == "score" else f"{threshold:.0%}"
    return f" (threshold {words}, {trace.threshold_origin})"


def why(found: MatchResult, matcher: Matcher) -> None:
    """Print the explanation, and each stage with its duration."""
    output.say(matcher.explain(found))
    for stage in found.trace.stages:
        output.say(output.style(f"  {stage.name:9} {stage.microseconds:7.0f} µs  {stage.says}", dim=True))


def short(found: MatchResult) -> str:
    """Return the intent or the verdict, with the confidence: "order_status (97%)"."""
    name = found.intent or found.verdict.replace("_", " ")
    return name if found.confidence is None else f"{name} ({found.confidence:.0%})"


def turn(taken: Turn) -> None:
    """Print one turn of a conversation: the bot's reply, and the reasons in dim lines."""
    if taken.intent is not None:
        reply = taken.text or f"({taken.intent} has no response: here your bot's own code acts)"
    else:
        reply = taken.text or "(out of scope: this is where your bot's fallback answers)"
    colour = "ambiguous" if taken.choices else "matched" if taken.understood else "out_of_scope"
    output.say(output.style(f"bot> {reply}".replace("\n", "\n     "), fg=_COLOURS[colour]))
    for line in _reasons(taken):
        output.say(output.style(f"     {line}", dim=True))


def _reasons(taken: Turn) -> Iterator[str]:
    """Yield the reasons for a turn, one per line."""
    result = taken.result
    if result is None or taken.answers:
        answered = "declined" if taken.declined else taken.intent or taken.pending or "none of these"
        yield f"{answered}: your answer to the question"
    if result is not None:
        confidence = "" if result.confidence is None else f", confidence {result.confidence:.0%}"
        yield f"{result.intent or result.verdict}{confidence}: {result.trace.reason}"
    yield from _entities(taken.entities)
    if taken.asks_for is not None:
        yield f"{taken.asks_for}: missing  “{taken.reply}”"
    if taken.choices and taken.pending is not None:
        yield f"{taken.pending}: to be confirmed"


def _nearest(candidate: Candidate) -> str:
    """Return the nearest utterance of a candidate with its place, or an empty string."""
    if candidate.utterance is None:
        return ""
    place = f"  {candidate.utterance.location.short}" if candidate.utterance.location else ""
    return f"“{candidate.utterance.text}”{place}"


def _slots(found: MatchResult) -> Iterator[str]:
    """Yield the values of the intent's slots, and the questions for missing ones and for those with alternatives."""
    yield from _entities(found.entities)
    there = {entity.slot for entity in found.entities}
    for missing in found.missing:
        what = "several values" if missing.slot in there else "missing"
        yield f"{missing.slot}: {what}" + (f"  “{missing.question}”" if missing.question else "")


def _entities(entities: Iterable[Entity]) -> Iterator[str]:
    for entity in entities:
        yield f"{entity.slot}: {entity.shown}" + ("" if entity.text == entity.value else f"  “{entity.text}”")
