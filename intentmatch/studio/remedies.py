"""What an author can do about a line that another intent claims: add lines like it, reword it, remove it, move it."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from intentmatch.core.types import Utterance
from intentmatch.registry.editing.edits import AddUtterance, Edit, MoveUtterance, RemoveUtterance, RewordUtterance
from intentmatch.studio.editable_line import editable_line
from intentmatch.studio.parts import answer_buttons, answer_of, tag, words
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit


def line_to_reword(visit: Visit, line: Utterance, intent: str) -> None:
    """Draw a line; who may edit rewords it by a click. Of a template only the whole one can be edited, elsewhere."""
    if line.template is not None or not visit.may("author"):
        words(line.text, "st-strong", "p")
        return

    async def reword(new: str) -> None:
        edits = [RewordUtterance(line.text, new, intent, line.language)]
        await propose(visit, edits, title="Reword a line", note=f"Reword a line of {intent}")

    editable_line(line.text, reword, "st-strong")


def remedies(visit: Visit, line: Utterance, intent: str, to: str | None) -> None:
    """Draw buttons for a line of an intent. `to` is the intent that it may be moved to, see `lint.moving.may_move`."""

    async def offer(edits: Sequence[Edit], title: str) -> None:
        await propose(visit, edits, title=title, note=title)

    async def add() -> None:
        if text := await _asked(visit, f"Another way to say it, for {intent}", line.text):
            await offer([AddUtterance(intent, text, line.language)], f"Add a line to {intent}")

    def button(title: str, icon: str, edits: Sequence[Edit], says: str) -> None:
        made = ui.button(title, icon=icon, on_click=lambda: offer(edits, says)).props("flat no-caps dense")
        made.props["aria-label"] = f"{title}: “{line.text}”"

    with tag("div", classes="st-row"):
        more = (
            ui.button("Add one like it", icon="add", on_click=add).props("outline no-caps dense").classes("st-action")
        )
        more.props["aria-label"] = f"Add a line like “{line.text}” to {intent}"
        # Removing a template would take its other sentences along.
        if line.template is None:
            button(
                "Remove", "delete", [RemoveUtterance(line.text, intent, line.language)], f"Remove a line of {intent}"
            )
        if to is not None:
            edit = MoveUtterance(line.text, to, intent, line.language)
            button(f"Move to {to}", "drive_file_move", [edit], f"Move a line to {to}")


async def _asked(visit: Visit, label: str, near: str) -> str | None:
    """Ask for a line."""
    with visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog"):
        words(f"Like “{near}”", "st-muted", "p")
        field = ui.input(label).props('outlined autofocus dir="auto"').classes("st-wide")
        field.on("keydown.enter", lambda: dialog.submit(field.value))
        answer_buttons(dialog, field)
    return await answer_of(dialog)
