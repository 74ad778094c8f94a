"""Pairs of sentences with human scores of their similarity, and how well an encoder agrees with them.

The measure is that of the literature on semantic textual similarity (Cer et al., "SemEval-2017 Task 1", 2017;
Muennighoff et al., "MTEB", 2023): the rank correlation of the cosines with the scores, beside their linear correlation.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from intentmatch.core.errors import Location, Problem, RegistryError
from intentmatch.core.types import Encoder
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.correlation import pearson, spearman
from intentmatch.registry import read_text
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

_LEAST_PAIRS = 3
_HINT = "each line needs a sentence, a sentence and a number, separated by tabs"


class ScoredPair(NamedTuple):
    """Two sentences and the score that people gave their similarity, in any unit."""

    one: str
    other: str
    score: float


class Agreement(NamedTuple):
    """Correlations of an encoder's cosines with human scores, -1 to 1; None if all cosines are equal."""

    spearman: float | None
    pearson: float | None


def read_pairs(path: str | os.PathLike[str]) -> tuple[ScoredPair, ...]:
    """Read tab-separated lines of sentence, sentence and score.

    The first line may be a header. Empty lines and lines that begin with `#` are skipped. Raises `RegistryError` with
    the place of each wrong line, and if there are fewer than three pairs or all scores are equal.
    """
    file = Path(path)
    pairs: list[ScoredPair] = []
    problems: list[Problem] = []
    lines = read_text(file).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    header_allowed = True
    for number, line in enumerate(lines, 1):
        # Not with `csv`: quotes in sentences are text, and a line may have any length.
        row = line.split("\t")
        if not any(map(str.strip, row)) or row[0].startswith("#"):
            continue
        score = _score(row[2]) if len(row) == 3 else None
        if score is not None and row[0].strip() and row[1].strip():
            pairs.append(ScoredPair(row[0].strip(), row[1].strip(), score))
        # A header has words in all three columns.
        elif not header_allowed or len(row) != 3 or _score(row[0]) is not None:
            message = "not two sentences and a score"
            if len(row) == 3 and score is None:
                message += f": {row[2].strip()!r} is not a number"
            problems.append(Problem(Location(str(file), number), "error", "similarity-pair", message, _HINT))
        header_allowed = False
    if not problems and (len(pairs) < _LEAST_PAIRS or len({pair.score for pair in pairs}) < 2):
        message = f"at least {_LEAST_PAIRS} pairs with different scores are needed; the file has {len(pairs)}"
        problems.append(Problem(Location(str(file)), "error", "similarity-pair", message, _HINT))
    if problems:
        raise RegistryError(problems)
    return tuple(pairs)


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if math.isfinite(score) else None


def agreement(encoder: Encoder, pairs: Sequence[ScoredPair], cache: VectorCache | None = None) -> Agreement:
    """Return how well the cosines of an encoder agree with human scores."""
    texts = [clean(text) for pair in pairs for text in pair[:2]]
    vectors = encode_all(encoder, texts, "utterance", cache)
    cosines = np.einsum("ij,ij->i", vectors[::2], vectors[1::2]).astype(np.float64)
    scores = [pair.score for pair in pairs]
    return Agreement(spearman(cosines, scores), pearson(cosines, scores))
