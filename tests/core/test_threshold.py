"""Thresholds as authors write them: numbers on the score, percentages on the confidence."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.threshold import parse_threshold, value_and_measure


@pytest.mark.parametrize(
    ("written", "plain", "value", "measure"),
    [
        (0.5, 0.5, 0.5, "score"),
        ("0.5", 0.5, 0.5, "score"),
        (1, 1.0, 1.0, "score"),
        ("90%", "90%", 0.9, "confidence"),
        (" 92.50 % ", "92.5%", 0.925, "confidence"),
        ("0%", "0%", 0.0, "confidence"),
        ("100%", "100%", 1.0, "confidence"),
        ("0.5%", "0.5%", 0.005, "confidence"),
    ],
)
def test_number_is_on_the_score_and_percentage_on_the_confidence(written, plain, value, measure):
    assert parse_threshold(written) == plain
    assert value_and_measure(written) == (pytest.approx(value), measure)


@pytest.mark.parametrize(
    "written",
    [
        "120%",
        "-1%",
        "x%",
        "%",
        "",
        "nan%",
        "1.5",
        1.5,
        -0.1,
        True,
        None,
        math.nan,
        math.inf,
        10**400,
        "90 percent",
        [0.5],
    ],
)
def test_anything_else_is_an_error(written: Any):
    with pytest.raises(
        ValueError, match=r"from 0 to 1 \(on the score\) or a percentage from 0% to 100% \(on the confid"
    ):
        parse_threshold(written)


@given(st.floats(0.0, 100.0))
def test_plain_form_parses_to_itself(percent: float):
    plain = parse_threshold(f"{percent}%")

    assert parse_threshold(plain) == plain
    assert value_and_measure(plain)[0] == pytest.approx(percent / 100, abs=1e-9)
