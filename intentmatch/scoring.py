"""What speaks for each intent: cosines, words, head and negatives of one message, and the candidates they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact import Artefact
from intentmatch.heldout import evidence
from intentmatch.index import ExactIndex
from intentmatch.lexical import Hit
from intentmatch.policy import Policy
from intentmatch.result import Candidate

RANKED = 5
"""Candidates there are at least: enough for a ranking to look at even when the caller wants one, and for a reranker."""


@dataclass(slots=True)
class Scores:
    """Of one message, by meaning."""

    scores: NDArray[np.float32]
    """One for each intent."""
    evidence: NDArray[np.float64]
    """One for each intent."""
    cosines: NDArray[np.float32]
    """One for each utterance."""

    def raise_to(self, intent: int, score: float) -> None:
        """Let an intent have at least this score, and as much more evidence."""
        more = score - float(self.scores[intent])
        if more > 0:
            self.scores[intent] = score
            self.evidence[intent] += more


class Scoring:
    """Scores messages against one artefact. Never changes once it is made."""

    def __init__(self, artefact: Artefact, policy: Policy) -> None:
        registry = artefact.registry
        self._artefact = artefact
        self._intents, self._utterances = registry.intents, registry.utterances
        self._index = ExactIndex(artefact.vectors, registry.owners, artefact.settings.aggregation)
        self._negatives = ExactIndex(artefact.negative_vectors, registry.negative_owners, "max")
        cuts = (policy.default, *policy.by_language.values(), *policy.by_intent.values())
        self._lowest_score = min((cut.value for cut in cuts if cut.on == "score"), default=np.inf)
        self._lowest_confidence = min((cut.value for cut in cuts if cut.on == "confidence"), default=np.inf)

    def scores(self, vector: NDArray[np.float32], text: str) -> Scores:
        """Scores and evidence, with those intents pushed away whose negatives are nearer than their utterances."""
        scores, cosines = (array[0] for array in self._index.scores(vector[None, :]))
        dense = Scores(scores, self._evidence(scores, vector, text), cosines)
        if len(self._negatives.owners):
            negative = self._negatives.scores(vector[None, :])[0][0]
            for owner, against in zip(self._negatives.owners.tolist(), negative.tolist(), strict=True):
                self._push(dense, owner, against)
        np.clip(dense.scores, -1.0, 1.0, out=dense.scores)
        return dense

    def candidates(self, dense: Scores, fuzzy: Mapping[int, Hit], allowed: frozenset[int] | None) -> list[Candidate]:
        """The leading intents and all that could pass a threshold."""
        ranking = np.argsort(-dense.evidence, kind="stable").tolist()
        if allowed is not None:
            ranking = [intent for intent in ranking if intent in allowed]
        passing = self._could_pass(dense)
        some = ranking[:RANKED] + [intent for intent in ranking[RANKED:] if passing[intent]]
        rows = {intent: hit.row for intent, hit in fuzzy.items() if hit.similarity >= dense.scores[intent]}
        return [
            self.moved(
                self.candidate(
                    intent,
                    float(dense.scores[intent]),
                    rows[intent] if intent in rows else self._index.nearest(dense.cosines, intent),
                ),
                float(dense.evidence[intent]),
            )
            for intent in some
        ]

    def candidate(self, intent: int, score: float, row: int) -> Candidate:
        """An intent with a score, and the utterance of this row that speaks for it."""
        return Candidate(self._intents[intent].name, score, self._utterances[row], self._intents[intent].title)

    def moved(self, candidate: Candidate, evidence: float) -> Candidate:
        """The candidate with so much evidence, and the confidence that comes with it."""
        return replace(candidate, evidence=evidence, confidence=self._artefact.calibration.confidence(evidence))

    def leading(self, dense: Scores, intent: int, count: int) -> list[int]:
        """Rows of an intent's utterances that are nearest to the message, so many of them at most."""
        return self._index.leading(dense.cosines, intent, count)

    def _evidence(self, scores: NDArray[np.float32], vector: NDArray[np.float32], text: str) -> NDArray[np.float64]:
        opinion = self._artefact.opinion
        if opinion is None:
            return scores.astype(np.float64)
        words = opinion.words.words(text)
        spelled = self._index.best(opinion.rows.cosines(words))
        return evidence(scores, spelled, opinion.head.logits(vector, words))

    def _push(self, dense: Scores, owner: int, against: float) -> None:
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
            least = float(dense.evidence.min()) if self._artefact.opinion is not None else 0.0
            dense.scores[owner] *= left
            dense.evidence[owner] = least + left * (float(dense.evidence[owner]) - least)

    def _could_pass(self, dense: Scores) -> NDArray[np.bool_]:
        confidences = self._artefact.calibration.confidences(dense.evidence)
        by_score: NDArray[np.bool_] = dense.scores >= self._lowest_score
        return by_score if confidences is None else by_score | (confidences >= self._lowest_confidence)
