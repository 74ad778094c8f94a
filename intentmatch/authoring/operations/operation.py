"""What an author wants to change, what that would do, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intentmatch.authoring.revisions import Revision, digest_of
from intentmatch.authoring.workspace import Making, Workspace, Written
from intentmatch.core.errors import IntentMatchError, public_text
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.plan import Changes

NOT_IN_USE = "The files are written, but not in use"
"""Beginning of the warning that the files could not be loaded; the last valid registry stays active."""
NOT_GIVEN_BACK = "The files are written, but messages do not return to the inbox"
NOT_EVALUATED = "The files are written, but the revision is not evaluated"


@dataclass(frozen=True, slots=True)
class Operation:
    """What an author wants to change, the same for every face."""

    edits: Sequence[Edit] | Making
    """What replaces whole files must be `Making`, which is called with the files as they are when it is written."""
    author: str
    note: str = ""
    """Why, for the history; empty for a summary of the edits."""
    undoes: bool = False
    """Whether it goes back to files from before: messages that became lines since then return to the inbox."""

    def planned(self, workspace: Workspace) -> Plan:
        """Work it out for the files as they are, without writing. Raises as `Workspace.plan`."""
        files = workspace.files()
        changes = workspace.plan(self.edits(files) if callable(self.edits) else self.edits)
        return Plan(changes, digest_of(files))


@dataclass(frozen=True, slots=True)
class Plan:
    """An operation on the files of one moment."""

    changes: Changes
    digest: str
    """Digest of these files, for the condition of the write."""


@dataclass(frozen=True, slots=True)
class Done:
    """An operation whose files are written. Whatever failed afterwards is a warning, and needs no second write."""

    changes: Changes
    digest: str
    """Digest of the files afterwards."""
    revision: Revision | None
    """None if the edits changed nothing, or if no revision is kept."""
    active: bool
    """Whether messages are answered from the files as they are now."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def after(
        cls,
        written: Written,
        failed: IntentMatchError | None = None,
        evaluate: Callable[[str], None] | None = None,
    ) -> Done:
        """Queue the evaluation, and return what has become of an operation; `failed` is why it is not in use."""
        warnings = list(written.warnings)
        if failed is not None:
            warnings.append(f"{NOT_IN_USE}: {public_text(failed)}")
        if written.revision is not None and evaluate is not None:
            try:
                evaluate(written.revision.id)
            except (IntentMatchError, RuntimeError) as error:  # RuntimeError: no thread can be started
                warnings.append(f"{NOT_EVALUATED}: {error}")
        return cls(written.changes, written.digest, written.revision, failed is None, tuple(warnings))
