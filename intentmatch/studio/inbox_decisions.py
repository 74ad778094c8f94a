"""Decisions about groups of the inbox: ask for an intent, and turn the decisions into edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nicegui import ui

from intentmatch.inbox import Decision, edits_of
from intentmatch.registry.editing.edits import Edit
from intentmatch.studio.parts import answer_buttons, answer_of, words
from intentmatch.studio.visit import Visit


def edits_for(visit: Visit, decisions: Sequence[Decision], language: str | None) -> list[Edit]:
    """Return the edits for decisions; `language` is that of messages whose language is unknown."""
    return [
        edit for decision in decisions for edit in edits_of([_spoken(decision, language)], file=_file(visit, decision))
    ]


def _spoken(decision: Decision, language: str | None) -> Decision:
    """Return a decision whose messages all have a language, if the registry has several."""
    if language is None:
        return decision
    messages = tuple(
        message if message.language else replace(message, language=language) for message in decision.cluster.messages
    )
    return replace(decision, cluster=replace(decision.cluster, messages=messages))


def _file(visit: Visit, decision: Decision) -> Path | None:
    """Return the file for a new intent, or for the first tests: that of the nearest intent, or the first one."""
    registry = visit.bot.matcher.registry
    if decision.action != "new" and (decision.action != "test" or registry.tests):
        return None
    near = [name for message in decision.cluster.messages for name in message.intents if name in registry]
    found = next((registry[name].location for name in near if registry[name].location is not None), None)
    if found is not None:
        return Path(found.path)
    names = sorted(visit.bot.workspace.files())
    return visit.bot.workspace.place(names[0]) if names else None


async def ask_for_intent(title: str, label: str, value: str, names: Sequence[str]) -> str | None:
    """Ask for the name of an intent: a new one, or one of `names`. Returns None if the author gives none."""
    with ui.dialog() as dialog, ui.card().classes("st-dialog"):
        words(title, "st-h2", "h2")
        if names:
            field: ui.select | ui.input = ui.select(
                list(names), value=value if value in names else None, label=label, with_input=True
            )
            field.props("outlined autofocus options-dense")
        else:
            field = ui.input(label, value=value).props("outlined autofocus maxlength=200")
            field.on("keydown.enter", lambda: dialog.submit(field.value))
        field.classes("st-wide")
        answer_buttons(dialog, field, "Choose")
    return await answer_of(dialog)
