"""The screen Issues."""

from __future__ import annotations

from intentmatch.studio.parts import heading
from intentmatch.studio.visit import Visit


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("Issues", "Findings about the intents, the most valuable first.")
