"""Regular expressions in which case counts, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.formats.kit.regexes import minding_case, without_case


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("[A-Z]{2}", ("[A-Z]{2}", False)),
        ("(?-i:[A-Z]{2})", ("[A-Z]{2}", True)),
        ("(?-i:(a)|[)])", ("(a)|[)]", True)),
        (r"(?-i:\))", (r"\)", True)),
        ("(?-i:a)|(?-i:b)", ("(?-i:a)|(?-i:b)", False)),
        ("a(?-i:b)", ("a(?-i:b)", False)),
    ],
)
def test_only_what_minds_case_as_a_whole_is_said_to(ours, theirs):
    """A bracket that closes before the end is none of the whole."""
    assert without_case(ours) == theirs


@given(st.from_regex(r"[ab]*(\[[ab()]\]|\\[()]|\([ab|]*\))*", fullmatch=True))
def test_a_pattern_that_minds_case_comes_back(pattern):
    """Whatever it is."""
    assert without_case(minding_case(pattern)) == (pattern, True)


def test_a_long_pattern_takes_no_long_time():
    """Brackets without their other halves among them."""
    assert without_case(minding_case("[" * 100_000))[1]
