"""Lists of messages: what is read, what the filter leaves, and what is written."""

from __future__ import annotations

import csv
import io

import pytest

from intentmatch.core.errors import InputError
from intentmatch.studio.message_table import COLUMNS, MOST_MESSAGES, Asked, MessageRow, chosen, read, to_csv

ROWS = [
    MessageRow(1, "where is it", "matched", "status", 0.9, "where", "status"),
    MessageRow(2, "إلغاء", "matched", "cancel", 0.8, "ألغ", "status"),
    MessageRow(3, "=1+1", "out_of_scope", "(status)", 0.1, "", "out_of_scope"),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\r\n\r\n two \n", [Asked("one"), Asked("two")]),
        ("text\none\n", [Asked("one")]),
        ('\ufeffText,Intent\n"a, b",status\nc,\n', [Asked("a, b", "status"), Asked("c")]),
        ("intent\tmessage\nstatus\tone\n", [Asked("one", "status")]),
        ("id;utterance\n1;eins\n2\n", [Asked("eins")]),
        ("hello, there\n", [Asked("hello, there")]),
    ],
)
def test_messages_are_read_from_a_paste_or_a_table(text, found):
    assert read(text) == found


@pytest.mark.parametrize("text", ["", " \n ", "text\n", 'text\n"never ends\n', "x\n" * (MOST_MESSAGES + 1)])
def test_unusable_list_is_refused(text):
    with pytest.raises(InputError):
        read(text)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({}, [1, 2, 3]),
        ({"words": "STATUS where"}, [1]),
        ({"words": "إلغاء"}, [2]),
        ({"verdict": "out_of_scope"}, [3]),
        ({"verdict": "wrong"}, [2]),
        ({"sort": "confidence"}, [3, 2, 1]),
        ({"sort": "confidence", "descending": True}, [1, 2, 3]),
        ({"sort": "__class__"}, [1, 2, 3]),
    ],
)
def test_rows_are_filtered_and_sorted(filters, numbers):
    assert [row.number for row in chosen(ROWS, **filters)] == numbers


def test_answer_is_compared_with_what_was_expected():
    assert [row.right for row in ROWS] == ["yes", "no", "yes"]


def test_csv_is_read_back_and_no_cell_is_a_formula():
    rows = list(csv.reader(io.StringIO(to_csv(ROWS).decode("utf-8"))))

    assert rows[0] == list(COLUMNS)
    assert rows[2][1] == "إلغاء"
    assert rows[3][1] == "'=1+1"
