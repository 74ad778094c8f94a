"""The data that rules look at: a registry's lines, their vectors, and comparisons of each line with all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import NOWHERE, Location
from intentmatch.core.shared_lines import SharedLines, never_together
from intentmatch.core.types import Intent, Registry, Utterance, Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.near_duplicates import SAME_TEXT
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import LINT_ROWS
from intentmatch.text.normalize import fold

Rows = NDArray[np.intp]
Numbers = NDArray[np.float32]

# Two lines are nearly the same if their distance is below this share of the usual distance between a line and the
# nearest one of its intent and language. On development sets of everyday messages such lines differ by an article, a
# plural or the order of words; at one half, "turn the light on" and "turn the light off" would be among them.
_NEARLY = 1.0 / 3.0


class LeftOut(NamedTuple):
    """Scores of each line against the registry without the line; all arrays have shape `(lines,)`."""

    own: Numbers
    """Score of its own intent; -inf if the intent has no other line."""
    rival: Rows
    """The best other intent; -1 if there is none."""
    lead: Numbers
    """Score of the rival minus the score of its own intent; NaN if there is nothing to compare."""
    nearest: Rows
    """The line of the rival that is nearest."""


class Near(NamedTuple):
    """For each line, the nearest earlier line of its language that is nearly the same, or -1; shape `(lines,)`."""

    within: Rows
    """Lines of the same intent."""
    across: Rows
    """Lines of another intent."""


@dataclass(frozen=True)
class Subject:
    """A registry in canonical order, with a vector for each utterance."""

    registry: Registry
    vectors: Vectors
    """Shape `(utterances, dim)`."""
    aggregation: str

    @cached_property
    def lines(self) -> tuple[Utterance, ...]:
        """All utterances, in the order of the rows of every array."""
        return self.registry.utterances

    @cached_property
    def owners(self) -> Rows:
        """The position of the intent of each line; shape `(lines,)`."""
        return np.asarray(self.registry.owners, dtype=np.intp)

    @cached_property
    def per_line(self) -> Subject:
        """The same registry with one utterance per line of the author: the most typical sentence of a template."""
        line = np.asarray(self.registry.lines, dtype=np.intp)
        kept = {
            int(rows[(self.vectors[rows] @ self.vectors[rows].sum(axis=0)).argmax()])
            for rows in np.split(np.argsort(line, kind="stable"), np.flatnonzero(np.diff(np.sort(line))) + 1)
        }
        if len(kept) == len(line):
            return self
        return Subject(self.registry.keeping(kept), self.vectors[sorted(kept)], self.aggregation)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The lexical key of each line."""
        return tuple(fold(line.text) for line in self.lines)

    @cached_property
    def languages(self) -> NDArray[np.str_]:
        """The declared language of each line, "" if there is none; shape `(lines,)`."""
        return np.array([line.language or "" for line in self.lines], dtype=np.str_)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether the encoder knows anything of each line (its vector is not zero); shape `(lines,)`."""
        known: NDArray[np.bool_] = np.any(self.vectors, axis=1)
        return known

    def rows(self, intent: int) -> Rows:
        """Return the rows of an intent, given its position."""
        return np.flatnonzero(self.owners == intent)

    def owner(self, row: int) -> Intent:
        """Return the intent of a line."""
        return self.registry.intents[int(self.owners[row])]

    def place(self, row: int) -> Location:
        """Return the place of a line, or of its intent."""
        return self.lines[row].location or self.owner(row).location or NOWHERE

    @cached_property
    def left_out(self) -> LeftOut:
        """The scores of every line against the rest of the registry."""
        count = len(self.lines)
        own = np.full(count, -np.inf, dtype=np.float32)
        lead = np.full(count, np.nan, dtype=np.float32)
        rival, nearest = np.full(count, -1), np.full(count, -1)
        if count and len(self.registry) > 1:
            index = ExactIndex(self.vectors, self.owners.tolist(), self.aggregation)
            for rows, cosines in self._blocks():
                # Leaving out the line alone would leave its repetitions, which answer for it.
                cosines[cosines > SAME_TEXT] = -np.inf
                for at in np.flatnonzero(self._alone[rows]):
                    cosines[at, self._language == self._language[rows[at]]] = -np.inf
                if (apart := self._apart(rows)) is not None:
                    cosines[apart] = -np.inf
                scores = index.aggregate(cosines)
                mine = np.arange(len(rows)), np.searchsorted(index.owners, self.owners[rows])
                own[rows] = scores[mine]
                scores[mine] = -np.inf
                columns, best = scores.argmax(axis=1), scores.max(axis=1)
                # A line that the encoder knows nothing of has the cosine 0 to all others.
                compared = np.isfinite(own[rows]) & np.isfinite(best) & self.known[rows]
                lead[rows[compared]] = best[compared] - own[rows[compared]]
                rival[rows[compared]] = index.owners[columns[compared]]
                for at in np.flatnonzero(compared):
                    nearest[rows[at]] = index.nearest(cosines[at], int(columns[at]))
        return LeftOut(own, rival, lead, nearest)

    @cached_property
    def near_distance(self) -> float:
        """The Euclidean distance below which two lines are nearly the same; NaN if every line is alone."""
        return _NEARLY * self.per_line._usual_distance

    @cached_property
    def near(self) -> Near:
        """Lines that are nearly the same; lines with the same lexical key are reported by rules of `validate`."""
        within, across = np.full(len(self.lines), -1), np.full(len(self.lines), -1)
        radius = self.near_distance
        # Lines with the same lexical key count as one line.
        numbers: dict[str, int] = {}
        key = np.array([numbers.setdefault(text, len(numbers)) for text in self.folded])
        for block, to_all in self._blocks() if np.isfinite(radius) else ():
            earlier = slice(0, int(block[-1]) + 1)
            close = (_distance(to_all[:, earlier]) < radius) & (block[:, None] > np.arange(earlier.stop))
            # Few lines are close to another one: the rest of the work is for these.
            some = close.any(axis=1)
            rows, cosines, close = block[some], to_all[some, earlier], close[some]
            close &= self._language[rows, None] == self._language[earlier]
            close &= key[rows, None] != key[earlier]
            close &= self._line[rows, None] != self._line[earlier]
            if (apart := self._apart(rows)) is not None:
                close &= ~apart[:, earlier]
            own = self.owners[rows, None] == self.owners[earlier]
            for found, wanted in ((within, close & own), (across, close & ~own)):
                nearest = np.where(wanted, cosines, -np.inf).argmax(axis=1)
                found[rows] = np.where(wanted.any(axis=1), nearest, -1)
        return Near(within, across)

    @cached_property
    def _line(self) -> Rows:
        """The number of the author's line of each utterance; shape `(lines,)`."""
        return np.asarray(self.registry.lines, dtype=np.intp)

    @cached_property
    def _usual_distance(self) -> float:
        """The median distance of a line to the nearest one of its intent and language; NaN if every line is alone."""
        distances: list[float] = []
        for intent in range(len(self.registry)):
            rows = self.rows(intent)
            for language in np.unique(self.languages[rows]):
                peers = self.vectors[rows[(self.languages[rows] == language) & self.known[rows]]]
                if len(peers) > 1:
                    cosines = peers @ peers.T
                    # A line is no neighbour of its own.
                    np.fill_diagonal(cosines, -1.0)
                    distances += _distance(cosines).min(axis=1).tolist()
        return float(np.median(distances)) if distances else float("nan")

    @cached_property
    def _language(self) -> Rows:
        """The number of the language of each line, which compares faster than its code; shape `(lines,)`."""
        return np.unique(self.languages, return_inverse=True)[1]

    @cached_property
    def _alone(self) -> NDArray[np.bool_]:
        """Whether a line is the only one of its intent in its language, shape `(lines,)`.

        Such a line is not compared with other lines of its language: many encoders place them near each other.
        """
        _, group, sizes = np.unique(
            np.stack([self.owners, self._language]), axis=1, return_inverse=True, return_counts=True
        )
        alone: NDArray[np.bool_] = sizes[group.ravel()] == 1
        return alone

    @cached_property
    def _never_together(self) -> NDArray[np.bool_]:
        """Which intents are never active at once, shape `(intents, intents)`."""
        intents = self.registry.intents
        conditional = [number for number, intent in enumerate(intents) if intent.when]
        found = np.zeros((len(intents), len(intents)), dtype=bool)
        for one in conditional:
            found[one, conditional] = [never_together(intents[one], intents[other]) for other in conditional]
        return found

    @cached_property
    def _has(self) -> NDArray[np.bool_] | None:
        """Whether an intent has the same line as another intent's row, shape `(intents, lines)`; None if none has."""
        pairs = list(SharedLines(self.registry).pairs())
        if not pairs:
            return None
        rows, intents = zip(*pairs, strict=True)
        has = np.zeros((len(self.registry), len(self.lines)), dtype=bool)
        has[intents, rows] = True
        return has

    def _apart(self, rows: Rows) -> NDArray[np.bool_] | None:
        """Mark comparisons to skip because `when` tells the intents apart, shape `(rows, lines)`.

        These are all lines of intents that are never active at once, and what two intents share. None without any.
        """
        if self._has is None and not self._never_together.any():
            return None
        apart: NDArray[np.bool_] = self._never_together[self.owners[rows, None], self.owners]
        if self._has is not None:
            apart |= self._has[self.owners[rows]] | self._has[self.owners][:, rows].T
        return apart

    def _blocks(self) -> Iterator[tuple[Rows, Numbers]]:
        """Yield blocks of rows with their cosines to all lines; shapes `(rows,)` and `(rows, lines)`."""
        for start in range(0, len(self.lines), LINT_ROWS):
            steps.report("comparing utterances", start, len(self.lines))
            rows = np.arange(start, min(start + LINT_ROWS, len(self.lines)))
            yield rows, self.vectors[rows] @ self.vectors.T


def ordered(registry: Registry) -> Registry:
    """Return the registry with intents sorted by name, and utterances by place, language and text.

    The description stands for the utterances of an intent that has none.
    """

    def by_place(line: Utterance) -> tuple[Location, str, str]:
        return line.location or NOWHERE, line.language or "", line.text

    def by_name(intent: Intent) -> tuple[str, list[tuple[Location, str, str]]]:
        return intent.name, sorted(map(by_place, intent.utterances))

    intents = sorted(registry, key=by_name)
    return Registry(
        tuple(
            Intent(
                intent.name,
                tuple(sorted(intent.utterances, key=by_place)),
                location=intent.location,
                when=intent.when,
                described=() if intent.utterances else intent.described,
            )
            for intent in intents
        ),
        registry.settings,
        registry.setting_locations,
        own_sections=registry.own_sections,
    )


def _distance(cosines: Numbers) -> Numbers:
    """Return Euclidean distances between unit vectors, from their cosines."""
    distance: Numbers = np.sqrt(np.maximum(2.0 - 2.0 * cosines, 0.0))
    return distance
