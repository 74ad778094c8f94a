"""What speaks for each intent: cosines, head and negatives of one message, and the candidates they make."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.store import Artefact, searched_by
from intentmatch.core.result import Candidate
from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex, load_index
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.fusion import fused_score
from intentmatch.matching.policy import Policy
from intentmatch.matching.shortlist import Contender, Leading, Look
from intentmatch.matching.spelling import SpellingHit
from intentmatch.runtime.block_sizes import SCORING_FEATURE_ROWS, SCORING_MESSAGES

RANKED = 5
"""Candidates there are at least: enough for a ranking to look at even when the caller wants one, and for a reranker."""


# Those that are looked at where scores are all that counts; some of them may be pushed behind the others.
_LEADERS = 3 * RANKED


class Scoring:
    """Scores messages against one artefact. Never changes once it is made."""

    def __init__(self, artefact: Artefact, policy: Policy) -> None:
        registry = artefact.registry
        self._artefact = artefact
        self._intents, self._utterances = registry.intents, registry.utterances
        self._index = load_index(
            searched_by(artefact.settings, artefact.opinion),
            artefact.vectors,
            registry.owners,
            artefact.settings.aggregation,
            graph=artefact.graph,
            device=artefact.settings.device,
        )
        self._negatives = ExactIndex(artefact.negative_vectors, registry.negative_owners, "max")
        cuts = (policy.default, *policy.by_language.values(), *policy.by_intent.values())
        self._lowest_score = min((cut.value for cut in cuts if cut.on == "score"), default=np.inf)
        lowest_confidence = min((cut.value for cut in cuts if cut.on == "confidence"), default=np.inf)
        # Rounded in favour of an intent: whether it passes is said by its confidence.
        self._enough = _enough(artefact.calibration, lowest_confidence) - 1e-9
        opinion = artefact.opinion
        self._head = None if opinion is None else opinion.head.for_vectors(artefact.vectors.shape[1])
        self._leading = self._look_at_some()

    def _look_at_some(self) -> Leading | None:
        """What finds the leading intents, where there is a head to say which they are and it is worth the trouble."""
        if self._head is None or not Leading.worth_it(len(self._intents)):
            return None
        return Leading(self._index, self._head)

    def candidates(
        self,
        vector: NDArray[np.float32],
        text: str,
        hits: Mapping[int, SpellingHit] = MappingProxyType({}),
        allowed: Collection[int] | None = None,
        look: Look | None = None,
    ) -> list[Candidate]:
        """The leading intents for a cleaned message and its vector, and all others found that could pass a threshold.

        An intent scores at least what its hit by spelling says. Only `allowed` ones are there; None for all. What
        `look_many` found of the message spares another look.
        """
        if look is None or allowed is not None or (hits and not {one.intent for one in look.contenders} >= hits.keys()):
            look = self._look(vector, text, hits, allowed)
        found, least = look
        if len(self._negatives.owners):
            found = self._pushed(found, vector, least)
        found = [_raised(one, hits[one.intent]) if one.intent in hits else one for one in found] if hits else found
        found.sort(key=lambda one: (-one.evidence, one.intent))
        return [
            self.candidate(one.intent, one.score, one.row, one.evidence)
            for place, one in enumerate(found)
            if place < RANKED or self._could_pass(one)
        ]

    def gains_from(self, messages: int) -> bool:
        """Whether so many take less time with `look_many` than one by one."""
        return self._artefact.opinion is None or (self._leading is not None and self._leading.gains_from(messages))

    def look_many(self, vectors: Vectors, texts: Sequence[str]) -> Sequence[Look | None]:
        """For `candidates` of many cleaned messages; None for those that are better looked at one by one."""
        opinion, head, leading = self._artefact.opinion, self._head, self._leading
        if opinion is None or head is None:
            leaders = self._index.leaders(vectors, _LEADERS)
            return [self._by_score(vector, of.tolist()) for vector, of in zip(vectors, leaders, strict=True)]
        if leading is None or not leading.gains_from(len(texts)):
            return [None] * len(texts)
        looks: list[Look] = []
        for some in _slices(slice(0, len(texts)), SCORING_MESSAGES):
            logits = [
                head.logits_many(vectors[at], opinion.words.rows(texts[at]))
                for at in _slices(some, SCORING_FEATURE_ROWS)
            ]
            looks += leading.look_many(vectors[some], np.concatenate(logits))
        return looks

    def candidate(self, intent: int, score: float, row: int, evidence: float | None = None) -> Candidate:
        """An intent with a score, the utterance of this row that speaks for it, and so much evidence."""
        confidence = None if evidence is None else self._artefact.calibration.confidence(evidence)
        named = self._intents[intent]
        score = score if -1.0 <= score <= 1.0 else max(-1.0, min(1.0, score))
        return Candidate(named.name, score, self._utterances[row], named.title, confidence, evidence)

    def moved(self, candidate: Candidate, evidence: float) -> Candidate:
        """The candidate with so much evidence, and the confidence that comes with it."""
        return replace(candidate, evidence=evidence, confidence=self._artefact.calibration.confidence(evidence))

    def leading(self, vector: NDArray[np.float32], intent: int, count: int) -> list[int]:
        """Rows of an intent's utterances that are nearest to a message, so many of them at most."""
        return self._index.leading(vector, intent, count)

    def _look(
        self, vector: NDArray[np.float32], text: str, needed: Collection[int], allowed: Collection[int] | None
    ) -> Look:
        """At those that can matter to an answer, and those `needed`."""
        opinion, head = self._artefact.opinion, self._head
        if opinion is None or head is None:
            among = None if allowed is None else np.array(sorted(allowed))
            leaders = self._index.leaders(vector[None, :], _LEADERS, among)[0]
            return self._by_score(vector, {*leaders.tolist(), *needed})
        words = opinion.words.words(text)
        if self._leading is not None:
            return self._leading.look(vector, words, needed, allowed)
        scores, cosines = (array[0] for array in self._index.scores(vector[None, :]))
        total = fused_score(scores, head.logits(vector, words))
        some = range(len(scores)) if allowed is None else allowed
        return Look([self._contender(n, scores, total, cosines) for n in some], float(total.min()))

    def _by_score(self, vector: NDArray[np.float32], looked: Collection[int]) -> Look:
        """Where scores are all that counts."""
        found = ((intent, *self._index.look(vector, intent)) for intent in looked)
        return Look([Contender(intent, score, score, row) for intent, score, row in found], 0.0)

    def _contender(
        self, intent: int, scores: Vectors, evidence: NDArray[np.float64], cosines: NDArray[np.float32]
    ) -> Contender:
        return Contender(intent, float(scores[intent]), float(evidence[intent]), self._index.nearest(cosines, intent))

    def _pushed(self, found: list[Contender], vector: NDArray[np.float32], least: float) -> list[Contender]:
        """Push those away that a negative is nearer to than any of their utterances.

        The score falls in proportion, from untouched where the negative is just as near as the nearest utterance, to
        nothing where the message is the negative; the evidence likewise, to the least there can be.
        """
        scores, _ = self._negatives.scores(vector[None, :])
        against = dict(zip(self._negatives.owners.tolist(), scores[0].tolist(), strict=True))

        def push(one: Contender) -> Contender:
            negative = against.get(one.intent, -1.0)
            # The score is at most the nearest cosine, which need not be looked for where even the score is higher.
            if not negative > one.score > 0.0 or negative <= (nearest := float(self._index.vectors[one.row] @ vector)):
                return one
            left = 1.0 - (negative - nearest) / max(1.0 - nearest, 1e-6)
            return one._replace(score=left * one.score, evidence=least + left * (one.evidence - least))

        return [push(one) for one in found]

    def _could_pass(self, one: Contender) -> bool:
        return one.score >= self._lowest_score or one.evidence >= self._enough


def _slices(whole: slice, size: int) -> list[slice]:
    """A slice in parts of a size."""
    return [slice(start, min(start + size, whole.stop)) for start in range(whole.start, whole.stop, size)]


def _raised(one: Contender, hit: SpellingHit) -> Contender:
    """With at least the score that a hit by spelling gives it, as much more evidence, and the utterance of the hit."""
    more = hit.similarity - one.score
    return one if more < 0.0 else one._replace(score=hit.similarity, evidence=one.evidence + more, row=hit.row)


def _enough(calibration: Calibration, confidence: float) -> float:
    """The evidence from which on an intent has such a confidence."""
    evidence = calibration.evidence(confidence)
    if evidence is not None:
        return evidence
    always = calibration.confidence(0.0)
    return -np.inf if always is not None and always >= confidence else np.inf
