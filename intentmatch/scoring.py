"""What speaks for each intent: cosines, words, head and negatives of one message, and the candidates they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact import Artefact, searched_by
from intentmatch.heldout import evidence
from intentmatch.index import ExactIndex, load_index
from intentmatch.leading import Leading, Scores
from intentmatch.lexical import Hit
from intentmatch.policy import Policy
from intentmatch.result import Candidate
from intentmatch.words import OwnedWords

RANKED = 5
"""Candidates there are at least: enough for a ranking to look at even when the caller wants one, and for a reranker."""


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
            artefact.graph,
        )
        self._negatives = ExactIndex(artefact.negative_vectors, registry.negative_owners, "max")
        cuts = (policy.default, *policy.by_language.values(), *policy.by_intent.values())
        self._lowest_score = min((cut.value for cut in cuts if cut.on == "score"), default=np.inf)
        self._lowest_confidence = min((cut.value for cut in cuts if cut.on == "confidence"), default=np.inf)
        # Rounded in favour of an intent: whether it passes is said by its confidence.
        enough = artefact.calibration.evidence(self._lowest_confidence)
        self._enough = None if enough is None else enough - 1e-9
        self._leading = self._look_at_some()

    def _look_at_some(self) -> Leading | None:
        """What finds the leading intents, where evidence alone tells which can matter and that is worth the trouble."""
        opinion = self._artefact.opinion
        if opinion is None or not Leading.worth_it(len(self._intents), len(self._utterances)):
            return None
        if self._enough is None or self._lowest_score < np.inf:
            return None
        owners = np.asarray(self._artefact.registry.owners, dtype=np.int64)
        return Leading(self._index, OwnedWords(opinion.rows, owners), self._enough, RANKED)

    def scores(self, vector: NDArray[np.float32], text: str, needed: Sequence[int] | None = None) -> Scores:
        """Scores and evidence, with those intents pushed away whose negatives are nearer than their utterances.

        Of all intents; with `needed`, of these and of all that can matter to an answer, as `leading` says.
        """
        opinion = self._artefact.opinion
        against = self._negatives.scores(vector[None, :])[0][0].tolist() if len(self._negatives.owners) else []
        dense: Scores | None = None
        if opinion is None:
            dense = self._some(vector, needed) or self._all(vector, None, None)
        else:
            words = opinion.words.words(text)
            logits = opinion.head.logits(vector, words)
            if needed is not None and self._leading is not None:
                dense = self._leading.look(vector, words, logits, needed)
            # How far an intent is pushed depends on the least of all.
            if dense is None or (against and self._pushes(dense, against)):
                dense = self._all(vector, opinion.rows.cosines(words), logits)
        for owner, negative, nearest in self._pushes(dense, against):
            self._push(dense, owner, negative, nearest)
        np.clip(dense.scores, -1.0, 1.0, out=dense.scores)
        return dense

    def candidates(self, dense: Scores, fuzzy: Mapping[int, Hit], allowed: frozenset[int] | None) -> list[Candidate]:
        """The leading intents and all that could pass a threshold."""
        ranking = np.argsort(-dense.evidence, kind="stable").tolist()
        if allowed is not None:
            ranking = [intent for intent in ranking if intent in allowed]
        passing = self._could_pass(dense)
        some = ranking[:RANKED] + [intent for intent in ranking[RANKED:] if intent in passing]
        rows = {intent: hit.row for intent, hit in fuzzy.items() if hit.similarity >= dense.scores[intent]}
        return [
            self.candidate(
                intent,
                float(dense.scores[intent]),
                rows[intent] if intent in rows else self._index.nearest(dense.cosines, intent),
                float(dense.evidence[intent]),
            )
            for intent in some
        ]

    def candidate(self, intent: int, score: float, row: int, evidence: float | None = None) -> Candidate:
        """An intent with a score, the utterance of this row that speaks for it, and so much evidence."""
        confidence = None if evidence is None else self._artefact.calibration.confidence(evidence)
        named = self._intents[intent]
        return Candidate(named.name, score, self._utterances[row], named.title, confidence, evidence)

    def moved(self, candidate: Candidate, evidence: float) -> Candidate:
        """The candidate with so much evidence, and the confidence that comes with it."""
        return replace(candidate, evidence=evidence, confidence=self._artefact.calibration.confidence(evidence))

    def leading(self, dense: Scores, intent: int, count: int) -> list[int]:
        """Rows of an intent's utterances that are nearest to the message, so many of them at most."""
        return self._index.leading(dense.cosines, intent, count)

    def _all(
        self, vector: NDArray[np.float32], of_words: NDArray[np.float32] | None, logits: NDArray[np.float32] | None
    ) -> Scores:
        scores, cosines = (array[0] for array in self._index.scores(vector[None, :]))
        if of_words is None:
            return Scores(scores, scores.astype(np.float64), cosines)
        return Scores(scores, evidence(scores, self._index.best(of_words), logits), cosines)

    def _some(self, vector: NDArray[np.float32], needed: Sequence[int] | None) -> Scores | None:
        """As `_all`, by scores alone, for the intents that the index leads to; None where that is to be all."""
        nominated = None if needed is None else self._index.nominated(vector)
        if needed is None or nominated is None:
            return None
        looked = sorted({*needed, *nominated})
        cosines = np.full(len(self._utterances), -np.inf, dtype=np.float32)
        scores, evidence = np.full(len(self._intents), -1.0, dtype=np.float32), np.full(len(self._intents), -np.inf)
        scores[looked] = evidence[looked] = self._index.look(vector, looked, cosines)
        return Scores(scores, evidence, cosines)

    def _pushes(self, dense: Scores, against: Sequence[float]) -> list[tuple[int, float, float]]:
        """The intents that a negative is nearer to than any of their utterances, with both cosines."""
        found = []
        for owner, negative in zip(self._negatives.owners.tolist(), against, strict=True):
            # The score is at most the nearest cosine, which need not be looked for where even the score is higher.
            if negative > dense.scores[owner] > 0.0:
                nearest = float(dense.cosines[self._index.nearest(dense.cosines, owner)])
                if negative > nearest:
                    found.append((owner, negative, nearest))
        return found

    def _push(self, dense: Scores, owner: int, negative: float, nearest: float) -> None:
        """Push an intent away from a message that one of its negatives is so near to.

        The score falls in proportion, from untouched where the negative is just as near as the nearest utterance, to
        nothing where the message is the negative; the evidence likewise, to that of the least likely intent.
        """
        left = 1.0 - (negative - nearest) / max(1.0 - nearest, 1e-6)
        least = float(dense.evidence.min()) if self._artefact.opinion is not None else 0.0
        dense.scores[owner] *= left
        dense.evidence[owner] = least + left * (float(dense.evidence[owner]) - least)

    def _could_pass(self, dense: Scores) -> list[int]:
        could = dense.scores >= self._lowest_score
        if self._enough is None:
            confidence = self._artefact.calibration.confidence(0.0)
            could |= confidence is not None and confidence >= self._lowest_confidence
        else:
            could |= dense.evidence >= self._enough
        return np.flatnonzero(could).tolist()
