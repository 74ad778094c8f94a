"""See: precision against coverage, and what changes when the target moves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from intentmatch.core.errors import IntentMatchError, public_text
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.target_effect import Moved, Rates, VerdictChange, coverage_curve, moved
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting
from intentmatch.studio.chart_style import PRIMARY, TEXT, WARN, axis, tooltip
from intentmatch.studio.confusion_view import figures
from intentmatch.studio.parts import badge, card, empty, in_thread, tag, words
from intentmatch.studio.places import place
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import answer_in_words

_LEAST, _MOST, _STEP = 50.0, 99.5, 0.5
_AT_ONCE = 25
_THROTTLE_SECONDS = 0.15
_CURVE, _NOW, _THEN = range(3)
# The point is dragged along the curve: where the mouse is, the server looks for the nearest precision.
_DRAG = """(chart) => {
  if (chart.studioDrag) return;
  chart.studioDrag = true;
  const root = chart.getZr();
  let held = false, sent = 0;
  const at = (event) => chart.convertFromPixel({gridIndex: 0}, [event.offsetX, event.offsetY]);
  const point = () => chart.convertToPixel({gridIndex: 0}, chart.getOption().series[2].data[0]);
  root.on("mousedown", (event) => {
    const [x, y] = point() ?? [-99, -99];
    held = Math.hypot(event.offsetX - x, event.offsetY - y) < 22;
  });
  root.on("mousemove", (event) => {
    if (!held) return;
    event.event.preventDefault?.();
    const now = Date.now();
    if (now - sent > 120) { sent = now; emitEvent("studio_target", at(event)); }
  });
  root.on("mouseup", (event) => { if (held) { held = false; emitEvent("studio_target", at(event)); } });
  root.on("globalout", () => { held = false; });
}"""


class TargetView:
    """The curve, the point, and the cases that change."""

    def __init__(self, visit: Visit, cases: HeldOutCases) -> None:
        self._visit, self._cases = visit, cases
        calibration = cases.artefact.calibration
        figures(cases)
        self._curve = coverage_curve(cases, calibration)
        if not self._curve or calibration.cut is None:
            empty("With more examples, thresholds are learned, and their target can be moved here.")
            return
        self._busy, self._again, self._shown = False, False, 0
        verdicts = moved(cases, cases.artefact.settings.target)
        self._moved: Moved = verdicts
        if cases.artefact.settings.threshold:
            text = "The setting `threshold` is the author's, so the target has no effect until it is removed."
            tag("p", text, "st-problem")
        with card("Precision and coverage of all thresholds"):
            self._chart = ui.echart(self._options(verdicts.before)).classes("st-curve")
            self._chart.props["role"] = "img"
            self._chart.props["aria-label"] = "Precision against coverage; the slider below moves the target."
            with tag("div", classes="st-row st-gap"):
                start = slider_start(cases.artefact.settings.target, verdicts)
                self._percent = start
                self._label = tag("span", f"Precision wanted: {start:.1f}%", "st-strong st-target")
                # A native control: Quasar's slider tells screen readers nothing while it has the focus.
                limits = {"min": f"{_LEAST}", "max": f"{_MOST}", "step": f"{_STEP}", "value": f"{start}"}
                self._slider = tag("input", classes="st-slider", type="range", **limits)
                self._slider.props["aria-label"] = "Precision wanted, in percent"
                self._slider.on("input", self._slid, js_handler="(event) => emit(event.target.value)")
                if visit.may("author"):
                    self._use = ui.button("Use this target", on_click=self._write).props("unelevated no-caps")
        self._place = tag("div", classes="st-stack st-gap", aria_live="polite")
        with self._place:
            text = "Drag the point or move the slider to see which examples change their answer."
            tag("p", text, "st-muted")
            if verdicts.note:
                tag("p", f"In use: {verdicts.note}.", "st-muted")
        ui.on("studio_target", lambda event: self._dragged(event.args))
        ui.timer(0.4, self._make_draggable, once=True)

    def _make_draggable(self) -> None:
        # The chart is there some time after its element.
        ui.run_javascript(
            f"const drag = {_DRAG}; let tries = 0; const timer = setInterval(() => {{"
            f"const chart = getElement({self._chart.id})?.chart; if (chart) drag(chart);"
            "if (chart || ++tries > 100) clearInterval(timer); }, 100);"
        )

    def _options(self, now: Rates) -> dict[str, Any]:
        percent = {"formatter": "{value}%"}
        points = [[round(100 * p.rates.coverage, 2), round(100 * p.rates.precision, 2)] for p in self._curve]
        here = [round(100 * now.coverage, 2), round(100 * now.precision, 2)]
        lowest = min(y for _, y in points)
        return {
            "animation": False,
            "grid": {"left": 12, "right": 24, "top": 32, "bottom": 36, "containLabel": True},
            "xAxis": axis("coverage", type="value", min=0, max=100, nameLocation="middle", nameGap=28)
            | {"axisLabel": {"color": TEXT, **percent}},
            "yAxis": axis("precision", type="value", min=int(lowest // 10 * 10), max=100)
            | {"axisLabel": {"color": TEXT, **percent}},
            "tooltip": tooltip("(p) => p.seriesName + ': ' + p.data[1] + '% right, ' + p.data[0] + '% answered'"),
            "legend": {"top": 0, "right": 12, "textStyle": {"color": TEXT}, "data": ["in use", "target"]},
            "series": [
                {
                    "name": "threshold",
                    "type": "line",
                    "data": points,
                    "showSymbol": False,
                    "smooth": 0.2,
                    "lineStyle": {"color": PRIMARY, "width": 2},
                    "areaStyle": {"color": PRIMARY, "opacity": 0.07},
                },
                {
                    "name": "in use",
                    "type": "scatter",
                    "data": [here],
                    "symbol": "diamond",
                    "symbolSize": 18,
                    "itemStyle": {"color": WARN, "opacity": 1},
                },
                {
                    "name": "target",
                    "type": "scatter",
                    "data": [here],
                    "symbolSize": 20,
                    "cursor": "grab",
                    "itemStyle": {"color": PRIMARY, "borderColor": "#ffffff", "borderWidth": 3, "opacity": 1},
                    "z": 5,
                },
            ],
        }

    async def _dragged(self, at: Any) -> None:
        """Follow the mouse: the target is the precision of the curve where the mouse is."""
        # It comes from a browser, which may send anything.
        if not (isinstance(at, list) and len(at) == 2 and all(isinstance(one, int | float) for one in at)):
            return
        x, y = at
        near = min(self._curve, key=lambda p: (100 * p.rates.coverage - x) ** 2 + (100 * p.rates.precision - y) ** 2)
        self._percent = min(_MOST, max(_LEAST, round(100 * near.rates.precision / _STEP) * _STEP))
        self._slider.props["value"] = f"{self._percent}"
        await self._move()

    async def _slid(self, event: GenericEventArguments) -> None:
        self._percent = min(_MOST, max(_LEAST, float(event.args)))
        await self._move()

    @property
    def _promised(self) -> dict[str, float]:
        """The confidence of the present target, if it is a promise; another precision is promised as well."""
        target = self._cases.artefact.settings.target
        return {"confidence": float(target["confidence"])} if "confidence" in target else {}

    @property
    def _target(self) -> float:
        return round(self._percent / 100, 4)

    async def _move(self) -> None:
        """Work out the newest value; those in between are left out."""
        self._label.set_text(f"Precision wanted: {self._percent:.1f}%")
        # Each value takes longer than a drag from one to the next.
        if self._busy:
            self._again = True
            return
        self._busy = True
        try:
            while True:
                self._again, target = False, self._target
                found = await in_thread(moved, self._cases, {"precision": target} | self._promised)
                if self._place.is_deleted:
                    return
                if not self._again:
                    break
                await asyncio.sleep(_THROTTLE_SECONDS)
            self._draw(found)
        finally:
            self._busy = False

    def _draw(self, found: Moved) -> None:
        self._moved = found
        after = found.after
        then = [round(100 * after.coverage, 2), round(100 * after.precision, 2)]
        self._chart.options["series"][_THEN]["data"] = [then]
        self._chart.update()
        self._place.clear()
        with self._place, card("What changes"):
            with tag("div", classes="st-figures"):
                for old, new, name in (
                    (found.before.precision, after.precision, "of the answers are right"),
                    (found.before.coverage, after.coverage, "of messages that belong to an intent are answered"),
                    (found.before.refused, after.refused, "of other messages are refused"),
                ):
                    with tag("div", classes="st-figure"):
                        tag("span", f"{new:.1%}", "st-number-large")
                        tag("span", f"{100 * (new - old):+.1f} points", "st-small")
                        tag("span", name, "st-muted st-small")
            if found.note:
                tag("p", f"{found.note[:1].upper()}{found.note[1:]}.", "st-muted")
            with tag("div", classes="st-row"):
                better, worse = found.count("better"), found.count("worse")
                badge(f"{better} better", "good" if better else "plain")
                badge(f"{worse} worse", "bad" if worse else "plain")
                badge(f"{len(found.changes) - better - worse} otherwise")
            self._changes = tag("ul", classes="st-lines")
            self._shown = 0
            self._more = ui.button("Show more", on_click=self._show_more).props("flat")
            self._show_more()

    def _show_more(self) -> None:
        some = self._moved.changes[self._shown : self._shown + _AT_ONCE]
        with self._changes:
            for change in some:
                self._change(change)
        self._shown += len(some)
        self._more.set_visibility(self._shown < len(self._moved.changes))

    def _change(self, change: VerdictChange) -> None:
        line = self._cases.line(change.case)
        if line is None:
            return
        known = bool(self._cases.held_out.known[change.case])
        with tag("li", classes="st-row"):
            badge(change.effect, {"better": "good", "worse": "bad"}.get(change.effect, "plain"))  # type: ignore[arg-type]
            words(line.text)
            tag("span", f"{self._words(change.before)} → {self._words(change.after)}", "st-mono st-muted")
            if not known:
                tag("span", "as if its intent did not exist", "st-muted st-small")
            with tag("span", classes="st-small st-push"):
                place(self._visit, line.location)

    def _words(self, verdict: int) -> str:
        return answer_in_words(self._cases.answer(verdict))

    async def _write(self) -> None:
        registry = self._cases.registry
        try:
            files = [Path(change) for change in sorted(self._visit.bot.workspace.files())]
        except IntentMatchError as error:
            self._visit.tell(public_text(error), "negative")
            return
        place_of = registry.setting_locations.get("target") or next(iter(registry.setting_locations.values()), None)
        file = Path(place_of.path) if place_of is not None else self._visit.bot.workspace.base / files[0]
        parts = {"precision": self._target} | self._promised
        written = ",".join(f"{name}={value:g}" for name, value in parts.items())
        edit = ChangeSettings(file, {"target": Setting(written)})
        title = f"Set the target to a precision of {self._target:.1%}"
        await propose(self._visit, [edit], title=title, note=f"Target: precision {self._target:.1%}")


def slider_start(target: Mapping[str, float], verdicts: Moved) -> float:
    """Return the percentage at which the slider begins: that of the point where the target is not reached."""
    reached = verdicts.before.precision
    wanted = reached if verdicts.note else float(target.get("precision", reached))
    return min(_MOST, max(_LEAST, round(100 * wanted / _STEP) * _STEP))
