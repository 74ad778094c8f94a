"""What an edit does to the inbox: messages that became lines leave it, and those whose lines have gone return.

Messages follow an intent to its new name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.summary import summary
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import DatabaseError, InputError, counted
from intentmatch.core.types import Registry
from intentmatch.registry.editing.edits import Edit, RenameIntent
from intentmatch.registry.editing.plan import Changes
from intentmatch.registry.templates.syntax import Sentence, parse

if TYPE_CHECKING:
    from intentmatch.inbox import Inbox, Missed

NOT_TAKEN_OUT = "The files are written, but their messages stay in the inbox"
NOT_GIVEN_BACK = "The files are written, but messages do not return to the inbox"
NOT_RENAMED = "The files are written, but the inbox has the old name of the intent"


def settle(inbox: Inbox | None, operation: Operation, changes: Changes) -> str:
    """Take out the messages that a written operation answers, give back those that it undoes, and rename intents.

    Returns a warning; empty if nothing failed.
    """
    if inbox is None:
        return ""
    # The files are written, so whatever fails here is a warning.
    failing = NOT_TAKEN_OUT
    try:
        if operation.answers:
            inbox.handle(operation.answers, "added")
        failing = NOT_RENAMED
        for edit in changes.edits:
            if isinstance(edit, RenameIntent):
                inbox.rename_intent(edit.old, edit.new.strip())
        failing = NOT_GIVEN_BACK
        # Only what is in the files no more: others may have written the same line since.
        if operation.undoes and (gone := _texts(changes.before) - _texts(changes.registry)):
            inbox.reopen(gone)
    except (InputError, DatabaseError) as error:
        return f"{failing}: {error}"
    return ""


def adding_note(edits: Sequence[Edit]) -> str:
    """Return the note of a revision that adds messages of the inbox, if its author writes none."""
    return f"Inbox: {summary(edits)}"


def ignore(
    messages: Sequence[Missed], *, inbox: Inbox, workspace: Workspace | None, author: str, note: str = ""
) -> None:
    """Take messages out of the inbox for good, and note in the audit log who did so.

    A bot without files has no `workspace`, and no audit log. Raises `InputError` if either cannot be written.
    """
    if workspace is not None:
        # First: what cannot be noted is not done.
        workspace.note(author, note or f"Inbox: ignore {counted(len(messages), 'message')}")
    inbox.handle(messages, "ignored")


def _texts(registry: Registry) -> set[str]:
    """Return what messages may have become: utterances, lines of `not` and tests."""
    lines = [*registry.utterances, *(line for intent in registry for line in intent.negatives)]
    # A message with a bracket is written as a template of this one sentence.
    sentences = (Sentence(line.text) if line.template is None else parse(line.template).sentence for line in lines)
    return {one.text for one in sentences if one is not None} | {case.text for case in registry.tests}
