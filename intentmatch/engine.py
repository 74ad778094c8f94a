"""One artefact made ready to answer. `Engine.match` is the pipeline, to be read from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact import Artefact
from intentmatch.build import encode_all
from intentmatch.calibration import policy_of
from intentmatch.errors import InputError, IntentMatchError, UnknownNameError
from intentmatch.heldout import evidence
from intentmatch.index import ExactIndex
from intentmatch.languages import Coverage, LanguageGuess
from intentmatch.lexical import Hit, LexicalIndex
from intentmatch.policy import Decision, decide
from intentmatch.rerank import Pace
from intentmatch.result import Candidate, MatchResult, Stage, Trace
from intentmatch.text import clean, fold
from intentmatch.types import Encoder, Reranker

MAX_CHARACTERS = 10_000
"""Of a message; what comes after them is not looked at, and the trace says so."""

# Enough for a ranking to look at even when the caller wants one candidate, and for the reranker to choose from.
_RANKED = 5
_SHOWN = 3
_UTTERANCES_FOR_RERANKER = 3
_SAME_VECTOR = 0.99


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller may say beside the message."""

    top_k: int
    language: str | None = None
    allowed: frozenset[int] | None = None
    """Positions of the intents that may answer; None for all."""


@dataclass(slots=True)
class _Dense:
    """Scores of one message by meaning."""

    scores: NDArray[np.float32]
    """One for each intent."""
    evidence: NDArray[np.float64]
    """One for each intent."""
    cosines: NDArray[np.float32]
    """One for each utterance."""

    def raised(self, intent: int, score: float) -> None:
        """Let an intent have at least this score, and as much more evidence."""
        more = score - float(self.scores[intent])
        if more > 0:
            self.scores[intent] = score
            self.evidence[intent] += more


@dataclass(slots=True)
class _Stages:
    """The trace as it grows."""

    done: list[Stage] = field(default_factory=list)
    _last: float = field(default_factory=perf_counter)

    def add(self, name: str, says: str) -> None:
        now = perf_counter()
        self.done.append(Stage(name, says, (now - self._last) * 1e6))
        self._last = now


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
        self._index = ExactIndex(artefact.vectors, registry.owners, self.settings.aggregation)
        self._negatives = ExactIndex(artefact.negative_vectors, registry.negative_owners, "max")
        folded = [fold(u.text) for u in self._utterances]
        self._lexical = LexicalIndex(folded, registry.owners, self.settings.fuzzy)
        self._languages = LanguageGuess(folded, [u.language for u in self._utterances])
        self._coverage = Coverage(encoder)
        cuts = (self.policy.default, *self.policy.by_language.values(), *self.policy.by_intent.values())
        self._lowest_score = min((cut.value for cut in cuts if cut.on == "score"), default=np.inf)
        self._lowest_confidence = min((cut.value for cut in cuts if cut.on == "confidence"), default=np.inf)

    def match(
        self, message: str, question: Question, encode: Callable[[str], NDArray[np.float32]] | None = None
    ) -> MatchResult:
        """The pipeline. `encode` gives the vector of a cleaned message; it is called at most once."""
        stages = _Stages()
        text = self._clean(message, stages)
        key = fold(text)
        if not key:
            return self._nothing(message, question, stages, "the message has no words.")
        if question.allowed is not None and not question.allowed:
            return self._nothing(message, question, stages, "no intent may answer.")
        question = self._with_language(question, key, stages)

        exact = self._lexical.exact(key)
        owners = " and of ".join(self._intents[intent].name for intent in exact)
        stages.add("exact", f"an utterance of {owners}" if exact else "no utterance reads the same")
        if settling := _only(exact, question.allowed):
            candidates = [self._candidate(intent, 1.0, hit.row) for intent, hit in settling.items()]
            decision = _certain(decide(candidates, self.policy, question.language))
            return self._result(message, question, decision, stages=stages, decided_by="exact")

        hits = self._lexical.fuzzy(key)
        fuzzy = _only(hits, question.allowed)
        stages.add("fuzzy", f"typing mistakes away from {len(fuzzy)} intents")

        vector = (encode or self.encode_one)(text)
        stages.add("encode", f"{self.encoder.name} read the message")
        if gap := self._coverage.gap(text, question.language):
            stages.add("coverage", gap)
        if not vector.any() and not fuzzy:
            reason = f"the encoder {self.encoder.name} knows nothing of this message."
            return self._nothing(message, question, stages, reason)

        dense = self._score(vector, text)
        for intent, spelled in hits.items():
            dense.raised(intent, spelled.similarity)
        candidates = self._candidates(dense, fuzzy, question.allowed)
        stages.add("dense", ", ".join(f"{c.intent} {c.score:.2f}" for c in candidates[:_SHOWN]))
        if self.artefact.opinion is not None:
            stages.add("head", ", ".join(f"{c.intent} {c.confidence:.0%}" for c in candidates[:_SHOWN]))

        decision = decide(candidates, self.policy, question.language)
        leading = decision.ranked[0]
        hit = fuzzy.get(self._numbers[leading.intent])
        by_meaning = "dense" if self.artefact.opinion is None else "head"
        decided_by = "fuzzy" if hit is not None and np.float32(hit.similarity) >= leading.score else by_meaning
        if reranked := self._rerank(text, decision, dense, stages):
            decision, decided_by = decide(reranked, self.policy, question.language), "reranker"
        stages.add("decide", decision.verdict)
        if question.allowed is not None:
            everything = self._candidates(dense, hits, None)
            self._add_otherwise(decide(everything, self.policy, question.language), question.allowed, stages)
        return self._result(message, question, decision, stages=stages, decided_by=decided_by)

    def match_many(self, messages: Sequence[str], question: Question) -> list[MatchResult]:
        """As `match` for each; the messages that no spelling settles are encoded together."""
        texts = {clean(_checked_text(message)[:MAX_CHARACTERS]) for message in messages}
        keys = {text: fold(text) for text in texts}
        unsettled = sorted(
            t for t, key in keys.items() if key and not _only(self._lexical.exact(key), question.allowed)
        )
        vectors = dict(zip(unsettled, encode_all(self.encoder, unsettled, "query"), strict=True))
        return [self.match(message, question, vectors.__getitem__) for message in messages]

    def encode_one(self, text: str) -> NDArray[np.float32]:
        """The vector of a cleaned message, shape `(dim,)`."""
        vector: NDArray[np.float32] = self.encoder.encode([text], kind="query")[0]
        return vector

    def answering(self, names: Collection[str] | None, context: Collection[str] = ()) -> frozenset[int] | None:
        """Positions of the intents that may answer: those named, otherwise those that always may or have an active tag.

        None for all. Raises `UnknownNameError`.
        """
        if names is None:
            if not any(intent.when for intent in self._intents):
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

    def _clean(self, message: str, stages: _Stages) -> str:
        text = clean(_checked_text(message)[:MAX_CHARACTERS])
        if len(message) > MAX_CHARACTERS:
            stages.add("clean", f"only the first {MAX_CHARACTERS} of {len(message)} characters are looked at")
        return text

    def _with_language(self, question: Question, key: str, stages: _Stages) -> Question:
        if question.language is not None or not self._languages.languages:
            return question
        # The author of the very same line has said which language it is; it may be one of several ("no").
        languages = (self._utterances[row].language for row in self._lexical.rows(key))
        guessed = self._languages.of(key, [language for language in languages if language] or None)
        stages.add("language", f"reads like {guessed}" if guessed else "like none of the registry's")
        return replace(question, language=guessed)

    def _score(self, vector: NDArray[np.float32], text: str) -> _Dense:
        """Scores and evidence, with those intents pushed away whose negatives are nearer than their utterances."""
        scores, cosines = (array[0] for array in self._index.scores(vector[None, :]))
        dense = _Dense(scores, self._evidence(scores, vector, text), cosines)
        if len(self._negatives.owners):
            negative = self._negatives.scores(vector[None, :])[0][0]
            for owner, against in zip(self._negatives.owners.tolist(), negative.tolist(), strict=True):
                self._push(dense, owner, against)
        np.clip(dense.scores, -1.0, 1.0, out=dense.scores)
        return dense

    def _evidence(self, scores: NDArray[np.float32], vector: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        opinion = self.artefact.opinion
        if opinion is None:
            return scores.astype(np.float64)
        words = opinion.words.words(text)
        spelled = self._index.best(opinion.rows.cosines(words))
        return evidence(scores, spelled, opinion.head.logits(vector, words))

    def _push(self, dense: _Dense, owner: int, against: float) -> None:
        """Push an intent away from a message that one of its negatives is `against` near to.

        The score falls in proportion, from untouched where the negative is just as near as the nearest utterance, to
        nothing where the message is the negative; the evidence likewise, to that of the least likely intent.
        """
        # The score is at most the nearest cosine, which need not be looked for where even the score is higher.
        if against <= dense.scores[owner] or dense.scores[owner] <= 0.0:
            return
        nearest = float(dense.cosines[self._index.nearest(dense.cosines, owner)])
        if against > nearest:
            left = 1.0 - (against - nearest) / max(1.0 - nearest, 1e-6)
            least = float(dense.evidence.min()) if self.artefact.opinion is not None else 0.0
            dense.scores[owner] *= left
            dense.evidence[owner] = least + left * (float(dense.evidence[owner]) - least)

    def _candidates(self, dense: _Dense, fuzzy: Mapping[int, Hit], allowed: frozenset[int] | None) -> list[Candidate]:
        """The leading intents and all that could pass a threshold."""
        ranking = np.argsort(-dense.evidence, kind="stable").tolist()
        if allowed is not None:
            ranking = [intent for intent in ranking if intent in allowed]
        passing = self._could_pass(dense)
        some = ranking[:_RANKED] + [intent for intent in ranking[_RANKED:] if passing[intent]]
        rows = {intent: hit.row for intent, hit in fuzzy.items() if hit.similarity >= dense.scores[intent]}
        return [
            self._moved(
                self._candidate(
                    intent,
                    float(dense.scores[intent]),
                    rows[intent] if intent in rows else self._index.nearest(dense.cosines, intent),
                ),
                float(dense.evidence[intent]),
            )
            for intent in some
        ]

    def _could_pass(self, dense: _Dense) -> NDArray[np.bool_]:
        confidences = self.artefact.calibration.confidences(dense.evidence)
        by_score: NDArray[np.bool_] = dense.scores >= self._lowest_score
        return by_score if confidences is None else by_score | (confidences >= self._lowest_confidence)

    def _candidate(self, intent: int, score: float, row: int) -> Candidate:
        return Candidate(self._intents[intent].name, score, self._utterances[row], self._intents[intent].title)

    def _add_otherwise(self, decision: Decision, allowed: frozenset[int], stages: _Stages) -> None:
        """Say what would have matched if every intent might answer, where that is one that may not."""
        best = decision.ranked[0]
        if decision.verdict == "matched" and self._numbers[best.intent] not in allowed:
            tags = self.artefact.registry[best.intent].when
            when = f" where {' or '.join(tags)} is active" if tags else ""
            stages.add("otherwise", f"{best.intent} ({best.measured}) would have matched{when}")

    def _rerank(self, text: str, decision: Decision, dense: _Dense, stages: _Stages) -> list[Candidate]:
        """The leading candidates, each score replaced by its mean with the reranker's best for its utterances.

        As many of them, and as many utterances of each, as there is time for. None where there is not even for two, no
        doubt or no reranker.
        """
        reranker = self.reranker
        if reranker is None or not decision.doubtful:
            return []
        room = self._pace.room()
        leading = decision.ranked[: min(_RANKED, room)]
        if len(leading) < min(2, len(decision.ranked)):
            stages.add("reranker", f"in doubt, but {reranker.name} is too slow for {self._pace.budget:g} s")
            return []
        each = min(_UTTERANCES_FOR_RERANKER, room // len(leading))
        rows = [self._index.leading(dense.cosines, self._numbers[c.intent], each) for c in leading]
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
        moved = self._moved(candidate, candidate.rank + score - candidate.score)
        return replace(moved, score=score, utterance=self._utterances[row])

    def _moved(self, candidate: Candidate, evidence: float) -> Candidate:
        """The candidate with so much evidence, and the confidence that comes with it."""
        return replace(candidate, evidence=evidence, confidence=self.artefact.calibration.confidence(evidence))

    def _result(
        self,
        message: str,
        question: Question,
        decision: Decision,
        *,
        stages: _Stages,
        decided_by: str,
    ) -> MatchResult:
        best = decision.ranked[0] if decision.ranked else None
        intent = best.intent if best and decision.verdict == "matched" else None
        return MatchResult(
            message=message,
            verdict=decision.verdict,
            intent=intent,
            score=best.score if best else 0.0,
            confidence=best.confidence if best else None,
            candidates=decision.ranked[: question.top_k],
            rivals=decision.rivals,
            language=question.language,
            response=self.artefact.registry[intent].response(question.language) if intent else None,
            trace=Trace(
                stages=tuple(stages.done),
                decided_by=decided_by,
                threshold=decision.cut.value if decision.cut else None,
                threshold_origin=decision.cut.origin if decision.cut else "",
                reason=decision.reason,
            ),
        )

    def _nothing(self, message: str, question: Question, stages: _Stages, reason: str) -> MatchResult:
        decision = replace(decide((), self.policy), reason=reason)
        return self._result(message, question, decision, stages=stages, decided_by="empty")


def _certain(decision: Decision) -> Decision:
    """An exact hit is right, or one of several that read the same."""
    certain = 1.0 / len(decision.ranked)
    ranked = tuple(replace(candidate, confidence=certain) for candidate in decision.ranked)
    rivals = tuple(replace(candidate, confidence=certain) for candidate in decision.rivals)
    return replace(decision, ranked=ranked, rivals=rivals)


def _only(hits: dict[int, Hit], allowed: frozenset[int] | None) -> dict[int, Hit]:
    return hits if allowed is None else {intent: hit for intent, hit in hits.items() if intent in allowed}


def _checked_text(message: str) -> str:
    if not isinstance(message, str):
        raise InputError(f"a message must be text, not {type(message).__name__}")
    return message
