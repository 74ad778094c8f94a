"""A merge keeps what each side changed, and never drops a line of either."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.studio.merging import BETWEEN, MINE, THEIRS, merge, replacements

BASE = "a\nb\nc\nd\ne\n"
TEXTS = st.lists(st.sampled_from("abcde"), max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        ("x\nb\nc\nd\ne\n", BASE, "x\nb\nc\nd\ne\n"),
        (BASE, "a\nb\nc\nd\n", "a\nb\nc\nd\n"),
        ("x\na\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\ny\n", "x\na\nb\nc\nd\ne\ny\n"),
        ("a\nB\nc\nd\ne\n", "a\nb\nc\nD\ne\n", "a\nB\nc\nD\ne\n"),
        ("a\nx\nc\nd\ne\n", "a\nx\nc\nd\ne\n", "a\nx\nc\nd\ne\n"),
        ("", BASE, ""),
    ],
)
def test_changes_of_different_lines_are_both_kept(mine, theirs, merged):
    found = merge(BASE, mine, theirs)

    assert found.text == merged
    assert found.conflicts == 0


def test_conflict_has_both_sides():
    found = merge(BASE, "a\nmine\nc\nd\ne\n", "a\ntheirs\nc\nd\ne\n")

    assert found.conflicts == 1
    assert found.text == f"a\n{MINE}\nmine\n{BETWEEN}\ntheirs\n{THEIRS}\nc\nd\ne\n"


def test_last_line_without_an_end_stays_apart_from_the_marks():
    found = merge("a", "mine", "theirs")

    assert found.text.splitlines() == [MINE, "mine", BETWEEN, "theirs", THEIRS]


@given(TEXTS, TEXTS)
def test_one_side_alone_wins(base, mine):
    assert merge(base, mine, base).text == mine
    assert merge(base, base, mine).text == mine
    assert merge(base, mine, mine).text == mine


@given(TEXTS, TEXTS, TEXTS)
def test_no_new_line_of_either_side_is_lost(base, mine, theirs):
    merged = merge(base, mine, theirs)

    assert (set(mine.split()) | set(theirs.split())) - set(base.split()) <= set(merged.text.split())
    assert (merged.conflicts > 0) == (MINE in merged.text)


@given(TEXTS, TEXTS)
def test_replaced_lines_make_one_text_of_the_other(old: str, new: str) -> None:
    lines = old.split("\n")
    for start, end, instead in reversed(replacements(old, new)):
        assert lines[start:end] != instead
        lines[start:end] = instead
    assert "\n".join(lines) == new
