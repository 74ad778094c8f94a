"""What an author can do about two intents that take each other's lines: look at the lines, or merge the intents."""

from __future__ import annotations

from nicegui import ui

from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.studio.parts import tag, words
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit


def compare_link(visit: Visit, first: str, second: str) -> None:
    """Draw a button that opens the overlaps with this pair, where each line has remedies."""
    button = ui.button("Compare their lines", icon="join_inner")
    button.on_click(lambda: visit.go("see", view="overlaps", first=first, second=second))
    button.props("outline no-caps dense").classes("st-action")


def merge_button(visit: Visit, first: str, second: str) -> None:
    """Draw a button that asks which of two intents stays, and then shows what merging them does."""

    async def merge() -> None:
        stays = await _which(visit, first, second)
        if stays is None:
            return
        goes = second if stays == first else first
        title = f"Merge {goes} into {stays}"
        await propose(visit, [MergeIntents(goes, stays)], title=title, note=title)

    ui.button("Merge them …", icon="merge", on_click=merge).props("flat no-caps dense")


async def _which(visit: Visit, first: str, second: str) -> str | None:
    """Ask which intent stays."""
    with visit.client, ui.dialog() as dialog, ui.card().classes("st-dialog st-narrow"):
        words(f"Merge {first} and {second}", "st-h2", "h2")
        tag(
            "p",
            "Only if your bot does the same for both: it no longer tells them apart. The one that stays gets the "
            "examples and tests of the other, whose response, slots and options go. You see the effect before saving.",
        )
        with tag("div", classes="st-row st-end"):
            # The focus is here, so that Enter merges nothing.
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat autofocus")
            for name in (first, second):
                ui.button(f"Keep {name}", on_click=lambda name=name: dialog.submit(name)).props("outline no-caps")
    answer = await dialog
    if not dialog.is_deleted:
        dialog.delete()
    return str(answer) if answer else None
