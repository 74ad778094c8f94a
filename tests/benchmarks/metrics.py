"""Numbers that the benchmarks compute from answers, and plain tables."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch import __version__
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Encoder
from intentmatch.evaluation.metrics import auroc, percentiles, share

__all__ = [
    "BINS",
    "Outcome",
    "auroc",
    "best_overall",
    "best_weighed",
    "compiling",
    "ece",
    "percentiles",
    "plain_table",
    "provenance",
    "share",
    "summarise",
]

BINS = 10
"""Number of bins of equal width for the calibration error."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one answer is judged."""

    in_scope: bool
    first_right: bool
    """Whether the first candidate is the true intent, whatever the verdict; False for out-of-scope messages."""
    answered: bool
    """Whether the verdict is matched, with the true intent."""
    asked: bool
    """Whether the verdict is ambiguous, with the true intent among the rivals."""
    refused: bool
    ambiguous: bool
    score: float
    confidence: float | None
    """None if the registry is too small for calibration."""
    scope: float | None
    """Probability that the message is in scope; None as the confidence."""

    @classmethod
    def from_result(cls, result: MatchResult, truth: str | None) -> Outcome:
        """Judge a result; `truth` is None for an out-of-scope message."""
        known = truth is not None
        # Noise and messages without words or known pieces are refused with certainty.
        certain = result.trace.decided_by in ("empty", "noise")
        return cls(
            in_scope=known,
            first_right=known and bool(result.candidates) and result.candidates[0].intent == truth,
            answered=known and result.verdict == "matched" and result.intent == truth,
            asked=known and result.verdict == "ambiguous" and truth in {rival.intent for rival in result.rivals},
            refused=result.verdict == "out_of_scope",
            ambiguous=result.verdict == "ambiguous",
            score=result.score,
            confidence=0.0 if certain else result.confidence,
            scope=0.0 if certain else result.in_scope,
        )


def summarise(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return every number of a row of the accuracy table; None if there is nothing to compute it from."""
    inside = [o for o in outcomes if o.in_scope]
    outside = [o for o in outcomes if not o.in_scope]
    scope = [o.in_scope for o in outcomes]
    known = [o.confidence for o in outcomes if o.confidence is not None]
    confidences = known if len(known) == len(outcomes) else None
    scopes = [o.scope for o in outcomes if o.scope is not None] if confidences else None
    return {
        "rows": len(outcomes),
        "out_of_scope_rows": len(outside),
        "first": share([o.first_right for o in inside]),
        "auroc_confidence": auroc(scope, scopes) if scopes else None,
        "auroc_score": auroc(scope, [o.score for o in outcomes]),
        "right": share([o.answered for o in inside]),
        "wrong": share([not (o.answered or o.refused or o.ambiguous) for o in inside]),
        "lost": share([o.refused for o in inside]),
        "refused": share([o.refused for o in outside]),
        "ambiguous": share([o.ambiguous for o in outcomes]),
        "overall": share([o.answered if o.in_scope else o.refused for o in outcomes]),
        "best": best_overall(scope, [o.first_right for o in outcomes], scopes) if scopes else None,
        "overall_asked": share([o.answered or o.asked if o.in_scope else o.refused for o in outcomes]),
        "mean_confidence": sum(confidences) / len(confidences) if confidences else None,
        "ece": ece(confidences, [o.first_right for o in outcomes]) if confidences else None,
    }


def best_overall(in_scope: Sequence[bool], right: Sequence[bool], values: Sequence[float]) -> float | None:
    """Return the largest share of right answers and refusals for any threshold on `values`; None without values."""
    if not values:
        return None
    order = np.argsort(-np.asarray(values, dtype=np.float64), kind="stable")
    sorted_values, known = np.asarray(values)[order], np.asarray(in_scope)[order]
    answered = np.cumsum(np.asarray(right)[order])
    refused = (~known).sum() - np.cumsum(~known)
    ends = np.append(sorted_values[1:] < sorted_values[:-1], True)
    return float(max((answered + refused)[ends].max(), (~known).sum()) / len(values))


def best_weighed(
    values: NDArray[np.float64], right: NDArray[np.bool_], known: NDArray[np.bool_], weights: NDArray[np.float64]
) -> float:
    """Return the largest weight of right answers and refusals for any threshold."""
    order = np.argsort(-values, kind="stable")
    outside = np.where(known, 0.0, weights)[order]
    gains = np.cumsum(np.where(right, weights, 0.0)[order]) + outside.sum() - np.cumsum(outside)
    ends = np.append(np.diff(values[order]) < 0, True)
    return float(max(gains[ends].max(), outside.sum()))


def ece(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float | None:
    """Return the expected calibration error: the mean distance of confidence and accuracy per bin, weighted by size.

    Naeini et al. 2015, "Obtaining Well Calibrated Probabilities Using Bayesian Binning". A confidence on the edge of
    two bins belongs to the upper one; 1.0 to the last.
    """
    if not confidences:
        return None
    values, hits = np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)
    numbers = np.minimum((values * bins).astype(int), bins - 1)
    too_sure = np.bincount(numbers, weights=values - hits, minlength=bins)
    return float(np.abs(too_sure).sum() / len(values))


def provenance(command: Sequence[str], encoder: Encoder) -> dict[str, Any]:
    """Return what a reader needs to repeat the numbers."""
    return {
        "command": shlex.join(command),
        "version": __version__,
        "encoder": {"name": encoder.name, "fingerprint": encoder.fingerprint},
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Format columns as plain text, the first `left` of them aligned left and the others right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = (
        [cell.ljust(w) if n < left else cell.rjust(w) for n, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    )
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def compiling(folder: Path) -> dict[str, str]:
    """Return the environment, changed so that processes keep their bytecode in this folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
