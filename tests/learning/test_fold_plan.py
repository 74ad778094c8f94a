"""Who is held out together: near duplicates and sentences of one line, evenly, and by content instead of position."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning.clusters import clusters, unit_rows

from intentmatch.learning.fold_plan import assign_folds, connected_components, representative


@pytest.mark.parametrize("folds", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(7, 3, 9), (1,) * 11, (2, 2, 2), (40,)])
def test_folds_are_balanced(sizes, folds):
    """Within each intent, fold sizes differ by at most one utterance, and by few in total."""
    vectors, _, owners = clusters(*sizes, spread=3.0, dim=64)
    owner = np.array(owners)

    fold_of = assign_folds(vectors, owner, np.arange(len(owner)), np.arange(len(owner)), folds)

    assert np.ptp(np.bincount(fold_of, minlength=folds)) <= len(sizes)
    for intent in range(len(sizes)):
        assert np.ptp(np.bincount(fold_of[owner == intent], minlength=folds)) <= 1


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_near_duplicates_are_in_one_fold(folds):
    """Wherever they stand in their intent."""
    vectors, _, _ = clusters(*(1,) * 12, spread=3.0, dim=64)
    line = [0, 1, 2, 0, 3, 1, 0, 4, 5, 6, 7, 5, 8, 9, 10, 11]
    copies = unit_rows(vectors[line] + 0.002 * np.random.default_rng(2).normal(size=(16, 64)))
    owner = np.repeat([0, 1], 8)

    fold_of = assign_folds(copies, owner, np.arange(16), np.arange(16), folds)

    for row, other in [(0, 3), (0, 6), (1, 5), (8, 11)]:
        assert fold_of[row] == fold_of[other]
    assert len(set(fold_of[[0, 1, 2, 4, 7]])) == min(folds, 5)


def test_zero_vectors_are_spread_over_folds():
    fold_of = assign_folds(np.zeros((10, 4), dtype=np.float32), np.repeat([0, 1], 5), np.arange(10), np.arange(10), 5)

    assert np.bincount(fold_of).tolist() == [2] * 5


@pytest.mark.parametrize("edited", [0, 7, 13])
def test_edit_moves_the_folds_of_its_own_intent_only(edited):
    """Folds follow from the texts: a line more, with a key of its own, leaves all other intents alone."""
    random = np.random.default_rng(5)
    owner, keys = np.repeat(np.arange(6), [3, 5, 1, 6, 2, 4]), random.integers(0, 1 << 32, 21)
    vectors = unit_rows(random.normal(size=(21, 64)))
    longer = [np.insert(of, edited, of[edited], axis=0) for of in (vectors, owner, keys)]
    longer[0][edited] = unit_rows(random.normal(size=(1, 64)))[0]
    longer[2][edited] = 77

    before = assign_folds(vectors, owner, np.arange(21), keys, 5)
    after = assign_folds(longer[0], longer[1], np.arange(22), longer[2], 5)

    other = owner != owner[edited]
    assert np.delete(after, edited)[other].tolist() == before[other].tolist()


def test_folds_do_not_depend_on_the_order_of_lines_within_an_intent():
    random = np.random.default_rng(5)
    vectors, keys = unit_rows(random.normal(size=(12, 64))), random.integers(0, 1 << 32, 12)
    order = np.concatenate([random.permutation(6), 6 + random.permutation(6)])
    owner = np.repeat([0, 1], 6)

    fold_of = assign_folds(vectors, owner, np.arange(12), keys, 5)
    shuffled = assign_folds(vectors[order], owner, np.arange(12), keys[order], 5)

    assert shuffled.tolist() == fold_of[order].tolist()


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40), st.integers(0, 20))
def test_sentences_of_a_line_are_in_one_fold(lines, seed):
    """Wherever they stand in their intent."""
    vectors = unit_rows(np.random.default_rng(seed).normal(size=(len(lines), 2)))
    firsts = [lines.index(line) for line in lines]

    owner = np.zeros(len(lines), dtype=np.int64)
    fold_of = assign_folds(vectors, owner, np.array(firsts), np.arange(len(lines)), 3)

    for line in set(lines):
        assert len({fold for fold, other in zip(fold_of.tolist(), lines, strict=True) if other == line}) == 1


@given(st.lists(st.integers(0, 8), max_size=60))
def test_representative_takes_at_most_three_sentences_of_a_line(lines):
    """The first, the last and one between."""
    firsts = [lines.index(line) for line in lines]
    chosen = representative(firsts).tolist()

    for line in set(lines):
        rows = [row for row, other in enumerate(lines) if other == line]
        asked = [row for row in rows if chosen[row]]
        assert len(asked) == min(3, len(rows))
        assert {rows[0], rows[-1]} <= set(asked)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_connected_components_name_their_first_position(drawn):
    count, links = drawn
    near = np.eye(count, dtype=bool)
    for one, other in links:
        near[one, other] = near[other, one] = True
    reached = np.linalg.matrix_power(near.astype(float), count) > 0

    assert connected_components(count, links) == reached.argmax(axis=1).tolist()
