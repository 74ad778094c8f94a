"""What is a regular expression that can be used, and why another is not."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.regexes import ExpressionError, compiled


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", r"missing \)"),
        ("[", "unterminated"),
        ("*", "nothing to repeat"),
        (r"\p{Nope}", "unknown property"),
        (r"\L<words>", "undefined named list"),
        ("a{9999999999}", "repeat count too big|repetitions"),
        ("(" * 2000 + ")" * 2000, "nested too deeply"),
        ("(?a)(?u)x", "mutually incompatible"),
        ("(((a{50}){50}){50}){50}", "6,250,000 letters"),
        ("((a{9,999}){9,999}){999}", "letters"),
    ],
)
def test_what_is_no_pattern_says_why(pattern, reason):
    """Broken ones, and those that take more than memory to compile."""
    with pytest.raises(ExpressionError, match=reason):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\d{4}[ -]?\d{4}[ -]?\d{4}", r"[A-Z{3}]{2}\{3\}", "a{,5}", "a{3,}b{2}", "x{99999}"]
)
def test_counted_repetitions_are_fine(pattern):
    """As long as they are not nested into millions."""
    compiled(pattern)


def test_the_error_says_where():
    """At the character that an editor should show."""
    with pytest.raises(ExpressionError) as caught:
        compiled("abc[")

    assert caught.value.position == 4


def test_case_makes_no_difference():
    """But where the expression says so."""
    assert compiled("ab").search("xAB")
    assert not compiled("(?-i:ab)").search("xAB")


@given(st.text(st.sampled_from("ab()[]{}?*+|.\\^$19,<>P:=!e")))
def test_any_text_is_an_expression_or_says_why_not(text):
    """Soon, and with nothing but `ExpressionError`."""
    start = time.perf_counter()
    with contextlib.suppress(ExpressionError):
        compiled(text)

    assert time.perf_counter() - start < 5.0
