"""Switches that turn on what a screen shows, by settings in the files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from nicegui import ui

from intentmatch.core.errors import IntentMatchError, public_text
from intentmatch.registry.editing.settings_edit import ChangeSettings, Setting
from intentmatch.studio.parts import in_thread, tag
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit

FILE = "misses.sqlite"
"""Where messages are kept if an author turns the inbox on."""


def turn_on(visit: Visit, values: Mapping[str, Setting], title: str, done: Callable[[], Awaitable[None]]) -> None:
    """Draw a switch that sets settings of the inbox in the files, for an author."""
    if not visit.may("author"):
        tag("p", "An author can turn it on.", "st-muted")
        return

    async def switch() -> None:
        try:
            names = await in_thread(lambda: sorted(visit.bot.workspace.files()))
            places = visit.bot.matcher.registry.setting_locations
            # Beside the settings that are there: a setting may stand in one file only.
            file = Path(next(iter(places.values())).path) if places else visit.bot.workspace.place(names[0])
        except (IntentMatchError, IndexError) as error:
            visit.tell(public_text(error), "negative")
            return
        note = f"Set {', '.join(values)}"
        if await propose(visit, [ChangeSettings(file, values)], title=title, note=note) is not None:
            await done()

    ui.button(title, icon="toggle_on", on_click=switch).props("unelevated no-caps").classes("st-centred")
