"""The held-out cases that chose a registry's thresholds, and what the bot says to each of them under a calibration.

Every line was left out in a fold, and was then a message that the bot should understand; with its whole intent left out
too, it was a message that the bot should refuse. A build does this to learn its thresholds. It takes a tenth of the
time of `evaluation.run.held_out`, because nothing is built anew for each fold, and leaves out the rules for spelling
and equal texts: shares differ from those of `eval` by a few points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.build import training_data
from intentmatch.core.types import Encoder, Registry, Utterance
from intentmatch.learning.calibration import LIKELY_TOGETHER, Calibration, asked_about, shares_of
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.training import CrossValidated, cases_of, cross_validate_registry
from intentmatch.learning.training_cache import cached_cases
from intentmatch.matching.policy import Policy
from intentmatch.matching.thresholds import policy_of
from intentmatch.storage.vector_cache import VectorCache

Verdicts = NDArray[np.int64]
"""What the bot says to each case: the position of the matched intent, `REFUSED` or `ASKED`; shape `(cases,)`."""

REFUSED, ASKED = -1, -2

Effect = Literal["better", "worse", "other"]


@dataclass(frozen=True, eq=False)
class HeldOutCases:
    """Held-out cases of a registry. Immutable."""

    artefact: Artefact
    held_out: HeldOut
    """Arrays of the cases; those of labelled messages have the row -1."""
    tested: HeldOut | None = None
    """Labelled messages that test a promised precision, if the target is one."""

    @property
    def registry(self) -> Registry:
        """The registry that the cases are lines of."""
        return self.artefact.registry

    @cached_property
    def names(self) -> list[str]:
        """The names of the intents, by position."""
        return [intent.name for intent in self.registry]

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """The position of the intent that each case expects, -1 if it should be refused or is a labelled message."""
        # The last one is for the row -1, which labelled messages have.
        owners = np.append(np.asarray(self.registry.owners, dtype=np.intp), -1)
        found: NDArray[np.intp] = np.where(self.held_out.known, owners[self.held_out.rows], -1)
        return found

    @cached_property
    def of_lines(self) -> NDArray[np.bool_]:
        """Which cases are lines of the registry, and not labelled messages."""
        found: NDArray[np.bool_] = self.held_out.rows >= 0
        return found

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each case, so that out-of-scope cases have the share that the settings expect; see `shares_of`."""
        return shares_of(self.held_out, self.artefact.out_of_scope_share)

    def in_scope(self, calibration: Calibration) -> NDArray[np.float64]:
        """Return the probability that each case is in scope. Raises `ValueError` without a confidence curve."""
        total: NDArray[np.float64] = self._confidences(calibration).sum(axis=1)
        return total

    def measured(self, calibration: Calibration) -> NDArray[np.float64]:
        """Return what is compared with the learned threshold. Raises `ValueError` without a confidence curve."""
        if calibration.cut is not None and calibration.cut.on == "confidence":
            return self._confidences(calibration)[:, 0]
        return self.in_scope(calibration)

    def asked(self, calibration: Calibration) -> NDArray[np.bool_]:
        """Return which cases the bot asks about if they pass their threshold."""
        likely = LIKELY_TOGETHER if calibration.cut is not None and calibration.cut.on == "confidence" else None
        return asked_about(self._confidences(calibration), likely)

    def verdicts(self, calibration: Calibration) -> Verdicts:
        """Return what the bot says to each case with the thresholds of a calibration.

        A threshold that the author wrote as a score cannot be compared with a held-out case: there, the learned one
        counts. Without a calibrated confidence every case is matched with its first intent.
        """
        if calibration.curve is None:
            return self.held_out.first
        in_scope, confidences = self.in_scope(calibration), self._confidences(calibration)
        policy = policy_of(self.registry, self.artefact.settings, calibration)
        passes = np.empty(len(in_scope), dtype=bool)
        for case, cut in enumerate(self._cuts(policy, calibration)):
            measured = confidences[case, 0] if cut[1] == "confidence" else in_scope[case]
            passes[case] = measured >= cut[0]
        said = np.where(self.asked(calibration), ASKED, self.held_out.first)
        return np.where(passes, said, REFUSED)

    def right(self, verdicts: Verdicts) -> NDArray[np.bool_]:
        """Return which verdicts are what the case expects."""
        # A labelled message expects the intent that is its first one, or another one that is not known here.
        given = np.where(self.of_lines, verdicts == self.own, (verdicts == self.held_out.first) & self.held_out.right)
        found: NDArray[np.bool_] = np.where(self.held_out.known, given, verdicts == REFUSED)
        return found

    def answer(self, verdict: int) -> str:
        """Return a verdict in words: the name of the intent, "out_of_scope" or "ambiguous"."""
        return {REFUSED: "out_of_scope", ASKED: "ambiguous"}.get(verdict) or self.names[verdict]

    def line(self, case: int) -> Utterance | None:
        """Return the line of a case; None for a labelled message."""
        row = int(self.held_out.rows[case])
        return self.registry.utterances[row] if row >= 0 else None

    def describe(self, case: int, verdict: int) -> dict[str, Any]:
        """Return a case and the answer to it as plain JSON values."""
        line, own = self.line(case), int(self.own[case])
        place = line.location if line is not None else None
        return {
            "text": "" if line is None else line.text,
            "language": None if line is None else line.language,
            "location": None if place is None else [place.path, place.line, place.column],
            "intent": self.names[self.registry.owners[int(self.held_out.rows[case])]] if line is not None else None,
            "expected": self.names[own] if own >= 0 else "out_of_scope",
            "answer": self.answer(verdict),
            "first": self.names[int(self.held_out.first[case])],
        }

    def _confidences(self, calibration: Calibration) -> NDArray[np.float64]:
        found = calibration.confidences_many(self.held_out.ranked)
        if found is None:
            raise ValueError("the registry is too small for confidences")
        return found

    def _cuts(self, policy: Policy, calibration: Calibration) -> list[tuple[float, str]]:
        """Return the threshold of each case, and what it is compared with."""
        learned = (0.0, "in_scope") if calibration.cut is None else (calibration.cut.value, calibration.cut.on)
        by_intent = [policy.by_intent.get(name) for name in self.names]
        found = []
        for case, first in enumerate(self.held_out.first.tolist()):
            line = self.line(case)
            cut = by_intent[first] or policy.by_language.get((line and line.language) or "") or policy.default
            found.append(learned if cut.on == "score" else (cut.value, cut.on))
        return found


def held_out_cases(artefact: Artefact, encoder: Encoder) -> HeldOutCases:
    """Return the cases that a registry was calibrated on: as its training left them in the cache, or found again.

    Then the registry is cross-validated, as its build did. `encoder` is the one that made the vectors.
    """
    settings = artefact.settings
    cache = VectorCache.at(settings.cache)
    vectors, labels = artefact.wide_vectors, artefact.label_vectors
    data = training_data(artefact.registry, vectors, labels, settings, encoder=encoder, cache=cache)
    held_out = cached_cases(data, cache.folder)
    # These would replace the cases of lines that the encoder was trained on, and views show the lines themselves.
    data = data._replace(translations=None, unseen=None)
    found = cross_validate_registry(data) if held_out is None else CrossValidated(held_out, artefact.trained_head)
    return HeldOutCases(artefact, *cases_of(found, data))
