"""A picture of how numbers grow, as SVG text: a panel for each, both axes logarithmic, a line for each kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _ACROSS = 380, 260, 2
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 40, 36, 40
_COLOURS = ("#0a66c2", "#c2410c", "#15803d", "#7e22ce", "#a16207")
_STYLE = (
    "text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}"
)

Lines = Mapping[str, Sequence[tuple[float, float]]]


def panels(of: Mapping[str, Lines], across: str) -> str:
    """Title of a panel to its lines, each a name and points of x and y above 0; `across` names the x axis."""
    names = list(dict.fromkeys(name for lines in of.values() for name in lines))
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    rows = math.ceil(len(of) / _ACROSS)
    parts = []
    for number, (title, lines) in enumerate(of.items()):
        down, right = divmod(number, _ACROSS)
        place = f"translate({right * _WIDTH} {down * _HEIGHT})"
        parts.append(f'<g transform="{place}">{_panel(title, lines, across, colours)}</g>')
    for number, name in enumerate(names):
        x, y = _LEFT + 150 * number, rows * _HEIGHT + 16
        parts.append(f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 30}" y="{y + 4}">{escape(name)}</text>')
    size = f"0 0 {_ACROSS * _WIDTH} {rows * _HEIGHT + 32}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img">'
    return f"{head}<title>{escape(', '.join(of))}</title><style>{_STYLE}</style>{''.join(parts)}</svg>\n"


def _panel(title: str, lines: Lines, across: str, colours: Mapping[str, str]) -> str:
    points = [point for line in lines.values() for point in line]
    (left, right), (low, high) = (_powers([point[axis] for point in points]) for axis in (0, 1))

    def place(x: float, y: float) -> tuple[float, float]:
        along, up = (math.log10(x) - left) / (right - left), (math.log10(y) - low) / (high - low)
        return (
            _LEFT + along * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = [f'<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>']
    for power in range(left, right + 1):
        x, y = place(10.0**power, 10.0**low)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low, high + 1):
        x, y = place(10.0**left, 10.0**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>'
    )
    for name, line in lines.items():
        places = [place(x, y) for x, y in sorted(line)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{drawn}" stroke="{colours[name]}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[name]}"/>' for x, y in places]
    return "".join(parts)


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten that hold all values between them, one of them whole."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return first, max(last, first + 1)
