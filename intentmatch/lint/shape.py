"""Rules about one intent: too few lines, too similar lines, or two meanings. One function per rule id."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import NOWHERE, Problem, counted
from intentmatch.lint.catalogue import problem
from intentmatch.lint.subject import Numbers, Subject

# An intent's score is the mean of its two nearest lines: with fewer than three lines, leaving one out leaves less than
# two.
_FEWEST_LINES = 3
# An intent with less than this share of the median number of lines has few lines.
_FEW = 0.25
# This many lines are enough, whatever the median.
_ENOUGH = 10
# Lines needed to measure distances (in one language) and to look for two halves (in one intent).
_FEWEST_TO_SPREAD = 4
_FEWEST_TO_SPLIT = 6
# Share of the median distance between an intent's lines. Measured on the development sets: 3 of 866 intents are below,
# and read as uniform to a person too ("repeat all off", "good evening").
_UNIFORM = 0.6
# One-sided robust z-score of Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers". Measured on the
# development sets: 25 to 90 % of merged pairs of intents are found, and 10 of 866 unchanged intents are reported.
_OUTLIER = 2.5
# With fewer intents, the median absolute deviation is too noisy.
_FEWEST_INTENTS = 8
# If the languages predict the half of this share of the lines, the halves are two languages.
_PREDICTED = 0.9
_ROUNDS = 50
# Scales the median absolute deviation to the standard deviation of a normal distribution.
_NORMAL = 1.4826


def few_utterances(subject: Subject) -> Iterator[Problem]:
    """Find intents with few utterances: fewer than three, or far fewer than the median."""
    counts = [len(intent.utterances) for intent in subject.registry if intent.utterances]
    usual = float(np.median(counts)) if counts else 0.0
    for intent in subject.registry:
        count = len(intent.utterances)
        if 0 < count < max(_FEWEST_LINES, min(_ENOUGH, _FEW * usual)):
            utterances = counted(count, "utterance")
            message = f"{intent.name!r} has {utterances}; the median of this registry's intents is {usual:.0f}"
            hint = "add other ways to say it, with other words"
            yield problem(intent.location or NOWHERE, "few-utterances", message, hint)


def uniform_utterances(subject: Subject) -> Iterator[Problem]:
    """Find intents whose utterances are all alike, so that other wordings are missed."""
    spreads = {number: spread for number in range(len(subject.registry)) if (spread := _spread(subject, number))}
    usual = float(np.median(list(spreads.values()))) if spreads else 0.0
    for number, spread in spreads.items():
        if spread < _UNIFORM * usual:
            intent = subject.registry.intents[number]
            message = (
                f"the utterances of {intent.name!r} are very similar: their mean distance is {spread / usual:.0%} of "
                "the median of this registry"
            )
            hint = "add utterances with other words: short ones, long ones, questions, commands"
            yield problem(intent.location or NOWHERE, "uniform-utterances", message, hint)


def two_clusters(subject: Subject) -> Iterator[Problem]:
    """Find intents whose two halves are less similar to each other than to another intent."""
    vectors = _without_language(subject)
    centres = np.array([_unit(vectors[subject.rows(n)].sum(axis=0)) for n in range(len(subject.registry))])
    halves = {n: h for n in range(len(subject.registry)) if (h := _halves(subject, vectors, n)) is not None}
    if len(halves) < _FEWEST_INTENTS:
        return
    together = {n: _together(vectors[subject.rows(n)], half, np.delete(centres, n, 0)) for n, half in halves.items()}
    scores = np.array(list(together.values()))
    usual = float(np.median(scores))
    deviation = _NORMAL * float(np.median(np.abs(scores - usual)))
    for number, score in together.items():
        if score < min(0.0, usual - _OUTLIER * deviation):
            yield _two(subject, vectors, number, halves[number])


def _two(subject: Subject, vectors: Numbers, number: int, half: NDArray[np.bool_]) -> Problem:
    """Return the problem, with the most typical line of each half."""
    intent, rows = subject.registry.intents[number], subject.rows(number)
    typical = []
    for part in (rows[half], rows[~half]):
        row = int(part[(vectors[part] @ vectors[part].sum(axis=0)).argmax()])
        typical.append(f"“{subject.lines[row].text}” ({subject.place(row).short}, {counted(len(part), 'line')})")
    message = f"{intent.name!r} looks like two intents: one around {' and one around '.join(sorted(typical))}"
    hint = "split it into two intents, or add utterances between the two groups"
    return problem(intent.location or NOWHERE, "two-clusters", message, hint)


def _spread(subject: Subject, number: int) -> float | None:
    """Return the mean distance between an intent's lines of the same language; None if there are too few."""
    total, pairs = 0.0, 0
    rows = subject.rows(number)
    for language in np.unique(subject.languages[rows]):
        peers = subject.vectors[rows[(subject.languages[rows] == language) & subject.known[rows]]]
        if len(peers) >= _FEWEST_TO_SPREAD:
            above = np.triu_indices(len(peers), 1)
            total += float(np.sqrt(np.maximum(2.0 - 2.0 * (peers @ peers.T)[above], 0.0)).sum())
            pairs += len(above[0])
    return total / pairs if pairs else None


def _without_language(subject: Subject) -> Numbers:
    """Return unit vectors with the mean of each language subtracted.

    Without the subtraction every intent would be split by language. Shape `(lines, dim)`.
    """
    vectors = subject.vectors.copy()
    for language in np.unique(subject.languages):
        rows = subject.languages == language
        vectors[rows] -= vectors[rows].mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Numbers = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit


def _halves(subject: Subject, vectors: Numbers, number: int) -> NDArray[np.bool_] | None:
    """Split an intent by 2-means, started along the principal axis; return which lines are in the first half.

    Shape `(lines of the intent,)`. None if the intent is too small, one half has only a few lines, or the halves are
    two languages.
    """
    own = vectors[subject.rows(number)]
    if len(own) < _FEWEST_TO_SPLIT:
        return None
    axis = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)[2][0]
    half: NDArray[np.bool_] = (own - own.mean(axis=0)) @ axis > 0.0
    for _ in range(_ROUNDS):
        if half.all() or not half.any():
            return None
        first, second = own[half].mean(axis=0), own[~half].mean(axis=0)
        again = ((own - first) ** 2).sum(axis=1) < ((own - second) ** 2).sum(axis=1)
        if (again == half).all():
            break
        half = again
    fewest = max(_FEWEST_LINES, len(own) // 5)
    large = fewest <= half.sum() <= len(own) - fewest
    return half if large and not _by_language(subject.languages[subject.rows(number)], half) else None


def _by_language(languages: NDArray[np.str_], half: NDArray[np.bool_]) -> bool:
    """Whether the language of a line predicts its half, as with an encoder that is weak in one language."""
    codes = np.unique(languages)
    predicted = sum(max((half & (languages == code)).sum(), (~half & (languages == code)).sum()) for code in codes)
    return len(codes) > 1 and bool(predicted >= _PREDICTED * len(languages))


def _together(own: Numbers, half: NDArray[np.bool_], others: Numbers) -> float:
    """Return the cosine between the halves minus the smaller of their best cosines with other intents.

    Negative if each half is nearer to another intent.
    """
    first, second = _unit(own[half].sum(axis=0)), _unit(own[~half].sum(axis=0))
    return float(first @ second - min((others @ first).max(), (others @ second).max()))


def _unit(vector: Numbers) -> Numbers:
    unit: Numbers = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return unit
