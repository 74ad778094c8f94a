"""What an author wants to change, what that would do, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intentmatch.authoring.revisions import Revision, digest_of
from intentmatch.authoring.workspace import Making, Workspace, Written
from intentmatch.core.errors import IntentMatchError, public_text
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.plan import Changes

if TYPE_CHECKING:
    from intentmatch.inbox import Missed

NOT_IN_USE = "The files are written, but not in use"
"""Beginning of the warning that the files could not be loaded; the last valid registry stays active."""
NOT_EVALUATED = "The files are written, but the revision is not evaluated"


@dataclass(frozen=True, slots=True)
class Operation:
    """What an author wants to change, the same for every face."""

    edits: Sequence[Edit] | Making
    """What replaces whole files must be `Making`, which is called with the files as they are when it is written."""
    author: str = ""
    """Empty for the person who runs a command on this machine."""
    note: str = ""
    """Why, for the history; empty for a summary of the edits."""
    answers: Sequence[Missed] = ()
    """Messages of the inbox that become lines or tests: they leave the inbox."""
    undoes: bool = False
    """Whether it goes back to files from before: messages that became lines since then return to the inbox."""

    def planned(self, workspace: Workspace) -> Plan:
        """Work it out for the files as they are, without writing. Raises as `Workspace.plan`."""
        changes = workspace.plan(self.edits(workspace.files()) if callable(self.edits) else self.edits)
        return Plan(self, workspace, changes)


@dataclass(frozen=True, slots=True)
class Plan:
    """An operation on the files of one moment."""

    operation: Operation
    workspace: Workspace
    changes: Changes

    @property
    def digest(self) -> str:
        """Digest of these files, for the condition of the write."""
        return digest_of(self.workspace.named(self.changes.read))


@dataclass(frozen=True, slots=True)
class Done:
    """An operation whose files are written. Whatever failed afterwards is a warning, and needs no second write."""

    changes: Changes
    digest: str
    """Digest of the files afterwards."""
    revision: Revision | None
    """None if the edits changed nothing, or if no revision is kept."""
    settled: bool
    """Whether the messages that it answers have left the inbox, and those that it undoes are back."""
    active: bool
    """Whether messages are answered from the files as they are now."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def after(
        cls,
        written: Written,
        *,
        unsettled: str = "",
        failed: IntentMatchError | None = None,
        evaluate: Callable[[str], None] | None = None,
    ) -> Done:
        """Queue the evaluation, and return what has become of an operation.

        `unsettled` is why the inbox has the wrong messages, `failed` why the files are not in use.
        """
        warnings = [*written.warnings, *([unsettled] if unsettled else [])]
        if failed is not None:
            warnings.append(f"{NOT_IN_USE}: {public_text(failed)}")
        if written.revision is not None and evaluate is not None:
            try:
                evaluate(written.revision.id)
            except (IntentMatchError, RuntimeError) as error:  # RuntimeError: no thread can be started
                warnings.append(f"{NOT_EVALUATED}: {error}")
        return cls(written.changes, written.digest, written.revision, not unsettled, failed is None, tuple(warnings))
