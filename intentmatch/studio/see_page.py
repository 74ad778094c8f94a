"""The screen See: a map of all utterances, overlaps, confusions, the target, languages, and the learning curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from nicegui import ui

from intentmatch.authoring.insights import Ready, held_out_of, learning_curve_of, overlaps_of, utterance_map_of
from intentmatch.evaluation.insight.utterance_map import UtteranceMap
from intentmatch.studio.confusion_view import ConfusionView
from intentmatch.studio.coverage_view import coverage_view
from intentmatch.studio.following import follow
from intentmatch.studio.growth_view import GrowthView
from intentmatch.studio.insight_part import InsightPart
from intentmatch.studio.map_view import MapView
from intentmatch.studio.overlap_view import OverlapView
from intentmatch.studio.parts import heading, in_thread, tag
from intentmatch.studio.preloading import preload
from intentmatch.studio.target_view import TargetView
from intentmatch.studio.visit import Visit

_SECONDS_FOR_CASES = 0.2


class _View(NamedTuple):
    """A tab of the screen, and what draws it."""

    title: str
    icon: str
    draw: Callable[[Visit], InsightPart[Any]]
    has_chart: bool


async def show(visit: Visit) -> None:
    """Draw the screen, with the tab that the address names in `view`."""
    heading("See", "How the examples lie, which intents are confused, and what would help.")
    asked = ui.context.client.request.query_params.get("view", "")
    tabs = ui.tabs().props("inline-label no-caps outside-arrows mobile-arrows align=left")
    with tabs.classes("st-tabs"):
        for name, view in _VIEWS.items():
            ui.tab(name, label=view.title, icon=view.icon)
    panel = tag("div", classes="st-stack st-gap", role="region", aria_label="What the tab shows")

    def draw() -> InsightPart[Any]:
        panel.clear()
        with panel:
            return _VIEWS[str(tabs.value)].draw(visit)

    tabs.set_value(asked if asked in _VIEWS else "map")
    if _VIEWS[str(tabs.value)].has_chart:
        preload(visit.root, ui.echart)
    shown = draw()

    def choose() -> None:
        nonlocal shown
        address = visit.url("see", view=str(tabs.value))
        # In place of the entry: the back button leaves the screen and does not go through its tabs.
        ui.run_javascript(f"history.replaceState(history.state, '', {address!r})")
        shown = draw()

    tabs.on_value_change(choose)
    # Before `follow`: its timer waits for the browser, upon which the page is sent.
    await shown.begun()

    def changed() -> None:
        shown.refresh()

    follow(visit, changed, registry=True)


def _map(visit: Visit) -> InsightPart[Any]:
    async def draw(found: UtteranceMap) -> None:
        # Long enough to read the cases that the training has left in the cache: the map is then drawn once.
        held_out = await in_thread(held_out_of, visit.bot.matcher, _SECONDS_FOR_CASES)
        MapView(visit, found, held_out.value if isinstance(held_out, Ready) else None)

    return InsightPart(lambda: utterance_map_of(visit.bot.matcher), draw, waiting="Drawing the map:")


def _overlaps(visit: Visit) -> InsightPart[Any]:
    return InsightPart(
        lambda: overlaps_of(visit.bot.matcher), lambda found: _ignore(OverlapView(visit, found)), waiting="Comparing:"
    )


def _confusion(visit: Visit) -> InsightPart[Any]:
    return InsightPart(
        lambda: held_out_of(visit.bot.matcher),
        lambda cases: _ignore(ConfusionView(visit, cases)),
        waiting="Cross-validating:",
    )


def _target(visit: Visit) -> InsightPart[Any]:
    return InsightPart(
        lambda: held_out_of(visit.bot.matcher),
        lambda cases: _ignore(TargetView(visit, cases)),
        waiting="Cross-validating:",
    )


def _languages(visit: Visit) -> InsightPart[Any]:
    return InsightPart(lambda: Ready(visit.bot.matcher.registry), lambda registry: coverage_view(visit, registry))


def _growth(visit: Visit) -> InsightPart[Any]:
    return InsightPart(
        lambda: learning_curve_of(visit.bot.matcher),
        lambda curve: _ignore(GrowthView(visit, curve)),
        waiting="Measuring with fewer examples:",
    )


def _ignore(_: object) -> None:
    """Return nothing, for a part whose view is an object."""


_VIEWS = {
    "map": _View("Map", "scatter_plot", _map, has_chart=True),
    "overlaps": _View("Overlaps", "join_inner", _overlaps, has_chart=False),
    "confusion": _View("Confusion", "grid_on", _confusion, has_chart=True),
    "target": _View("Target", "tune", _target, has_chart=True),
    "languages": _View("Languages", "translate", _languages, has_chart=False),
    "growth": _View("Growth", "trending_up", _growth, has_chart=True),
}
