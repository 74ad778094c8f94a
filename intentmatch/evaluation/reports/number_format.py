"""Format numbers and locations for the terminal and for HTML pages."""

from __future__ import annotations

from intentmatch.core.errors import Location


def percent(value: float | None) -> str:
    """Format a share as a percentage; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f} %"


def decimal(value: float | None) -> str:
    """Format a number with three decimals; a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def place(location: Location | None) -> str:
    """Format a location as `path:line`; empty for None."""
    return location.short if location else ""
