"""See: which intents are taken for which, from held-out cases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import EChartPointClickEventArguments

from intentmatch.evaluation.insight.confusion_matrix import ConfusedPair, confused_pairs, confusion_matrix
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.target_effect import rates
from intentmatch.studio.chart_style import BAD, GOOD, TEXT, axis, tooltip
from intentmatch.studio.parts import badge, bring_into_view, card, empty, tag, words
from intentmatch.studio.places import intent_link, place
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import ANSWERS

_AT_ONCE = 15
_MOST_CASES = 40
_LABELS_WIDE, _CELL_WIDE = 170, 30  # pixels
_WORDS = {**ANSWERS, "others": "other intents"}


class ConfusionView:
    """The matrix, the list of pairs, and the cases of one pair."""

    def __init__(self, visit: Visit, cases: HeldOutCases) -> None:
        self._visit, self._cases = visit, cases
        self._verdicts = cases.verdicts(cases.artefact.calibration)
        self._pairs = confused_pairs(cases, self._verdicts)
        self._between = [pair for pair in self._pairs if pair.expected not in _WORDS and pair.answer not in _WORDS]
        figures(cases)
        if not self._pairs:
            empty("Every example got the right answer when it was left out.")
            return
        self._matrix = confusion_matrix(cases, self._verdicts, self._pairs)
        with card("Answers to examples that were left out, of the intents that are confused most"):
            rows = len(self._matrix.expected)
            # Narrower cells cannot be read: on a phone the matrix scrolls.
            width = _LABELS_WIDE + _CELL_WIDE * len(self._matrix.answers)
            with tag("div", classes="st-scroll"):
                chart = ui.echart(self._options(), on_point_click=self._clicked).classes("st-matrix")
            chart.style(f"height: {140 + 24 * rows}px; --st-least: {width}px")
            chart.props["role"] = "img"
            chart.props["aria-label"] = f"Confusion matrix of {rows - 1} intents; the list below names each pair."
        with tag("div", classes="st-two"):
            with card(f"Confused pairs ({len(self._pairs)})"):
                if self._between and len(self._between) < len(self._pairs):
                    kinds = {True: "Between intents", False: "All"}
                    toggle = ui.toggle(kinds, value=True, on_change=lambda event: self._choose(event.value))
                    toggle.props("unelevated no-caps toggle-color=primary").props["aria-label"] = "Pairs"
                self._list = tag("div", classes="st-stack st-choices")
                self._more = ui.button("Show more", on_click=self._show_more).props("flat")
            self._detail = tag("div", classes="st-stack st-opened", aria_live="polite")
        self._buttons: list[ui.button] = []
        self._choose(bool(self._between))

    def _choose(self, between: bool) -> None:
        """List the pairs of two intents, or all pairs."""
        self._listed = self._between if between else self._pairs
        self._buttons.clear()
        self._list.clear()
        self._show_more()
        self._open(self._listed[0])

    def _options(self) -> dict[str, Any]:
        matrix = self._matrix
        last = len(matrix.expected) - 1
        wrong: list[list[float]] = []
        right: list[list[float]] = []
        for row, (expected, counts) in enumerate(zip(matrix.expected, matrix.counts, strict=True)):
            total = max(1, sum(counts))
            for column, count in enumerate(counts):
                if count:
                    # The chart counts rows from below, and the first belongs on top.
                    cell = [column, last - row, round(count / total, 4), count]
                    (right if matrix.answers[column] == expected else wrong).append(cell)
        columns = [_WORDS.get(name, name) for name in matrix.answers]
        rows = [_WORDS.get(name, name) for name in reversed(matrix.expected)]
        edge = {"textBorderColor": "rgba(0, 0, 0, 0.7)", "textBorderWidth": 2}  # white is hard to read on pale cells
        label = {"show": True, "formatter": "{@[3]}", "fontSize": 11, "color": "#ffffff", **edge}
        ramp = {"show": False, "dimension": 2, "min": 0, "max": 1}
        small = {"color": TEXT, "fontSize": 11, "interval": 0, "overflow": "truncate"}
        return {
            "animation": False,
            "grid": {"left": 8, "right": 8, "top": 8, "bottom": 4, "containLabel": True},
            "xAxis": axis(type="category", data=columns, position="top", splitArea={"show": False})
            | {"axisLabel": {**small, "rotate": 50, "width": 120}},
            "yAxis": axis(type="category", data=rows) | {"axisLabel": {**small, "width": 150}},
            "tooltip": tooltip("(p) => p.data[3] + ' examples, ' + Math.round(p.data[2] * 100) + '%'"),
            "visualMap": [
                {**ramp, "seriesIndex": 0, "inRange": {"color": ["rgba(47,158,99,0.45)", GOOD]}},
                # Mistakes are a small share of a row: on the full scale, all of them would be pale.
                {**ramp, "seriesIndex": 1, "max": 0.4, "inRange": {"color": ["rgba(217,83,74,0.45)", BAD]}},
            ],
            "series": [
                {"type": "heatmap", "data": right, "label": label, "name": "right"},
                {"type": "heatmap", "data": wrong, "label": label, "name": "wrong"},
            ],
        }

    def _clicked(self, event: EChartPointClickEventArguments) -> None:
        cell: Any = event.data
        column, row = int(cell[0]), len(self._matrix.expected) - 1 - int(cell[1])
        wanted = self._matrix.expected[row], self._matrix.answers[column]
        found = next((pair for pair in self._pairs if (pair.expected, pair.answer) == wanted), None)
        if found is not None:
            self._pressed(found)

    def _pressed(self, pair: ConfusedPair) -> None:
        self._open(pair)
        bring_into_view(self._detail)

    def _show_more(self) -> None:
        begin = len(self._buttons)
        with self._list:
            for pair in self._listed[begin : begin + _AT_ONCE]:
                button = ui.button(on_click=partial(self._pressed, pair)).props("flat no-caps align=left")
                with button.classes("st-choice"), tag("div", classes="st-row st-wide"):
                    tag("span", _WORDS.get(pair.expected, pair.expected), "st-mono", dir="auto")
                    tag("span", "→", aria_label="taken for")
                    tag("span", _WORDS.get(pair.answer, pair.answer), "st-mono", dir="auto")
                    tag("span", str(len(pair.cases)), "st-badge st-push")
                self._buttons.append(button)
        self._more.set_visibility(len(self._buttons) < len(self._listed))

    def _open(self, pair: ConfusedPair) -> None:
        # Only the pairs shown so far have buttons.
        for other, button in zip(self._listed, self._buttons, strict=False):
            button.props["aria-pressed"] = str(other is pair).lower()
            button.classes(**{"add" if other is pair else "remove": "st-chosen"})
        self._detail.clear()
        with self._detail, card():
            with tag("div", classes="st-row"):
                _answer(self._visit, pair.expected)
                tag("span", "was answered with")
                _answer(self._visit, pair.answer)
            case_lines(self._visit, self._cases, pair.cases[:_MOST_CASES])
            if len(pair.cases) > _MOST_CASES:
                tag("p", f"… and {len(pair.cases) - _MOST_CASES} more", "st-muted st-small")


def _answer(visit: Visit, name: str) -> None:
    if name in _WORDS:
        badge(_WORDS[name])
    else:
        intent_link(visit, name)


def case_lines(visit: Visit, cases: HeldOutCases, numbers: Sequence[int]) -> None:
    """Draw the lines of held-out cases, each with a link to its place."""
    with tag("ul", classes="st-lines"):
        for case in numbers:
            line = cases.line(case)
            if line is None:
                continue
            with tag("li", classes="st-row"):
                words(line.text)
                with tag("span", classes="st-small st-push"):
                    place(visit, line.location)


def figures(cases: HeldOutCases) -> None:
    """Draw the rates of the thresholds in use."""
    calibration = cases.artefact.calibration
    found = rates(cases, cases.verdicts(calibration))
    with tag("div", classes="st-figures"):
        for share, name in (
            (found.precision, "of the answers are right"),
            (found.coverage, "of messages that belong to an intent are answered"),
            (found.refused, "of other messages are refused"),
        ):
            with tag("div", classes="st-figure"):
                tag("span", f"{share:.1%}", "st-number-large")
                tag("span", name, "st-muted st-small")
    if calibration.curve is None:
        text = "There are too few examples to learn when to answer: here the nearest intent is always matched."
        tag("p", text, "st-muted")
