"""Compare a message with utterances without the values of slots, so that values do not decide the intent.

"I love kitchen" shares the rarest word with "kitchen on", but without it nothing speaks for that intent. "Could you
find ticket KLM-9987" has a code that no line has, but with the code of a line it matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.result import Entity
from intentmatch.core.types import Registry
from intentmatch.core.when_read import when_read
from intentmatch.learning.calibration import RIVALS
from intentmatch.matching.policy import CheckedDecision, Decision
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText
from intentmatch.slots.function_words import function_words
from intentmatch.slots.neighbours import bare_words

LEAST_WITHOUT = 0.25
"""Least score without values of a message that matches, for the embedded encoder.

Of messages to ten bots whose form was left out of the registry, 3 of 165 score less, of unrelated sentences around the
same values 244 of 289.
"""
MAYBE_WITHOUT = 0.4
"""Score without values from which a message out of scope is read with values of an utterance.

Of messages whose form was left out of the registry and that were not looked at, 267 of 326 are right with it and 264
without it; of 3,300 foreign ones 948 match instead of 937.
"""
_EQUAL = 0.999
"""Score without values from which a message says an utterance with other values."""
_LEAST_WORDS = 2
_MOST_RANKED = 8
"""Candidates that a value alone is read for."""
_NEAREST = 3
"""Utterances that are compared: as many near the whole message, and as many near the rest."""
_MOST_KEPT = 4096

Vector = NDArray[np.float32]
Read = Callable[[str, str, ResolvedOptions], Sequence[Entity]]
"""Returns the entities of an intent in a text."""


class WithoutValues:
    """Compares messages and utterances without values. Safe to use from many threads."""

    def __init__(
        self,
        registry: Registry,
        read: Read,
        encode: Callable[[ReadText], Vector],
        nearest: Callable[[Vector, int, int, frozenset[int]], Iterable[int]],
    ) -> None:
        """`nearest` returns the rows of an intent, given by position, that are nearest to a vector."""
        self._utterances, self._owners = registry.utterances, registry.owners
        self._first_language, self._own_languages = registry.first_language, registry.own_languages
        self._intents = registry.intents
        self._positions = {intent.name: number for number, intent in enumerate(registry.intents) if intent.slots}
        self._read, self._encode, self._nearest = read, encode, nearest
        self._kept: dict[int, Vector] = {}

    def check(
        self,
        decision: Decision,
        text: str,
        vector: Vector,
        options: ResolvedOptions,
        decide: Callable[[ReadText, ResolvedOptions], Decision],
    ) -> CheckedDecision:
        """Refuse a match that only values speak for, and match what matches with values of an utterance.

        A value alone that several intents take is asked about. `vector` is the one of the whole `text`, and `decide`
        decides on another text. Otherwise the first candidate alone is looked at.
        """
        best = decision.ranked[0]
        position = self._positions.get(best.intent)
        if decision.verdict == "ambiguous" or position is None:
            return CheckedDecision(decision, None)
        found = self._read(text, best.intent, options)
        rest = _without(text, ((one.start, one.end) for one in found))
        language = self._own_languages.code(options.language or self._first_language)
        if decision.verdict == "matched" and self._is_named(best.intent, text, found, language):
            return self._asked(decision, text, options)
        if not found or not _says_something(rest, language):
            return CheckedDecision(decision, None)
        alone = self._encode(ReadText(rest))
        rows = {row for one in (vector, alone) for row in self._nearest(one, position, _NEAREST, options.hidden)}
        score = max((float(alone @ self._vector(row, options)) for row in rows), default=best.score)
        says = f"{best.intent} {score:.2f} without values"
        if decision.verdict == "matched" and score < LEAST_WITHOUT:
            reason = when_read(_reason, best.intent, best.score, score)
            return CheckedDecision(replace(decision, verdict="out_of_scope", rivals=(), reason=reason), says)
        if decision.verdict == "out_of_scope" and score >= MAYBE_WITHOUT:
            known = self._with_known_values(text, found, rows)
            again = decide(ReadText(known), options) if known else decision
            if again.verdict == "matched" and again.ranked[0].intent == best.intent:
                reason = when_read(_known_reason, known, again)
                return CheckedDecision(replace(again, reason=reason), f"{says}, read as “{known}”")
        return CheckedDecision(decision, says, is_final=score >= _EQUAL)

    def _asked(self, decision: Decision, text: str, options: ResolvedOptions) -> CheckedDecision:
        """Turn a match of a value alone into a question if slots of several intents take it."""
        first, *others = decision.ranked[:_MOST_RANKED]
        language = self._own_languages.code(options.language or self._first_language)
        taking = [
            one
            for one in others
            if one.intent in self._positions
            and self._is_named(one.intent, text, self._read(text, one.intent, options), language)
        ]
        if not taking:
            return CheckedDecision(decision, None)
        rivals = (first, *taking[: RIVALS - 1])
        says = f"“{text}” is a value of {', '.join(one.intent for one in rivals)}"
        asked = replace(
            decision, verdict="ambiguous", rivals=rivals, doubtful=True, reason=f"{says}, and nothing else."
        )
        return CheckedDecision(asked, says)

    def _is_named(self, intent: str, text: str, found: Sequence[Entity], language: str | None) -> bool:
        """Return whether names or codes, values of an intent's lists and patterns, are all that a text says."""
        kinds = {slot.name: slot.kind for slot in self._intents[self._positions[intent]].slots}
        if not found or any(kinds[one.slot] not in ("list", "pattern") for one in found):
            return False
        rest = _without(text, ((one.start, one.end) for one in found))
        return function_words(language).issuperset(bare_words(rest))

    def _with_known_values(self, text: str, found: Sequence[Entity], rows: Iterable[int]) -> str:
        """Return a text with the values of utterances in place of its own; empty if a slot has none there."""
        values = {
            mark.slot: line.text[mark.start : mark.end]
            for row in rows
            for line in [self._utterances[row]]
            for mark in line.marks
        }
        if any(one.slot not in values for one in found):
            return ""
        # From the end, so that the offsets of the values before stay right.
        for one in sorted(found, key=lambda one: -one.start):
            text = text[: one.start] + values[one.slot] + text[one.end :]
        return text

    def _vector(self, row: int, options: ResolvedOptions) -> Vector:
        """Return the vector of an utterance without its values."""
        if (known := self._kept.get(row)) is not None:
            return known
        line = self._utterances[row]
        spans = [(mark.start, mark.end) for mark in line.marks]
        if not spans:
            asked = options._replace(language=line.language)
            found = self._read(line.text, self._intents[self._owners[row]].name, asked)
            spans = [(one.start, one.end) for one in found]
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        # An utterance that is a value alone is compared as it is.
        vector = self._encode(ReadText(_without(line.text, spans) or line.text))
        self._kept[row] = vector
        return vector


def _reason(intent: str, score: float, without: float) -> str:
    return (
        f"only values speak for {intent}: its score is {score:.2f}, but {without:.2f} without the values of its slots, "
        f"below {LEAST_WITHOUT:.2f}."
    )


def _known_reason(known: str, decision: Decision) -> str:
    return f"with a value of an utterance, “{known}”, {decision.reason}"


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some of its parts, with single spaces."""
    kept, last = [], 0
    for start, end in sorted(spans):
        kept.append(text[last:start])
        last = end
    return " ".join(" ".join([*kept, text[last:]]).split())


def _says_something(rest: str, language: str | None) -> bool:
    words = bare_words(rest)
    return len(words) >= _LEAST_WORDS and not function_words(language).issuperset(words)
