"""The card that adds an intent, with its first example or a sentence about what users want."""

from __future__ import annotations

from nicegui import ui

from intentmatch.registry.editing.edits import AddIntent
from intentmatch.studio.held import Held
from intentmatch.studio.intent_cards import Done
from intentmatch.studio.parts import card, tag
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit


def new_intent(visit: Visit, held: Held, done: Done) -> None:
    """Draw the card that adds an intent."""
    with card("New intent"), tag("div", classes="st-row st-top"):
        name = ui.input("Name").props("outlined dense").classes("st-grow")
        line = ui.input("First example").props('outlined dense dir="auto"').classes("st-grow")
        described = ui.input("Or what users want").props('outlined dense dir="auto"').classes("st-grow")
        files = sorted(held.files)
        file = ui.select(files, value=files[0] if files else None, label="File").props("outlined dense")
        codes = held.registry.languages
        language = ui.select(list(codes), value=held.registry.first_language, label="Language").props("outlined dense")
        language.set_visibility(len(codes) > 1)

        async def add() -> None:
            wanted, text, description = (str(field.value or "").strip() for field in (name, line, described))
            if not wanted or not (text or description):
                visit.tell("An intent needs a name, and an example or a sentence about what users want.", "warning")
                return
            target = None if file.value is None else visit.bot.workspace.place(str(file.value))
            note = f"Add the intent {wanted}"
            if await propose(
                visit,
                [AddIntent(wanted, text or None, language.value, target, description=description or None)],
                title=note,
                note=note,
            ):
                await done(wanted)

        ui.button("Add", on_click=add).props("unelevated")
