"""Carry out operations for a bot that answers while its files are edited."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Protocol

from intentmatch.authoring.effect import Comparison
from intentmatch.authoring.operations.inbox_step import settle
from intentmatch.authoring.operations.operation import Done, Operation
from intentmatch.authoring.workspace import Workspace, Written
from intentmatch.core.errors import DatabaseError, InputError, IntentMatchError
from intentmatch.core.types import Case
from intentmatch.inbox import Inbox
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.editing.plan import Changes


class EditedBot(Protocol):
    """A bot that answers while its files are edited."""

    @property
    def workspace(self) -> Workspace:
        """The files."""

    @property
    def matcher(self) -> Matcher:
        """The matcher in use."""

    @property
    def inbox(self) -> Inbox | None:
        """The messages that were not understood; None if it is off."""

    async def reload(self) -> object:
        """Read the files again. Raises `IntentMatchError` if they cannot be loaded."""

    def evaluate_soon(self, revision: str) -> None:
        """Queue a revision for evaluation."""


async def carry_out(bot: EditedBot, operation: Operation, *, expected: str) -> Done:
    """Write an operation if the files still have the digest `expected`, and do all that follows.

    The inbox is settled, the bot reloaded, and the evaluation of the revision queued.

    Raises as `Workspace.write`, and only while nothing is written.
    """

    def write() -> Written:
        return bot.workspace.write(operation.edits, author=operation.author, note=operation.note, expected=expected)

    written, failed = await asyncio.to_thread(write), None
    unsettled = await asyncio.to_thread(settle, bot.inbox, operation, written.changes)
    if written.changes.files:
        try:
            await bot.reload()
        except IntentMatchError as error:
            failed = error
    return await asyncio.to_thread(
        partial(Done.after, written, unsettled=unsettled, failed=failed, evaluate=bot.evaluate_soon)
    )


def comparison(bot: EditedBot, changes: Changes) -> Comparison:
    """Begin to compare the answers of a bot with those after an edit, for its tests, inbox and held-out lines."""
    return Comparison(bot.matcher, changes.registry, logged_messages(bot.inbox))


def logged_messages(inbox: Inbox | None) -> list[Case]:
    """Return the messages of an inbox; none if there is none, or if it cannot be read."""
    try:
        messages = [] if inbox is None else inbox.messages()
    except (InputError, DatabaseError):
        return []
    return [Case(message.text, None, message.language) for message in messages if message.text]
