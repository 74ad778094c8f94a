"""Parts of a page that only show something, sent as one element.

An element of NiceGUI for each tag costs the server a tenth of a millisecond or more: too much for what is drawn
anew with every key. A part with fields or menus is made of elements: see `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from intentmatch.studio.wording import BadgeKind

Node = list[Any]
"""Name, attributes, and what is inside: texts and nodes."""


def node(name: str, *inside: Node | str, classes: str = "", **attributes: str) -> Node:
    """Return an HTML element. Texts and values are never read as HTML.

    `aria_label="..."` sets the attribute `aria-label`. A button with `data_act="..."` calls the `act` of its drawing.
    """
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    return [name, {"class": classes, **named} if classes else named, list(inside)]


def region(title: str, *inside: Node | str) -> Node:
    """Return a box with a heading, as `parts.card` draws it."""
    return node("section", node("h2", title, classes="st-h2"), *inside, classes="st-card", aria_label=title)


def words(text: str, classes: str = "", name: str = "span") -> Node:
    """Return a text of a user, shown in the direction of its own script."""
    return node(name, text, classes=f"st-words {classes}", dir="auto")


def badge(text: str, kind: BadgeKind = "plain") -> Node:
    """Return a short word on a coloured ground."""
    return node("span", text, classes=f"st-badge {'' if kind == 'plain' else kind}")


def table(head: Sequence[str], rows: Sequence[Sequence[Node]]) -> Node:
    """Return a table; each row holds its cells."""
    return node(
        "table",
        node("thead", node("tr", *(node("th", name, scope="col") for name in head))),
        node("tbody", *(node("tr", *cells) for cells in rows)),
        classes="st-table",
    )


def bar(
    name: str, value: float, shown: str, threshold: float | None = None, *, label: bool = True, strong: bool = False
) -> Node:
    """Return a value between 0 and 1 as a bar, with a mark at the threshold."""
    width = max(0.0, min(1.0, value))
    marks = [node("div", classes="st-fill strong" if strong else "st-fill", style=f"width: {width:.1%}")]
    if threshold is not None:
        place = f"inset-inline-start: {max(0.0, min(1.0, threshold)):.1%}"
        marks.append(node("div", classes="st-threshold", title=f"mark {threshold:.2f}", style=place))
    meter = node(
        "div", *marks, classes="st-meter", role="meter", aria_label=name, aria_valuemin="0", aria_valuemax="1",
        aria_valuenow=f"{width:.3f}", aria_valuetext=shown,
    )  # fmt: skip
    labels = [node("span", name, classes="st-bar-label")] if label else []
    return node("div", *labels, meter, node("span", shown, classes="st-bar-value"), classes="st-bar-row")


class Drawing(Element, component="assets/drawing.js"):
    """Shows nodes in the present place of the page."""

    def __init__(self, act: Callable[[str], Any] | None = None) -> None:
        """`act` is called with the `data_act` of the button that was pressed."""
        super().__init__()
        self._shown: Sequence[Node] = ()
        if act is not None:

            def pressed(event: GenericEventArguments) -> Any:
                return act(str(event.args))

            self.on("act", pressed)

    def show(self, *nodes: Node) -> None:
        """Show these nodes, and no others."""
        # NiceGUI would send equal nodes again.
        if nodes != self._shown:
            self._shown = nodes
            self.props["nodes"] = list(nodes)
