"""Which intents are taken for which: pairs of expected and given answers among held-out cases, and a small matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from intentmatch.evaluation.insight.held_out_cases import HeldOutCases, Verdicts


class ConfusedPair(NamedTuple):
    """An expected answer, the answer given instead, and the cases."""

    expected: str
    answer: str
    cases: tuple[int, ...]


class Matrix(NamedTuple):
    """Counts of answers among the intents that are confused most."""

    expected: tuple[str, ...]
    """Names of the rows; "out_of_scope" comes last."""
    answers: tuple[str, ...]
    """Names of the columns; "ambiguous", "out_of_scope" and "others" come last."""
    counts: tuple[tuple[int, ...], ...]


_LAST = ("ambiguous", "out_of_scope")
_OTHERS = "others"


def confused_pairs(cases: HeldOutCases, verdicts: Verdicts) -> list[ConfusedPair]:
    """Return each pair of an expected and a different given answer, the most frequent first.

    Labelled messages are left out: a registry does not say which of its intents they expect.
    """
    wrong = ~cases.right(verdicts) & cases.of_lines
    found: dict[tuple[str, str], list[int]] = {}
    for case in wrong.nonzero()[0].tolist():
        found.setdefault(_labels(cases, verdicts, case), []).append(case)
    pairs = (ConfusedPair(expected, answer, tuple(of)) for (expected, answer), of in found.items())
    return sorted(pairs, key=lambda pair: (-len(pair.cases), pair.expected, pair.answer))


def confusion_matrix(cases: HeldOutCases, verdicts: Verdicts, pairs: Sequence[ConfusedPair], most: int = 20) -> Matrix:
    """Return the counts of all answers for up to `most` intents, those of the first pairs.

    Pairs of two intents come before intents that are not understood, and intents that are confused with each other
    stand side by side. `pairs` are those of `confused_pairs`.
    """
    shown: list[str] = []
    for pair in sorted(pairs, key=lambda pair: pair.expected in _LAST or pair.answer in _LAST):
        new = [name for name in (pair.expected, pair.answer) if name not in _LAST and name not in shown]
        # Both names of a pair or neither: half of a pair shows no confusion.
        if len(shown) + len(new) > most:
            break
        at = max((shown.index(name) + 1 for name in (pair.expected, pair.answer) if name in shown), default=len(shown))
        shown[at:at] = new
    counts = Counter(_labels(cases, verdicts, case) for case in cases.of_lines.nonzero()[0].tolist())
    rows, columns = (*shown, "out_of_scope"), (*shown, *_LAST)
    of_row = Counter[str]()
    for (expected, _), count in counts.items():
        of_row[expected] += count
    table = []
    for expected in rows:
        row = [counts[expected, answer] for answer in columns]
        table.append((*row, of_row[expected] - sum(row)))
    return Matrix(rows, (*columns, _OTHERS), tuple(table))


def _labels(cases: HeldOutCases, verdicts: Verdicts, case: int) -> tuple[str, str]:
    own = int(cases.own[case])
    return cases.names[own] if own >= 0 else "out_of_scope", cases.answer(int(verdicts[case]))
