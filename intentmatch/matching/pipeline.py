"""One artefact made ready to answer. `Engine.match` is the pipeline, to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.store import Artefact
from intentmatch.core.errors import InputError, IntentMatchError, UnknownNameError
from intentmatch.core.result import Candidate, DecidedBy, Entity, MatchResult, Trace
from intentmatch.core.types import Encoder, Reranker
from intentmatch.encoders.coverage import Coverage
from intentmatch.encoders.encode import encode_all
from intentmatch.learning.subsampling import beyond_a_head
from intentmatch.matching.policy import Decision, decide
from intentmatch.matching.reranker import Pace
from intentmatch.matching.scoring import RANKED, Scoring
from intentmatch.matching.shortlist import Look
from intentmatch.matching.spelling import LexicalIndex, SpellingHit
from intentmatch.matching.thresholds import policy_of
from intentmatch.matching.trace import TraceRecorder
from intentmatch.runtime.gc_pause import not_looked_for
from intentmatch.text.language_id import LanguageGuess
from intentmatch.text.normalize import clean, fold

if TYPE_CHECKING:
    from intentmatch.slots import SlotReader

MAX_CHARACTERS = 10_000
"""Of a message; what comes after them is not looked at, and the trace says so."""

_SHOWN = 3
_UTTERANCES_FOR_RERANKER = 3
_SAME_VECTOR = 0.99


class Question(NamedTuple):
    """What a caller may say beside the message."""

    top_k: int
    language: str | None = None
    allowed: frozenset[int] | None = None
    """Positions of the intents that may answer; None for all."""
    now: datetime | None = None
    """The user's time of day, from which "tomorrow" counts; None for that of this machine."""


class Foreseen(NamedTuple):
    """What is known of a message before it is matched."""

    vector: NDArray[np.float32]
    """Shape `(dim,)`."""
    look: Look | None = None
    """At the intents that lead, where that was looked at, and all intents may answer."""


class Engine:
    """Never changes once it is made, but for how long its reranker took; any number of threads may use it."""

    def __init__(self, artefact: Artefact, encoder: Encoder, reranker: Reranker | None = None) -> None:
        artefact.check_encoder(encoder)
        self.artefact = artefact
        self.settings = artefact.settings
        self.encoder = encoder
        self.reranker = reranker
        self.policy = policy_of(artefact.registry, artefact.settings, artefact.calibration)
        self._pace = Pace(self.settings.reranker_seconds)
        registry = artefact.registry
        self._intents = registry.intents
        self._utterances = registry.utterances
        self._numbers = {intent.name: number for number, intent in enumerate(self._intents)}
        self._scoring = Scoring(artefact, self.policy)
        self._handed_over = self.settings.scorer == "head" and beyond_a_head(registry)
        self._lexical = LexicalIndex(registry.folded, registry.owners, self.settings.fuzzy)
        self._languages = LanguageGuess(registry.folded, [u.language for u in self._utterances])
        self._coverage = Coverage(encoder)
        self._slots: Mapping[str, SlotReader] = {}
        self._conditional = any(intent.when for intent in self._intents)
        self._titled = {intent.name: intent for intent in self._intents if intent.titles}
        if any(intent.slots for intent in self._intents):
            from intentmatch.slots import slot_readers  # a registry without slots need not wait for it

            self._slots = slot_readers(registry, tolerant=self.settings.fuzzy < 1.0)

    def match(self, message: str, question: Question, foreseen: Callable[[str], Foreseen] | None = None) -> MatchResult:
        """The pipeline. `foreseen` says what `foresee` found of a cleaned message; it is called at most once."""
        stages = TraceRecorder()
        text = self._clean(message, stages)
        key = fold(text)
        if not key:
            return self._nothing(message, question, stages, "the message has no words.")
        if question.allowed is not None and not question.allowed:
            return self._nothing(message, question, stages, "no intent may answer.")
        rows = self._lexical.rows(key)
        question = self._with_language(question, key, rows, stages)

        exact = self._lexical.exact(rows)
        owners = " and of ".join(self._intents[intent].name for intent in exact)
        stages.add("exact", f"an utterance of {owners}" if exact else "no utterance reads the same")
        if settling := _only(exact, question.allowed):
            candidates = [self._scoring.candidate(intent, 1.0, hit.row) for intent, hit in settling.items()]
            decision = _certain(decide(candidates, self.policy, question.language))
            return self._result(message, question, decision, stages=stages, decided_by="exact")

        hits = self._lexical.fuzzy(key)
        fuzzy = _only(hits, question.allowed)
        stages.add("fuzzy", f"typing mistakes away from {len(fuzzy)} intents")

        vector, look = foreseen(text) if foreseen else Foreseen(self.encode_one(text))
        stages.add("encode", f"{self.encoder.name} read the message")
        if gap := self._coverage.gap(text, question.language):
            stages.add("coverage", gap)
        if not vector.any() and not fuzzy:
            reason = f"the encoder {self.encoder.name} knows nothing of this message."
            return self._nothing(message, question, stages, reason)

        candidates = self._scoring.candidates(vector, text, fuzzy, question.allowed, look)
        stages.add("dense", ", ".join(f"{c.intent} {c.score:.2f}" for c in candidates[:_SHOWN]))
        self._say_head(candidates, stages)

        decision = decide(candidates, self.policy, question.language)
        leading = decision.ranked[0]
        hit = fuzzy.get(self._numbers[leading.intent])
        by_meaning: DecidedBy = "dense" if self.artefact.opinion is None else "head"
        spelled = hit is not None and hit.similarity >= leading.score
        decided_by: DecidedBy = "fuzzy" if spelled else by_meaning
        if reranked := self._rerank(text, vector, decision, stages):
            decision, decided_by = decide(reranked, self.policy, question.language), "reranker"
        stages.add("decide", decision.verdict)
        if question.allowed is not None:
            everything = self._scoring.candidates(vector, text, hits)
            self._add_otherwise(decide(everything, self.policy, question.language), question.allowed, stages)
        return self._result(message, question, decision, stages=stages, decided_by=decided_by)

    def match_many(self, messages: Sequence[str], question: Question) -> list[MatchResult]:
        """As `match` for each; the messages that no spelling settles are encoded and looked at together."""
        if not self.gains_from(len(messages)):
            return [self.match(message, question) for message in messages]
        foreseen = self.foresee([(message, question) for message in messages])
        with not_looked_for():
            return [self.match(message, question, foreseen.__getitem__) for message in messages]

    def gains_from(self, messages: int) -> bool:
        """Whether `foresee` makes so many sooner answered than one by one."""
        return messages > 1 and (getattr(self.encoder, "batches", False) or self._scoring.gains_from(messages))

    def foresee(self, asked: Iterable[tuple[str, Question]]) -> dict[str, Foreseen]:
        """By cleaned text, what takes less time to find out for many messages than for each by itself.

        Of those that no spelling settles.
        """
        unsettled: dict[str, bool] = {}
        for message, question in asked:
            text = clean(_checked_text(message)[:MAX_CHARACTERS])
            key = fold(text)
            if key and not _only(self._lexical.exact(self._lexical.rows(key)), question.allowed):
                # Where only some intents may answer, those are looked at by themselves.
                unsettled[text] = unsettled.get(text, False) or question.allowed is None
        texts = sorted(unsettled)
        vectors = encode_all(self.encoder, texts, "query")
        whole = [number for number, text in enumerate(texts) if unsettled[text]]
        with not_looked_for():
            looks = self._scoring.look_many(vectors[whole], [texts[number] for number in whole]) if whole else ()
        found = dict(zip(whole, looks, strict=True))
        return {text: Foreseen(vectors[number], found.get(number)) for number, text in enumerate(texts)}

    def fill(self, message: str, intent: str, slots: Collection[str] | None, question: Question) -> tuple[Entity, ...]:
        """The entities of an intent's slots, or of those that are named. Raises `UnknownNameError`."""
        self.answering([intent])
        text = _checked_text(message)[:MAX_CHARACTERS]
        key = fold(text)
        question = self._with_language(question, key, self._lexical.rows(key), TraceRecorder())
        if intent not in self._slots:
            for name in slots or ():
                raise UnknownNameError("slot", name, ())
            return ()
        return self._slots[intent].fill(text, slots, question.language, question.now)

    def encode_one(self, text: str) -> NDArray[np.float32]:
        """The vector of a cleaned message, shape `(dim,)`."""
        vector: NDArray[np.float32] = self.encoder.encode([text], kind="query")[0]
        return vector

    def answering(self, names: Collection[str] | None, context: Collection[str] = ()) -> frozenset[int] | None:
        """Positions of the intents that may answer: those named, otherwise those that always may or have an active tag.

        None for all. Raises `UnknownNameError`.
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
        """Raise `IntentMatchError` unless every intent answers to its first utterance and the vectors are right."""
        everything = Question(top_k=len(self._intents))
        for intent in self._intents:
            first = intent.utterances[0].text
            if intent.name not in {c.intent for c in self.match(first, everything).candidates}:
                raise IntentMatchError(f"self-test failed: {intent.name!r} does not answer to its own {first!r}")
        stored = self.artefact.vectors[0]
        now = self.encoder.encode([clean(self._utterances[0].text)], kind="utterance")[0]
        if stored.any() and float(stored @ now) < _SAME_VECTOR:
            raise IntentMatchError(f"self-test failed: {self.encoder.name} no longer gives the vectors that were built")

    def _clean(self, message: str, stages: TraceRecorder) -> str:
        text = clean(_checked_text(message)[:MAX_CHARACTERS])
        if len(message) > MAX_CHARACTERS:
            stages.add("clean", f"only the first {MAX_CHARACTERS} of {len(message)} characters are looked at")
        return text

    def _with_language(self, question: Question, key: str, rows: Sequence[int], stages: TraceRecorder) -> Question:
        if question.language is not None or not self._languages.languages:
            return question
        # The author of the very same line has said which language it is; it may be one of several ("no").
        languages = [language for row in rows if (language := self._utterances[row].language)]
        guessed = self._languages.of(key, languages or None)
        stages.add("language", f"reads like {guessed}" if guessed else "like none of the registry's")
        return question._replace(language=guessed)

    def _say_head(self, candidates: Sequence[Candidate], stages: TraceRecorder) -> None:
        """What the head makes of the message, or why there is none where one is wanted."""
        if self.artefact.opinion is not None:
            stages.add("head", ", ".join(f"{c.intent} {c.confidence:.0%}" for c in candidates[:_SHOWN]))
        elif self._handed_over:
            stages.add("head", "too many utterances and intents to fit one; cosine decides")

    def _add_otherwise(self, decision: Decision, allowed: frozenset[int], stages: TraceRecorder) -> None:
        """Say what would have matched if every intent might answer, where that is one that may not."""
        best = decision.ranked[0]
        if decision.verdict == "matched" and self._numbers[best.intent] not in allowed:
            tags = self.artefact.registry[best.intent].when
            when = f" where {' or '.join(tags)} is active" if tags else ""
            stages.add("otherwise", f"{best.intent} ({best.measured}) would have matched{when}")

    def _rerank(
        self, text: str, vector: NDArray[np.float32], decision: Decision, stages: TraceRecorder
    ) -> list[Candidate]:
        """The leading candidates, each score replaced by its mean with the reranker's best for its utterances.

        As many of them, and as many utterances of each, as there is time for. None where there is not even for two, no
        doubt or no reranker.
        """
        reranker = self.reranker
        if reranker is None or not decision.doubtful:
            return []
        room = self._pace.room()
        leading = decision.ranked[: min(RANKED, room)]
        if len(leading) < min(2, len(decision.ranked)):
            stages.add("reranker", f"in doubt, but {reranker.name} is too slow for {self._pace.budget:g} s")
            return []
        each = min(_UTTERANCES_FOR_RERANKER, room // len(leading))
        rows = [self._scoring.leading(vector, self._numbers[c.intent], each) for c in leading]
        texts = [clean(self._utterances[row].text) for some in rows for row in some]
        began = perf_counter()
        opinions = iter(reranker.score(text, texts).tolist())
        self._pace.took(perf_counter() - began, len(texts))
        judged = [max((next(opinions), row) for row in some) for some in rows]
        reranked = [
            self._reranked(candidate, (candidate.score + opinion) / 2, row)
            for candidate, (opinion, row) in zip(leading, judged, strict=True)
        ]
        changes = zip(leading, reranked, strict=True)
        said = ", ".join(f"{old.intent} {old.score:.2f} to {new.score:.2f}" for old, new in changes)
        stages.add("reranker", f"in doubt ({decision.verdict}), {reranker.name} moved {said}")
        return reranked

    def _reranked(self, candidate: Candidate, score: float, row: int) -> Candidate:
        """The candidate with another score, and as much more or less evidence."""
        moved = self._scoring.moved(candidate, candidate.rank + score - candidate.score)
        return replace(moved, score=score, utterance=self._utterances[row])

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
        reading = None
        if intent and intent in self._slots:
            reading = self._slots[intent].read(message[:MAX_CHARACTERS], question.language, question.now)
            stages.add("slots", reading.says)
        return MatchResult(
            message=message,
            verdict=decision.verdict,
            intent=intent,
            score=best.score if best else 0.0,
            confidence=best.confidence if best else None,
            candidates=self._in_words(decision.ranked[: question.top_k], question.language),
            rivals=self._in_words(decision.rivals, question.language),
            language=question.language,
            response=self.artefact.registry[intent].response(question.language) if intent else None,
            trace=Trace(
                stages=tuple(stages.done),
                decided_by=decided_by,
                threshold=decision.cut.value if decision.cut else None,
                threshold_origin=decision.cut.origin if decision.cut else "",
                reason=decision.reason,
            ),
            entities=reading.entities if reading else (),
            missing=reading.missing if reading else (),
        )

    def _in_words(self, candidates: tuple[Candidate, ...], language: str | None) -> tuple[Candidate, ...]:
        """The candidates, with the titles that their author gave for the language."""
        if not self._titled:
            return candidates
        return tuple(
            replace(c, title=self._titled[c.intent].title_in(language)) if c.intent in self._titled else c
            for c in candidates
        )

    def _nothing(self, message: str, question: Question, stages: TraceRecorder, reason: str) -> MatchResult:
        decision = replace(decide((), self.policy), reason=reason)
        return self._result(message, question, decision, stages=stages, decided_by="empty")


def _certain(decision: Decision) -> Decision:
    """An exact hit is right, or one of several that read the same."""
    certain = 1.0 / len(decision.ranked)
    ranked = tuple(replace(candidate, confidence=certain) for candidate in decision.ranked)
    rivals = tuple(replace(candidate, confidence=certain) for candidate in decision.rivals)
    return replace(decision, ranked=ranked, rivals=rivals)


def _only(hits: dict[int, SpellingHit], allowed: frozenset[int] | None) -> dict[int, SpellingHit]:
    return hits if allowed is None else {intent: hit for intent, hit in hits.items() if intent in allowed}


def _checked_text(message: str) -> str:
    if not isinstance(message, str):
        raise InputError(f"a message must be text, not {type(message).__name__}")
    return message
