"""Confused pairs, and the matrix of those that are confused most."""

from __future__ import annotations

import numpy as np

from intentmatch.evaluation.insight.confusion_matrix import confused_pairs, confusion_matrix
from intentmatch.evaluation.insight.held_out_cases import ASKED, REFUSED, HeldOutCases


def verdicts_of(cases: HeldOutCases, **wrong: int) -> np.ndarray:
    """All right, but for some cases of an intent that are answered with another one."""
    found = np.where(cases.held_out.known, cases.own, REFUSED)
    for name, verdict in wrong.items():
        rows = np.flatnonzero(cases.own == cases.names.index(name))
        found[rows[:3]] = verdict
    return found


def test_right_answers_make_no_pair(cases: HeldOutCases):
    verdicts = np.where(cases.held_out.known & cases.held_out.right, cases.own, REFUSED)

    pairs = confused_pairs(cases, verdicts)

    assert all(pair.answer == "out_of_scope" for pair in pairs)


def test_pairs_name_expected_and_given_answers(cases: HeldOutCases):
    cancel = cases.names.index("cancel")

    pairs = {
        (p.expected, p.answer): p.cases for p in confused_pairs(cases, verdicts_of(cases, book=cancel, track=ASKED))
    }

    assert len(pairs["book", "cancel"]) == 3
    assert len(pairs["track", "ambiguous"]) == 3
    assert all(cases.own[case] == cases.names.index("book") for case in pairs["book", "cancel"])


def test_most_frequent_pair_comes_first(cases: HeldOutCases):
    pairs = confused_pairs(cases, cases.verdicts(cases.artefact.calibration))

    sizes = [len(pair.cases) for pair in pairs]
    assert sizes == sorted(sizes, reverse=True)


def test_matrix_counts_every_case_of_its_rows(cases: HeldOutCases):
    verdicts = cases.verdicts(cases.artefact.calibration)
    pairs = confused_pairs(cases, verdicts)

    matrix = confusion_matrix(cases, verdicts, pairs)

    assert matrix.expected[-1] == "out_of_scope"
    assert matrix.answers[-3:] == ("ambiguous", "out_of_scope", "others")
    for expected, counts in zip(matrix.expected, matrix.counts, strict=True):
        own = -1 if expected == "out_of_scope" else cases.names.index(expected)
        assert sum(counts) == (cases.own == own).sum()


def test_small_matrix_has_the_pairs_of_two_intents(cases: HeldOutCases):
    cancel = cases.names.index("cancel")
    verdicts = verdicts_of(cases, book=cancel, track=REFUSED, hours=REFUSED)
    pairs = confused_pairs(cases, verdicts)

    matrix = confusion_matrix(cases, verdicts, pairs, most=2)

    assert set(matrix.expected) == {"book", "cancel", "out_of_scope"}
    assert matrix.counts[matrix.expected.index("book")][matrix.answers.index("cancel")] == 3
