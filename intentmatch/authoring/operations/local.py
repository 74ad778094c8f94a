"""Write what a person or an agent has confirmed on this machine: with a revision if the registry has a history."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from intentmatch.authoring.operations.inbox_step import settle
from intentmatch.authoring.operations.operation import Done, Plan
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.summary import summary
from intentmatch.authoring.workspace import Written
from intentmatch.core.errors import IntentMatchError
from intentmatch.storage import git

if TYPE_CHECKING:
    from intentmatch.inbox import Inbox

_NOBODY = "unknown"


def write_confirmed(
    plan: Plan,
    *,
    inbox: Inbox | None = None,
    publish: Callable[[str], object] | None = None,
    reload: Callable[[], object] | None = None,
) -> Done:
    """Write a plan as a command on this machine does: with a revision if the registry has a history.

    The author is `local_author`, unless the operation names one. `publish` gets the note where the files are a copy,
    and brings them to where they belong. `reload` is called where a matcher answers meanwhile.
    Raises as `Workspace.write_planned`, and only while nothing is written.
    """
    operation, workspace, changes = plan.operation, plan.workspace, plan.changes
    note = operation.note or summary(changes.edits)
    if workspace.history.begun:
        author = operation.author or local_author(workspace.base)
        written = workspace.write_planned(changes, author=author, note=note)
    else:
        changes.write()
        written = Written(changes, digest_of(workspace.named(changes.contents)), None)
    failed = None
    if publish is not None and changes.files:
        # Before the inbox: messages leave it only once their lines are where they belong.
        publish(note)
    unsettled = settle(inbox, operation, changes)
    if reload is not None and changes.files:
        try:
            reload()
        except IntentMatchError as error:
            failed = error
    return Done.after(written, unsettled=unsettled, failed=failed)


def local_author(folder: Path) -> str:
    """Return the name of the person who runs a command: that of git for this folder, or the name of the login."""
    if git.installed() and (name := git.user_name(folder)):
        return name
    try:
        return getpass.getuser() or _NOBODY
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return _NOBODY
