"""Write what a person or an agent has confirmed on this machine: with a revision if the registry has a history."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path

from intentmatch.authoring.operations.operation import Done
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import Workspace, Written
from intentmatch.core.errors import IntentMatchError
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.plan import Changes
from intentmatch.storage import git

_NOBODY = "unknown"


def write_confirmed(
    changes: Changes,
    note: str = "",
    workspace: Workspace | None = None,
    *,
    reload: Callable[[], object] | None = None,
) -> Done:
    """Write planned changes as a command on this machine does: with a revision if the registry has a history.

    Without a `workspace`, that of the changed files is used. The author is `local_author`. `reload` is called after the
    write where a matcher answers meanwhile. Raises as `Workspace.write_planned`, and only while nothing is written.
    """
    workspace = workspace or Workspace(changes.path, changes.limits or ReadLimits.from_settings(changes.path))
    if workspace.has_history:
        written = workspace.write_planned(changes, author=local_author(workspace.base), note=note)
    else:
        changes.write()
        written = Written(changes, digest_of(workspace.files()), None)
    failed = None
    if reload is not None and changes.files:
        try:
            reload()
        except IntentMatchError as error:
            failed = error
    return Done.after(written, failed)


def local_author(folder: Path) -> str:
    """Return the name of the person who runs a command: that of git for this folder, or the name of the login."""
    if git.installed() and (name := git.user_name(folder)):
        return name
    try:
        return getpass.getuser() or _NOBODY
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return _NOBODY
