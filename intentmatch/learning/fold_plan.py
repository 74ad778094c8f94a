"""Which utterances of a registry are held out together, and which of them are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.learning.near_duplicates import SAME_BUT_FOR_SPELLING
from intentmatch.learning.shared_cases import SharedCases
from intentmatch.runtime.block_sizes import CROSS_VALIDATION_MAX_CASES

# Held-out cases determine only a handful of numbers: so many suffice.
_MOST_CASES = 4000
_FOLDS, _FOLDS_OF_MANY, _MANY = 5, 3, 3000
# Utterances that are matched again at most, as if translated.
_MOST_TRANSLATED = 1000


def representative(lines: Sequence[int]) -> NDArray[np.bool_]:
    """Return which utterances to ask about: the first, middle and last of each line, shape `(utterances,)`.

    `lines` holds the line of each utterance. The sentences of one template line are nearly one case.
    """
    line = np.asarray(lines, dtype=np.int64)
    _, number, counts = np.unique(line, return_inverse=True, return_counts=True)
    order = np.argsort(number, kind="stable")
    place = np.empty(len(line), dtype=np.int64)
    place[order] = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
    # numpy 1 divides 32-bit integers wrongly on i386.
    last = counts[number].astype(np.int64) - 1
    chosen: NDArray[np.bool_] = (place == 0) | (place == last // 2) | (place == last)
    return chosen


def connected_components(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each of `count` positions the first position in its connected component."""
    leaders = list(range(count))

    def leader(position: int) -> int:
        while leaders[position] != position:
            # Path halving (Tarjan and van Leeuwen 1984): without it, a chain of near duplicates takes quadratic time.
            leaders[position] = leaders[leaders[position]]
            position = leaders[position]
        return position

    for one, other in links:
        first, second = sorted((leader(one), leader(other)))
        leaders[second] = first
    return [leader(position) for position in range(count)]


class Utterances:
    """A registry's utterances by row, with what is held out together. Immutable; arrays have shape `(utterances,)`."""

    def __init__(
        self,
        vectors: Vectors,
        owners: Sequence[int],
        *,
        lines: Sequence[int] | None = None,
        keys: Sequence[int] | None = None,
        described: Sequence[bool] | None = None,
        shared: SharedCases | None = None,
    ) -> None:
        """Take the vectors, shape `(utterances, dim)`, and their intents in rising order.

        The sentences of one of the `lines` are held out together; by default each utterance is a line. `keys` holds a
        number for the text of each utterance, such as a hash: folds and cases follow from it, so that an edited line
        changes the folds of its own intent only. No message reads like what is `described`, so these utterances are
        held out with their whole intent only, and asked about only if there are no others. With `shared`, intents have
        lines in common: such lines are held out together, and each is said in a context.
        """
        count = len(owners)
        self.vectors, self.shared = vectors, shared
        self.owner = np.asarray(owners, dtype=np.int64)
        self.line = np.arange(count) if lines is None else np.asarray(lines, dtype=np.int64)
        self.key = scattered_keys(count) if keys is None else np.asarray(keys, dtype=np.int64)
        self.described = np.zeros(count, dtype=bool) if described is None else np.asarray(described, dtype=bool)

    def left_out(self, rows: NDArray[np.int64], cosines: Vectors, others: slice = slice(None)) -> NDArray[np.bool_]:
        """Return which of the `others` do not count for each of these rows, given their cosines, of the same shape.

        They are the same line, except for spelling, and the lines that do not answer in the context of the row.
        """
        return self.with_silent(self.copies(rows, cosines, others), rows, others)

    def with_silent(
        self, copies: NDArray[np.bool_], rows: NDArray[np.int64], others: slice = slice(None)
    ) -> NDArray[np.bool_]:
        """Return the `copies` of these rows together with the lines that do not answer in their context."""
        return copies if self.shared is None else copies | self.shared.left_out(rows, others)

    def copies(self, rows: NDArray[np.int64], cosines: Vectors, others: slice = slice(None)) -> NDArray[np.bool_]:
        """Return which of the `others` are the same line as each of these rows, except for spelling; as `left_out`."""
        copies: NDArray[np.bool_] = (cosines > SAME_BUT_FOR_SPELLING) & (
            self.owner[rows][:, None] == self.owner[others]
        )
        copies |= self.line[rows][:, None] == self.line[others]
        if self.shared is not None:
            copies |= self.shared.text[rows][:, None] == self.shared.text[others]
        return copies


class Round(NamedTuple):
    """Utterances that are left out together."""

    left_out: NDArray[np.bool_]
    """Mask over the sample."""
    known: bool
    """Whether their intents keep their other utterances."""


class Plan(NamedTuple):
    """Who is held out when; masks have the shape of `rows`."""

    rows: NDArray[np.int64]
    """Rows of the utterances that may be held out."""
    asked: NDArray[np.bool_]
    """Which of them are matched as held-out messages."""
    translated: NDArray[np.bool_]
    """Which of those are matched again as if translated."""
    rounds: list[Round]
    """First those whose intents keep other utterances, then those that leave out whole intents."""


def plan_rounds(utterances: Utterances, sample: NDArray[np.int64] | None = None, *, translated: bool = False) -> Plan:
    """Plan the rounds of a cross-validation of all utterances, or of a `sample` of their rows, which rise.

    If `translated`, some utterances are matched again as if translated.
    """
    rows = np.arange(len(utterances.owner)) if sample is None else sample
    owner, key, stays = utterances.owner[rows], utterances.key[rows], utterances.described[rows]
    _, firsts, number = np.unique(utterances.line[rows], return_index=True, return_inverse=True)
    line = firsts[number]
    # A registry of descriptions alone has nothing else to ask about.
    if stays.all():
        stays[:] = False
    asked = _least(np.flatnonzero(representative(line.tolist()) & ~stays), key, _MOST_CASES // 2)
    text = None if utterances.shared is None else utterances.shared.text[rows]

    folds = _FOLDS if len(rows) <= _MANY else _FOLDS_OF_MANY
    fold_of = assign_folds(utterances.vectors[rows], owner, line, key, folds, text=text)
    # Neighbouring intents in a file are often similar in meaning: they are left out in different rounds.
    group_of = owner % folds
    groups = min(folds, len(np.unique(owner)))
    rounds = [Round((fold_of == fold) & ~stays, known=True) for fold in range(folds)]
    rounds += [Round(group_of == group, known=False) for group in range(groups)]
    rounds = [one for one in rounds if (one.left_out & asked).any() and not one.left_out.all()]
    # A subset of the cases: only few numbers are fitted to them.
    return Plan(rows, asked, _least(np.flatnonzero(asked), key, _MOST_TRANSLATED if translated else 0), rounds)


def _least(places: NDArray[np.int64], key: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Return a mask of those places that have the smallest keys, `most` at most."""
    mask = np.zeros(len(key), dtype=bool)
    mask[places[np.argsort(key[places], kind="stable")[:most]]] = True
    return mask


def scattered_keys(count: int) -> NDArray[np.int64]:
    """Return a different number for each position, in no particular order: multiples of a prime modulo 2^32."""
    scattered: NDArray[np.int64] = np.arange(count, dtype=np.int64) * 2_654_435_761 % (1 << 32)
    return scattered


def assign_folds(
    vectors: Vectors,
    owner: NDArray[np.int64],
    line: NDArray[np.int64],
    key: NDArray[np.int64],
    folds: int,
    *,
    text: NDArray[np.int64] | None = None,
) -> NDArray[np.intp]:
    """Return a fold for each utterance, shape `(utterances,)`: evenly spread in an intent, near duplicates together.

    The lines of an intent take their turns in the order of their keys, so an edit does not move those of other intents.
    Utterances with the same number of their `text` are in one fold, whatever their intents.
    """
    fold_of, group = np.zeros(len(owner), dtype=np.intp), np.zeros(len(owner), dtype=np.intp)
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
        # Each intent begins with another fold, or small intents would all be held out in the first ones.
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
