"""See: the map of all utterances. A click opens the line in the editor; misplaced lines can be moved."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from nicegui import json, ui
from nicegui.events import EChartPointClickEventArguments, ValueChangeEventArguments
from numpy.typing import NDArray

from intentmatch.authoring.insights import held_out_of
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.utterance_map import UtteranceMap, misunderstood
from intentmatch.studio.chart_style import BAD, PRIMARY, WARN, numbers, palette, shortened, tooltip
from intentmatch.studio.insight_part import InsightPart
from intentmatch.studio.parts import card, empty, tag, words
from intentmatch.studio.places import file_name, intent_link, place
from intentmatch.studio.remedies import line_to_reword, remedies
from intentmatch.studio.visit import Visit

_EVERY = "every intent"
_MOST_NAMES = 60
_AT_ONCE = 10
# More rings than this share of the points would hide the map.
_SHOWN_TAKEN = 0.05
_MANY = 3000
# Dots below 4 pixels are drawn as squares, which takes less time.
_SMALL = 3.9
# More cannot be told apart.
_MOST_COLOURS = 36
# Places are whole numbers, which are short.
_SCALE = 1000


class MapView:
    """The map on one page."""

    def __init__(self, visit: Visit, shown: UtteranceMap, cases: HeldOutCases | None = None) -> None:
        """Without `cases`, they are waited for, and the lines that another intent takes are marked later."""
        self._visit, self._map = visit, shown
        self._by, self._chosen = "intent", _EVERY
        self._languages = sorted({line.language or "" for line in shown.lines})
        self._taken = np.empty(0, dtype=np.int64) if cases is None else self._few(misunderstood(shown, cases))
        if not shown.lines:
            empty("There are no examples yet.")
            return
        with card():
            with tag("div", classes="st-row"):
                self._tools()
            self._chart = ui.echart(self._options(), on_point_click=self._open).classes("st-map")
            misplaced = len(shown.misplaced)
            self._chart.props["role"] = "img"
            self._chart.props["aria-label"] = (
                f"Map of {len(shown.lines)} examples of {len(shown.intents)} intents; {misplaced} look misplaced. "
                "The list below has the same lines."
            )
            self._legend()
            self._send_lines()
            InsightPart(
                lambda: held_out_of(visit.bot.matcher), self._add_taken, waiting="Leaving out examples in turn:"
            )
        self._list()

    def _tools(self) -> None:
        ui.toggle({"intent": "By intent", "language": "By language"}, value=self._by, on_change=self._colour).props(
            "unelevated no-caps toggle-color=primary"
        ).props["aria-label"] = "Colour"
        pick = ui.select([_EVERY], value=_EVERY, label="Intent", with_input=True, on_change=self._choose)
        pick.props("outlined dense options-dense").classes("st-pick")
        # Once the page is there: a list of hundreds takes as long as all else of it.
        ui.timer(0, lambda: pick.set_options([_EVERY, *sorted(self._map.intents)]), once=True)
        with tag("div", classes="st-row st-push"):
            for icon, label, factor in (("zoom_in", "Zoom in", 0.6), ("zoom_out", "Zoom out", 1 / 0.6)):
                button = ui.button(icon=icon, on_click=partial(self._zoom, factor)).props("flat round dense")
                button.props["aria-label"] = label
            button = ui.button(icon="fit_screen", on_click=partial(self._zoom, None)).props("flat round dense")
            button.props["aria-label"] = "Show everything"
        self._window = (0.0, 100.0)

    def _legend(self) -> None:
        with tag("div", classes="st-row st-muted st-small st-gap"):
            for colour, text in (
                (BAD, "much nearer to another intent"),
                (WARN, "taken by another intent, if left out"),
            ):
                with tag("span", classes="st-row"):
                    tag("span", classes="st-ring", aria_hidden="true", style=f"border-color: {colour}")
                    tag("span", text)
            tag("span", "A click opens the line. Drag to move, Ctrl and the wheel to zoom.", "st-push st-wide-only")

    def _options(self) -> dict[str, Any]:
        shown = self._map
        places = np.rint(_SCALE * shown.positions).astype(np.int64)
        self._points = np.column_stack([places, np.arange(len(shown.lines))])
        hidden = {"show": False, "min": -1.06 * _SCALE, "max": 1.06 * _SCALE}
        zoom = {"type": "inside", "filterMode": "none", "zoomOnMouseWheel": "ctrl"}
        return {
            "animation": False,
            "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
            "xAxis": dict(hidden),
            "yAxis": dict(hidden),
            "dataZoom": [{**zoom, "xAxisIndex": 0}, {**zoom, "yAxisIndex": 0}],
            "tooltip": tooltip("(point) => window.mapLines?.[point.value[2]] ?? ''"),
            "series": self._series(),
        }

    def _send_lines(self) -> None:
        """Send what the tooltips say, which comes after the map: it is most of the text of the page."""
        owners = self._map.owners.tolist()
        lines = [
            f"{shortened(line.text)}\n{self._map.intents[owner]}"
            for line, owner in zip(self._map.lines, owners, strict=True)
        ]
        ui.run_javascript(f"window.mapLines = {json.dumps(lines)}")

    def _series(self) -> list[dict[str, Any]]:
        """Return the lines of each colour, what is marked among them, and the names of intents."""
        if self._by == "intent":
            kinds, count = self._map.owners, len(self._map.intents)
        else:
            number = {code: place for place, code in enumerate(self._languages)}
            kinds = np.array([number[line.language or ""] for line in self._map.lines], dtype=np.int64)
            count = len(number)
        colours = palette(min(count, _MOST_COLOURS))
        chosen = self._chosen != _EVERY
        own = self._map.intents.index(self._chosen) if chosen else -1
        size = _SMALL if len(self._points) > _MANY else 8
        self._clickable = [np.flatnonzero(kinds % len(colours) == colour) for colour in range(len(colours))]
        series = [
            self._dots(rows, size, {"color": colour, "opacity": 0.15 if chosen else 0.8})
            for rows, colour in zip(self._clickable, colours, strict=True)
        ]
        self._clickable.append(np.flatnonzero(self._map.owners == own))
        series.append(self._dots(self._clickable[-1], size + 4, {"color": PRIMARY}))
        for rows, colour, larger in ((self._taken, WARN, 5), (np.array(self._map.misplaced, np.int64), BAD, 8)):
            style = {"color": "transparent", "borderColor": colour, "borderWidth": 2, "opacity": 0.9}
            # A click goes through the ring to the dot, which has the row.
            series.append({**self._dots(rows, size + larger, style), "silent": True})
        return [*series, self._names()]

    def _dots(self, rows: NDArray[np.int64], size: float, style: dict[str, Any]) -> dict[str, Any]:
        # One drawing for all dots of a series instead of one for each: ten times as fast. It fails without any dots.
        drawn_at_once = {"large": len(rows) > 0, "largeThreshold": 0}
        return {
            "type": "scatter",
            "dimensions": ["x", "y", "row"],
            ":data": numbers(self._points[rows]),
            "symbolSize": size,
            "itemStyle": style,
            **drawn_at_once,
        }

    def _names(self) -> dict[str, Any]:
        """Return the names of the largest intents, in the middle of their lines."""
        shown = self._map
        sizes = np.bincount(shown.owners, minlength=len(shown.intents))
        largest = np.argsort(-sizes, kind="stable")[:_MOST_NAMES].tolist() if self._by == "intent" else []
        found = []
        for intent in (one for one in largest if sizes[one]):
            found.append({"name": shown.intents[intent], "value": self._middle(shown.owners == intent)})
        label = {
            "show": True,
            "formatter": "{b}",
            "color": "#ffffff",
            "backgroundColor": "rgba(29, 35, 48, 0.66)",
            "borderRadius": 4,
            "padding": [2, 5],
            "fontSize": 11,
        }
        style = {"color": "transparent"}
        return {
            "type": "scatter",
            "silent": True,
            "data": found,
            "symbolSize": 1,
            "itemStyle": style,
            "label": label,
            "labelLayout": {"hideOverlap": True},
        }

    def _middle(self, rows: NDArray[np.bool_]) -> list[float]:
        # The median, which a few stray lines do not move.
        middle: list[float] = np.median(self._points[rows, :2], axis=0).tolist()
        return middle

    def _draw(self) -> None:
        self._chart.options["series"] = self._series()

    def _colour(self, event: ValueChangeEventArguments[str]) -> None:
        self._by = event.value
        self._draw()
        self._visit.announce(f"Coloured by {self._by}")

    def _choose(self, event: ValueChangeEventArguments[str]) -> None:
        self._chosen = event.value or _EVERY
        self._draw()
        chosen = self._chosen != _EVERY
        self._visit.announce(f"{len(self._clickable[-1])} examples of {self._chosen}" if chosen else "")

    def _zoom(self, factor: float | None) -> None:
        middle, half = sum(self._window) / 2, (self._window[1] - self._window[0]) / 2
        # At most 50 to either side is all of the map, and at least 2 of it can be told apart.
        half = 50.0 if factor is None else min(50.0, max(2.0, half * factor))
        middle = 50.0 if factor is None else min(100.0 - half, max(half, middle))
        self._window = middle - half, middle + half
        for number in (0, 1):
            action = {"type": "dataZoom", "dataZoomIndex": number, "start": self._window[0], "end": self._window[1]}
            self._chart.run_chart_method("dispatchAction", action)

    def _open(self, event: EChartPointClickEventArguments) -> None:
        """Open the line of a point in the editor."""
        row = int(self._clickable[event.series_index][event.data_index])
        location = self._map.lines[row].location
        name = None if location is None else file_name(self._visit, location)
        if location is not None and name is not None:
            self._visit.go("edit", file=name, line=str(location.line))

    def _add_taken(self, cases: HeldOutCases) -> None:
        """Mark the lines that another intent takes when they are left out."""
        rows = misunderstood(self._map, cases)

        def mark(shown: NDArray[np.int64]) -> None:
            # All or none are marked, so that their number tells what is drawn.
            if len(shown) != len(self._taken):
                self._taken = shown
                self._draw()

        few = self._few(rows)
        ui.switch(
            "Mark the lines that another intent takes",
            value=len(few) == len(rows),
            on_change=lambda event: mark(rows if event.value else rows[:0]),
        )
        mark(few)
        text = f"{len(rows)} of {len(self._points)} lines are taken by another intent when they are left out."
        tag("p", text, "st-muted st-small")

    def _few(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return these rows if their rings would not hide the map, and none otherwise."""
        return rows if len(rows) <= _SHOWN_TAKEN * len(self._map.lines) else rows[:0]

    def _list(self) -> None:
        rows = self._map.misplaced
        with card(f"Examples near another intent ({len(rows)})"):
            if not rows:
                empty("No example is much nearer to another intent than to its own.")
                return
            self._rows = tag("div", classes="st-stack")
            self._more = ui.button("Show more", on_click=self._show_more).props("flat")
            # Below the map, and drawn while the browser draws that.
            ui.timer(0, self._show_more, once=True)

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
                line_to_reword(self._visit, line, own)
                with tag("div", classes="st-row st-small"):
                    intent_link(self._visit, own)
                    place(self._visit, line.location)
            with tag("div", classes="st-stack st-grow st-muted"):
                words(shown.lines[near].text)
                with tag("div", classes="st-row st-small"):
                    tag("span", "is near, of")
                    intent_link(self._visit, other)
            if self._visit.may("author"):
                remedies(self._visit, line, own, other if row in shown.movable else None)
