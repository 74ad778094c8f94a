"""The pipeline from a message to a `MatchResult`: `Engine.match`, to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.errors import IntentMatchError
from intentmatch.core.result import Candidate, DecidedBy, Entity, MatchResult, WordMatch
from intentmatch.core.types import Encoder, KeptVectors, Reranker
from intentmatch.core.when_read import when_read
from intentmatch.encoders.coverage import Coverage
from intentmatch.learning.subsampling import beyond_a_head
from intentmatch.matching.batch import MessageEncoder, Precomputed, precompute
from intentmatch.matching.checks import Checks, Decided, Evidence
from intentmatch.matching.follow_up import follow_up
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.options_resolver import OptionsResolver
from intentmatch.matching.policy import CheckedDecision, Decision, Policy, decide
from intentmatch.matching.reranker import Reranking
from intentmatch.matching.result_builder import ResultBuilder
from intentmatch.matching.scoring import Scoring
from intentmatch.matching.several_requests import answer_each
from intentmatch.matching.thresholds import policy_of
from intentmatch.matching.word_matches import ignored_words, word_matches
from intentmatch.reading.reader import Hits, MessageReader, Reading, checked_and_cleaned, only
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText
from intentmatch.reading.trace import TraceRecorder
from intentmatch.runtime.gc_pause import gc_paused
from intentmatch.storage.postgres.address import Address
from intentmatch.text.normalize import clean

if TYPE_CHECKING:
    from intentmatch.matching.opinions.judging import Judging
    from intentmatch.matching.other_values import OtherValues
    from intentmatch.matching.traits import TraitReader

_SHOWN = 3
# Below 1, because stored vectors may be float16, and devices round differently.
_SAME_VECTOR = 0.99


class Engine:
    """One artefact, ready to answer. Safe to use from many threads.

    Immutable, except for the measured speed of its reranker.
    """

    def __init__(
        self,
        artefact: Artefact,
        encoder: Encoder,
        reranker: Reranker | None = None,
        database: Address | None = None,
    ) -> None:
        """`database` is where `index: pgvector` searches; without one, the search is exact."""
        artefact.check_encoder(encoder)
        self.artefact = artefact
        self.settings = artefact.settings
        self.encoder = encoder
        self.reranker = reranker
        registry = artefact.registry
        self.policy = policy_of(registry, artefact.settings, artefact.calibration)
        self._intents = registry.intents
        self._numbers = registry.positions
        self._scoring = Scoring(artefact, self.policy, database)
        self.foreign_policy, self._foreign_scoring = self.policy, self._scoring
        """Thresholds for messages in languages that the registry does not have."""
        if (foreign := artefact.foreign) is not None:
            self.foreign_policy = policy_of(registry, artefact.settings, foreign, "for other languages")
            self._foreign_scoring = self._scoring.for_translations(foreign, self.foreign_policy)
        self._too_large_for_head = self.settings.scorer == "head" and beyond_a_head(registry)
        self._opinions: Reranking | Judging | None = None
        if reranker is not None:
            from intentmatch.matching.opinions.judging import Judge, Judging  # not needed without a reranker

            if isinstance(reranker, Judge):
                self._opinions = Judging(reranker, registry, shows_prompt=self.settings.reranker_prompt)
            else:
                self._opinions = Reranking(reranker, registry, self.settings.reranker_seconds)
        self._resolver = OptionsResolver(registry, self.settings.top_k, answers_each=self.settings.several_intents)
        self._reader = MessageReader(registry, self.settings)
        self._results = ResultBuilder(registry, tolerant=self.settings.fuzzy < 1.0)
        self._other_values: OtherValues | None = None
        if any(utterance.marks for utterance in registry.utterances):
            from intentmatch.matching.other_values import OtherValues  # not needed by a registry without slots

            self._other_values = OtherValues(registry, self._results.fill)
        self._coverage = Coverage(encoder)
        self._encoded_by = f"encoded by {encoder.name}"
        self._messages = MessageEncoder(encoder)
        self._checks = Checks(
            artefact,
            self._reader,
            self._messages,
            self._results,
            own=(self.policy, self._scoring),
            foreign=(self.foreign_policy, self._foreign_scoring),
            others=self._other_values,
            precedence=self._resolver.precedence,
        )
        self._traits: TraitReader | None = None
        if artefact.trait_heads is not None:
            from intentmatch.matching.traits import TraitReader  # not needed by a registry without questions

            self._traits = TraitReader(registry.questions, artefact.trait_heads)
        self._precedence = self._resolver.precedence

    def resolve(self, options: MatchOptions) -> ResolvedOptions:
        """Return checked options as the pipeline takes them. Raises `InputError`."""
        return self._resolver.resolve(options)

    def match(self, message: str, options: ResolvedOptions) -> MatchResult:
        """Match one message."""
        return self.answer(self.read(message, options))

    def read(self, message: str, options: ResolvedOptions) -> Reading:
        """Read one message: all that is done before it is encoded. Raises `InputError` if it is not text."""
        reading = self._reader.read(message, options, calibrates_foreign=self.artefact.foreign is not None)
        # Noise goes on: a code that no line has looks random, and may be the value of a slot.
        if reading.exact or (reading.refused and not reading.is_noise):
            return reading
        return self._with_other_values(reading)

    def _with_other_values(self, reading: Reading, *, free: bool = False) -> Reading:
        """Return a reading with the utterances that equal the message but for values, if there are any."""
        others = self._other_values
        equal = others.hits(reading.typed.text, reading.options, free=free) if others else None
        if not equal:
            return reading
        names = " and of ".join(self._intents[intent].name for intent in equal)
        stages = reading.stages
        stages.add("free_text" if free else "values", f"equals an utterance of {names} but for the values of slots")
        return reading._replace(exact=equal, refused="")

    def answer(self, reading: Reading, precomputed: Callable[[str], Precomputed] | None = None) -> MatchResult:
        """Answer a message that was read.

        `precomputed` returns what `precompute` found for a text as it was read; it is called at most once.
        """
        options, stages = reading.options, reading.stages
        if precomputed:
            stages.resume()
        if reading.refused:
            return self._nothing(reading, reading.refused, decided_by="noise" if reading.is_noise else "empty")
        if reading.exact:
            row = next(iter(reading.exact.values())).row
            decision = self._checks.exact(reading.exact, options)
            return self._result(reading, decision, self.artefact.vectors[row], decided_by="exact")

        meant, hits, allowed = reading.meant, reading.hits, options.allowed
        fuzzy = only(hits, options)
        found = precomputed(meant.text) if precomputed else Precomputed(self._messages.vector(meant))
        vector, shortlist = found.vector, found.shortlist
        stages.add("encode", self._encoded_by)
        if gap := self._coverage.gap(reading.typed.text, options.language):
            stages.add("coverage", gap)
        if not fuzzy and not vector.dot(vector):
            reason = f"the encoder {self.encoder.name} knows no part of this message."
            return self._nothing(reading, reason, decided_by="empty")

        policy, scoring = self._deciding(options)
        candidates = scoring.candidates(vector, meant.known_pieces, fuzzy, allowed, shortlist, hidden=options.hidden)
        stages.add("dense", when_read(_scores, candidates[:_SHOWN]))
        self._add_head(candidates, meant, stages)

        decision = decide(candidates, policy, options.language)
        by_meaning: DecidedBy = "dense" if self.artefact.trained_head is None else "head"
        decided_by: DecidedBy = "fuzzy" if self._is_by_spelling(decision, fuzzy) else by_meaning
        if second := self._second_opinion(reading, vector, decision, stages):
            decision, decided_by = second, "reranker"
        decision = self._precedence.asked(decision)
        stages.add("decide", decision.verdict)
        free = CheckedDecision(self._with_free_text(decision, reading), None)
        decided = Decided(decision, decided_by).after("free_text", free, stages)
        by = Evidence(bool(fuzzy), decided_by == "reranker", decided.by == "free_text")
        decided = self._checks.check(decided, reading, found, by)
        followed = self._followed(reading, vector, decided.decision)
        decision, decided_by = decided.after("follow_up", followed, stages)
        if allowed is not None:
            # For the trace alone: which intent would have answered if all might.
            everything = scoring.candidates(vector, meant.known_pieces, hits)
            otherwise = self._precedence.asked(decide(everything, policy, options.language))
            self._add_otherwise(otherwise, allowed, stages)
        result = self._result(reading, decision, vector, decided_by=decided_by)
        if not (decision.requests and options.answers_each):
            return result
        # One message may cause one request to a server, and the whole message may have caused it.
        opinion = not getattr(self.reranker, "remote", False)
        each = options._replace(second_opinion=opinion, answers_each=False)
        return answer_each(reading, result, decision.requests, lambda texts: self.match_many(texts, each))

    def match_many(self, messages: Sequence[str], options: ResolvedOptions) -> list[MatchResult]:
        """Match each message; those without an exact hit are encoded and searched together."""
        if not self.batching_helps(len(messages)):
            return [self.match(message, options) for message in messages]
        with gc_paused():
            readings = [self.read(message, options) for message in messages]
        precomputed = self.precompute(readings)
        with gc_paused():
            return [self.answer(reading, precomputed.__getitem__) for reading in readings]

    def batching_helps(self, messages: int) -> bool:
        """Whether so many messages are answered sooner with `precompute` than one by one."""
        return messages > 1 and (getattr(self.encoder, "batches", False) or self._scoring.batching_helps(messages))

    def precompute(self, readings: Iterable[Reading]) -> dict[str, Precomputed]:
        """Return `batch.precompute` of messages that were read."""
        return precompute(readings, self._messages, self._scoring, lambda reading: self._deciding(reading.options)[1])

    def fill(
        self,
        message: str,
        intent: str,
        slots: Collection[str] | None,
        options: ResolvedOptions,
        others: Collection[str] | None = None,
    ) -> tuple[Entity, ...]:
        """Return the entities of an intent's slots; see `SlotReader.fill`. Raises `UnknownNameError`."""
        self._resolver.permitted([intent])
        return self._results.fill(message, intent, slots, self._reader.spoken_in(message, options), others)

    def word_matches(self, result: MatchResult) -> tuple[WordMatch, ...]:
        """Return which words of a message met which words of the first candidate's utterance; see `BaseMatcher`."""
        utterance = result.candidates[0].utterance if result.candidates else None
        trained_head = self.artefact.trained_head
        if utterance is None or trained_head is None:
            return ()
        text = checked_and_cleaned(result.message)
        if result.trace.decided_by != "exact":
            text = self._reader.corrected(text, result.language)
        return word_matches(trained_head.words, text, clean(utterance.text))

    def concluded(self, result: MatchResult, decision: Decision, options: ResolvedOptions, says: str) -> MatchResult:
        """Return a result with the decision on several hypotheses in place of its own; `says` is for the trace."""
        stages = TraceRecorder.of(stage for stage in result.trace.stages if stage.name != "slots")
        stages.add("n_best", says)
        options = options._replace(language=result.language)
        decided_by = result.trace.decided_by
        return self._results.result(
            result.message, options, decision, stages, decided_by=decided_by, traits=result.traits
        )

    def self_test(self) -> None:
        """Raise `IntentMatchError` unless intents answer their first utterance and the encoder repeats its vectors."""
        for intent in self._intents:
            first = intent.all_utterances[0].text
            # Two intents may have the same line if their tags tell them apart.
            everything = self.resolve(MatchOptions(top_k=len(self._intents), context=intent.when))
            if intent.name not in {c.intent for c in self.match(first, everything).candidates}:
                raise IntentMatchError(f"self-test failed: {intent.name!r} does not answer its own utterance {first!r}")
        stored = self.artefact.vectors[0]
        now = self.encoder.encode([clean(self.artefact.registry.utterances[0].text)], kind="utterance")[0]
        # An utterance of letters that the encoder cannot read is a row of zeros, whose cosine says nothing.
        if stored.any() and float(stored @ now) < _SAME_VECTOR:
            raise IntentMatchError(
                f"self-test failed: {self.encoder.name} no longer returns the vectors that were built"
            )

    def _is_by_spelling(self, decision: Decision, fuzzy: Hits) -> bool:
        """Whether the first candidate has its score from its spelling."""
        first = decision.ranked[0]
        hit = fuzzy.get(self._numbers[first.intent])
        return hit is not None and hit.similarity >= first.score

    def _second_opinion(
        self, reading: Reading, vector: NDArray[np.float32], decision: Decision, stages: TraceRecorder
    ) -> Decision | None:
        """Return the decision after a second opinion; None if there is no doubt, no reranker, or no answer.

        The threshold that an author wrote for the first intent decides nothing here: else a stricter one could raise a
        doubt, and the second opinion could hand the message to another intent.
        """
        options = reading.options
        if self._opinions is None or not options.second_opinion:
            return None
        policy, scoring = self._deciding(options)
        if (without := policy.without_author(decision.ranked[0].intent)) is not policy:
            decision = decide(decision.ranked, without, options.language)
        if not decision.doubtful:
            return None
        decided, says = self._opinions.decide(reading, vector, decision, (policy, scoring))
        stages.add("reranker", says)
        return decided

    def _with_free_text(self, decision: Decision, reading: Reading) -> Decision:
        """Return a match in place of a doubt if the message is an utterance with other free text."""
        if decision.verdict == "matched":
            return decision
        reading = self._with_other_values(reading, free=True)
        return self._checks.exact(reading.exact, reading.options) if len(reading.exact) == 1 else decision

    def _followed(self, reading: Reading, vector: NDArray[np.float32], decision: Decision) -> CheckedDecision:
        """Return the decision for the intent of the turn before if the message does not stand alone.

        A message that this intent answers on its own keeps its decision.
        """
        options = reading.options
        previous, allowed = options.previous, options.allowed
        if previous is None or (allowed is not None and previous not in allowed):
            return CheckedDecision(decision, None)
        before = self._intents[previous]
        # Free text takes any message for a value, and so would make each a follow-up.
        slots = [slot.name for slot in before.slots if slot.kind != "any"]
        values = self._results.fill(reading.message, before.name, slots, options) if slots else ()
        language = self.artefact.registry.own_languages.code(options.language)
        found = follow_up(reading.message, values, language)
        matched = decision.ranked[0].intent if decision.verdict == "matched" else None
        if found is None or (matched not in (None, before.name) and not found.is_bare):
            return CheckedDecision(decision, None)
        if matched == before.name:
            return CheckedDecision(decision, f"{found.says}; {before.name} was before it")
        row = self._scoring.nearest_rows(vector, previous, 1, options.hidden)[0]
        line = self.artefact.registry.utterances[row].text
        behind = self._checks.decide_on(ReadText(f"{clean(line)} {reading.meant.text}"), options)
        if behind.verdict != "matched" or behind.ranked[0].intent != before.name:
            return CheckedDecision(decision, None)
        reason = f"it does not stand alone, and {before.name} was before it. Behind “{line}”, {behind.reason}"
        return CheckedDecision(replace(behind, reason=reason), f"{found.says}: read behind “{line}” of {before.name}")

    def _deciding(self, options: ResolvedOptions) -> tuple[Policy, Scoring]:
        """Return the thresholds and the calibrated scoring for the language of a message."""
        if options.foreign:
            return self.foreign_policy, self._foreign_scoring
        return self.policy, self._scoring

    def _add_head(self, candidates: Sequence[Candidate], text: ReadText, stages: TraceRecorder) -> None:
        """Add word similarities and confidences, or the reason why the setting asks for a head and there is none."""
        if self.artefact.trained_head is not None:
            if aligned := [c for c in candidates[:_SHOWN] if c.words is not None]:
                stages.add("words", when_read(_word_similarities, aligned, text.text))
            stages.add("head", when_read(_confidences, candidates[:_SHOWN]))
        elif self._too_large_for_head:
            stages.add("head", "not trained: too many utterances and intents; cosine similarity decides")

    def _add_otherwise(self, decision: Decision, allowed: frozenset[int], stages: TraceRecorder) -> None:
        """Note which intent would have matched if every intent were allowed to answer."""
        best = decision.ranked[0]
        if decision.verdict == "matched" and self._numbers[best.intent] not in allowed:
            tags = self.artefact.registry[best.intent].when
            when = f" if {' or '.join(tags)} were active" if tags else ""
            stages.add("otherwise", f"{best.intent} ({best.measured}) would have matched{when}")
        elif decision.verdict == "ambiguous" and (same := self._precedence.same_line(decision)):
            active = {one.intent: " or ".join(self.artefact.registry[one.intent].when) for one in same}
            if all(self._numbers[name] not in allowed for name in active):
                each = (f"{name} if {some} were active" for name, some in active.items())
                stages.add("otherwise", f"would have matched {', '.join(each)}")

    def _nothing(self, reading: Reading, reason: str, *, decided_by: DecidedBy) -> MatchResult:
        """Return the result of a message that is compared with nothing."""
        decision = replace(decide((), self.policy), reason=reason)
        vector = None
        if self._traits is not None and decided_by == "empty":
            # A message that no intent may answer says something nevertheless.
            found = self._messages.vector(reading.meant)
            vector = found if found.any() else None
        return self._result(reading, decision, vector, decided_by=decided_by)

    def _result(
        self, reading: Reading, decision: Decision, vector: KeptVectors | None, *, decided_by: DecidedBy
    ) -> MatchResult:
        """Return the result of a decision, with what the message says to the questions of the registry."""
        traits = self._traits.read(reading.typed.key, vector) if self._traits else None
        message, options, stages = reading.message, reading.options, reading.stages
        return self._results.result(message, options, decision, stages, decided_by=decided_by, traits=traits)


def _scores(candidates: Iterable[Candidate]) -> str:
    return ", ".join(f"{c.intent} {c.score:.2f}" for c in candidates)


def _word_similarities(candidates: Iterable[Candidate], text: str) -> str:
    similar = ", ".join(f"{c.intent} {c.words:.2f}" for c in candidates)
    ignored = ", ".join(ignored_words(text))
    return f"{similar}; ignored: {ignored}" if ignored else similar


def _confidences(candidates: Iterable[Candidate]) -> str:
    return ", ".join(f"{c.intent} {c.confidence:.0%}" for c in candidates)
