"""A line that is reworded in place: click, type, Enter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from intentmatch.studio.parts import tag


def editable_line(text: str, save: Callable[[str], Awaitable[object]], classes: str = "st-grow") -> None:
    """Draw a line that becomes a field when it is clicked. Enter calls `save` with the new text, Escape leaves it."""
    with tag("div", classes=classes) as place:
        shown = tag("button", text, "st-reword st-words st-wide", type="button", dir="auto", title="Click to reword")
    fields: list[ui.input] = []

    def leave() -> None:
        shown.set_visibility(True)
        while fields:
            fields.pop().delete()

    def edit() -> None:
        if fields:
            return
        shown.set_visibility(False)
        with place:
            field = ui.input(value=text).props('outlined dense autofocus dir="auto"')
        field.props["aria-label"] = "New wording"
        field.classes("st-wide").on("keydown.enter", write).on("keydown.escape", leave)
        fields.append(field)

    async def write() -> None:
        new = str(fields[0].value or "").strip() if fields else ""
        leave()
        if new and new != text:
            await save(new)

    shown.on("click", edit)
