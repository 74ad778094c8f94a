"""Decisions about groups of the inbox: ask for an intent, and write the decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nicegui import ui

from intentmatch.authoring.operations.inbox_step import adding_note, ignore
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import IntentMatchError, counted, public_text
from intentmatch.inbox import ClusterDecision, Missed, edits_of
from intentmatch.registry.editing.edits import Edit
from intentmatch.studio.host import BotUnavailableError
from intentmatch.studio.parts import answer_buttons, answer_of, words
from intentmatch.studio.proposal import propose
from intentmatch.studio.visit import Visit


async def write(visit: Visit, decisions: Sequence[ClusterDecision], language: str | None) -> list[ClusterDecision]:
    """Show what decisions do, write them as a revision, and take their messages out of the inbox.

    `language` is that of messages whose language is unknown. Returns the decisions that are carried out: whatever fails
    afterwards, they are not to be written again.
    """
    inbox, done = visit.bot.inbox, list[ClusterDecision]()
    if inbox is None or not decisions:
        visit.tell("Decide about some groups first.")
        return done
    added, ignored = _parted(decisions)
    answers, left = _messages(added), 0
    try:
        visit.require("author")
        if added:
            edits, title = _edits(visit, added, language), f"Add {counted(len(answers), 'message')} of the inbox"
            # The lines first: ignored messages lose their text, which cannot be taken back.
            written = await propose(visit, edits, title=title, note=adding_note(edits), answers=answers)
            if written is None:
                return done
            # Carried out from here on, whatever fails below: a second write would add the lines twice.
            done += added
            left += len(answers) if written.settled else 0
        if ignored:
            messages, workspace = _messages(ignored), _workspace(visit)
            await asyncio.to_thread(partial(ignore, messages, inbox=inbox, workspace=workspace, author=visit.author))
            done += ignored
            left += len(messages)
    except IntentMatchError as error:
        visit.tell(public_text(error), "negative")
    if left:
        visit.tell(f"{counted(left, 'message')} left the inbox", "positive")
    return done


def _parted(decisions: Sequence[ClusterDecision]) -> tuple[list[ClusterDecision], list[ClusterDecision]]:
    """Return what becomes lines or tests, and what is ignored."""
    ignored = [decision for decision in decisions if decision.action == "ignore"]
    return [decision for decision in decisions if decision.action != "ignore"], ignored


def _messages(decisions: Sequence[ClusterDecision]) -> list[Missed]:
    return [message for decision in decisions for message in decision.cluster.messages]


def _workspace(visit: Visit) -> Workspace | None:
    """Return the files; None if the bot has no YAML, and so no audit log."""
    try:
        return visit.bot.workspace
    except BotUnavailableError:
        return None


def _edits(visit: Visit, decisions: Sequence[ClusterDecision], language: str | None) -> list[Edit]:
    return [
        edit for decision in decisions for edit in edits_of([_spoken(decision, language)], file=_file(visit, decision))
    ]


def _spoken(decision: ClusterDecision, language: str | None) -> ClusterDecision:
    """Return a decision whose messages all have a language, if the registry has several."""
    if language is None:
        return decision
    messages = tuple(
        message if message.language else replace(message, language=language) for message in decision.cluster.messages
    )
    return replace(decision, cluster=replace(decision.cluster, messages=messages))


def _file(visit: Visit, decision: ClusterDecision) -> Path | None:
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
            field.props("outlined autofocus options-dense").on_value_change(lambda event: dialog.submit(event.value))
        else:
            field = ui.input(label, value=value).props("outlined autofocus maxlength=200")
            field.on("keydown.enter", lambda: dialog.submit(field.value))
        field.classes("st-wide")
        answer_buttons(dialog, field, "Choose")
    return await answer_of(dialog)
