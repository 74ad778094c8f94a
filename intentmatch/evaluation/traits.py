"""Evaluate the questions of a registry by cross-validation on their lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from intentmatch.artefact.build import everyday_vectors
from intentmatch.core.result import Trait
from intentmatch.evaluation.metrics import bins_of, ece
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.learning.traits import FOLDS, TraitLines, Unlabelled, heads_of, train_trait, trait_data
from intentmatch.matching.snapshot import BaseMatcher

_BINS = 5


class TraitRow(NamedTuple):
    """Metrics of one question, over held-out lines; shares are between 0 and 1."""

    question: str
    lines: int
    """Lines that were held out: not those without which an answer has none."""
    right: float
    """Share of lines with the right answer."""
    wrong: float
    """Share with another answer; the rest has none."""
    ece: float | None
    """Expected calibration error of the likeliest answer."""
    answered: float | None
    """Share of the intents' utterances that have an answer, right or wrong; None without any."""


def evaluate_traits(matcher: BaseMatcher) -> tuple[TraitRow, ...]:
    """Evaluate each question of a matcher's registry; its lines are answered by heads that were trained on others."""
    registry, artefact = matcher.registry, matcher.artefact
    if artefact.question_vectors is None:
        return ()
    everyday = everyday_vectors(registry, matcher.encoder)
    data = trait_data(registry, artefact.wide_vectors, artefact.question_vectors, everyday)
    return tuple(_evaluated(*each) for each in data)


def _evaluated(lines: TraitLines, unlabelled: Unlabelled) -> TraitRow:
    found = [*_held_out(lines, unlabelled)]
    right = [trait.answer == expected for trait, expected in found]
    wrong = [trait.answer not in (None, expected) for trait, expected in found]
    best = [max(trait.confidences, key=trait.confidences.__getitem__) == expected for trait, expected in found]
    heads = heads_of([train_trait(lines, unlabelled)])
    of_intents = unlabelled.vectors[: unlabelled.utterances]
    answered = [trait.answer is not None for trait in _traits(heads, lines, of_intents)]
    return TraitRow(
        lines.question.name,
        len(found),
        float(np.mean(right)) if found else 0.0,
        float(np.mean(wrong)) if found else 0.0,
        ece(bins_of([trait.confidence for trait, _ in found], best, _BINS)),
        float(np.mean(answered)) if answered else None,
    )


def _held_out(lines: TraitLines, unlabelled: Unlabelled) -> Iterator[tuple[Trait, str]]:
    """Yield the trait of each held-out line, with its answer."""
    names = [*lines.question.answers]
    for number in range(FOLDS):
        left_out = lines.folds == number
        if left_out.any() and len(np.unique(lines.owners[~left_out])) == len(names):
            heads = heads_of([train_trait(lines.select(~left_out), unlabelled)])
            traits = _traits(heads, lines, lines.vectors[left_out])
            yield from zip(traits, (names[owner] for owner in lines.owners[left_out]), strict=True)


def _traits(heads: TraitHeads, lines: TraitLines, vectors: np.ndarray) -> list[Trait]:
    ((curve, _),) = heads.curves([lines.question])
    names = [*lines.question.answers]
    return [Trait.of(dict(zip(names, curve.confidences(row), strict=True))) for row in heads.logits(vectors).tolist()]
