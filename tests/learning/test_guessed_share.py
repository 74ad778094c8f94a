"""The share of out-of-scope messages, guessed from messages without labels."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.learning.guessed_share import FEWEST, guess_share


def probabilities(share: float, assumed: float, count: int = 20_000) -> list[float]:
    """In-scope probabilities, calibrated for `assumed`, of messages of which `share` are out of scope."""
    random = np.random.default_rng(0)
    strange = random.permutation(np.arange(count) < share * count)
    # Evidence of both kinds is normal with variance 1: the log odds are linear in it.
    evidence = random.normal(np.where(strange, 0.0, 3.0))
    odds = np.exp(3.0 * evidence - 4.5) * (1.0 - assumed) / assumed
    return (odds / (1.0 + odds)).tolist()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.35, 0.8])
@pytest.mark.parametrize("assumed", [0.1, 0.5])
def test_guess_finds_the_true_share_whatever_was_assumed(share, assumed):
    guessed = guess_share(probabilities(share, assumed), assumed)

    assert guessed is not None
    assert guessed.value == pytest.approx(share, abs=0.01)
    assert guessed.low <= share <= guessed.high
    assert guessed.messages == 20_000


def test_more_messages_make_a_narrower_interval():
    many = probabilities(0.3, 0.1)
    wide, narrow = guess_share(many[:200], 0.1), guess_share(many[:5000], 0.1)

    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_messages_that_are_all_certain_give_their_share():
    guessed = guess_share([1.0] * 150 + [0.0] * 50, 0.1)

    assert guessed is not None
    assert guessed.value == pytest.approx(0.25, abs=0.001)
    for only, value in ((1.0, 0.0), (0.0, 1.0)):
        guessed = guess_share([only] * FEWEST, 0.1)
        assert guessed is not None
        assert guessed.value == pytest.approx(value, abs=0.001)


@pytest.mark.parametrize("assumed", [0.0, 1.0])
def test_no_guess_where_one_kind_was_ruled_out(assumed):
    assert guess_share([0.5] * 200, assumed) is None


def test_no_guess_from_few_messages():
    assert guess_share([0.5] * (FEWEST - 1), 0.1) is None
    assert guess_share([0.5] * FEWEST, 0.1) is not None
