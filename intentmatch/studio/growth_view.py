"""See: the learning curve, and where ten more examples would help most."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from intentmatch.evaluation.insight.growth import MORE, Growth, LearningCurve
from intentmatch.studio.chart_style import PRIMARY, TEXT, axis, tooltip
from intentmatch.studio.parts import card, empty, tag
from intentmatch.studio.places import intent_link
from intentmatch.studio.visit import Visit

_AT_ONCE = 15


class GrowthView:
    """The curve, and the intents in the order of their gain."""

    def __init__(self, visit: Visit, curve: LearningCurve) -> None:
        self._visit, self._growths = visit, curve.growths
        if not curve.growths:
            empty("There are too few examples to leave some out.")
            return
        self._largest = max(growth.high for growth in curve.growths) or 1.0
        with tag("div", classes="st-columns"):
            with card(f"Where {MORE} more examples would help most"):
                text = "More of the intent's messages would find it; 8 of 10 estimates lie in the range in brackets."
                tag("p", text, "st-muted st-small")
                self._list = tag("ol", classes="st-growths")
                self._shown = 0
                self._more = ui.button("Show more", on_click=self._show_more).props("flat")
                self._show_more()
            with card("All intents together"):
                chart = ui.echart(_options(curve)).classes("st-curve")
                chart.props["role"] = "img"
                spoken = ", ".join(f"{accuracy:.0%} with {lines} examples" for lines, accuracy in curve.points)
                chart.props["aria-label"] = f"Examples, each left out, that find their intent: {spoken}."
                tag("p", f"Examples, each left out, that find their intent: {spoken}.", "st-muted st-small")

    def _show_more(self) -> None:
        some = self._growths[self._shown : self._shown + _AT_ONCE]
        with self._list:
            for growth in some:
                self._growth(growth)
        self._shown += len(some)
        self._more.set_visibility(self._shown < len(self._growths))

    def _growth(self, growth: Growth) -> None:
        with tag("li", classes="st-growth"):
            with tag("div", classes="st-row"):
                intent_link(self._visit, growth.intent)
                tag("span", f"{growth.utterances} examples, {growth.error:.0%} missed", "st-muted st-small")
                value = f"+{100 * growth.gain:.1f} points ({100 * growth.low:.1f} to {100 * growth.high:.1f})"
                tag("span", value, "st-small st-push")
            with tag("div", classes="st-meter", aria_hidden="true"):
                tag("div", classes="st-fill", style=f"width: {growth.gain / self._largest:.1%}")
                left, right = growth.low / self._largest, growth.high / self._largest
                tag("div", classes="st-range", style=f"inset-inline-start: {left:.1%}; width: {right - left:.1%}")


def _options(curve: LearningCurve) -> dict[str, Any]:
    points = [[lines, round(100 * accuracy, 2)] for lines, accuracy in curve.points]
    # From the ten below the lowest point: from 0, the curve would be a flat line.
    lowest = int(min(y for _, y in points) // 10 * 10)
    return {
        "animation": False,
        "grid": {"left": 12, "right": 24, "top": 24, "bottom": 36, "containLabel": True},
        "xAxis": axis("examples", type="value", nameLocation="middle", nameGap=28),
        "yAxis": axis(type="value", min=lowest, max=100) | {"axisLabel": {"color": TEXT, "formatter": "{value}%"}},
        "tooltip": tooltip("(p) => p.data[1] + '% with ' + p.data[0] + ' examples'"),
        "series": [
            {
                "type": "line",
                "data": points,
                "symbolSize": 9,
                "lineStyle": {"width": 2},
                "itemStyle": {"color": PRIMARY},
            }
        ],
    }
