"""Write changes as a command on this machine does: with a revision if the registry has a history."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from pathlib import Path

from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import Workspace, Written
from intentmatch.registry.editing.plan import Changes

_NOBODY = "unknown"
_SECONDS = 10


def write_changes(changes: Changes, note: str = "") -> Written:
    """Write planned changes, and keep a revision of them if `Workspace.has_history`.

    The author is `local_author`. Raises as `Workspace.write_planned`.
    """
    workspace = Workspace(changes.path, changes.limits)
    if not workspace.has_history:
        changes.write()
        return Written(changes, digest_of(workspace.files()), None)
    return workspace.write_planned(changes, author=local_author(workspace.base), note=note)


def local_author(folder: Path) -> str:
    """Return the name of the person who runs a command: that of git for this folder, or the name of the login."""
    if shutil.which("git") is not None:
        words = ["git", "-C", str(folder), "config", "user.name"]
        try:
            found = subprocess.run(words, capture_output=True, check=False, timeout=_SECONDS)  # noqa: S603 - no shell
        except (OSError, subprocess.TimeoutExpired):
            found = None
        if found is not None and (name := found.stdout.decode("utf-8", "replace").strip()):
            return name
    try:
        return getpass.getuser() or _NOBODY
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return _NOBODY
