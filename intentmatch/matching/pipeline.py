"""The pipeline from a message to a `MatchResult`: `Engine.match`, to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.store import Artefact
from intentmatch.core.errors import InputError, IntentMatchError, UnknownNameError
from intentmatch.core.result import Candidate, DecidedBy, Entity, MatchResult, Trace, WordMatch
from intentmatch.core.types import Encoder, Reranker
from intentmatch.encoders.coverage import Coverage
from intentmatch.encoders.encode import encode_all
from intentmatch.learning.subsampling import beyond_a_head
from intentmatch.matching.correction import Corrector
from intentmatch.matching.message_language import MessageLanguage
from intentmatch.matching.negation import check_negation
from intentmatch.matching.noise import NoiseDetector
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.policy import Decision, Policy, decide, in_scope
from intentmatch.matching.precedence import Precedence
from intentmatch.matching.reranker import Reranking
from intentmatch.matching.scoring import Scoring
from intentmatch.matching.shortlist import SearchResult
from intentmatch.matching.spelling import LexicalIndex, SpellingHit
from intentmatch.matching.thresholds import policy_of
from intentmatch.matching.trace import TraceRecorder
from intentmatch.matching.word_matches import word_matches
from intentmatch.runtime.gc_pause import gc_paused
from intentmatch.text.normalize import clean, fold

if TYPE_CHECKING:
    from intentmatch.slots import SlotReader

MAX_CHARACTERS = 10_000
"""Characters of a message that are used. The trace notes when a message is longer."""

_SHOWN = 3
_SAME_VECTOR = 0.99


class Question(NamedTuple):
    """The options of one match, checked and resolved against the registry."""

    top_k: int
    language: str | None = None
    allowed: frozenset[int] | None = None
    """Positions of the intents that may answer; None for all."""
    now: datetime | None = None
    """The user's local time, from which "tomorrow" counts; None for this machine's time."""
    foreign: bool = False
    """Whether the message is in a language that the registry does not have."""
    hidden: frozenset[int] = frozenset()
    """Rows of utterances that do not count, because another intent that may answer goes first with the same line."""


class Precomputed(NamedTuple):
    """Vector and shortlist of a message, computed together with those of other messages."""

    vector: NDArray[np.float32]
    """Shape `(dim,)`."""
    shortlist: SearchResult | None = None
    """Candidates among all intents; None if they are searched for when the message is matched."""


class Engine:
    """One artefact, ready to answer. Safe to use from many threads.

    Immutable, except for the measured speed of its reranker.
    """

    def __init__(self, artefact: Artefact, encoder: Encoder, reranker: Reranker | None = None) -> None:
        artefact.check_encoder(encoder)
        self.artefact = artefact
        self.settings = artefact.settings
        self.encoder = encoder
        self.reranker = reranker
        self.policy = policy_of(artefact.registry, artefact.settings, artefact.calibration)
        registry = artefact.registry
        self._intents = registry.intents
        self._utterances = registry.utterances
        self._numbers = {intent.name: number for number, intent in enumerate(self._intents)}
        self._scoring = Scoring(artefact, self.policy)
        self.foreign_policy, self._foreign_scoring = self.policy, self._scoring
        """Thresholds for messages in languages that the registry does not have."""
        if (foreign := artefact.foreign) is not None:
            self.foreign_policy = policy_of(registry, artefact.settings, foreign, "for other languages")
            self._foreign_scoring = self._scoring.for_translations(foreign, self.foreign_policy)
        self._too_large_for_head = self.settings.scorer == "head" and beyond_a_head(registry)
        self._reranking = (
            None if reranker is None else Reranking(reranker, self._scoring, registry, self.settings.reranker_seconds)
        )
        self._lexical = LexicalIndex(registry.folded, registry.owners, self.settings.fuzzy)
        utterances = registry.utterances
        self._corrector = (
            Corrector(
                registry.folded,
                self._lexical.words,
                lambda row: utterances[row].text,
                sorted({u.language for u in utterances if u.language}),
                self.settings.spelling,
            )
            if self.settings.fuzzy < 1.0
            else None
        )
        self._languages = MessageLanguage(registry)
        self._noise = NoiseDetector(self._lexical.words, registry.languages)
        self._coverage = Coverage(encoder)
        self._slots: Mapping[str, SlotReader] = {}
        self._precedence = Precedence(registry)
        self._conditional = any(intent.when for intent in self._intents)
        self._titled = {intent.name: intent for intent in self._intents if intent.titles}
        if any(intent.slots for intent in self._intents):
            from intentmatch.slots import slot_readers  # not needed by a registry without slots

            self._slots = slot_readers(registry, tolerant=self.settings.fuzzy < 1.0)

    def match(
        self, message: str, question: Question, precomputed: Callable[[str], Precomputed] | None = None
    ) -> MatchResult:
        """Match one message.

        `precomputed` returns what `precompute` found for a cleaned and corrected message; it is called at most once.
        """
        stages = TraceRecorder()
        text = self._clean(message, stages)
        key = fold(text)
        if not key:
            return self._nothing(message, question, stages, "the message has no words.")
        if question.allowed is not None and not question.allowed:
            return self._nothing(message, question, stages, "no intent may answer.")
        rows = self._rows(key)
        question = self._with_language(question, text, key, rows, stages)

        if decision := self._exact(rows, key, question, stages):
            return self._result(message, question, decision, stages=stages, decided_by="exact")

        typed = text
        text, hits = self._spelled(text, key, question, stages)
        fuzzy = _only(hits, question)
        if not hits and (reason := self._noise.reason(typed, key, text)):
            stages.add("noise", reason)
            return self._nothing(message, question, stages, reason, is_noise=True)

        vector, shortlist = precomputed(text) if precomputed else Precomputed(self.encode_one(text))
        stages.add("encode", f"encoded by {self.encoder.name}")
        if gap := self._coverage.gap(typed, question.language):
            stages.add("coverage", gap)
        if not vector.any() and not fuzzy:
            reason = f"the encoder {self.encoder.name} knows no part of this message."
            return self._nothing(message, question, stages, reason)

        policy, scoring = self._deciding(question)
        candidates = scoring.candidates(vector, text, fuzzy, question.allowed, shortlist, hidden=question.hidden)
        stages.add("dense", ", ".join(f"{c.intent} {c.score:.2f}" for c in candidates[:_SHOWN]))
        self._add_head(candidates, stages)

        decision = decide(candidates, policy, question.language)
        first = decision.ranked[0]
        hit = fuzzy.get(self._numbers[first.intent])
        by_meaning: DecidedBy = "dense" if self.artefact.trained_head is None else "head"
        spelled = hit is not None and hit.similarity >= first.score
        decided_by: DecidedBy = "fuzzy" if spelled else by_meaning
        if reranked := self._reranked(text, vector, decision, scoring, stages, hidden=question.hidden):
            decision, decided_by = decide(reranked, policy, question.language), "reranker"
        decision = self._precedence.asked(decision)
        stages.add("decide", decision.verdict)
        decision, negation = check_negation(
            decision, text, question.language, lambda clause: self._read(clause, question)
        )
        if negation:
            stages.add("negation", negation)
        if question.allowed is not None:
            everything = scoring.candidates(vector, text, hits)
            otherwise = self._precedence.asked(decide(everything, policy, question.language))
            self._add_otherwise(otherwise, question.allowed, stages)
        return self._result(message, question, decision, stages=stages, decided_by=decided_by)

    def _reranked(
        self,
        text: str,
        vector: NDArray[np.float32],
        decision: Decision,
        scoring: Scoring,
        stages: TraceRecorder,
        *,
        hidden: Collection[int],
    ) -> Sequence[Candidate] | None:
        """Return the candidates as the reranker scores them; None if there is no doubt, no reranker, or no answer."""
        if not self._reranking or not decision.doubtful:
            return None
        reranked, says = self._reranking.rerank(text, vector, decision, scoring, hidden)
        stages.add("reranker", says)
        return reranked

    def _read(self, text: str, question: Question) -> Decision:
        """Decide on a text beside the message, without trace or reranker."""
        key = fold(text)
        vector, hits = self.encode_one(text), self._lexical.fuzzy(key) | self._lexical.exact(self._lexical.rows(key))
        policy, scoring = self._deciding(question)
        some = _only(hits, question)
        candidates = scoring.candidates(vector, text, some, question.allowed, hidden=question.hidden)
        return decide(candidates, policy, question.language)

    def _rows(self, key: str) -> Sequence[int]:
        """Return the rows that equal a folded message; those that equal it but for accents if there are none."""
        return self._lexical.rows(key) or self._lexical.but_for_accents(key)

    def _exact(self, rows: Sequence[int], key: str, question: Question, stages: TraceRecorder) -> Decision | None:
        """Decide by the utterances that equal the message; None if there is none that may answer."""
        hits = self._lexical.exact(rows)
        owners = " and of ".join(self._intents[intent].name for intent in hits)
        accents = " but for accents" if rows and self.artefact.registry.folded[rows[0]] != key else ""
        allowed = _only(hits, question)
        first = self._first(allowed) if any(hit.row in question.hidden for hit in hits.values()) else ""
        stages.add("exact", f"equals an utterance of {owners}{accents}{first}" if hits else "equals no utterance")
        if not allowed:
            return None
        # Certain, and divided among the intents that have the same utterance.
        certain = 1.0 / len(allowed)
        candidates = [
            self._scoring.candidate(intent, 1.0, hit.row, confidence=certain) for intent, hit in allowed.items()
        ]
        return self._precedence.asked(decide(candidates, self.policy, question.language), exact=True)

    def _first(self, allowed: Mapping[int, SpellingHit]) -> str:
        """Say for the trace which intents go first with a line that others have too."""
        return "".join(f", and {self._intents[intent].name} goes first by its `when`" for intent in allowed)

    def _spelled(
        self, text: str, key: str, question: Question, stages: TraceRecorder
    ) -> tuple[str, dict[int, SpellingHit]]:
        """Return a cleaned message without its typing mistakes, and the utterances that it then equals."""
        hits = self._lexical.fuzzy(key)
        allowed = _only(hits, question)
        stages.add("fuzzy", _typing_mistakes(len(allowed)))
        corrected = self._corrected(text, key, question, stages)
        if corrected != text and not allowed:
            hits = self._lexical.alike(key, self._rows(fold(corrected))) or hits
        return corrected, hits

    def _corrected(self, text: str, key: str, question: Question, stages: TraceRecorder) -> str:
        """Return a cleaned message as it is encoded: without typing mistakes and shorthand."""
        if self._corrector is None or not (correction := self._corrector.read(text, key, question.language)):
            return text
        stages.add("spelling", correction.says)
        return correction.text

    def match_many(self, messages: Sequence[str], question: Question) -> list[MatchResult]:
        """Match each message; those without an exact hit are encoded and searched together."""
        if not self.batching_helps(len(messages)):
            return [self.match(message, question) for message in messages]
        precomputed = self.precompute([(message, question) for message in messages])
        with gc_paused():
            return [self.match(message, question, precomputed.__getitem__) for message in messages]

    def batching_helps(self, messages: int) -> bool:
        """Whether so many messages are answered sooner with `precompute` than one by one."""
        return messages > 1 and (getattr(self.encoder, "batches", False) or self._scoring.batching_helps(messages))

    def precompute(self, asked: Iterable[tuple[str, Question]]) -> dict[str, Precomputed]:
        """Precompute vectors and shortlists for many messages, keyed by cleaned and corrected text.

        Messages with an exact hit are left out: they need neither.
        """
        pending: dict[str, bool] = {}
        for message, question in asked:
            text = clean(_checked_text(message)[:MAX_CHARACTERS])
            key = fold(text)
            rows = self._rows(key) if key else ()
            if key and not _only(self._lexical.exact(rows), question):
                unrecorded = TraceRecorder()
                in_language = self._with_language(question, text, key, rows, unrecorded)
                text = self._corrected(text, key, in_language, unrecorded)
                # Where only some intents may answer, or token features do not count, the message is searched alone.
                together = question.allowed is None and self._deciding(in_language)[1] is self._scoring
                pending[text] = pending.get(text, False) or together
        texts = sorted(pending)
        vectors = encode_all(self.encoder, texts, "query")
        whole = [number for number, text in enumerate(texts) if pending[text]]
        with gc_paused():
            results = self._scoring.search_many(vectors[whole], [texts[number] for number in whole]) if whole else ()
        found = dict(zip(whole, results, strict=True))
        return {text: Precomputed(vectors[number], found.get(number)) for number, text in enumerate(texts)}

    def fill(self, message: str, intent: str, slots: Collection[str] | None, question: Question) -> tuple[Entity, ...]:
        """Return the entities of an intent's slots, or only of those named. Raises `UnknownNameError`."""
        self.answering([intent])
        text = _checked_text(message)[:MAX_CHARACTERS]
        key = fold(text)
        question = self._with_language(question, clean(text), key, self._rows(key), TraceRecorder())
        if intent not in self._slots:
            for name in slots or ():
                raise UnknownNameError("slot", name, ())
            return ()
        language = question.language or self.artefact.registry.first_language
        return self._slots[intent].fill(text, slots, language, question.now)

    def word_matches(self, result: MatchResult) -> tuple[WordMatch, ...]:
        """Return which words of a message met which words of the first candidate's utterance; see `Answers`."""
        utterance = result.candidates[0].utterance if result.candidates else None
        trained_head = self.artefact.trained_head
        if utterance is None or trained_head is None or trained_head.words is None:
            return ()
        text = clean(result.message[:MAX_CHARACTERS])
        question = Question(1, result.language)
        if result.trace.decided_by != "exact":
            text = self._corrected(text, fold(text), question, TraceRecorder())
        return word_matches(trained_head.words, text, clean(utterance.text))

    def question(self, options: MatchOptions) -> Question:
        """Return checked options as the pipeline takes them. Raises `InputError`."""
        checked = options.checked()
        top_k = self.settings.top_k if checked.top_k is None else checked.top_k
        answering = self._precedence.answering(self.answering(checked.allowed, checked.context), checked.context)
        return Question(top_k, checked.language, answering.allowed, checked.now, hidden=answering.hidden)

    def encode_one(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a cleaned message, shape `(dim,)`."""
        vector: NDArray[np.float32] = self.encoder.encode([text], kind="query")[0]
        return vector

    def answering(self, names: Collection[str] | None, context: Collection[str] = ()) -> frozenset[int] | None:
        """Return the positions of the intents that may answer; None for all.

        These are the intents named. Without names, they are the intents without `when` and those with an active tag.
        Raises `UnknownNameError`.
        """
        if names is None:
            if not self._conditional:
                return None
            active = frozenset(context)
            return frozenset(n for n, intent in enumerate(self._intents) if not intent.when or active & {*intent.when})
        for name in names:
            if name not in self._numbers:
                raise UnknownNameError("intent", name, list(self._numbers))
        return frozenset(self._numbers[name] for name in names)

    def self_test(self) -> None:
        """Raise `IntentMatchError` unless intents answer their first utterance and the encoder repeats its vectors."""
        for intent in self._intents:
            first = intent.utterances[0].text
            # Two intents may have the same line if their tags tell them apart.
            everything = self.question(MatchOptions(top_k=len(self._intents), context=intent.when))
            if intent.name not in {c.intent for c in self.match(first, everything).candidates}:
                raise IntentMatchError(f"self-test failed: {intent.name!r} does not answer its own utterance {first!r}")
        stored = self.artefact.vectors[0]
        now = self.encoder.encode([clean(self._utterances[0].text)], kind="utterance")[0]
        if stored.any() and float(stored @ now) < _SAME_VECTOR:
            raise IntentMatchError(
                f"self-test failed: {self.encoder.name} no longer returns the vectors that were built"
            )

    def _clean(self, message: str, stages: TraceRecorder) -> str:
        text = clean(_checked_text(message)[:MAX_CHARACTERS])
        if len(message) > MAX_CHARACTERS:
            stages.add("clean", f"only the first {MAX_CHARACTERS} of {len(message)} characters are used")
        return text

    def _with_language(
        self, question: Question, text: str, key: str, rows: Sequence[int], stages: TraceRecorder
    ) -> Question:
        found = self._languages.find(text, key, rows, question.language)
        if found.says:
            calibrated = found.foreign and self.artefact.foreign is not None
            stages.add("language", f"{found.says}{': calibrated for other languages' if calibrated else ''}")
        return question._replace(language=found.language, foreign=found.foreign)

    def _deciding(self, question: Question) -> tuple[Policy, Scoring]:
        """Return the thresholds and the calibrated scoring for the language of a message."""
        if question.foreign:
            return self.foreign_policy, self._foreign_scoring
        return self.policy, self._scoring

    def _add_head(self, candidates: Sequence[Candidate], stages: TraceRecorder) -> None:
        """Add word similarities and confidences, or the reason why the setting asks for a head and there is none."""
        if self.artefact.trained_head is not None:
            if aligned := [f"{c.intent} {c.words:.2f}" for c in candidates[:_SHOWN] if c.words is not None]:
                stages.add("words", ", ".join(aligned))
            stages.add("head", ", ".join(f"{c.intent} {c.confidence:.0%}" for c in candidates[:_SHOWN]))
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

    def _result(
        self,
        message: str,
        question: Question,
        decision: Decision,
        *,
        stages: TraceRecorder,
        decided_by: DecidedBy,
    ) -> MatchResult:
        best = decision.ranked[0] if decision.ranked else None
        intent = best.intent if best and decision.verdict == "matched" else None
        # "12345" has no language: it is answered in the bot's.
        language = question.language or self.artefact.registry.first_language
        reading = None
        if intent and intent in self._slots:
            reading = self._slots[intent].read(message[:MAX_CHARACTERS], language, question.now)
            stages.add("slots", reading.says)
        return MatchResult(
            message=message,
            verdict=decision.verdict,
            intent=intent,
            score=best.score if best else 0.0,
            confidence=best.confidence if best else None,
            candidates=self._titled_in(decision.ranked[: question.top_k], language),
            rivals=self._titled_in(decision.rivals, language),
            language=question.language,
            response=self.artefact.registry[intent].response_to(message, language) if intent else None,
            trace=Trace(
                stages=tuple(stages.done),
                decided_by=decided_by,
                threshold=decision.cut.value if decision.cut else None,
                threshold_origin=decision.cut.origin if decision.cut else "",
                reason=decision.reason,
                threshold_on=decision.cut.on if decision.cut else None,
            ),
            entities=reading.entities if reading else (),
            missing=reading.missing if reading else (),
            confirm=intent is not None and self.artefact.registry[intent].confirm,
            in_scope=in_scope(decision.ranked),
        )

    def _titled_in(self, candidates: tuple[Candidate, ...], language: str | None) -> tuple[Candidate, ...]:
        """Return the candidates with the titles that their author gave for the language."""
        if not self._titled:
            return candidates
        return tuple(
            replace(c, title=self._titled[c.intent].title_in(language)) if c.intent in self._titled else c
            for c in candidates
        )

    def _nothing(
        self,
        message: str,
        question: Question,
        stages: TraceRecorder,
        reason: str,
        *,
        is_noise: bool = False,
    ) -> MatchResult:
        decided_by: DecidedBy = "noise" if is_noise else "empty"
        decision = replace(decide((), self.policy), reason=reason)
        return self._result(message, question, decision, stages=stages, decided_by=decided_by)


def _typing_mistakes(intents: int) -> str:
    return f"typing mistakes away from {intents} {'intent' if intents == 1 else 'intents'}"


def _only(hits: dict[int, SpellingHit], question: Question) -> dict[int, SpellingHit]:
    """Return the hits of intents that may answer, in rows that count."""
    allowed, hidden = question.allowed, question.hidden
    if allowed is None and not hidden:
        return hits
    return {
        intent: hit for intent, hit in hits.items() if (allowed is None or intent in allowed) and hit.row not in hidden
    }


def _checked_text(message: str) -> str:
    if not isinstance(message, str):
        raise InputError(f"a message must be text, not {type(message).__name__}")
    return message
