"""A current card among several, which the keys `j` and `k` move; the card gets the focus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from nicegui.element import Element

from intentmatch.studio.visit import Visit

_Item = TypeVar("_Item")


class Cursor(Generic[_Item]):
    """Cards in the order of the page, each for an item."""

    def __init__(self, visit: Visit, what: str, more: Callable[[], bool]) -> None:
        """`what` names an item, such as "issue". `more` adds cards below the last one; False if there are no more."""
        self._more = more
        self._cards: list[tuple[_Item, Element]] = []
        self._place = -1
        visit.shortcut("j", f"Next {what}", lambda: self.step(1))
        visit.shortcut("k", f"Previous {what}", lambda: self.step(-1))

    @property
    def current(self) -> _Item | None:
        """The item whose card is current."""
        return self._cards[self._place][0] if 0 <= self._place < len(self._cards) else None

    def clear(self) -> None:
        """Forget all cards; the place stays, for cards that are drawn anew."""
        self._cards.clear()

    def add(self, item: _Item, card: Element) -> None:
        """Add a card below the others."""
        # A script can give it the focus, and the tab key does not stop at each card.
        card.props["tabindex"] = "-1"
        card.classes("st-cluster")
        self._cards.append((item, card))

    def step(self, by: int) -> None:
        """Move to another card, and give it the focus."""
        # More cards are drawn before the end is the end.
        if self._place + by >= len(self._cards) and not self._more():
            by = 0
        self.go(min(max(self._place + by, 0), len(self._cards) - 1))

    def choose(self, item: _Item) -> None:
        """Make the card of an item current."""
        self.go(next((place for place, (one, _) in enumerate(self._cards) if one == item), self._place))

    def go(self, place: int) -> None:
        """Make the card at a place current, and give it the focus."""
        if not self._cards:
            return
        if 0 <= self._place < len(self._cards):
            self._cards[self._place][1].classes(remove="st-current").props.pop("aria-current", None)
        self._place = min(max(place, 0), len(self._cards) - 1)
        card = self._cards[self._place][1].classes("st-current")
        card.props["aria-current"] = "true"
        # Not `ui.run_javascript`: the button that was clicked may be gone, and with it the page that it would find.
        card.client.run_javascript(
            f"const e = getHtmlElement({card.id}); e?.focus({{preventScroll: true}}); "
            "e?.scrollIntoView({block: 'nearest'});"
        )
