"""The share of out-of-scope messages among labelled ones."""

from __future__ import annotations

import pytest

from intentmatch.core.settings import USUAL_SHARE, Settings
from intentmatch.core.types import Case
from intentmatch.learning.labelled_share import FEWEST, labelled_share, share_in_use


def cases(inside: int, outside: int) -> list[Case]:
    return [Case("hi", "greet")] * inside + [Case("rain?", None)] * outside


def test_share_has_the_interval_of_wilson():
    """The values of a published calculator."""
    found = labelled_share(cases(65, 21))

    assert found == pytest.approx((21 / 86, 0.1655, 0.3447, 86), abs=5e-4)
    assert str(found) == "24% (17% to 34%) of 86 labelled messages"


@pytest.mark.parametrize(("inside", "outside"), [(FEWEST, 0), (0, FEWEST)])
def test_interval_stays_within_0_and_1_and_is_never_a_point(inside, outside):
    found = labelled_share(cases(inside, outside))

    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.high - found.low > 0.05


def test_few_messages_say_nothing():
    assert labelled_share(cases(FEWEST - 2, 1)) is None
    assert labelled_share([]) is None
    assert labelled_share([], fewest=1) is None
    assert labelled_share(cases(1, 1), fewest=2).cases == 2


@pytest.mark.parametrize(("inside", "outside", "expected"), [(30, 0, 0.057), (0, 30, 0.943), (65, 21, 0.255)])
def test_estimate_is_the_middle_of_the_interval(inside, outside, expected):
    assert labelled_share(cases(inside, outside)).estimate == pytest.approx(expected, abs=1e-3)


def test_number_of_the_author_wins_over_what_was_learned():
    learned = labelled_share(cases(65, 21))

    assert share_in_use(Settings(out_of_scope_share=0.4), learned) == 0.4
    assert share_in_use(Settings(out_of_scope_share="tests"), learned) == learned.estimate
    assert share_in_use(Settings(out_of_scope_share="tests"), None) == USUAL_SHARE


def test_message_with_several_intents_is_in_scope():
    assert labelled_share([Case("a and b", ("a", "b"))] * FEWEST).value == 0.0
