"""Lines of a text, with every kind of line ending."""

from __future__ import annotations

import pytest

from intentmatch.registry.editing.lines import Lines, Splice

ENDINGS = pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])


def applied(text: str, splice: Splice) -> str:
    return text[: splice.start] + splice.text + text[splice.end :]


@ENDINGS
def test_line_boundaries_from_any_position(ending: str) -> None:
    text = ending.join(["one", "", "  two # c", "three"])
    lines, place = Lines(text), text.index("two")

    assert (lines.before(place), lines.whole(place), lines.rest_of_line(place + 3)) == ("  ", "  two # c", " # c")
    assert (lines.column(place), lines.comment_after(place + 3), lines.comment_after(place)) == (2, " # c", "")
    assert text[lines.next_line(place) :] == "three"
    assert lines.next_line(text.index("three")) == len(text)
    assert lines.same(place, place + 5)
    assert not lines.same(0, place)
    assert lines.has_blank(0, place)
    assert not lines.has_blank(lines.start(place), len(text))
    assert lines.ending == ending


@ENDINGS
def test_comments_above_and_below_by_indentation(ending: str) -> None:
    rows = ["# top", "", "  # no", "# about a", "# it", "a: 1", "  # of a", "# end"]
    text = ending.join(rows)
    lines, place = Lines(text), text.index("a: 1")

    assert text[lines.comments_above(place) :].startswith("# about a")
    assert text[lines.comments_below(place, 0) :] == "# end"
    assert Lines("# a\nb").comments_above(4) == 0


@ENDINGS
@pytest.mark.parametrize("end", [True, False])
def test_end_of_text_keeps_or_lacks_its_line_ending(ending: str, end: bool) -> None:
    text = ending.join(["a", "b"]) + (ending if end else "")
    lines = Lines(text)

    assert applied(text, lines.inserted(len(text), 2, ["x", "", "y"])) == ending.join(["a", "b", "  x", "", "  y"]) + (
        ending if end else ""
    )
    assert applied(text, lines.removed(lines.start(text.index("b")), len(text))) == "a" + (ending if end else "")


@ENDINGS
def test_moved_indents_lines_that_are_not_blank(ending: str) -> None:
    text = ending.join(["a", "", "  b", " ", "c", ""])

    assert Lines(text).moved(0, len(text), 2) == ending.join(["  a", "", "    b", " ", "  c", ""])
