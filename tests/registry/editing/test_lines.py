"""A text as its lines, whatever they end with."""

from __future__ import annotations

import pytest

from intentmatch.registry.editing.lines import Lines, Splice

ENDINGS = pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])


def applied(text: str, splice: Splice) -> str:
    return text[: splice.start] + splice.text + text[splice.end :]


@ENDINGS
def test_a_line_is_found_from_any_place_in_it(ending: str) -> None:
    """Where it begins, what stands before and behind a place, and where the next one begins."""
    text = ending.join(["one", "", "  two # c", "three"])
    lines, place = Lines(text), text.index("two")

    assert (lines.before(place), lines.whole(place), lines.behind(place + 3)) == ("  ", "  two # c", " # c")
    assert (lines.column(place), lines.comment_behind(place + 3), lines.comment_behind(place)) == (2, " # c", "")
    assert text[lines.after(place) :] == "three"
    assert lines.after(text.index("three")) == len(text)
    assert lines.same(place, place + 5)
    assert not lines.same(0, place)
    assert lines.has_blank(0, place)
    assert not lines.has_blank(lines.start(place), len(text))
    assert lines.ending == ending


@ENDINGS
def test_comments_belong_to_what_stands_as_deep(ending: str) -> None:
    """Above a line the ones right above it; below, those that stand deeper."""
    rows = ["# top", "", "  # no", "# about a", "# it", "a: 1", "  # of a", "# end"]
    text = ending.join(rows)
    lines, place = Lines(text), text.index("a: 1")

    assert text[lines.comments_above(place) :].startswith("# about a")
    assert text[lines.comments_below(place, 0) :] == "# end"
    assert Lines("# a\nb").comments_above(4) == 0


@ENDINGS
@pytest.mark.parametrize("end", [True, False])
def test_the_end_of_a_text_stays_as_it_is(ending: str, end: bool) -> None:
    """With a line ending or without one, whatever is added or removed there."""
    text = ending.join(["a", "b"]) + (ending if end else "")
    lines = Lines(text)

    assert applied(text, lines.inserted(len(text), 2, ["x", "", "y"])) == ending.join(["a", "b", "  x", "", "  y"]) + (
        ending if end else ""
    )
    assert applied(text, lines.removed(lines.start(text.index("b")), len(text))) == "a" + (ending if end else "")


@ENDINGS
def test_lines_are_moved_to_the_right(ending: str) -> None:
    """Those that hold something."""
    text = ending.join(["a", "", "  b", " ", "c", ""])

    assert Lines(text).moved(0, len(text), 2) == ending.join(["  a", "", "    b", " ", "  c", ""])
