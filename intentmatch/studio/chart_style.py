"""Colours and settings that the charts share. A chart is drawn once for light and dark, so its colours suit both."""

from __future__ import annotations

from colorsys import hls_to_rgb
from typing import Any

import numpy as np
from nicegui import json
from numpy.typing import NDArray

TEXT = "#7a8494"
LINE = "rgba(128, 140, 160, 0.28)"
PRIMARY = "#4a7de8"
BAD = "#d9534a"
WARN = "#d08a1d"
GOOD = "#2f9e63"

_GOLDEN_ANGLE = 137.508
_MOST_LETTERS = 120


def palette(count: int) -> list[str]:
    """Return colours of the same lightness, neighbours as different as can be."""
    colours = []
    for number in range(max(2, count)):
        # Steps of the golden angle keep all hues apart, however many there are.
        hue = (210.0 + number * _GOLDEN_ANGLE) % 360.0 / 360.0
        # After twelve hues the next ones are near to these, and differ in lightness.
        lightness = (0.5, 0.6, 0.42)[number // 12 % 3]
        colours.append("#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, lightness, 0.55)))
    return colours


def axis(name: str = "", **more: Any) -> dict[str, Any]:
    """Return the settings of an axis in quiet colours."""
    return {
        "name": name,
        "nameTextStyle": {"color": TEXT},
        "axisLabel": {"color": TEXT},
        "axisLine": {"lineStyle": {"color": LINE}},
        "axisTick": {"show": False},
        "splitLine": {"lineStyle": {"color": LINE}},
        **more,
    }


def tooltip(formatter: str) -> dict[str, Any]:
    """Return the settings of a tooltip. Its text is drawn, never read as HTML, because users wrote it."""
    return {
        "renderMode": "richText",
        "confine": True,
        "backgroundColor": "#1d2330",
        "borderWidth": 0,
        "textStyle": {"color": "#ffffff", "fontSize": 13},
        ":formatter": formatter,
    }


def numbers(values: NDArray[np.int64]) -> str:
    """Return the rows of an array as JavaScript, for an option such as `:data`.

    Server and page watch everything inside of plain options for changes, which takes longer than drawing it.
    """
    return f"new Int32Array({json.dumps(values.ravel().tolist())})"


def shortened(text: str) -> str:
    """Return a text that fits into a tooltip."""
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
