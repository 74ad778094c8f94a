"""Numbers and places as people read them, in the terminal and on the page alike."""

from __future__ import annotations

from intentmatch.core.errors import Location


def percent(value: float | None) -> str:
    """A share; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def decimal(value: float | None) -> str:
    """A plain number; a dash where there is none."""
    return "–" if value is None else f"{value:.3f}"


def place(location: Location | None) -> str:
    """`path:line`, or nothing."""
    return location.short if location else ""
