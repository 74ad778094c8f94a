"""Intents by themselves: too few lines, too much alike, or two intents in one. One function per rule id."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.lint.catalogue import problem
from intentmatch.lint.subject import Numbers, Subject

# An intent's score is the mean of its two nearest lines: with fewer than three, one that is left out leaves no two.
_FEWEST_LINES = 3
# With a fourth of what is usual, an intent is found for a fourth of what users say.
_FEW = 0.25
# As many are not few, whatever the others have.
_ENOUGH = 10
# Fewer lines than this show no shape, of one language for uniformity, of one intent for halves.
_FEWEST_TO_SPREAD = 4
_FEWEST_TO_SPLIT = 6
# Share of the usual distance between an intent's lines. Below it are 3 of 866 intents of the development sets, which a
# reader too finds uniform ("repeat all off", "good evening").
_UNIFORM = 0.6
# A robust z-score as of Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers", for one side only. Of pairs of
# development intents that were merged it finds 25 to 90 in 100; of 866 intents as they are, it reports 10.
_OUTLIER = 2.5
# Below this a median of deviations says more about chance than about the registry.
_FEWEST_INTENTS = 8
# From this share on, the language of a line tells the half it is in.
_TOLD = 0.9
_ROUNDS = 50
_NORMAL = 1.4826


def few_utterances(subject: Subject) -> Iterator[Problem]:
    """An intent with few utterances is missed, and leaves its lines to the others."""
    counts = [len(intent.utterances) for intent in subject.registry if intent.utterances]
    usual = float(np.median(counts)) if counts else 0.0
    for intent in subject.registry:
        count = len(intent.utterances)
        if 0 < count < max(_FEWEST_LINES, min(_ENOUGH, _FEW * usual)):
            said = f"{count} utterance{'' if count == 1 else 's'}"
            message = f"{intent.name!r} has {said}; the median of this registry's intents is {usual:.0f}"
            hint = "add other ways to say it, with other words"
            yield problem(intent.location or NOWHERE, "few-utterances", message, hint)


def uniform_utterances(subject: Subject) -> Iterator[Problem]:
    """Utterances that are all alike teach one way to say a thing."""
    spreads = {number: spread for number in range(len(subject.registry)) if (spread := _spread(subject, number))}
    usual = float(np.median(list(spreads.values()))) if spreads else 0.0
    for number, spread in spreads.items():
        if spread < _UNIFORM * usual:
            intent = subject.registry.intents[number]
            message = (
                f"the utterances of {intent.name!r} are much alike: {spread / usual:.0%} as far apart as is usual in "
                "this registry"
            )
            hint = "add lines with other words: short ones, long ones, questions, orders"
            yield problem(intent.location or NOWHERE, "uniform-utterances", message, hint)


def two_clusters(subject: Subject) -> Iterator[Problem]:
    """An intent whose halves have less in common than either has with another intent is two."""
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
    """The problem, with the most typical line of either half."""
    intent, rows = subject.registry.intents[number], subject.rows(number)
    typical = []
    for some in (rows[half], rows[~half]):
        row = int(some[(vectors[some] @ vectors[some].sum(axis=0)).argmax()])
        typical.append(f"“{subject.lines[row].text}” ({subject.place(row).short}, {len(some)} lines)")
    message = f"{intent.name!r} looks like two intents: one of {' and one of '.join(sorted(typical))}"
    hint = "make two intents of it, or add lines that lie between"
    return problem(intent.location or NOWHERE, "two-clusters", message, hint)


def _spread(subject: Subject, number: int) -> float | None:
    """The mean distance between an intent's lines of one language; None where there are too few to tell."""
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
    """The vectors without what the lines of one language have in common, which would split every intent by language."""
    vectors = subject.vectors.copy()
    for language in np.unique(subject.languages):
        rows = subject.languages == language
        vectors[rows] -= vectors[rows].mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Numbers = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit


def _halves(subject: Subject, vectors: Numbers, number: int) -> NDArray[np.bool_] | None:
    """Which lines of an intent lie in the first of its two halves, by 2-means begun along the principal axis.

    None where the intent is too small, all but a few lines stay together, or the halves are but two languages.
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
    """Whether the languages of the lines tell which half they are in, as where an encoder is weak in one of them."""
    codes = np.unique(languages)
    told = sum(max((half & (languages == code)).sum(), (~half & (languages == code)).sum()) for code in codes)
    return len(codes) > 1 and bool(told >= _TOLD * len(languages))


def _together(own: Numbers, half: NDArray[np.bool_], others: Numbers) -> float:
    """How much nearer the halves are to each other than to other intents: negative where both are nearer to another."""
    first, second = _unit(own[half].sum(axis=0)), _unit(own[~half].sum(axis=0))
    return float(first @ second - min((others @ first).max(), (others @ second).max()))


def _unit(vector: Numbers) -> Numbers:
    unit: Numbers = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return unit
