"""What a drawing sends: texts as texts, and nothing while it is the same."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from intentmatch.studio.drawing import Drawing, bar, node, region, table

pytestmark = pytest.mark.usefixtures("unopened")


def test_attributes_are_named_as_in_html_and_texts_stay_texts():
    shown = node("p", "<b>", node("span", "x"), classes="st-a", aria_label='"', for_="y")

    assert shown == ["p", {"class": "st-a", "aria-label": '"', "for": "y"}, ["<b>", ["span", {}, ["x"]]]]


@pytest.mark.parametrize(("value", "width"), [(-1.0, "0.0%"), (0.25, "25.0%"), (2.0, "100.0%")])
def test_bar_ends_at_its_edges(value, width):
    (meter, shown) = bar("score", value, "a quarter", 0.5, label=False)[2]
    fill, threshold = meter[2]

    assert fill[1]["style"] == f"width: {width}"
    assert threshold[1]["style"] == "inset-inline-start: 50.0%"
    assert meter[1]["aria-valuetext"] == "a quarter"
    assert shown[2] == ["a quarter"]


def test_region_has_a_heading_and_a_table_its_cells():
    shown = region("Words", table(["a"], [[node("td", "1")], [node("td", "2")]]))
    assert shown[1] == {"class": "st-card", "aria-label": "Words"}
    head, body = shown[2][1][2]

    assert head == ["thead", {}, [["tr", {}, [["th", {"scope": "col"}, ["a"]]]]]]
    assert body == ["tbody", {}, [["tr", {}, [["td", {}, ["1"]]]], ["tr", {}, [["td", {}, ["2"]]]]]]


def test_drawing_is_sent_again_only_after_a_change(unopened):
    drawing = Drawing()
    drawing.show(node("p", "one"))
    unopened.outbox.updates.clear()
    drawing.show(node("p", "one"))
    assert not unopened.outbox.updates
    drawing.show(node("p", "two"))

    assert list(unopened.outbox.updates) == [drawing.id]
    assert drawing.props["nodes"] == [["p", {}, ["two"]]]
