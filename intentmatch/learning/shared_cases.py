"""Held-out utterances of a registry with shared lines: each is said in a context, and meets only what may answer there.

The rule for shared lines is in `core.shared_lines`. In the context of an utterance, the tags of the other intents
that have a line of its intent are not active.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Registry
from intentmatch.learning.fusion import Apart


class SharedCases:
    """Comparisons that cross-validation leaves out. Immutable."""

    def __init__(self, registry: Registry, shared: SharedLines) -> None:
        count, intents = len(registry.utterances), registry.intents
        self._owners = np.asarray(registry.owners, dtype=np.int64)
        self.apart: Apart = shared.apart
        """The intents that do not compete, as in `learning.fusion`."""
        self.text = np.arange(count)
        """A number for the text of each utterance, the same for the same shared line; shape `(utterances,)`."""
        self.answered_elsewhere = np.isin(np.arange(count), [*shared.answered_elsewhere])
        """Whether another intent, without `when`, has the same line: without its own intent, the utterance is in scope
        all the same. Shape `(utterances,)`."""
        silent = {intent: shared.silent(intent) for intent in range(len(intents))}
        masks = {others: np.isin(self._owners, [*others]) for others in {*silent.values()} if others}
        self._absent = {intent: masks[others] for intent, others in silent.items() if others}
        for rows in shared.groups:
            self.text[list(rows)] = rows[0]
            owners = {registry.owners[row] for row in rows}
            for row in rows:
                own = registry.owners[row]
                others = [other for other in owners if other != own and not intents[other].when]
                if others:
                    same = (self.text == rows[0]) & np.isin(self._owners, others)
                    self._absent[own] = same | self._absent.get(own, False)

    def left_out(self, rows: NDArray[np.int64], others: slice = slice(None)) -> NDArray[np.bool_]:
        """Return which utterances do not count for each of these rows, shape `(rows, utterances)`.

        They are the same line, and the lines that do not answer in the context of the row. With `others`, only these
        utterances are looked at.
        """
        left_out: NDArray[np.bool_] = self.text[rows][:, None] == self.text[others]
        owners = self._owners[rows]
        for intent in np.unique(owners).tolist():
            if intent in self._absent:
                left_out[owners == intent] |= self._absent[intent][others]
        return left_out


def apart(shared: SharedLines, chosen: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the pairs of `head.Fitting.apart` for the rows that are trained on, rising; None if there are none."""
    pairs = np.array(sorted(shared.pairs()), dtype=np.int64).reshape(-1, 2)
    pairs = pairs[np.isin(pairs[:, 0], chosen)]
    pairs[:, 0] = chosen.searchsorted(pairs[:, 0])
    return pairs if len(pairs) else None
