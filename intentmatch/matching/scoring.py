"""Score candidates from similarities, head and negatives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact, searched_by
from intentmatch.core.result import Candidate
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex, load_index
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.cross_validation import RANKED
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.token_features import NO_WORDS
from intentmatch.learning.word_alignment import LEADING
from intentmatch.matching.policy import Policy
from intentmatch.matching.shortlist import Scored, SearchResult, Shortlist
from intentmatch.reading.spelling import SpellingHit
from intentmatch.runtime.block_sizes import SCORING_FEATURE_ROWS, SCORING_MESSAGES
from intentmatch.storage.postgres.address import Address

# Candidates scored without a head; negatives may push some of them behind others.
_BEST_OWNERS = 3 * RANKED


class Scoring:
    """Scores messages against one artefact. Immutable."""

    def __init__(self, artefact: Artefact, policy: Policy, database: Address | None = None) -> None:
        registry = artefact.registry
        self._artefact = artefact
        self._intents, self._utterances, self._owners = registry.intents, registry.utterances, registry.owners
        self._index = load_index(
            searched_by(artefact.settings, artefact.trained_head),
            artefact.vectors,
            registry.owners,
            artefact.settings.aggregation,
            graph=artefact.graph,
            device=artefact.settings.device,
            database=database,
        )
        self._negatives = ExactIndex(artefact.negative_vectors, registry.negative_owners, "max")
        self._uses_words = True
        self._calibrate(artefact.calibration, policy)
        trained_head = artefact.trained_head
        self._head = None if trained_head is None else trained_head.head.for_vectors(artefact.vectors.shape[1])
        self._words = None if trained_head is None else trained_head.words
        self._background = None if trained_head is None else trained_head.background
        self._apart = SharedLines(registry).apart
        self._shortlist: Shortlist | None = None
        if self._head is not None and Shortlist.pays_off(len(self._intents)):
            self._shortlist = Shortlist(self._index, self._head, self._apart)

    def for_translations(self, calibration: Calibration, policy: Policy) -> Scoring:
        """Return the scoring of messages in languages that the registry does not have. Index and head are shared.

        Such messages have a calibration and thresholds of their own. Their token features are left out: they share few
        words with the utterances, and these mislead more often than they help.
        """
        other = copy(self)
        other._uses_words, other._words = False, None
        other._calibrate(calibration, policy)
        return other

    def _calibrate(self, calibration: Calibration, policy: Policy) -> None:
        self._calibration = calibration
        cuts = (policy.default, *policy.by_language.values(), *policy.by_intent.values())
        self._lowest_score = min((cut.value for cut in cuts if cut.on == "score"), default=np.inf)
        lowest_in_scope = min((cut.value for cut in cuts if cut.on == "in_scope"), default=np.inf)
        # Rounded down: whether a message is in scope is decided by its probability.
        self._enough_evidence = _evidence_for(calibration, lowest_in_scope) - 1e-9

    def candidates(
        self,
        vector: NDArray[np.float32],
        pieces: Sequence[int],
        hits: Mapping[int, SpellingHit] = MappingProxyType({}),
        allowed: Collection[int] | None = None,
        found: SearchResult | None = None,
        *,
        hidden: Collection[int] = (),
    ) -> list[Candidate]:
        """Return the best candidates of a message, and all others found that could pass a threshold.

        `pieces` are its known pieces. An intent with a spelling hit scores at least the similarity of that hit.
        `allowed` holds the positions of the intents that may answer, None for all. `found` is the result of
        `search_many`, which spares a search here. The `hidden` rows do not count; none of the intents that may answer
        has only these.
        """
        if found is None or not self._uses_words or allowed is not None or hits or hidden:
            found = self._search(vector, pieces, hits, allowed)
            counting = self._without(found.scored, vector, hidden) if hidden else found.scored
            found = SearchResult(self._with_words(counting, pieces, hits), found.least)
        scored, least = found
        if len(self._negatives.owners):
            scored = self._pushed(scored, vector, least)
        if hits:
            weight = self._words.weight if self._words else 0.0
            scored = [_raised(one, hits[one.intent], weight) if one.intent in hits else one for one in scored]
        scored = sorted(scored, key=_by_evidence)
        gained = 0.0 if self._background is None else self._background.evidence(vector)
        kept = scored[:RANKED]
        if len(scored) > RANKED:
            kept += [one for one in scored[RANKED:] if self._could_pass(one, gained)]
        evidence = [one.evidence + gained for one in kept]
        confidences = self._calibration.confidences(evidence) or repeat(None)
        candidate = self.candidate
        return [
            candidate(intent, score, row, in_all, confidence, words)
            for (intent, score, _, row, words), in_all, confidence in zip(kept, evidence, confidences)  # noqa: B905
        ]

    def batching_helps(self, messages: int) -> bool:
        """Whether so many messages take less time with `search_many` than one by one."""
        return self._artefact.trained_head is None or (
            self._shortlist is not None and self._shortlist.batching_helps(messages)
        )

    def search_many(
        self,
        vectors: Vectors,
        texts: Sequence[Sequence[int]],
        saliences: Sequence[NDArray[np.float32]] | None = None,
    ) -> Sequence[SearchResult | None]:
        """Search for many messages without spelling hits, each given by its known pieces, and align their words.

        `saliences` are those of the pieces, if the embedded encoder has found them with the vectors. None
        stands for each message that is better searched for alone.
        """
        trained_head, head, shortlist = self._artefact.trained_head, self._head, self._shortlist
        if trained_head is None or head is None:
            owners = self._index.best_owners(vectors, _BEST_OWNERS)
            return [self._by_score(vector, best.tolist()) for vector, best in zip(vectors, owners, strict=True)]
        if shortlist is None or not shortlist.batching_helps(len(texts)):
            return [None] * len(texts)
        words = trained_head.words
        results: list[SearchResult] = []
        for some in _slices(slice(0, len(texts)), SCORING_MESSAGES):
            logits = [
                head.logits_many(vectors[at], trained_head.vectorizer.dense(texts[at]))
                for at in _slices(some, SCORING_FEATURE_ROWS)
            ]
            found = shortlist.search_many(vectors[some], np.concatenate(logits))
            orders = [sorted(result.scored, key=_by_evidence) for result in found]
            rows = [[one.row for one in order[:LEADING]] for order in orders]
            similar = words.similarities_many(texts[some], rows, saliences and saliences[some])
            for result, order, similarities in zip(found, orders, similar, strict=True):
                leading = map(_with_word_similarity, order, similarities, repeat(words.weight))
                results.append(result._replace(scored=[*leading, *order[LEADING:]]))
        return results

    def candidate(  # noqa: PLR0917 - called for each candidate of each message
        self,
        intent: int,
        score: float,
        row: int,
        evidence: float | None = None,
        confidence: float | None = None,
        words: float | None = None,
    ) -> Candidate:
        """Return a candidate from an intent's position, score, row of its nearest utterance, and its evidence."""
        named = self._intents[intent]
        # Rounding takes the cosine of two equal vectors of float32 a little above 1.
        score = score if -1.0 <= score <= 1.0 else max(-1.0, min(1.0, score))
        return Candidate(named.name, score, self._utterances[row], named.title, confidence, evidence, words)

    def with_confidences(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return all candidates of a message with the confidences that follow from their evidence."""
        confidences = self._calibration.confidences([candidate.rank for candidate in candidates])
        if confidences is None:
            return [*candidates]
        return [replace(candidate, confidence=of) for candidate, of in zip(candidates, confidences, strict=True)]

    def nearest_rows(
        self, vector: NDArray[np.float32], intent: int, count: int, hidden: Collection[int] = ()
    ) -> list[int]:
        """Return at most `count` rows of an intent's utterances, the nearest to a message first, none `hidden`."""
        nearest = self._index.nearest_rows(vector, intent, count + len(hidden))
        return [row for row in nearest if row not in hidden][:count] if hidden else nearest

    def _search(
        self,
        vector: NDArray[np.float32],
        pieces: Sequence[int],
        needed: Collection[int],
        allowed: Collection[int] | None,
    ) -> SearchResult:
        """Score the intents that can matter to an answer, and those `needed`."""
        trained_head, head = self._artefact.trained_head, self._head
        if trained_head is None or head is None:
            among = None if allowed is None else np.array(sorted(allowed))
            owners = self._index.best_owners(vector[None, :], _BEST_OWNERS, among)[0]
            return self._by_score(vector, {*owners.tolist(), *needed})
        words = trained_head.vectorizer.sparse(pieces) if self._uses_words else NO_WORDS
        if self._shortlist is not None:
            return self._shortlist.search(vector, words, needed, allowed)
        scores, cosines = (array[0] for array in self._index.scores(vector[None, :]))
        total = fused_score(scores, head.logits(vector, words), self._apart)
        some = range(len(scores)) if allowed is None else allowed
        nearest = self._index.nearest
        found = [Scored(n, float(scores[n]), float(total[n]), nearest(cosines, n)) for n in some]
        return SearchResult(found, float(total.min()))

    def _without(self, found: list[Scored], vector: NDArray[np.float32], hidden: Collection[int]) -> list[Scored]:
        """Score the intents that have hidden rows by their other rows."""
        lose = {self._owners[row] for row in hidden}

        def rescored(one: Scored) -> Scored:
            span = self._index.span(one.intent)
            score, row = self._index.score_rows(vector, [n for n in range(span.start, span.stop) if n not in hidden])
            return one._replace(score=score, evidence=one.evidence + score - one.score, row=row)

        return [rescored(one) if one.intent in lose else one for one in found]

    def _by_score(self, vector: NDArray[np.float32], intents: Collection[int]) -> SearchResult:
        """Score these intents by similarity alone."""
        found = ((intent, *self._index.score_column(vector, intent)) for intent in intents)
        return SearchResult([Scored(intent, score, score, row) for intent, score, row in found], 0.0)

    def _with_words(self, found: list[Scored], pieces: Sequence[int], needed: Collection[int]) -> list[Scored]:
        """Add word similarity to the evidence of the leading intents and those `needed`; nothing without a head."""
        if self._words is None:
            return found
        leading, rest = found, list[Scored]()
        if len(found) > LEADING:
            order = sorted(found, key=_by_evidence)
            leading, rest = order[:LEADING], order[LEADING:]
            if needed:
                leading += [one for one in rest if one.intent in needed]
                rest = [one for one in rest if one.intent not in needed]
        similar = self._words.similarities(pieces, [one.row for one in leading])
        return [*map(_with_word_similarity, leading, similar, repeat(self._words.weight)), *rest]

    def _pushed(self, found: list[Scored], vector: NDArray[np.float32], least: float) -> list[Scored]:
        """Lower the scores of intents that have a negative nearer to the message than any of their utterances.

        The score falls linearly: unchanged if the negative is as near as the nearest utterance, 0 if the message is the
        negative. The evidence falls in the same proportion, down to `least`.
        """
        scores, _ = self._negatives.scores(vector[None, :])
        against = dict(zip(self._negatives.owners.tolist(), scores[0].tolist(), strict=True))

        def push(one: Scored) -> Scored:
            negative = against.get(one.intent, -1.0)
            # The score is at most the nearest cosine: if the score is higher than the negative, so is the cosine.
            if not negative > one.score > 0.0 or negative <= (nearest := float(self._index.vectors[one.row] @ vector)):
                return one
            left = 1.0 - (negative - nearest) / max(1.0 - nearest, 1e-6)
            return one._replace(score=left * one.score, evidence=least + left * (one.evidence - least))

        return [push(one) for one in found]

    def _could_pass(self, one: Scored, gained: float) -> bool:
        return one.score >= self._lowest_score or one.evidence + gained >= self._enough_evidence


def _slices(whole: slice, size: int) -> list[slice]:
    """Cut a slice into slices of at most `size`."""
    return [slice(start, min(start + size, whole.stop)) for start in range(whole.start, whole.stop, size)]


def _by_evidence(one: Scored) -> tuple[float, int]:
    """Sort key: the most evidence first."""
    return -one.evidence, one.intent


def _with_word_similarity(one: Scored, similarity: float, weight: float) -> Scored:
    return Scored(one.intent, one.score, one.evidence + weight * similarity, one.row, similarity)


def _raised(one: Scored, hit: SpellingHit, weight: float) -> Scored:
    """Raise score and word similarity to the similarity of a spelling hit, and the evidence accordingly."""
    more = hit.similarity - one.score
    if more < 0.0:
        return one
    raised = one._replace(score=hit.similarity, evidence=one.evidence + more, row=hit.row)
    if one.words is None or one.words > hit.similarity:
        return raised
    evidence = raised.evidence + weight * (hit.similarity - one.words)
    return raised._replace(evidence=evidence, words=hit.similarity)


def _evidence_for(calibration: Calibration, in_scope: float) -> float:
    """Return the least evidence that gives such an in-scope probability; infinite if none does."""
    evidence = calibration.evidence(in_scope)
    if evidence is not None:
        return evidence
    always = calibration.in_scope(0.0)
    return -np.inf if always is not None and always >= in_scope else np.inf
