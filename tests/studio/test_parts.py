"""Small pieces of screens."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from intentmatch.studio.parts import isolated


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Words that match: my ~ my 1.00.", "Words that match: my ~ my 1.00."),
        ("كم 0.29, ثمن 0.42.", "[كم] 0.29, [ثمن] 0.42."),
        ("The nearest is “بطاقة هدية 50 ريال” (a.yaml:13).", "The nearest is “[بطاقة هدية 50 ريال]” (a.yaml:13)."),
        ("“where is it” is nearest to אילת", "“where is it” is nearest to [אילת]"),
        ("", ""),
    ],
)
def test_words_from_right_to_left_do_not_move_what_is_between_them(text, shown):
    marked = isolated(text).replace("\u2068", "[").replace("\u2069", "]")
    assert marked == shown
