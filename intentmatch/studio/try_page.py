"""The screen Try."""

from __future__ import annotations

from intentmatch.studio.parts import heading
from intentmatch.studio.visit import Visit


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("Try", "Type a message and see what the bot makes of it.")
