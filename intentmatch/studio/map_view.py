"""See: the map of all utterances. A click opens the line in the editor; misplaced lines can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from nicegui import ui
from nicegui.events import EChartPointClickEventArguments, ValueChangeEventArguments

from intentmatch.authoring.insights import held_out_of
from intentmatch.core.types import Utterance
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.utterance_map import UtteranceMap, misunderstood
from intentmatch.registry.editing.edits import MoveUtterance
from intentmatch.studio.chart_style import BAD, PRIMARY, WARN, lookup, palette, shortened, tooltip
from intentmatch.studio.insight_part import InsightPart
from intentmatch.studio.parts import card, empty, tag, words
from intentmatch.studio.places import file_name, intent_link, place
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit

_EVERY = "every intent"
_MOST_NAMES = 60
_AT_ONCE = 20
# More rings than this share of the points would hide the map.
_SHOWN_TAKEN = 0.05
_MANY = 3000
_BY = {"intent": 2, "language": 3}
# Order of the series of the chart.
_ALL, _CHOSEN, _TAKEN, _MISPLACED, _NAMES = range(5)


class MapView:
    """The map on one page."""

    def __init__(self, visit: Visit, shown: UtteranceMap) -> None:
        self._visit, self._map = visit, shown
        self._by, self._chosen = "intent", _EVERY
        self._languages = sorted({line.language or "" for line in shown.lines})
        self._taken = np.empty(0, dtype=np.int64)
        if not shown.lines:
            empty("There are no utterances yet.")
            return
        with card():
            with tag("div", classes="st-row"):
                self._tools()
            self._chart = ui.echart(self._options(), on_point_click=self._open).classes("st-map")
            misplaced = len(shown.misplaced)
            self._chart.props["role"] = "img"
            self._chart.props["aria-label"] = (
                f"Map of {len(shown.lines)} utterances of {len(shown.intents)} intents; {misplaced} look misplaced. "
                "The list below has the same lines."
            )
            self._legend()
            InsightPart(lambda: held_out_of(visit.bot.matcher), self._add_taken, waiting="Cross-validating:")
        self._list()

    def _tools(self) -> None:
        ui.toggle({"intent": "By intent", "language": "By language"}, value=self._by, on_change=self._colour).props(
            "unelevated no-caps toggle-color=primary"
        ).props["aria-label"] = "Colour"
        names = [_EVERY, *sorted(self._map.intents)]
        ui.select(names, value=_EVERY, label="Intent", with_input=True, on_change=self._choose).props(
            "outlined dense options-dense"
        ).classes("st-pick")
        with tag("div", classes="st-row st-push"):
            for icon, label, factor in (("zoom_in", "Zoom in", 0.6), ("zoom_out", "Zoom out", 1 / 0.6)):
                button = ui.button(icon=icon, on_click=partial(self._zoom, factor)).props("flat round dense")
                button.props["aria-label"] = label
            button = ui.button(icon="fit_screen", on_click=partial(self._zoom, None)).props("flat round dense")
            button.props["aria-label"] = "Show everything"
        self._window = (0.0, 100.0)

    def _legend(self) -> None:
        with tag("div", classes="st-row st-muted st-small st-gap"):
            for colour, text in ((BAD, "much nearer to another intent"), (WARN, "taken by another intent, held out")):
                with tag("span", classes="st-row"):
                    tag("span", classes="st-ring", aria_hidden="true", style=f"border-color: {colour}")
                    tag("span", text)
            tag("span", "A click opens the line. Drag to move, Ctrl and the wheel to zoom.", "st-push st-wide-only")

    def _options(self) -> dict[str, Any]:
        shown = self._map
        number = {code: place for place, code in enumerate(self._languages)}
        # Tuples: NiceGUI watches every list inside of the options, which takes longer than all the rest.
        points = tuple(
            (round(x, 3), round(y, 3), owner, number[line.language or ""], shortened(line.text))
            for line, owner, (x, y) in zip(shown.lines, shown.owners.tolist(), shown.positions.tolist(), strict=True)
        )
        self._points = points
        size = 5 if len(points) > _MANY else 8
        hidden = {"show": False, "min": -1.06, "max": 1.06}
        says = lookup(list(shown.intents), "(p) => p.data[4] ? p.data[4] + '\\n' + names[p.data[2]] : p.name")
        zoom = {"type": "inside", "filterMode": "none", "zoomOnMouseWheel": "ctrl"}
        return {
            "animation": False,
            "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
            "xAxis": dict(hidden),
            "yAxis": dict(hidden),
            "dataZoom": [{**zoom, "xAxisIndex": 0}, {**zoom, "yAxisIndex": 0}],
            "tooltip": tooltip(says),
            "visualMap": self._colours(),
            "series": [
                {"type": "scatter", "data": points, "symbolSize": size, "itemStyle": {"opacity": 0.8}},
                {"type": "scatter", "data": [], "symbolSize": size + 4, "itemStyle": {"color": PRIMARY}},
                self._rings([], WARN, size + 5),
                self._rings(shown.misplaced, BAD, size + 8),
                {
                    "type": "scatter",
                    "silent": True,
                    "data": self._names(),
                    "symbolSize": 1,
                    "itemStyle": {"color": "transparent"},
                    "label": {
                        "show": True,
                        "formatter": "{b}",
                        "color": "#ffffff",
                        "backgroundColor": "rgba(29, 35, 48, 0.66)",
                        "borderRadius": 4,
                        "padding": [2, 5],
                        "fontSize": 11,
                    },
                    "labelLayout": {"hideOverlap": True},
                },
            ],
        }

    def _rings(self, rows: Sequence[int], colour: str, size: int) -> dict[str, Any]:
        style = {"color": "transparent", "borderColor": colour, "borderWidth": 2, "opacity": 0.9}
        return {
            "type": "scatter",
            "data": tuple(self._points[row] for row in rows),
            "symbolSize": size,
            "itemStyle": style,
            "silent": True,
        }

    def _names(self) -> list[dict[str, Any]]:
        """Return the names of the largest intents, in the middle of their lines."""
        shown = self._map
        sizes = np.bincount(shown.owners, minlength=len(shown.intents))
        largest = np.argsort(-sizes, kind="stable")[:_MOST_NAMES].tolist()
        found = []
        for intent in (one for one in largest if sizes[one]):
            x, y = np.median(shown.positions[shown.owners == intent], axis=0).tolist()
            found.append({"name": shown.intents[intent], "value": [round(x, 3), round(y, 3)]})
        return found

    def _colours(self) -> dict[str, Any]:
        count = len(self._map.intents) if self._by == "intent" else len(self._languages)
        return {
            "show": False,
            "dimension": _BY[self._by],
            "seriesIndex": _ALL,
            "min": 0,
            "max": max(1, count - 1),
            "inRange": {"color": palette(count)},
        }

    def _colour(self, event: ValueChangeEventArguments[str]) -> None:
        self._by = event.value
        self._chart.options["visualMap"] = self._colours()
        self._chart.options["series"][_NAMES]["label"]["show"] = self._by == "intent"
        self._visit.announce(f"Coloured by {self._by}")

    def _choose(self, event: ValueChangeEventArguments[str]) -> None:
        self._chosen = event.value or _EVERY
        series = self._chart.options["series"]
        chosen = self._chosen != _EVERY
        owner = self._map.intents.index(self._chosen) if chosen else -1
        series[_CHOSEN]["data"] = tuple(point for point in self._points if point[2] == owner)
        series[_ALL]["itemStyle"]["opacity"] = 0.15 if chosen else 0.8
        self._visit.announce(f"{len(series[_CHOSEN]['data'])} utterances of {self._chosen}" if chosen else "")

    def _zoom(self, factor: float | None) -> None:
        middle, half = sum(self._window) / 2, (self._window[1] - self._window[0]) / 2
        half = 50.0 if factor is None else min(50.0, max(2.0, half * factor))
        middle = 50.0 if factor is None else min(100.0 - half, max(half, middle))
        self._window = middle - half, middle + half
        for number in (0, 1):
            action = {"type": "dataZoom", "dataZoomIndex": number, "start": self._window[0], "end": self._window[1]}
            self._chart.run_chart_method("dispatchAction", action)

    def _open(self, event: EChartPointClickEventArguments) -> None:
        """Open the line of a point in the editor."""
        row = event.data_index
        if event.series_index == _CHOSEN:
            row = int(np.flatnonzero(self._map.owners == self._map.intents.index(self._chosen))[row])
        location = self._map.lines[row].location
        name = None if location is None else file_name(self._visit, location)
        if location is not None and name is not None:
            self._visit.go("edit", file=name, line=str(location.line))

    def _add_taken(self, cases: HeldOutCases) -> None:
        """Mark the lines that another intent takes when they are held out."""
        rows = misunderstood(self._map, cases).tolist()
        points = tuple(self._points[row] for row in rows)
        few = len(rows) <= _SHOWN_TAKEN * len(self._points)

        def mark(shown: bool) -> None:
            self._chart.options["series"][_TAKEN]["data"] = points if shown else ()
            self._chart.update()

        ui.switch("Mark the lines that another intent takes", value=few, on_change=lambda event: mark(event.value))
        mark(few)
        text = f"{len(rows)} of {len(self._points)} lines are taken by another intent when they are held out."
        tag("p", text, "st-muted st-small")

    def _list(self) -> None:
        rows = self._map.misplaced
        with card(f"Misplaced utterances ({len(rows)})"):
            if not rows:
                empty("No utterance is much nearer to another intent than to its own.")
                return
            self._rows = tag("div", classes="st-stack")
            self._more = ui.button("Show more", on_click=self._show_more).props("flat")
            self._show_more()

    def _show_more(self) -> None:
        rows, begin = self._map.misplaced, len(self._rows.default_slot.children)
        with self._rows:
            for row in rows[begin : begin + _AT_ONCE]:
                self._misplaced(row)
        self._more.set_visibility(len(self._rows.default_slot.children) < len(rows))

    def _misplaced(self, row: int) -> None:
        shown = self._map
        line, near = shown.lines[row], int(shown.neighbours[row])
        own, other = (shown.intents[int(shown.owners[at])] for at in (row, near))
        with tag("div", classes="st-move"):
            with tag("div", classes="st-stack st-grow"):
                words(line.text, "st-strong")
                with tag("div", classes="st-row st-small"):
                    intent_link(self._visit, own)
                    place(self._visit, line.location)
            with tag("div", classes="st-stack st-grow st-muted"):
                words(shown.lines[near].text)
                with tag("div", classes="st-row st-small"):
                    tag("span", "is near, of")
                    intent_link(self._visit, other)
            if line.template is None and self._visit.may("author"):
                move_button(self._visit, line, own, other)


def move_button(visit: Visit, line: Utterance, source: str, to: str) -> ui.button:
    """Draw the button that moves a line to another intent, after the author has seen what that does."""

    async def move() -> None:
        edit = MoveUtterance(line.text, to, source, line.language)
        await propose(visit, [edit], title=f"Move “{line.text}” to {to}", note=f"Move a line to {to}")

    button = ui.button(f"Move to {to}", icon="drive_file_move", on_click=move).props("outline no-caps dense")
    button.classes("st-action")
    button.props["aria-label"] = f"Move “{line.text}” to {to}"
    return button
