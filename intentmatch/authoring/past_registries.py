"""What the files of a revision say, and what they said before it."""

from __future__ import annotations

from pathlib import Path

from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError, RegistryError
from intentmatch.core.types import Registry


def registry_of(workspace: Workspace, identity: str) -> Registry:
    """Return what the files of a revision say. Raises `UnknownNameError`, and `RegistryError` if it is invalid."""
    registry, problems = workspace.examine_revision(workspace.history.files(identity))
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise RegistryError(errors)
    return registry


def registry_to_try(workspace: Workspace, identity: str) -> Registry:
    """Return what the files of a revision say, to compare it with others.

    Raises `UnknownNameError`, and `InputError` with the name of the revision if it is invalid: the places of its
    problems are in files that may be valid by now.
    """
    try:
        return registry_of(workspace, identity)
    except RegistryError as error:
        first = error.problems[0]
        place = f"{workspace.name_of(Path(first.location.path))}:{first.location.line}"
        raise InputError(f"revision {identity[:10]} has errors in its files: {place}: {first.message}") from error


def registry_before(workspace: Workspace, identity: str) -> Registry | None:
    """Return what the files said before a revision; None if that was invalid or nothing.

    Raises `UnknownNameError`.
    """
    registry, problems = workspace.examine_revision(workspace.history.before(identity))
    return None if any(problem.severity == "error" for problem in problems) else registry
