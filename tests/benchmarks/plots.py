"""Plots as SVG text: dots with names (`scatter`), lines in several panels (`panels`), and bars in groups (`bars`).

The x axis of dots and lines is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_DARK = "@media(prefers-color-scheme:dark)"
_SCATTER_STYLE = (
    "text{font:13px sans-serif;fill:#333}.axis{stroke:#888}.grid{stroke:#ddd}.dot{fill:#888}.ours{fill:#0a66c2}"
    f"{_DARK}{{text{{fill:#ddd}}.grid{{stroke:#444}}.dot{{fill:#aaa}}.ours{{fill:#6ab0ff}}}}"
)
_PANELS_STYLE = (
    "text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}"
    f"{_DARK}{{text{{fill:#ddd}}.grid{{stroke:#444}}}}"
)
_COLOURS = ("#0a66c2", "#c2410c", "#15803d", "#7e22ce", "#a16207")
_PANELS_IN_A_ROW = 2
# Pixels of a bar's height, and of the gap below it.
_BAR = 16
# Pixels of a letter's width and a line's height in the scatter plot.
_LETTER, _LINE = 8, 14

Lines = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class _Frame:
    """Size of a plot, its margins, and the distance of labels from the plot, all in pixels."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x_labels: int
    y_labels: int
    x_title: int


_SCATTER = _Frame(760, 420, left=60, right=190, top=40, bottom=50, x_labels=18, y_labels=8, x_title=10)
_BARS = _Frame(760, 0, left=200, right=60, top=52, bottom=10, x_labels=0, y_labels=8, x_title=0)
_PANEL = _Frame(380, 260, left=60, right=40, top=36, bottom=40, x_labels=16, y_labels=6, x_title=8)


@dataclass(frozen=True)
class _Axes:
    """Ranges of a plot, in powers of ten where an axis is logarithmic; `x` always is."""

    frame: _Frame
    x: tuple[int, int]
    y: tuple[int, int]
    log_y: bool

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of a point."""
        frame, (left, right), (low, high) = self.frame, self.x, self.y
        along = (math.log10(x) - left) / (right - left)
        up = ((math.log10(y) if self.log_y else y) - low) / (high - low)
        return (
            frame.left + along * (frame.width - frame.left - frame.right),
            frame.height - frame.bottom - up * (frame.height - frame.top - frame.bottom),
        )

    def grid(self, x_ticks: Iterable[tuple[float, str]], y_ticks: Iterable[tuple[float, str]]) -> list[str]:
        """Grid lines, each with its label."""
        frame, parts = self.frame, []
        first_x, first_y = 10.0 ** self.x[0], 10.0 ** self.y[0] if self.log_y else self.y[0]
        for value, label in x_ticks:
            x, y = self.place(value, first_y)
            parts.append(f'<line class="grid" x1="{x:.1f}" y1="{frame.top}" x2="{x:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{x:.1f}" y="{y + frame.x_labels:.1f}" text-anchor="middle">{label}</text>')
        for value, label in y_ticks:
            x, y = self.place(first_x, value)
            right = frame.width - frame.right
            parts.append(f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{x - frame.y_labels:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        return parts

    def x_title(self, text: str) -> str:
        """The name of the x axis, below the plot."""
        middle = (self.frame.left + self.frame.width - self.frame.right) / 2
        y = self.frame.height - self.frame.x_title
        return f'<text x="{middle:.0f}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def scatter(dots: Sequence[tuple[float, float, str]], across: str, up: str, title: str) -> str:
    """Dots of x, y and name; y is linear. Names that begin with "intentmatch" stand out."""
    low = 5 * math.floor(min(y for _, y, _ in dots) / 5)
    high = max(low + 5, 5 * math.ceil(max(y for _, y, _ in dots) / 5))
    axes = _Axes(_SCATTER, _powers([x for x, _, _ in dots]), (low, high), log_y=False)
    parts = [f'<text x="{_SCATTER.left}" y="20">{escape(title)}</text>']
    x_ticks = [(10.0**power, f"{10.0**power:g}") for power in _all_in(axes.x)]
    parts += axes.grid(x_ticks, [(value, str(value)) for value in range(low, high + 1, 5)])
    places = [axes.place(x, y) for x, y, _ in dots]
    for (x, y), (x_value, y_value, name) in zip(places, dots, strict=True):
        kind = "ours" if name.startswith("intentmatch") else "dot"
        tooltip = f"{name}: {y_value:.1f} at {x_value:.2f}"
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"><title>{escape(tooltip)}</title></circle>'
        )
        crowded = any(0 < other - x < _LETTER * len(name) and abs(height - y) < _LINE for other, height in places)
        side = f'x="{x - 10:.1f}" text-anchor="end"' if crowded else f'x="{x + 10:.1f}"'
        parts.append(f'<text {side} y="{y + 4:.1f}">{escape(name)}</text>')
    parts.append(axes.x_title(across))
    middle = f"translate(16 {_SCATTER.height / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{middle}" text-anchor="middle">{escape(up)}</text>')
    return _svg(_SCATTER.width, _SCATTER.height, title, _SCATTER_STYLE, parts)


def panels(by_title: Mapping[str, Lines], across: str) -> str:
    """One panel for each title, both axes logarithmic; a line has a name and points (x, y) above 0."""
    names = list(dict.fromkeys(name for lines in by_title.values() for name in lines))
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    rows = math.ceil(len(by_title) / _PANELS_IN_A_ROW)
    parts = []
    for number, (title, lines) in enumerate(by_title.items()):
        down, right = divmod(number, _PANELS_IN_A_ROW)
        place = f"translate({right * _PANEL.width} {down * _PANEL.height})"
        parts.append(f'<g transform="{place}">{_panel(title, lines, across, colours)}</g>')
    for number, name in enumerate(names):
        x, y = _PANEL.left + 150 * number, rows * _PANEL.height + 16
        parts.append(f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 30}" y="{y + 4}">{escape(name)}</text>')
    width, height = _PANELS_IN_A_ROW * _PANEL.width, rows * _PANEL.height + 32
    return _svg(width, height, ", ".join(by_title), _PANELS_STYLE, parts)


def bars(groups: Mapping[str, Sequence[float]], names: Sequence[str], unit: str, title: str) -> str:
    """One group for each name of `groups`, with one bar for each of `names`, across, from 0 to the largest value."""
    colours = dict(zip(names, _COLOURS, strict=False))
    largest = max((value for values in groups.values() for value in values), default=0) or 1
    length = _BARS.width - _BARS.left - _BARS.right
    parts, y = [f'<text class="title" x="{_BARS.left}" y="20">{escape(title)}</text>'], _BARS.top
    for number, name in enumerate(names):
        x = _BARS.left + 150 * number
        parts.append(f'<rect x="{x}" y="30" width="12" height="10" fill="{colours[name]}"/>')
        parts.append(f'<text x="{x + 18}" y="40">{escape(name)}</text>')
    for group, values in groups.items():
        middle = y + _BAR * len(names) / 2 + 4
        parts.append(f'<text x="{_BARS.left - 8}" y="{middle:.0f}" text-anchor="end">{escape(group)}</text>')
        for name, value in zip(names, values, strict=True):
            width = max(length * value / largest, 0.0)
            tooltip = escape(f"{group}, {name}: {value:.1f} {unit}")
            box = f'x="{_BARS.left}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" fill="{colours[name]}"'
            parts.append(f"<rect {box}><title>{tooltip}</title></rect>")
            parts.append(f'<text x="{_BARS.left + width + 6:.1f}" y="{y + _BAR - 5}">{value:.1f}</text>')
            y += _BAR
        y += _BARS.bottom
    return _svg(_BARS.width, y, title, _PANELS_STYLE, parts)


def _panel(title: str, lines: Lines, across: str, colours: Mapping[str, str]) -> str:
    points = [point for line in lines.values() for point in line]
    x_range, y_range = (_powers([point[axis] for point in points]) for axis in (0, 1))
    axes = _Axes(_PANEL, x_range, y_range, log_y=True)
    parts = [f'<text class="title" x="{_PANEL.left}" y="20">{escape(title)}</text>']
    x_ticks = [(10.0**power, f"{10**power:,}") for power in _all_in(x_range)]
    parts += axes.grid(x_ticks, [(10.0**power, f"{10.0**power:g}") for power in _all_in(y_range)])
    parts.append(axes.x_title(across))
    for name, line in lines.items():
        places = [axes.place(x, y) for x, y in sorted(line)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{drawn}" stroke="{colours[name]}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[name]}"/>' for x, y in places]
    return "".join(parts)


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten between which all values lie, at least one apart."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return first, max(last, first + 1)


def _all_in(powers: tuple[int, int]) -> range:
    return range(powers[0], powers[1] + 1)


def _svg(width: int, height: int, title: str, style: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    return f"{head}<title>{escape(title)}</title><style>{style}</style>{''.join(parts)}</svg>\n"
