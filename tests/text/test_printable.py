"""Text of others cannot act on a terminal, nor look like a line of a log."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from intentmatch.text.printable import continued, one_line, shown, shown_json

SIGNS = [chr(code) for code in range(sys.maxunicode + 1)]
CONTROLS = [sign for sign in SIGNS if unicodedata.category(sign) == "Cc"]
OVERRIDES = [*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
MARKS = ["\u200e", "\u200f", "\u061c"]
SEPARATORS = ["\u2028", "\u2029", "\x85"]


@pytest.mark.parametrize("sign", [*CONTROLS, *OVERRIDES, *MARKS, *SEPARATORS])
def test_part_of_a_line_has_no_sign_that_acts(sign: str) -> None:
    told = one_line(f"a{sign}b")

    assert told.isascii()
    assert told.isprintable()
    assert told == f"a{repr(sign)[1:-1]}b"


@pytest.mark.parametrize("sign", [*sorted(set(CONTROLS) - {"\n", "\t"}), *OVERRIDES, *SEPARATORS])
def test_text_in_a_terminal_has_no_sign_that_acts(sign: str) -> None:
    assert shown(f"a\n\t{sign}b") == f"a\n\t{repr(sign)[1:-1]}b"


@pytest.mark.parametrize(
    "text", ["Où est mon colis ?", "أين طلبي\u200f؟", "می\u200cخواهم", "👩\u200d🚀", "מה\u200e?", "a\\nb"]
)
def test_languages_are_shown_as_they_are_written(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("sign", [*CONTROLS, *OVERRIDES, *MARKS, *SEPARATORS])
def test_json_keeps_its_meaning(sign: str) -> None:
    told = shown_json(json.dumps({sign: [sign]}, ensure_ascii=False))

    assert told.isascii()
    assert told.isprintable()
    assert json.loads(told) == {sign: [sign]}


def test_further_lines_are_marked() -> None:
    assert continued("one\nINFO: forged\x1b[2J") == "one\n  | INFO: forged\\x1b[2J"
