"""Tests for converting case-sensitive patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.formats.kit.regexes import split_case_flag, with_case


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[A-Z]{2}", ("[A-Z]{2}", False)),
        ("(?-i:[A-Z]{2})", ("[A-Z]{2}", True)),
        ("(?-i:(a)|[)])", ("(a)|[)]", True)),
        (r"(?-i:\))", (r"\)", True)),
        ("(?-i:a)|(?-i:b)", ("(?-i:a)|(?-i:b)", False)),
        ("a(?-i:b)", ("a(?-i:b)", False)),
    ],
)
def test_pattern_is_case_sensitive_only_as_a_whole(pattern, expected):
    """A group that closes before the end does not count."""
    assert split_case_flag(pattern) == expected


@given(st.from_regex(r"[ab]*(\[[ab()]\]|\\[()]|\([ab|]*\))*", fullmatch=True))
def test_case_sensitive_pattern_round_trips(pattern):
    assert split_case_flag(with_case(pattern)) == (pattern, True)


def test_long_pattern_is_fast():
    assert split_case_flag(with_case("[" * 100_000))[1]
