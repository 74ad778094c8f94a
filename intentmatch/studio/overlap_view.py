"""See: pairs of intents that take each other's lines, with the closest lines of both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from intentmatch.evaluation.insight.closest_lines import ClosePair, OverlappingIntents, Side
from intentmatch.studio.pair_remedies import merge_button
from intentmatch.studio.parts import badge, bring_into_view, card, empty, tag
from intentmatch.studio.places import intent_link, place
from intentmatch.studio.remedies import line_to_reword, remedies
from intentmatch.studio.visit import Visit

_AT_ONCE = 15
_ADVICE = (
    "Give the lines below company: two or three more like each one, in other words. Reword a line that could mean both "
    "(click it). If users mean the same by both, merge the intents."
)


class OverlapView:
    """The list of pairs, and the pair that is open."""

    def __init__(self, visit: Visit, found: Sequence[OverlappingIntents]) -> None:
        self._visit, self._found = visit, found
        self._buttons: list[ui.button] = []
        if not found:
            empty("No example is nearer to another intent than to its own. Well separated!")
            return
        with tag("div", classes="st-two"):
            with card("Pairs, the most overlapping first"):
                self._list = tag("div", classes="st-stack st-choices")
                self._more = ui.button("Show more", on_click=self._show_more).props("flat")
            self._detail = tag("div", classes="st-stack st-opened", aria_live="polite")
        self._show_more()
        asked = ui.context.client.request.query_params
        names = {asked.get("first"), asked.get("second")}
        # In either order, as a finding may name them.
        wanted = next((number for number, pair in enumerate(found) if {pair.first, pair.second} == names), None)
        self._open(wanted or 0)
        if wanted is not None:
            bring_into_view(self._detail)

    def _show_more(self) -> None:
        begin = len(self._buttons)
        with self._list:
            for number, pair in enumerate(self._found[begin : begin + _AT_ONCE], begin):
                self._buttons.append(self._choice(number, pair))
        self._more.set_visibility(len(self._buttons) < len(self._found))

    def _choice(self, number: int, pair: OverlappingIntents) -> ui.button:
        button = ui.button(on_click=partial(self._choose, number)).props("flat no-caps align=left").classes("st-choice")
        with button, tag("div", classes="st-stack st-tight st-wide"):
            tag("span", f"{pair.first} · {pair.second}", "st-mono", dir="auto")
            with tag("div", classes="st-bar-row"):
                with tag("div", classes="st-meter", aria_hidden="true"):
                    tag("div", classes="st-fill bad", style=f"width: {pair.share:.1%}")
                tag("span", f"{sum(pair.errors)} of {sum(pair.lines)}", "st-small st-muted")
        return button

    def _choose(self, number: int) -> None:
        self._open(number)
        bring_into_view(self._detail)

    def _open(self, number: int) -> None:
        # The pair that the address names may be far down the list.
        while number >= len(self._buttons):
            self._show_more()
        for place_of, button in enumerate(self._buttons):
            button.props["aria-pressed"] = str(place_of == number).lower()
            button.classes(**{"add" if place_of == number else "remove": "st-chosen"})
        pair = self._found[number]
        self._detail.clear()
        with self._detail, card():
            with tag("div", classes="st-row"):
                intent_link(self._visit, pair.first)
                tag("span", "and")
                intent_link(self._visit, pair.second)
                for name, errors, lines in zip((pair.first, pair.second), pair.errors, pair.lines, strict=True):
                    badge(f"{errors} of {lines} {name} lines are nearer to the other", "bad" if errors else "plain")
            if self._visit.may("author"):
                with tag("div", classes="st-row"):
                    tag("span", _ADVICE, "st-muted st-small")
                    merge_button(self._visit, pair.first, pair.second)
            for close in pair.closest:
                self._pair(close)

    def _pair(self, close: ClosePair) -> None:
        with tag("div", classes="st-versus"):
            self._side(close.first, close.second.intent)
            tag("span", f"{close.cosine:.2f}", "st-badge", title="How alike the two lines are; 1 is the same")
            self._side(close.second, close.first.intent)

    def _side(self, side: Side, other: str) -> None:
        with tag("div", classes=f"st-side {'bad' if side.misplaced else ''}"):
            line_to_reword(self._visit, side.line, side.intent)
            with tag("div", classes="st-row st-small"):
                tag("span", side.intent, "st-mono st-muted")
                place(self._visit, side.line.location)
                if side.misplaced:
                    badge("nearer to the other", "bad")
            if self._visit.may("author"):
                remedies(self._visit, side.line, side.intent, other if side.movable else None)
