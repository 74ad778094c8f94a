"""Text and tables in the cells of a terminal: nothing too wide, no word broken, columns aligned in every script."""

from __future__ import annotations

import re

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.cli.render.layout import aligned, cells, padded, table, wrapped

WORDS = [
    "a",
    "confidence",
    "order_status",
    "“quoted”",
    "Überweisung",
    "أين",
    "طلبي",
    "הזמנה",
    "ऑर्डर",
    "कहाँ",
    "พัสดุ",
    "5,099",
]
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("order_status", 12),
        ("“–→”", 4),
        (click.style("bold", bold=True), 4),
        ("注文の状況", 10),
        ("取消", 4),
        ("أين طلبي", 8),
        ("कहाँ", 2),
        ("ที่", 1),
        ("", 0),
    ],
)
def test_cells_of_scripts(text, width):
    assert cells(text) == width


@given(words, st.integers(20, 80), st.integers(0, 4))
def test_lines_fit_and_no_word_is_broken(text, width, indent):
    lines = wrapped(" " * indent + text, width)

    assert all(cells(line) <= width for line in lines)
    assert " ".join(lines).split() == text.split()
    assert all(line.startswith(" " * (indent + 2)) for line in lines[1:])


def test_text_that_fits_stays_as_it_is():
    assert wrapped("  a   b  ", 9) == ["  a   b  "]
    assert wrapped("one\n\ntwo", 5) == ["one", "", "two"]


def test_gaps_inside_a_line_stay_and_gaps_at_a_break_go():
    assert wrapped("“a b”  shop.yaml:3  nearest: “c”", 20, "") == ["“a b”  shop.yaml:3", "nearest: “c”"]


def test_japanese_and_chinese_break_between_signs_but_not_before_a_full_stop():
    lines = wrapped("注文した荷物はいまどこにありますか。教えてください", 20, "")

    assert "".join(lines) == "注文した荷物はいまどこにありますか。教えてください"
    assert all(cells(line) <= 20 for line in lines)
    assert wrapped("一二三四。五", 8, "") == ["一二三", "四。五"]
    assert wrapped("abcd (一二)", 8, "") == ["abcd (一", "二)"]
    assert wrapped("abcdef (一)", 8, "") == ["abcdef", "(一)"]


def test_word_longer_than_a_line_is_broken_between_letters():
    thai = "พัสดุของฉันอยู่ที่ไหนแล้วตอนนี้"

    lines = wrapped(thai, 10, "")

    assert "".join(lines) == thai
    assert all(0 < cells(line) <= 10 for line in lines)
    assert not any(re.match(r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]", line) for line in lines), "a mark begins a line"


def test_colours_take_no_cells_and_the_indent_stands_before_the_colour():
    styled = click.style("    one two three", fg="green")

    lines = wrapped(styled, 12)

    assert [click.unstyle(line) for line in lines] == ["    one two", "      three"]


def test_right_to_left_cell_is_closed_by_a_mark_before_its_padding():
    """Without it, a terminal would move the spaces and the next column to the left of the text."""
    assert padded("طلب", 5) == "طلب\u200e  "
    assert aligned(["טקסט", "3"], [6, 1]) == "  טקסט\u200e    3"
    assert aligned(["3", "טקסט"], [2, 6]) == "  3   טקסט"


def starts(line: str, column: str) -> int:
    return cells(line[: line.index(column)])


def test_columns_are_aligned_in_every_script():
    rows = [["حالة", "one"], ["注文の状況", "two"], ["ऑर्डर_की", "three"], ["plain", "four"]]

    lines = table(["intent", "count"], rows, 80)

    shown = [click.unstyle(line) for line in lines]
    assert {starts(line, row[1]) for line, row in zip(shown[2:], rows, strict=True)} == {starts(shown[0], "count")}
    assert shown[1].strip() == "─" * (cells("注文の状況") + 2 + len("three"))


def test_wide_cells_wrap_and_headers_stay_whole():
    rows = [["order_status", "99 %", "where is my order and when will it arrive at my house " * 2]]

    lines = [click.unstyle(line) for line in table(["intent", "confidence", "nearest utterance"], rows, 60)]

    assert lines[0] == "  intent        confidence  nearest utterance"
    assert all(cells(line) <= 60 for line in lines)
    assert next(line[28:].strip() for line in lines[2:]) == "where is my order and when will"


def test_headers_wrap_between_words():
    lines = [click.unstyle(line) for line in table(["a long header", "b"], [["x", "w" * 26]], 40)]

    assert [line[:10].split() for line in lines[:2]] == [["a", "long"], ["header"]]


def test_long_name_gets_a_line_of_its_own():
    name = "an_intent_with_a_name_that_is_longer_than_most_others"
    head = ["intent", "cases", "right", "asked", "refused", "precision", "recall", "F1"]

    lines = [click.unstyle(line) for line in table(head, [[name, *"1234567"], ["short", *"1234567"]], 80)]

    assert lines[2] == f"  {name}"
    assert starts(lines[3], "1") == starts(lines[4], "1") == starts(lines[0], "cases")
    assert all(cells(line) <= 80 for line in lines)


def test_many_columns_become_several_tables():
    codes = [f"l{number:02}" for number in range(40)]

    lines = table(["utterances", *codes], [["status", *codes], ["cancel", *codes]], 80)

    shown = "\n".join(click.unstyle(line) for line in lines)
    assert all(cells(line) <= 80 for line in lines)
    assert shown.count("  status") == shown.count("  utterances") > 1
    assert all(shown.count(code) == 3 for code in codes)


def test_rows_without_room_become_facts():
    long = "x" * 30

    lines = table(["intent", "one", "two", "three"], [["a", long, long, "3"], ["b", long, "", "4"]], 50)

    assert lines == ["  a", f"    one {long}, two", f"    {long}, three 3", "  b", f"    one {long}, three 4"]


def test_table_without_headers_has_no_rule():
    assert table(["", ""], [["a", "b"]], 80) == ["  a  b"]


def test_table_without_rows_shows_its_headers():
    assert [click.unstyle(line) for line in table(["a", "b"], [], 80)] == ["  a  b", "  ────"]
