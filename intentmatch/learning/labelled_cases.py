"""Labelled messages as cases for the calibration, beside the held-out utterances.

Held-out utterances are written by authors, and the utterances of left-out intents stand in for out-of-scope messages.
Labelled messages are from users, and show how much evidence real messages have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Case, Registry, Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.cross_validation import RANKED, HeldOut, first_ranked
from intentmatch.learning.fusion import WORD_WEIGHT, fused_score
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.word_alignment import LEADING
from intentmatch.runtime.block_sizes import SCORING_FEATURE_ROWS
from intentmatch.text.normalize import clean, fold

WEIGHT_PER_MESSAGE = 1 / 3
"""Weight of each labelled message for each one there is, if that of a held-out utterance is 1: 30 weigh 10 each.
Many labelled messages are more reliable than few. Chosen with 30, 100 and 300 labelled messages of the development sets
with out-of-scope messages, 3 to 45% of all; 1/10 and 1 differ by less than 0.4 points of overall accuracy."""


class Labelled(NamedTuple):
    """Labelled messages that a calibration is fitted to."""

    share: LabelledShare
    cases: Sequence[Case]
    vectors: Vectors
    """Shape `(cases, dim)`."""


def usable_cases(registry: Registry) -> list[Case]:
    """Return the tests whose evidence says something: no line of the registry, in a language that it has."""
    lines, languages = {*registry.folded}, {None, *registry.languages}
    return [
        case
        for case in registry.tests
        if fold(case.text) not in lines and (not registry.languages or case.language in languages)
    ]


def labelled_cases(
    registry: Registry, vectors: Vectors, aggregation: str, head: TrainedHead | None, labelled: Labelled
) -> HeldOut:
    """Match labelled messages against the registry and return them as cases, in the same order.

    `vectors` are those of all utterances, shape `(utterances, dim)`. As in cross-validation, negatives and corrected
    spelling do not count.
    """
    _, cases, of = labelled
    index, names = ExactIndex(vectors, registry.owners, aggregation), [intent.name for intent in registry]
    texts = [clean(case.text) for case in cases]
    ranked, intents = np.empty((len(cases), RANKED)), np.empty((len(cases), RANKED), dtype=np.int64)
    for start in range(0, len(cases), SCORING_FEATURE_ROWS):
        block = slice(start, start + SCORING_FEATURE_ROWS)
        evidence = _evidence(index, head, texts[block], of[block])
        ranked[block], intents[block] = first_ranked(evidence, index.owners)
    expected = [_positions(case, names) for case in cases]
    own = np.array([np.isin(row, wanted) for row, wanted in zip(intents, expected, strict=True)]).reshape(intents.shape)
    return HeldOut(
        ranked=ranked,
        first=intents[:, 0],
        place=np.where(own.any(axis=1), own.argmax(axis=1), RANKED),
        known=np.array([case.expected is not None for case in cases], dtype=bool),
        rows=np.full(len(cases), -1),
        weights=np.full(len(cases), len(cases) * WEIGHT_PER_MESSAGE),
    )


def joined(held_out: HeldOut, labelled: HeldOut) -> HeldOut:
    """Return the cases of both. Their out-of-scope cases weigh the same in proportion to their cases in scope."""
    ratio, wanted = _out_of_scope_ratio(labelled), _out_of_scope_ratio(held_out)
    if ratio and wanted:
        balanced = np.where(labelled.known, 1.0, wanted / ratio) * labelled.weights
        labelled = replace(labelled, weights=balanced)
    return HeldOut(*(np.concatenate([getattr(one, f.name) for one in (held_out, labelled)]) for f in fields(HeldOut)))


def _out_of_scope_ratio(cases: HeldOut) -> float | None:
    """Return the weight of out-of-scope cases for each unit of weight in scope; None without cases in scope."""
    inside = float(cases.weights[cases.known].sum())
    return float(cases.weights[~cases.known].sum()) / inside if inside else None


def _evidence(
    index: ExactIndex, trained_head: TrainedHead | None, texts: Sequence[str], vectors: Vectors
) -> NDArray[np.float64]:
    """Return the evidence of each intent with utterances, shape `(texts, owners)`, as matching finds it."""
    scores, cosines = index.scores(vectors)
    if trained_head is None:
        return scores.astype(np.float64)
    head = trained_head.head.for_vectors(vectors.shape[1])
    logits = head.logits_many(vectors, trained_head.vectorizer.dense(texts))
    evidence = fused_score(scores, logits[:, index.owners])
    if trained_head.words is not None:
        leading = np.argsort(-evidence, axis=1, kind="stable")[:, :LEADING]
        near = [
            [index.nearest(cosines[row], column) for column in columns.tolist()] for row, columns in enumerate(leading)
        ]
        similar = trained_head.words.similarities_many(texts, near)
        for row, (columns, similarities) in enumerate(zip(leading, similar, strict=True)):
            evidence[row, columns] += WORD_WEIGHT * np.array(similarities)
    return evidence


def _positions(case: Case, names: Sequence[str]) -> list[int]:
    """Return the positions of the intents that a case expects."""
    expected = (case.expected,) if isinstance(case.expected, str) else case.expected or ()
    return [names.index(name) for name in expected if name in names]
