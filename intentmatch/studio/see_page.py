"""The screen See."""

from __future__ import annotations

from intentmatch.studio.parts import heading
from intentmatch.studio.visit import Visit


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("See", "A map of all utterances, overlaps, and what the thresholds do.")
