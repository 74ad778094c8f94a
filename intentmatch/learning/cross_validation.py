"""Cross-validation on a registry's own utterances.

Every utterance is left out in a fold and is then a message that the bot should understand. With its whole intent left
out as well, it is an out-of-scope message that the bot should refuse. Nothing is encoded for this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.fusion import WORD_WEIGHT, fused_score
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

# Held-out cases determine only a handful of numbers: so many suffice.
_MOST_CASES = 4000
_FOLDS, _FOLDS_OF_MANY, _MANY = 5, 3, 3000
# Utterances that are matched again at most, as if translated.
_MOST_TRANSLATED = 1000

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


def representative(lines: Sequence[int]) -> NDArray[np.bool_]:
    """Return which utterances to ask about: the first, middle and last of each line, shape `(utterances,)`.

    `lines` holds the line of each utterance. The sentences of one template line are nearly one case.
    """
    line = np.asarray(lines, dtype=np.int64)
    _, number, counts = np.unique(line, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    place = np.empty(len(line), dtype=np.int64)
    place[order] = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
    last = counts[number] - 1
    chosen: NDArray[np.bool_] = (place == 0) | (place == last // 2) | (place == last)
    return chosen


def connected_components(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each of `count` positions the first position in its connected component."""
    leaders = list(range(count))

    def leader(position: int) -> int:
        while leaders[position] != position:
            leaders[position] = leaders[leaders[position]]
            position = leaders[position]
        return position

    for one, other in links:
        first, second = sorted((leader(one), leader(other)))
        leaders[second] = first
    return [leader(position) for position in range(count)]


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
    With `shared`, intents have lines in common: such lines are held out together, and each is said in a context.
    """
    index = ExactIndex(vectors, owners, aggregation)
    owner = np.asarray(owners, dtype=np.int64)
    line = np.arange(len(owner)) if lines is None else np.asarray(lines, dtype=np.int64)
    chosen = np.arange(len(owner)) if sample is None else sample
    if len(index.owners) < 2:
        nothing = _held_out([], owner)
        return nothing, None if translate is None else nothing
    _, firsts, number = np.unique(line[chosen], return_index=True, return_inverse=True)
    line_of = firsts[number]
    folds = _FOLDS if len(chosen) <= _MANY else _FOLDS_OF_MANY
    worth = np.flatnonzero(representative(line_of.tolist()))
    key = _scattered(len(owner)) if keys is None else np.asarray(keys, dtype=np.int64)
    asked = np.zeros(len(chosen), dtype=bool)
    asked[worth[np.argsort(key[chosen[worth]], kind="stable")[: _MOST_CASES // 2]]] = True
    text = None if shared is None else shared.text[chosen]
    fold_of = _folds(vectors[chosen], owner[chosen], line_of, key[chosen], folds, text=text)
    # Neighbouring intents in a file are often similar in meaning: they are left out in different rounds.
    group_of = owner[chosen] % folds
    groups = folds if len(index.owners) > folds else len(index.owners)
    rounds = [_Round(fold_of == fold, known=True) for fold in range(folds)]
    rounds += [_Round(group_of == group, known=False) for group in range(groups)]
    rounds = [one for one in rounds if (one.left_out & asked).any() and not one.left_out.all()]
    # A subset of the cases: only few numbers are fitted to them.
    again = np.zeros(len(chosen), dtype=bool)
    if translate is not None:
        candidates = np.flatnonzero(asked)
        again[candidates[np.argsort(key[chosen[candidates]], kind="stable")[:_MOST_TRANSLATED]]] = True
    repeated = chosen[again]
    moved = vectors[None, :0] if translate is None else translate(vectors[repeated], owner[repeated])
    similarities, *of_moved = _similarities(
        index, vectors, chosen[asked], owner, line, moved=moved, again=again[asked], shared=shared, each=each
    )
    compare = None if words is None else _WordComparison(index, line, words, shared)

    def cases(one: _Round) -> list[_Cases]:
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

    found = list(steps.counted("cross-validating", each(cases, rounds), len(rounds)))
    held_out = _held_out([first for first, *_ in found], owner)
    if translate is None:
        return held_out, None
    return held_out, _held_out([one for _, *translations in found for one in translations], owner)


class _Round(NamedTuple):
    """Utterances that are left out together."""

    left_out: NDArray[np.bool_]
    """Mask over the sample."""
    known: bool
    """Whether their intents keep their other utterances."""


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
            evidence[place, columns[those]] += WORD_WEIGHT * np.array(similarities)

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


def _scattered(count: int) -> NDArray[np.int64]:
    """Return a different number for each position, in no particular order: multiples of a prime modulo 2^32."""
    scattered: NDArray[np.int64] = np.arange(count, dtype=np.int64) * 2_654_435_761 % (1 << 32)
    return scattered


def _folds(
    vectors: Vectors,
    owner: NDArray[np.int64],
    line: NDArray[np.int64],
    key: NDArray[np.int64],
    folds: int,
    *,
    text: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return a fold for each utterance: evenly spread within an intent, near-duplicate lines together.

    The lines of an intent take their turns in the order of their keys, so an edit does not move those of other intents.
    Utterances with the same number of their `text` are in one fold, whatever their intents.
    """
    fold_of, group = np.zeros(len(owner), dtype=np.int64), np.zeros(len(owner), dtype=np.int64)
    begins = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    for turn, (start, end) in enumerate(zip(begins, np.append(begins[1:], len(owner)), strict=True)):
        numbers = np.arange(end - start)
        near = _first_alike(vectors[start:end])
        links = [*zip(numbers.tolist(), near.tolist(), strict=True)]
        links += zip(numbers.tolist(), (line[start:end] - start).tolist(), strict=True)
        first = np.array(connected_components(len(numbers), links))
        least = np.full(len(numbers), np.iinfo(np.int64).max)
        np.minimum.at(least, first, key[start:end])
        leaders = np.flatnonzero(first == numbers)
        place = np.zeros(len(numbers), dtype=np.int64)
        place[leaders[np.argsort(least[leaders], kind="stable")]] = np.arange(len(leaders))
        fold_of[start:end] = (place[first] + turn) % folds
        group[start:end] = start + first
    if text is not None:
        _, firsts, number = np.unique(text, return_index=True, return_inverse=True)
        links = [*zip(group.tolist(), group[firsts[number]].tolist(), strict=True)]
        fold_of = fold_of[np.array(connected_components(len(owner), links))[group]]
    return fold_of


def _first_alike(vectors: Vectors) -> NDArray[np.int64]:
    """Return for each row the first row that is the same line except for spelling; itself if there is none."""
    firsts = np.arange(len(vectors))
    for start in range(0, len(vectors), CROSS_VALIDATION_MAX_CASES):
        part = slice(start, start + CROSS_VALIDATION_MAX_CASES)
        same = vectors[part] @ vectors.T > SAME_BUT_FOR_SPELLING
        firsts[part] = np.where(same.any(axis=1), same.argmax(axis=1), firsts[part])
    return firsts
