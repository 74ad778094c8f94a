"""Authors' regular expressions: which are compiled and which are refused."""

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
        ("(((a{50}){50}){50}){50}", "6,250,000 characters"),
        ("((a{9,999}){9,999}){999}", "characters"),
    ],
)
def test_invalid_or_too_large_pattern_is_refused_with_a_reason(pattern, reason):
    with pytest.raises(ExpressionError, match=reason):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\d{4}[ -]?\d{4}[ -]?\d{4}", r"[A-Z{3}]{2}\{3\}", "a{,5}", "a{3,}b{2}", "x{99999}"]
)
def test_counted_repetitions_compile_unless_they_multiply(pattern):
    compiled(pattern)


def test_error_gives_the_position():
    with pytest.raises(ExpressionError) as caught:
        compiled("abc[")

    assert caught.value.position == 4


def test_case_is_ignored_unless_the_expression_says_otherwise():
    assert compiled("ab").search("xAB")
    assert not compiled("(?-i:ab)").search("xAB")


@given(st.text(st.sampled_from("ab()[]{}?*+|.\\^$19,<>P:=!e")))
def test_any_text_compiles_or_raises_expression_error_quickly(text):
    start = time.thread_time()
    with contextlib.suppress(ExpressionError):
        compiled(text)

    assert time.thread_time() - start < 5.0
