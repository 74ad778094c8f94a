"""Write changes as a command on this machine does: with a revision if the registry has a history."""

from __future__ import annotations

import getpass
from pathlib import Path

from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import Workspace, Written
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.plan import Changes
from intentmatch.storage import git

_NOBODY = "unknown"


def write_changes(changes: Changes, note: str = "", workspace: Workspace | None = None) -> Written:
    """Write planned changes, and keep a revision of them if `Workspace.has_history`.

    Without a `workspace`, that of the changed files is used. The author is `local_author`. Raises as
    `Workspace.write_planned`.
    """
    workspace = workspace or Workspace(changes.path, changes.limits or ReadLimits.from_settings(changes.path))
    if not workspace.has_history:
        changes.write()
        return Written(changes, digest_of(workspace.files()), None)
    return workspace.write_planned(changes, author=local_author(workspace.base), note=note)


def local_author(folder: Path) -> str:
    """Return the name of the person who runs a command: that of git for this folder, or the name of the login."""
    if git.installed() and (name := git.user_name(folder)):
        return name
    try:
        return getpass.getuser() or _NOBODY
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return _NOBODY
