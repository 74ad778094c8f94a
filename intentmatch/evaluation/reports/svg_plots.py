"""Plots as SVG text for an HTML page: no scripts, colours from the CSS classes of the page, a title for every mark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from intentmatch.core.errors import counted
from intentmatch.evaluation.curve import Point
from intentmatch.evaluation.metrics import Bin, CoveragePoint, IntentRow
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.robustness import TITLES, RobustnessPart
from intentmatch.evaluation.traits import TraitRow

_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 24, 14, 44
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_DOT = 3.0
_LARGEST_DOT = 11.0

KINDS = {"right": "right", "asked": "asked about", "refused": "lost", "other": "other intents"}
"""Possible results of a message: CSS class of a bar to the label in the legend."""
ANSWER_KINDS = {"right": "right", "refused": "no answer", "other": "another answer"}
"""Possible results of a line of a question, in the same way."""

_ROW = 18
# Narrow enough to be read on a phone.
_BARS_WIDTH = 560
_NAMES_WIDTH = 190
_LONGEST_BAR = _BARS_WIDTH - _NAMES_WIDTH - 50
_CELL = 30
_LONGEST_NAME = 26
DEEPEST = 0.55
"""Opacity of the deepest cell, on which the page's text is still read well."""
# Columns for answers without a single intent.
_NO_INTENT = ("(asks)", "(refuses)")


def coverage_plot(curve: Sequence[CoveragePoint], coverage: float | None, precision: float | None) -> str:
    """Plot precision against coverage, with a mark at the threshold in use."""
    marks = _path([(step.coverage, step.precision) for step in curve], "line")
    for step in curve:
        right = f"{step.coverage:.1%} answered, {step.precision:.1%} of them right"
        says = f"{right}, with a confidence or score from {step.cut:.2f} on"
        marks += _dot(step.coverage, step.precision, says, radius=1.5)
    if coverage is not None and precision is not None:
        says = f"threshold in use: {coverage:.1%} answered, {precision:.1%} of them right"
        marks += _dot(coverage, precision, says, "mark", 6)
    desc = "How often the first intent is right when only messages above a threshold are answered."
    return _plot("Precision by coverage", desc, "share of messages answered", "share of answers right", marks)


def reliability_plot(reliability: Sequence[Bin]) -> str:
    """Plot the share of correct answers against confidence; the diagonal is perfect calibration."""
    most = max((b.cases for b in reliability), default=1)
    marks = _path([(0.0, 0.0), (1.0, 1.0)], "guide")
    marks += _path([(b.confidence, b.right) for b in reliability], "line")
    for b in reliability:
        says = f"{counted(b.cases, 'message')} with a mean confidence of {b.confidence:.0%}: {b.right:.0%} right"
        # The square root, so that the area grows with the number.
        marks += _dot(b.confidence, b.right, says, radius=_DOT + (_LARGEST_DOT - _DOT) * math.sqrt(b.cases / most) / 2)
    desc = "Bins of equal size; below the diagonal the matcher is overconfident, above it underconfident."
    return _plot("Reliability of the confidence", desc, "confidence", "share right", marks)


def learning_plot(points: Sequence[Point]) -> str:
    """Plot accuracy against the share of each intent's utterances."""
    marks = _path([(point.share, point.accuracy) for point in points], "line")
    for point in points:
        says = f"{point.share:.0%} of the utterances ({point.utterances}): {point.accuracy:.1%} right"
        marks += _dot(point.share, point.accuracy, says, radius=4)
        x, y = _at(point.share, point.accuracy)
        # The last value would leave the plot on the right.
        marks += _text(x, y - 9, f"{point.accuracy:.1%}", "value", "end" if point.share == 1.0 else "middle")
    desc = "Accuracy on held-out utterances as the registry grows; if it still rises, more utterances would help."
    return _plot("Learning curve", desc, "share of each intent's utterances", "share right", marks)


def intent_bars(rows: Sequence[IntentRow]) -> str:
    """Plot the results of each intent's messages as bars, worst intent first."""
    ranked = sorted((row for row in rows if row.cases), key=lambda row: (row.right / row.cases, row.intent))
    marks = ""
    for number, row in enumerate(ranked):
        counts = (row.right, row.asked, row.lost, row.cases - row.right - row.asked - row.lost)
        shares = [
            (kind, count / row.cases, f"{count} of {row.cases} {what}")
            for (kind, what), count in zip(KINDS.items(), counts, strict=True)
        ]
        marks += _bars(number, row.intent, shares)
    desc = "Share of each intent's messages that were right, asked about, lost or answered with other intents."
    return _bar_chart("Intents, worst first", desc, len(ranked), marks)


def question_bars(rows: Sequence[TraitRow]) -> str:
    """Plot how the held-out lines of each question were answered."""
    marks = ""
    for number, row in enumerate(rows):
        shares = zip(ANSWER_KINDS.items(), (row.right, max(0.0, 1 - row.right - row.wrong), row.wrong), strict=True)
        of = f"of {counted(row.lines, 'line')}"
        marks += _bars(
            number, row.question, [(kind, share, f"{share:.1%} {of} {what}") for (kind, what), share in shares]
        )
    desc = "Share of each question's held-out lines with the right answer, without an answer and with another answer."
    return _bar_chart("Questions", desc, len(rows), marks)


def robustness_bars(parts: Sequence[RobustnessPart]) -> str:
    """Plot the share of each part's messages that were answered rightly, with a mark at the share as written."""
    marks = ""
    for number, part in enumerate(parts):
        title, right = TITLES[part.name], part.share or 0.0
        says = f"{right:.1%} of {counted(len(part.trials), 'message')} answered rightly"
        marks += _bars(
            number, title, [("right", right, says), ("other", 1 - right, f"{1 - right:.1%} answered wrongly")]
        )
        if part.share_before is not None:
            x = _NAMES_WIDTH + _LONGEST_BAR * part.share_before
            before = f"{title}: {part.share_before:.1%} of the same messages were answered rightly as written"
            marks += _box(x - 1.5, number * _ROW, size=(3, _ROW), kind="written", says=before)
    desc = "Share of messages answered rightly; the dark mark is the share of the same messages as they were written."
    return _bar_chart("Robustness", desc, len(parts), marks)


def _bars(number: int, name: str, shares: Sequence[tuple[str, float, str]]) -> str:
    """Draw a row of bars beside each other, with the first share as text behind them.

    `shares` are kind, length and title of each; together they are 1 long.
    """
    y = number * _ROW
    marks = _text(_NAMES_WIDTH - 8, y + 13, _short(name), "label", "end")
    start = float(_NAMES_WIDTH)
    for kind, share, says in shares:
        width = _LONGEST_BAR * share
        marks += _box(start, y + 2, size=(width, _ROW - 4), kind=kind, says=f"{name}: {says}")
        start += width
    return marks + _text(_NAMES_WIDTH + _LONGEST_BAR + 6, y + 13, f"{shares[0][1]:.0%}", "value")


def _bar_chart(title: str, desc: str, rows: int, marks: str) -> str:
    return _svg(title, desc, _BARS_WIDTH, max(1, rows) * _ROW + 4, marks)


def heat_map(outcomes: Sequence[Outcome], most: int = 14) -> str:
    """Plot the part of the confusion matrix with the most mistakes; rows: expected intent; columns: answer.

    Empty if no message that expects a single intent was answered wrongly.
    """
    counts = Counter((o.case.expected, _column(o)) for o in outcomes if isinstance(o.case.expected, str))
    names = _worst(counts, most)
    if not names:
        return ""
    columns = [*names, *(answer for answer in _NO_INTENT if any(counts[name, answer] for name in names))]
    largest = max((counts[a, b] for a in names for b in columns if a != b), default=0) or 1
    marks = ""
    for row, expected in enumerate(names):
        y = row * _CELL
        marks += _text(_NAMES_WIDTH - 8, y + 19, _short(expected), "label", "end")
        for column, answer in enumerate(columns):
            marks += _cell(_NAMES_WIDTH + column * _CELL, y, (expected, answer), counts[expected, answer], largest)
    bottom = len(names) * _CELL
    for column, answer in enumerate(columns):
        x = _NAMES_WIDTH + column * _CELL + _CELL / 2 + 3
        rotation = f"rotate(-55 {x:.1f} {bottom + 8})"
        marks += _text(x, bottom + 8, _short(answer), "label", "end", transform=rotation)
    desc = (
        "How often messages of the row's intent were answered with the column's intent, for the most confused intents."
    )
    return _svg("Confusions", desc, _NAMES_WIDTH + len(columns) * _CELL + 10, bottom + 150, marks)


def _cell(x: float, y: float, pair: tuple[str, str], count: int, largest: int) -> str:
    """Draw one cell: green for right answers, red for wrong ones, darker for higher counts."""
    expected, answer = pair
    kind = "same" if expected == answer else "heat"
    depth = 0.0 if not count else 0.25 if kind == "same" else 0.1 + (DEEPEST - 0.1) * count / largest
    says = f"expected {expected}, got {answer}: {count}"
    number = _text(x + _CELL / 2 - 1, y + 19, str(count), "value", "middle") if count else ""
    return _box(x, y, size=(_CELL - 2, _CELL - 2), kind=kind, says=says, depth=depth) + number


def _column(outcome: Outcome) -> str:
    asks, refuses = _NO_INTENT
    return outcome.intent or (refuses if outcome.refused else asks)


def _worst(counts: Mapping[tuple[str, str], int], most: int) -> list[str]:
    """Return the intents with the most mistakes, ordered so that confused pairs are adjacent."""
    involved: Counter[str] = Counter()
    for (expected, answer), count in counts.items():
        if expected != answer:
            involved.update({name: count for name in (expected, answer) if name not in _NO_INTENT})
    left = [name for name, _ in sorted(involved.items(), key=lambda item: (-item[1], item[0]))[:most]]
    ordered = left[:1]
    left = left[1:]
    while left:
        last = ordered[-1]
        # Each next to the one that it is confused with most.
        nearest = max(left, key=lambda name: counts.get((last, name), 0) + counts.get((name, last), 0))
        left.remove(nearest)
        ordered.append(nearest)
    return ordered


def _plot(title: str, desc: str, across: str, up: str, marks: str) -> str:
    """Draw a plot with both axes from 0 to 1."""
    frame = ""
    for tick in _TICKS:
        x, y = _at(tick, tick)
        frame += f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        frame += f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        frame += _text(x, _HEIGHT - _BOTTOM + 16, f"{tick:.0%}", "tick", "middle")
        frame += _text(_LEFT - 6, y + 4, f"{tick:.0%}", "tick", "end")
    frame += _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, across, "axis", "middle")
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    frame += _text(12, middle, up, "axis", "middle", transform=f"rotate(-90 12 {middle:.1f})")
    return _svg(title, desc, _WIDTH, _HEIGHT, frame + marks)


def _svg(title: str, desc: str, width: float, height: float, marks: str) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><desc>{escape(desc)}</desc>{marks}</svg>'
    )


def _at(x: float, y: float) -> tuple[float, float]:
    """Convert two shares to plot coordinates."""
    return _LEFT + x * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_at(*point) for point in points))
    return f'<polyline class="{kind}" points="{places}"/>'


def _dot(x: float, y: float, says: str, kind: str = "dot", radius: float = _DOT) -> str:
    across, down = _at(x, y)
    centre = f'cx="{across:.1f}" cy="{down:.1f}"'
    return f'<circle class="{kind}" {centre} r="{radius:.1f}"><title>{escape(says)}</title></circle>'


def _box(x: float, y: float, *, size: tuple[float, float], kind: str, says: str, depth: float = 1.0) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" height="{size[1]:.1f}"'
    return f'<rect class="{kind}" {where} fill-opacity="{depth:.2f}"><title>{escape(says)}</title></rect>'


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start", *, transform: str = "") -> str:
    turned = f' transform="{transform}"' if transform else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{escape(text)}</text>'


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
