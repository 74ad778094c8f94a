"""A picture of one number against another, as SVG text: a dot and its name for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 190, 40, 50
_LETTER, _LINE = 8, 14
_STYLE = (
    "text{font:13px sans-serif;fill:#333}.axis{stroke:#888}.grid{stroke:#ddd}.dot{fill:#888}.ours{fill:#0a66c2}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.dot{fill:#aaa}.ours{fill:#6ab0ff}}"
)


def scatter(dots: Sequence[tuple[float, float, str]], across: str, up: str, title: str) -> str:
    """Dots of x, y and name; x on a logarithmic scale. Names that begin with "intentmatch" stand out."""
    first, last = _powers([x for x, _, _ in dots])
    low = 5 * math.floor(min(y for _, y, _ in dots) / 5)
    high = 5 * math.ceil(max(y for _, y, _ in dots) / 5)
    high = max(high, low + 5)

    def place(x: float, y: float) -> tuple[float, float]:
        along = (math.log10(x) - first) / (last - first)
        return (
            _LEFT + along * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - (y - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = [f'<text x="{_LEFT}" y="20">{escape(title)}</text>']
    for power in range(first, last + 1):
        x, y = place(10.0**power, low)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{10.0**power:g}</text>')
    for value in range(low, high + 1, 5):
        x, y = place(10.0**first, value)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')
    places = [place(x, y) for x, y, _ in dots]
    for x_value, y_value, name in dots:
        x, y = place(x_value, y_value)
        kind = "ours" if name.startswith("intentmatch") else "dot"
        says = f"{name}: {y_value:.1f} at {x_value:.2f}"
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"><title>{escape(says)}</title></circle>')
        crowded = any(0 < other - x < _LETTER * len(name) and abs(height - y) < _LINE for other, height in places)
        side = f'x="{x - 10:.1f}" text-anchor="end"' if crowded else f'x="{x + 10:.1f}"'
        parts.append(f'<text {side} y="{y + 4:.1f}">{escape(name)}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 10}" text-anchor="middle">{across}</text>'
    )
    parts.append(
        f'<text transform="translate(16 {_HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(up)}</text>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
    return f"{head}<title>{escape(title)}</title><style>{_STYLE}</style>{''.join(parts)}</svg>\n"


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten that hold all values between them."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return first, max(last, first + 1)
