"""Rows and parts that are the same keep their elements; others are drawn, moved and removed."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from intentmatch.studio.parts import set_current, tag
from intentmatch.studio.rows import PagePart, Rows

pytestmark = pytest.mark.usefixtures("unopened")


def texts(parent) -> list[str]:
    return [child.text for child in parent.default_slot.children]


class TestRows:
    def test_rows_that_stay_keep_their_elements_in_any_order(self):
        parent = tag("ul")
        rows = Rows(parent, lambda row: tag("li", row))
        rows.show("abc")
        kept = dict(zip("abc", parent.default_slot.children, strict=True))
        rows.show("cxa")

        assert texts(parent) == ["c", "x", "a"]
        assert parent.default_slot.children[0] is kept["c"]
        assert parent.default_slot.children[2] is kept["a"]
        assert kept["b"].is_deleted

    def test_equal_rows_are_shown_once_and_none_are_left(self):
        parent = tag("ul")
        rows = Rows(parent, lambda row: tag("li", row))
        rows.show("aba")
        assert texts(parent) == ["a", "b"]
        rows.show("")

        assert texts(parent) == []


class TestPart:
    def test_part_is_drawn_again_only_after_a_change(self):
        content, place = ["one"], tag("div")
        part = PagePart(lambda: list(content), lambda: tag("p", content[0]), place)
        part.show()
        (first,) = place.default_slot.children
        part.show()
        assert place.default_slot.children == [first]
        content[0] = "two"
        part.show()

        assert texts(place) == ["two"]

    def test_nothing_is_content_too(self):
        drawn = []
        part = PagePart(lambda: None, lambda: drawn.append(1))
        part.show()
        part.show()

        assert drawn == [1]

    def test_draft_stays_until_it_is_saved(self):
        content, drawn, drafts = ["one"], [], [True]
        part = PagePart(lambda: content[0], lambda: drawn.append(content[0]), draft=lambda: drafts[0])
        part.show()
        content[0] = "two"
        part.show()
        assert drawn == ["one"]
        drafts[0] = False
        part.show()

        assert drawn == ["one", "two"]


def test_row_is_marked_without_an_update_that_says_nothing_new(unopened):
    row = tag("button")
    unopened.outbox.updates.clear()
    set_current(row, current=False)
    assert not unopened.outbox.updates
    set_current(row, current=True)
    assert row.props["aria-current"] == "true"
    unopened.outbox.updates.clear()
    set_current(row, current=True)
    assert not unopened.outbox.updates
    set_current(row, current=False)

    assert "aria-current" not in row.props
