"""Train the heads that tell what a message says to the questions of a registry.

The answers of a question are told apart as intents are: by a regression over the vectors of their lines. Few messages
say anything to a question. Two things are evidence that a message does: its largest logit, and a second regression that
tells the lines, alone and beside other messages ("where is my order? I need it today"), from the utterances of all
intents and from everyday messages. A logistic curve weighs both by held-out lines. The utterances may say something
themselves: a message certainly says something where the curve is as high as the mean over the lines of an answer, and
elsewhere in proportion. If every utterance answers a question, nothing tells lines and utterances apart, and every
message says something.

Source: Elkan & Noto 2008, "Learning Classifiers from Only Positive and Unlabeled Data".
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from heapq import nsmallest
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.types import Registry, TraitQuestion, Vectors, first_of_line
from intentmatch.learning.confidence_curve import fit_logistic, fit_sharpness, logistic_weights
from intentmatch.learning.fold_plan import assign_folds
from intentmatch.learning.head import fit_head, held_out_head, nearby, prepare
from intentmatch.learning.trait_heads import MOST_LOGIT, TraitCurve, TraitHeads
from intentmatch.text.normalize import fold

FOLDS = 5
# Share of messages that say something to a question, if nothing is known: most do not.
_SAYING = 0.2
_MOST_UTTERANCES = 400


class TraitLines(NamedTuple):
    """The lines of one question."""

    question: TraitQuestion
    vectors: Vectors
    """Shape `(lines, dim)`."""
    owners: NDArray[np.int64]
    """Position of each line's answer."""
    folds: NDArray[np.intp]
    """Fold of each line; lines that are alike are in one fold."""

    @classmethod
    def of(cls, registry: Registry, vectors: Vectors) -> list[TraitLines]:
        """Return the lines of each question, given the vectors of `Registry.question_lines`."""
        ends = accumulate((len(question.lines) for question in registry.questions), initial=0)
        return [
            cls._of_question(question, vectors[start:end])
            for question, (start, end) in zip(registry.questions, pairwise(ends), strict=True)
        ]

    @classmethod
    def _of_question(cls, question: TraitQuestion, vectors: Vectors) -> TraitLines:
        lines, owners = question.lines, np.asarray(question.owners, dtype=np.int64)
        keys = [zlib.crc32(fold(line.text).encode("utf-8", "surrogatepass")) for line in lines]
        first = np.asarray(first_of_line(lines, question.owners), dtype=np.int64)
        return cls(question, vectors, owners, assign_folds(vectors, owners, first, np.array(keys), FOLDS))

    def select(self, some: NDArray[np.bool_]) -> TraitLines:
        """Return some of the lines."""
        return self._replace(vectors=self.vectors[some], owners=self.owners[some], folds=self.folds[some])


class Unlabelled(NamedTuple):
    """Messages of which nothing is known: most of them say nothing to a question."""

    vectors: Vectors
    """Shape `(messages, dim)`."""
    shares: NDArray[np.float64]
    """How much each counts; together 1."""
    utterances: int = 0
    """Number of those that are utterances of the intents; they come first."""

    @classmethod
    def of(cls, utterances: Vectors, everyday: Vectors) -> Unlabelled:
        """Join utterances of the intents and messages to other bots; both kinds count alike."""
        shares = [np.full(len(each), 1.0 / len(each)) for each in (utterances, everyday) if len(each)]
        joined = np.concatenate([*shares, np.empty(0)])
        return cls(np.vstack([utterances, everyday]), joined / max(1, len(shares)), len(utterances))

    def with_pairs(self) -> Unlabelled:
        """Add as many messages of two parts."""
        count = len(self.vectors)
        pairs = said_together(self.vectors, np.roll(self.vectors, count // 3 + 1, axis=0))
        return Unlabelled(np.vstack([self.vectors, pairs]), np.tile(self.shares, 2) / 2)


def trait_data(
    registry: Registry, utterances: Vectors, lines: Vectors, everyday: Vectors
) -> list[tuple[TraitLines, Unlabelled]]:
    """Return what `train_trait` takes for each question of a registry.

    `utterances` are the vectors of all utterances, shape `(utterances, dim)`, `lines` those of
    `Registry.question_lines`, and `everyday` those of everyday messages. Raises `IntentMatchError` if lines
    have vectors that are not finite numbers.
    """
    if not np.isfinite(lines).all():
        raise IntentMatchError(
            "the vectors of the encoder for the lines of `questions` are no finite numbers. Use another `encoder`."
        )
    return [
        (each, Unlabelled.of(utterances[unlabelled_rows(registry, each.question)], everyday))
        for each in TraitLines.of(registry, lines)
    ]


def train_traits(data: Sequence[tuple[TraitLines, Unlabelled]]) -> TraitHeads:
    """Train the heads of one or more questions. Deterministic."""
    return heads_of([train_trait(*each) for each in data])


def heads_of(trained: Sequence[tuple[NDArray[np.float32], TraitCurve]]) -> TraitHeads:
    """Put what `train_trait` returned for each question side by side."""
    numbers = np.array([curve[:3] for _, curve in trained], dtype=np.float32)
    certain = np.array([number for _, curve in trained for number in (*curve.certain, 1.0)], dtype=np.float32)
    weights = np.hstack([weights for weights, _ in trained])
    return TraitHeads(weights[:-1], weights[-1], numbers, certain)


def unlabelled_rows(registry: Registry, question: TraitQuestion) -> NDArray[np.int64]:
    """Return rows of utterances that are no lines of a question, 400 at most: an edited line changes one of them."""
    lines = {fold(line.text) for line in question.lines}
    keys = ((zlib.crc32(key.encode("utf-8", "surrogatepass")), row) for row, key in enumerate(registry.folded))
    some = nsmallest(_MOST_UTTERANCES + len(lines), keys)
    return np.array([row for _, row in some if registry.folded[row] not in lines][:_MOST_UTTERANCES], dtype=np.int64)


def train_trait(lines: TraitLines, unlabelled: Unlabelled) -> tuple[NDArray[np.float32], TraitCurve]:
    """Return the weights of one question, shape `(dim + 1, answers + 1)`, and its curve."""
    answers, count = len(lines.question.answers), len(lines.owners)
    # A prime spreads the lines over all messages.
    beside = unlabelled.vectors[np.arange(count) * 7919 % len(unlabelled.vectors)]
    both = said_together(lines.vectors, beside)
    which, alone, together = _cross_validated(lines.vectors, lines.owners, lines.folds, answers, both)
    others = unlabelled.with_pairs()
    largest = np.concatenate([np.vstack([alone, together]), others.vectors @ which[:-1] + which[-1]]).max(axis=1)

    vectors = np.vstack([lines.vectors, both, others.vectors])
    is_line = np.arange(len(vectors)) < 2 * count
    folds = np.concatenate([lines.folds, lines.folds, np.arange(len(others.vectors)) % FOLDS])
    whether, apart, _ = _cross_validated(vectors, is_line.astype(np.int64), folds, 2)
    evidence = np.stack([largest, apart[:, 1] - apart[:, 0]], axis=1)
    shares = np.concatenate([np.full(2 * count, _SAYING / 2 / count), (1.0 - _SAYING) * others.shares]) * len(vectors)
    usable = np.isfinite(evidence).all(axis=1)
    bias, slope, steepness = _logistic(evidence[usable], is_line[usable], shares[usable])
    logits = bias + slope * largest + steepness * evidence[:, 1]
    certain = []
    for answer in range(answers):
        own = logits[: 2 * count][np.tile(lines.owners == answer, 2) & usable[: 2 * count]]
        certain.append(float((1.0 / (1.0 + np.exp(-own.clip(-MOST_LOGIT)))).mean()) if len(own) else 1.0)
    says = np.float32(steepness) * (whether[:, 1:] - whether[:, :1])
    says[-1] += np.float32(bias)
    weights = np.hstack([which, says])
    return weights, TraitCurve(_sharpness(alone, lines.owners), slope, 1.0 / (count + 2), certain)


def said_together(one: Vectors, other: Vectors) -> Vectors:
    """Return the vectors of messages that say both: about the mean of the parts."""
    total = one + other
    joined: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-9)
    return joined


def _cross_validated(
    vectors: Vectors, owners: NDArray[np.int64], folds: NDArray[np.intp], classes: int, also: Vectors | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights of a head, shape `(dim + 1, classes)`, and the logits of held-out rows and of those `also`.

    `also` has a vector for each row, which is held out with it. The logits of a class without other rows are -inf.
    """
    fitting = prepare(vectors, np.empty((len(vectors), 0), dtype=np.float32), owners.tolist(), classes)
    weights = fit_head(fitting).weights
    near = nearby(fitting, weights)
    features = [fitting.features, fitting.features if also is None else fitting.without_words(also)]
    held_out = np.full((2, len(vectors), classes), -np.inf)
    for number in range(FOLDS):
        left_out = folds == number
        if left_out.any():
            head = held_out_head(fitting, left_out, near)
            for found, rows in zip(held_out, features, strict=True):
                found[left_out] = head.logits(rows[left_out])
    return weights, held_out[0], held_out[1]


def _sharpness(held_out: NDArray[np.float64], owners: NDArray[np.int64]) -> float:
    """Return the inverse temperature of the softmax over the logits of held-out lines."""
    own = np.take_along_axis(held_out, owners[:, None], axis=1)
    known = np.isfinite(own[:, 0])
    # The place of the own answer: so many answers have larger logits.
    place = (held_out > own).sum(axis=1)[known]
    return fit_sharpness(-np.sort(-held_out[known], axis=1), place)


def _logistic(
    evidence: NDArray[np.float64], is_line: NDArray[np.bool_], shares: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return intercept and slopes of both kinds of evidence, shape `(cases, 2)`, that a message is a line.

    A kind that misleads has the slope 0.
    """
    if not is_line.any() or is_line.all():
        return 0.0, 0.0, 0.0
    bias, first, second = logistic_weights(evidence, is_line, shares).tolist()
    if min(first, second) >= 0.0:
        return bias, first, second
    kind = int(second > first)
    bias, slope = fit_logistic(evidence[:, kind], is_line, shares)
    return (bias, 0.0, slope) if kind else (bias, slope, 0.0)
