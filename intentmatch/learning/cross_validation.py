"""Cross-validation on a registry's own utterances.

Every utterance is left out in a fold and is then a message that the bot should understand. With its whole intent left
out as well, it is an out-of-scope message that the bot should refuse. Nothing is encoded for this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.fold_plan import Round, plan_rounds
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.head import Fitting, Near, held_out_head
from intentmatch.learning.near_duplicates import SAME_BUT_FOR_SPELLING
from intentmatch.learning.shared_cases import SharedCases
from intentmatch.learning.word_alignment import LEADING, WordAlignment
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import (
    CROSS_VALIDATION_COSINES,
    CROSS_VALIDATION_MAX_CASES,
    CROSS_VALIDATION_MIN_CASES,
)
from intentmatch.runtime.threads import Each, one_by_one

Translate = Callable[[Vectors, NDArray[np.int64]], Vectors]
"""Returns vectors of several translations each from vectors of utterances and their owners: shapes `(utterances, dim)`,
`(utterances,)` and `(translations, utterances, dim)`."""

RANKED = 5
"""First intents of a message that share its confidence. Matching ranks at least so many."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out cases; arrays have shape `(cases,)` unless stated otherwise."""

    ranked: NDArray[np.float64]
    """Evidence of the first intents in falling order, -inf if there are fewer; shape `(cases, RANKED)`."""
    first: NDArray[np.int64]
    """Position of the first intent."""
    place: NDArray[np.int64]
    """Place of the utterance's own intent among them, 0 for the first; `RANKED` if it is not among them."""
    known: NDArray[np.bool_]
    """Whether the utterance's own intent was there to be found, so that the message is in scope."""
    rows: NDArray[np.int64]
    """Row of the utterance; -1 for a labelled message."""
    weights: NDArray[np.float64]
    """How much the case counts among those in scope, or among those out of scope."""

    def select(self, some: slice | NDArray[np.bool_] | NDArray[np.int64]) -> HeldOut:
        """Return some of the cases."""
        return HeldOut(*(getattr(self, name)[some] for name in self.__slots__))

    @property
    def evidence(self) -> NDArray[np.float64]:
        """Evidence of the first intent."""
        first: NDArray[np.float64] = self.ranked[:, 0]
        return first

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the first intent is the utterance's own."""
        right: NDArray[np.bool_] = self.place == 0
        return right


def cross_validate(
    vectors: Vectors,
    owners: Sequence[int],
    aggregation: str,
    fitting: Fitting | None,
    translate: Translate | None = None,
    *,
    words: WordAlignment | None = None,
    lines: Sequence[int] | None = None,
    keys: Sequence[int] | None = None,
    near: Near | None = None,
    sample: NDArray[np.int64] | None = None,
    described: Sequence[bool] | None = None,
    shared: SharedCases | None = None,
    each: Each = one_by_one,
) -> tuple[HeldOut, HeldOut | None]:
    """Match held-out utterances as they are, and again as if said in languages that the registry lacks.

    Each is matched against the rest of the registry, with and without its own intent. Deterministic.

    `translate` makes the vectors of translations; their words do not count, as translations share few words with the
    registry. The second result is None without `translate`.

    `vectors` has one row per utterance. `fitting` and `words` are None without a head. The sentences of one of the
    `lines` are held out together; by default each utterance is a line. `keys` holds a number for the text of each
    utterance, such as a hash: folds and cases follow from it, so that an edited line changes the folds of its own
    intent only. `near` holds the weights of a head that is trained on all utterances, from which the heads of the folds
    are found sooner.

    With a `sample`, rising rows of the utterances, only these are asked about, and `fitting` covers only these.
    No message reads like what is `described`, so these utterances are held out with their whole intent only, and asked
    about only if there are no others.
    With `shared`, intents have lines in common: such lines are held out together, and each is said in a context.
    """
    index = ExactIndex(vectors, owners, aggregation)
    owner = np.asarray(owners, dtype=np.int64)
    line = np.arange(len(owner)) if lines is None else np.asarray(lines, dtype=np.int64)
    nothing = _held_out([], owner)
    if len(index.owners) < 2:
        return nothing, None if translate is None else nothing
    text = None if shared is None else shared.text
    plan = plan_rounds(
        vectors,
        owner,
        line,
        keys=keys,
        text=text,
        sample=sample,
        described=described,
        translated=translate is not None,
    )
    chosen, asked, again = plan.rows, plan.asked, plan.translated
    if not asked.any():
        return nothing, None if translate is None else nothing
    repeated = chosen[again]
    moved = vectors[None, :0] if translate is None else translate(vectors[repeated], owner[repeated])
    similarities, *of_moved = _similarities(
        index, vectors, chosen[asked], owner, line, moved=moved, again=again[asked], shared=shared, each=each
    )
    compare = None if words is None else _WordComparison(index, line, words, shared)

    def cases(one: Round) -> list[_Cases]:
        """Return the cases of a round, followed by those of each translation."""
        some, some_moved = one.left_out & asked, (one.left_out & again)[again]
        head = None if fitting is None else held_out_head(fitting, one.left_out, near)
        left_out = owner[chosen[one.left_out]]
        logits = head.logits(fitting.features[: fitting.utterances][some]) if head and fitting else None
        found = [
            _cases(index, similarities.select(some[asked]), left_out, logits, compare, shared=shared, known=one.known)
        ]
        for vectors_of_one, of_one in zip(moved, of_moved, strict=True):
            logits = head.logits(fitting.without_words(vectors_of_one[some_moved])) if head and fitting else None
            found.append(
                _cases(index, of_one.select(some_moved), left_out, logits, None, shared=shared, known=one.known)
            )
        return found

    found = list(steps.counted("cross-validating", each(cases, plan.rounds), len(plan.rounds)))
    held_out = _held_out([first for first, *_ in found], owner)
    if translate is None:
        return held_out, None
    return held_out, _held_out([one for _, *translations in found for one in translations], owner)


class _Similarities(NamedTuple):
    """Scores of utterances against all others that are not the same line, without a head."""

    rows: NDArray[np.int64]
    owner: NDArray[np.int64]
    scores: NDArray[np.float32]
    """Shape `(rows, owners)`."""

    def select(self, some: NDArray[np.bool_]) -> _Similarities:
        """Return the similarities of some rows."""
        return _Similarities(self.rows[some], self.owner[some], self.scores[some])


def _similarities(
    index: ExactIndex,
    vectors: Vectors,
    rows: NDArray[np.int64],
    owner: NDArray[np.int64],
    line: NDArray[np.int64],
    *,
    moved: Vectors,
    again: NDArray[np.bool_],
    shared: SharedCases | None,
    each: Each,
) -> list[_Similarities]:
    """Return the similarities of some rows, followed by those of each translation of the rows in `again`.

    `moved` holds the vectors of the translations, shape `(translations, rows again, dim)`.
    """
    block = max(
        CROSS_VALIDATION_MIN_CASES, min(CROSS_VALIDATION_MAX_CASES, CROSS_VALIDATION_COSINES // max(1, len(owner)))
    )
    parts = [slice(start, start + block) for start in range(0, len(rows), block)]
    place_of_moved = np.cumsum(again) - 1

    def compare(part: slice) -> list[NDArray[np.float32]]:
        some = rows[part]
        cosines: Vectors = vectors[some] @ vectors.T
        same = (cosines > SAME_BUT_FOR_SPELLING) & (owner[some][:, None] == owner)
        same |= line[some][:, None] == line
        if shared is not None:
            same |= shared.left_out(some)
        cosines[same] = -np.inf
        scores, chosen = [index.aggregate(cosines)], again[part]
        for one in moved[:, place_of_moved[part][chosen]]:
            cosines_of_moved: Vectors = one @ vectors.T
            cosines_of_moved[same[chosen]] = -np.inf
            scores.append(index.aggregate(cosines_of_moved))
        return scores

    scores, *of_moved = map(np.concatenate, zip(*each(compare, parts), strict=True))
    return [
        _Similarities(rows, owner[rows], scores),
        *(_Similarities(rows[again], owner[rows[again]], of_one) for of_one in of_moved),
    ]


class _WordComparison(NamedTuple):
    """Aligns held-out utterances with the nearest remaining utterance of each of their leading intents."""

    utterances: ExactIndex
    line: NDArray[np.int64]
    words: WordAlignment
    shared: SharedCases | None

    def add_to(self, evidence: NDArray[np.float64], held_out: _Similarities) -> None:
        """Add word similarity to the evidence of the leading intents, shape `(rows, owners)`, as matching does."""
        leading = np.argsort(-evidence, axis=1, kind="stable")[:, :LEADING]
        present = np.isfinite(np.take_along_axis(evidence, leading, axis=1))
        nearest = self._nearest(leading, held_out)
        others = [near[those].tolist() for near, those in zip(nearest, present, strict=True)]
        similar = self.words.similarities_of_rows(held_out.rows, others)
        for place, (columns, those, similarities) in enumerate(zip(leading, present, similar, strict=True)):
            evidence[place, columns[those]] += self.words.weight * np.array(similarities)

    def _nearest(self, columns: NDArray[np.int64], held_out: _Similarities) -> NDArray[np.int64]:
        """Return the row of the nearest utterance of each intent, given by column, that is not the same line."""
        vectors = self.utterances.vectors
        nearest = np.empty(columns.size, dtype=np.int64)
        case, column = np.repeat(np.arange(len(columns)), columns.shape[1]), columns.ravel()
        order = np.argsort(column, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(column[order])) + 1) if len(order) else ():
            span = self.utterances.span(int(column[pairs[0]]))
            rows, own = (
                held_out.rows[case[pairs]],
                held_out.owner[case[pairs]] == self.utterances.owners[column[pairs[0]]],
            )
            cosines = vectors[rows] @ vectors[span].T
            same = (cosines > SAME_BUT_FOR_SPELLING) & own[:, None]
            same |= self.line[rows][:, None] == self.line[span]
            if self.shared is not None:
                same |= self.shared.left_out(rows, span)
            cosines[same] = -np.inf
            nearest[pairs] = span.start + cosines.argmax(axis=1)
        return nearest.reshape(columns.shape)


class _Cases(NamedTuple):
    """Cases of one round with their first intents and the evidence for them, shape `(cases, RANKED)` each."""

    rows: NDArray[np.int64]
    evidence: NDArray[np.float64]
    intents: NDArray[np.int64]
    known: NDArray[np.bool_]


def _cases(
    index: ExactIndex,
    similarities: _Similarities,
    left_out: NDArray[np.int64],
    logits: NDArray[np.float32] | None,
    words: _WordComparison | None,
    *,
    shared: SharedCases | None,
    known: bool,
) -> _Cases:
    """Return the cases of one round; `left_out` are the owners of all utterances that the round leaves out."""
    scores = similarities.scores
    if known:
        # The only utterance of an intent leaves nothing to be found.
        usable = np.isfinite(scores[np.arange(len(scores)), np.searchsorted(index.owners, similarities.owner)])
    else:
        scores[:, np.isin(index.owners, left_out)] = -np.inf
        usable = np.ones(len(scores), dtype=bool)
        if shared is not None:
            usable = np.isfinite(scores).any(axis=1) & ~shared.answered_elsewhere[similarities.rows]
    total = scores.astype(np.float64)
    if logits is not None:
        own_logits = logits[:, index.owners]
        apart = {} if shared is None else shared.apart
        present = np.isfinite(scores) & np.isfinite(own_logits)
        total = np.where(present, fused_score(scores, own_logits, apart), -np.inf)
    if words is not None:
        words.add_to(total, similarities)
    evidence, intents = first_ranked(total[usable], index.owners)
    return _Cases(similarities.rows[usable], evidence, intents, np.full(len(evidence), known))


def first_ranked(
    evidence: NDArray[np.float64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the highest evidence of each row and the intents that have it, shape `(rows, RANKED)` each.

    `evidence` has shape `(rows, owners)`. Where there are fewer owners, -inf and -1 stand in the last places.
    """
    order = np.argsort(-evidence, axis=1, kind="stable")[:, :RANKED]
    ranked = np.full((len(order), RANKED), -np.inf)
    ranked[:, : order.shape[1]] = np.take_along_axis(evidence, order, axis=1)
    intents = np.full((len(order), RANKED), -1)
    intents[:, : order.shape[1]] = owners[order]
    return ranked, intents


def _held_out(rounds: Sequence[_Cases], owner: NDArray[np.int64]) -> HeldOut:
    """Return all cases, the known ones first."""
    if not rounds:
        whole = np.empty(0, dtype=np.int64)
        return HeldOut(np.empty((0, RANKED)), whole, whole, whole.astype(bool), whole, np.empty(0))
    rows, ranked, intents, known = map(np.concatenate, zip(*rounds, strict=True))
    own = np.isfinite(ranked) & (intents == owner[rows][:, None])
    return HeldOut(
        ranked=ranked,
        first=intents[:, 0],
        place=np.where(own.any(axis=1) & known, own.argmax(axis=1), RANKED),
        known=known,
        rows=rows,
        weights=np.ones(len(rows)),
    )
