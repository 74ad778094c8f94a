"""Fused score: similarity scores and head logits as one number per intent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.learning.fusion import (
    LOGIT_WEIGHT,
    PROBABILITY_WEIGHT,
    fused_score,
    head_term,
    head_term_of_one,
)

NUMBERS = st.lists(st.floats(-1.0, 1.0, width=32), min_size=3, max_size=3).map(lambda row: np.array(row, np.float32))


def test_fused_score_is_a_weighted_sum_of_score_probability_and_logit():
    random = np.random.default_rng(4)
    scores = random.uniform(-1, 1, size=(50, 3)).astype(np.float32)
    logits = random.normal(0, 3, size=(50, 3)).astype(np.float32)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    inputs = np.stack([part.ravel() for part in (scores, probabilities, logits)], axis=1).astype(np.float64)

    total = fused_score(scores, logits).ravel()

    weights = np.linalg.lstsq(inputs, total, rcond=None)[0]
    assert inputs @ weights == pytest.approx(total, abs=1e-5)
    assert weights[0] == pytest.approx(1.0, abs=1e-4)
    assert weights.min() > 0.05


@given(NUMBERS, NUMBERS, st.integers(0, 2), st.floats(0.01, 0.5))
def test_raising_score_or_logit_raises_evidence_of_that_intent_only(scores, logits, intent, more):
    before = fused_score(scores, logits)
    raise_it = np.zeros(3, dtype=np.float32)
    raise_it[intent] = more

    for after in (fused_score(scores + raise_it, logits), fused_score(scores, logits + raise_it)):
        assert after[intent] > before[intent]
        assert (np.delete(after, intent) <= np.delete(before, intent) + 1e-6).all()


@given(NUMBERS)
def test_head_term_weighs_probability_and_logit(logits):
    probabilities = np.exp(logits.astype(np.float64)) / np.exp(logits.astype(np.float64)).sum()

    assert head_term(logits) == pytest.approx(PROBABILITY_WEIGHT * probabilities + LOGIT_WEIGHT * logits, abs=1e-6)


@given(NUMBERS)
def test_head_term_of_one_logit_agrees_with_all(logits):
    """The scalar form exists for speed."""
    term = head_term_of_one(logits)

    assert [term(float(logit), intent) for intent, logit in enumerate(logits)] == pytest.approx(
        head_term(logits).tolist(), abs=1e-6
    )


@given(NUMBERS.filter(lambda logits: len(logits) > 2))
def test_intents_that_share_lines_do_not_compete(logits):
    """Their probability is that of a registry without the other."""
    apart = {0: frozenset({1}), 1: frozenset({0})}
    term = head_term(logits, apart)

    assert fused_score(logits, logits, apart).tolist() == (logits.astype(np.float64) + term).tolist()
    assert term[0] == pytest.approx(head_term(np.delete(logits, 1))[0], abs=1e-5)
    assert term[1:] == pytest.approx([head_term(np.delete(logits, 0))[0], *head_term(logits)[2:]], abs=1e-5)
    of_one = head_term_of_one(logits, apart)
    assert [of_one(float(logit), n) for n, logit in enumerate(logits)] == pytest.approx(term.tolist(), abs=1e-5)


def test_an_intent_far_below_those_it_shares_lines_with_has_a_finite_head_term():
    term = head_term(np.array([-300.0, 100.0, -300.0], dtype=np.float32), {0: frozenset({1}), 1: frozenset({0})})

    assert np.isfinite(term).all()
