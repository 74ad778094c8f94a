"""Build the `MatchResult` of a decision: response, entities, titles and trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from intentmatch.core.errors import UnknownNameError
from intentmatch.core.result import Candidate, DecidedBy, Entity, MatchResult, Trace, Trait
from intentmatch.core.types import Registry
from intentmatch.core.when_read import when_read
from intentmatch.languages.tables import codes
from intentmatch.matching.policy import Decision, in_scope
from intentmatch.pieces.embedded import is_common_word
from intentmatch.reading.reader import MAX_CHARACTERS
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.trace import TraceRecorder
from intentmatch.text.normalize import base_language

if TYPE_CHECKING:
    from intentmatch.slots import SlotReader, SlotValues


class ResultBuilder:
    """Builds the results of one registry. Immutable. With `tolerant`, slot values may have typing mistakes."""

    def __init__(self, registry: Registry, *, tolerant: bool) -> None:
        self._registry = registry
        self._titled = {intent.name: intent for intent in registry.intents if intent.titles}
        self._slots: Mapping[str, SlotReader] = {}
        if any(intent.slots for intent in registry.intents):
            from intentmatch.slots import slot_readers  # not needed by a registry without slots

            self._slots = slot_readers(registry, tolerant=tolerant, is_word=is_common_word)

    def result(
        self,
        message: str,
        options: ResolvedOptions,
        decision: Decision,
        stages: TraceRecorder,
        *,
        decided_by: DecidedBy,
        traits: Mapping[str, Trait] | None = None,
    ) -> MatchResult:
        """Return the result of a message. Its language stands in `options`."""
        ranked, cut = decision.ranked, decision.cut
        best = ranked[0] if ranked else None
        intent = best.intent if best and decision.verdict == "matched" else None
        matched = self._registry[intent] if intent else None
        # "12345" has no language: it is answered in the bot's.
        language = options.language or self._registry.first_language
        reading = None
        if intent and intent in self._slots:
            reading = self._read(message, intent, options)
            stages.add("slots", reading.says)
        return MatchResult(
            message=message,
            verdict=decision.verdict,
            intent=intent,
            score=best.score if best else 0.0,
            confidence=best.confidence if best else None,
            candidates=self._titled_in(ranked[: options.top_k], language),
            rivals=self._titled_in(decision.rivals, language),
            language=options.language,
            response=matched.response_to(message, language) if matched and matched.responses else None,
            trace=Trace(
                stages=when_read(stages.recorded),
                decided_by=decided_by,
                threshold=cut.value if cut else None,
                threshold_origin=cut.origin if cut else "",
                reason=when_read(getattr, decision, "reason"),
                threshold_on=cut.on if cut else None,
            ),
            entities=reading.entities if reading else (),
            missing=reading.missing if reading else (),
            confirm=matched is not None and matched.confirm,
            in_scope=in_scope(ranked),
            traits={} if traits is None else traits,
        )

    def entities(self, text: str, intent: str, options: ResolvedOptions) -> tuple[Entity, ...]:
        """Return the entities of an intent in a message; none for an intent without slots."""
        return self._read(text, intent, options).entities if intent in self._slots else ()

    def fill(
        self,
        text: str,
        intent: str,
        slots: Collection[str] | None,
        options: ResolvedOptions,
        others: Collection[str] | None = None,
    ) -> tuple[Entity, ...]:
        """Return the entities of an intent's slots; see `SlotReader.fill`. Raises `UnknownNameError` for a slot."""
        if intent not in self._slots:
            for name in (*(slots or ()), *(others or ())):
                raise UnknownNameError("slot", name, ())
            return ()
        return self._slots[intent].fill(text[:MAX_CHARACTERS], slots, self._read_in(options), options.now, others)

    def _read(self, text: str, intent: str, options: ResolvedOptions) -> SlotValues:
        return self._slots[intent].read(text[:MAX_CHARACTERS], self._read_in(options), options.now)

    def _read_in(self, options: ResolvedOptions) -> str | None:
        """Return the language in which values are read: the bot's, if that of the message has no words for values.

        A Turkish message that reads like a Turkmen one is most likely Turkish in a Turkish bot.
        """
        language = options.language
        has_words = language is not None and (not options.foreign or base_language(language) in codes())
        return language if has_words else self._registry.first_language

    def _titled_in(self, candidates: tuple[Candidate, ...], language: str | None) -> tuple[Candidate, ...]:
        """Return the candidates with the titles that their author gave for the language."""
        if not self._titled or not candidates:
            return candidates
        return tuple(
            replace(c, title=self._titled[c.intent].title_in(language)) if c.intent in self._titled else c
            for c in candidates
        )
