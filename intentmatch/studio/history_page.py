"""The screen History."""

from __future__ import annotations

from intentmatch.studio.parts import heading
from intentmatch.studio.visit import Visit


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("History", "Every revision, with what it changed.")
