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

from intentmatch.core.shared_lines import SharedLines, rank
from intentmatch.core.types import Case, Registry, Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.cross_validation import RANKED, HeldOut, first_ranked
from intentmatch.learning.fusion import Apart, fused_score
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.word_alignment import LEADING
from intentmatch.pieces.embedded import known_pieces
from intentmatch.runtime.block_sizes import SCORING_FEATURE_ROWS
from intentmatch.text.normalize import clean, fold

WEIGHT_PER_MESSAGE = 1 / 3
"""Weight of each labelled message for each one there is, if that of a held-out utterance is 1: 30 weigh 10 each.
Many labelled messages are more reliable than few. Chosen with 30, 100 and 300 labelled messages of the development sets
with out-of-scope messages, 3 to 45% of all; 1/10 and 1 differ by less than 0.4 points of overall accuracy."""


class Labelled(NamedTuple):
    """Labelled messages that a calibration learns from."""

    share: LabelledShare | None
    """Share of out-of-scope messages among them; None if share and confidence curve are not learned from them."""
    cases: Sequence[Case]
    vectors: Vectors
    """Shape `(cases, dim)`."""


def usable_cases(registry: Registry) -> list[Case]:
    """Return the tests whose evidence says something: no line of the registry, in a language that it has."""
    # A test that is a line of the registry matches exactly, and shows nothing about messages.
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
    spelling do not count, and where intents share lines, each message is said in the context of what it expects.
    """
    _, cases, of = labelled
    index, names = ExactIndex(vectors, registry.owners, aggregation), [intent.name for intent in registry]
    shared = SharedLines(registry)
    contexts = _Contexts(registry, shared) if shared else None
    texts = [clean(case.text) for case in cases]
    ranked, intents = np.empty((len(cases), RANKED)), np.empty((len(cases), RANKED), dtype=np.int64)
    for start in range(0, len(cases), SCORING_FEATURE_ROWS):
        block = slice(start, start + SCORING_FEATURE_ROWS)
        left_out = None if contexts is None else contexts.left_out(cases[block])
        evidence = _evidence(index, head, texts[block], of[block], left_out=left_out, apart=shared.apart)
        ranked[block], intents[block] = first_ranked(evidence, index.owners)
    expected = [_positions(case, names) for case in cases]
    own = np.array([np.isin(row, wanted) for row, wanted in zip(intents, expected, strict=True)], dtype=bool)
    own = own.reshape(intents.shape) & np.isfinite(ranked)
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


class _Contexts:
    """The utterances that do not count for a labelled message, because of the tags that are active when it is said."""

    def __init__(self, registry: Registry, shared: SharedLines) -> None:
        self._registry, self._shared = registry, shared
        self._owners = np.asarray(registry.owners, dtype=np.int64)
        self._known: dict[frozenset[str], NDArray[np.bool_]] = {}

    def left_out(self, cases: Sequence[Case]) -> NDArray[np.bool_]:
        """Return a mask of the utterances, shape `(cases, utterances)`."""
        return np.array([self._mask(self._shared.context_of(case)) for case in cases])

    def _mask(self, context: frozenset[str]) -> NDArray[np.bool_]:
        if context not in self._known:
            intents = self._registry.intents
            allowed = [number for number, intent in enumerate(intents) if rank(intent, context) < 2]
            mask = ~np.isin(self._owners, allowed)
            mask[[*self._shared.hidden(allowed, context)]] = True
            self._known[context] = mask
        return self._known[context]


def _evidence(
    index: ExactIndex,
    trained_head: TrainedHead | None,
    texts: Sequence[str],
    vectors: Vectors,
    *,
    left_out: NDArray[np.bool_] | None,
    apart: Apart,
) -> NDArray[np.float64]:
    """Return the evidence of each intent with utterances, shape `(texts, owners)`, as matching finds it.

    Utterances `left_out` of a text, shape `(texts, utterances)`, do not count; an intent without others has -inf.
    """
    scores, cosines = index.scores(vectors)
    if left_out is not None:
        cosines[left_out] = -np.inf
        scores = index.aggregate(cosines)
    if trained_head is None:
        return scores.astype(np.float64)
    head = trained_head.head.for_vectors(vectors.shape[1])
    pieces = [known_pieces(text) for text in texts]
    logits = head.logits_many(vectors, trained_head.vectorizer.dense(pieces))
    evidence = fused_score(scores, logits[:, index.owners], apart)
    leading = np.argsort(-evidence, axis=1, kind="stable")[:, :LEADING]
    near = [[index.nearest(cosines[row], column) for column in columns.tolist()] for row, columns in enumerate(leading)]
    similar = trained_head.words.similarities_many(pieces, near)
    for row, (columns, similarities) in enumerate(zip(leading, similar, strict=True)):
        evidence[row, columns] += trained_head.words.weight * np.array(similarities)
    if trained_head.background is not None:
        evidence += trained_head.background.evidence_many(vectors)[:, None]
    return evidence


def _positions(case: Case, names: Sequence[str]) -> list[int]:
    """Return the positions of the intents that a case expects."""
    expected = (case.expected,) if isinstance(case.expected, str) else case.expected or ()
    return [names.index(name) for name in expected if name in names]
