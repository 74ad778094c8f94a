"""Rows that stay in place while a list is drawn again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from nicegui.element import Element

_Row = TypeVar("_Row", bound=Hashable)


class Rows(Generic[_Row]):
    """The children of an element, one for each row.

    A row that is still there keeps its element: an element that is replaced loses the focus, and a click that is on its
    way to the server when that happens is lost.
    """

    def __init__(self, parent: Element, build: Callable[[_Row], Element]) -> None:
        """`build` draws a row inside of `parent`, and returns its outermost element. A row holds all that it shows."""
        self._parent, self._build = parent, build
        self._elements: dict[_Row, Element] = {}

    def show(self, rows: Iterable[_Row]) -> None:
        """Show these rows in this order, and no others. Of equal rows, only the first is shown."""
        wanted = dict.fromkeys(rows)
        # First, so that the places of the rest are those of the list.
        for gone in [row for row in self._elements if row not in wanted]:
            self._elements.pop(gone).delete()
        children = self._parent.default_slot.children
        for place, row in enumerate(wanted):
            if row not in self._elements:
                with self._parent:
                    self._elements[row] = self._build(row)
            # A move that changes nothing would be sent all the same.
            if children[place] is not (element := self._elements[row]):
                element.move(self._parent, place)


class PagePart:
    """A part of a page that is drawn again only when what it shows has changed, for the reason of `Rows`."""

    def __init__(
        self,
        content: Callable[[], object],
        draw: Callable[[], None],
        place: Element | None = None,
        *,
        draft: Callable[[], bool] | None = None,
    ) -> None:
        """`content` returns all that `draw` shows. With a `place`, `draw` draws its children, else anything.

        `draft` says whether the part has fields with a text that is not saved: then it stays as it is.
        """
        self._content, self._draw, self._place, self._draft = content, draw, place, draft
        self._shown: object = self  # equal to no content

    def show(self) -> None:
        """Draw the part if its content differs from what it was drawn for."""
        content = self._content()
        drawn = self._shown is not self
        if content == self._shown or (drawn and self._draft is not None and self._draft()):
            return
        self._shown = content
        if self._place is None:
            self._draw()
            return
        self._place.clear()
        with self._place:
            self._draw()
