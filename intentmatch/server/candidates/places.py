"""Where all workers find the candidate of a bot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from intentmatch.server.candidates.file_store import NAME, FileCandidateStore
from intentmatch.server.candidates.records import CandidateStore

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.storage.postgres.address import Address


def store_of(path: Path | None, address: Address | None, workspace: Workspace | None) -> CandidateStore | None:
    """Return the store: in the database, with the history of the files, or beside an artefact.

    None for intents that were made in code.
    """
    if address is not None:
        from intentmatch.server.candidates.database_store import DatabaseCandidateStore  # needs psycopg

        return DatabaseCandidateStore(address)
    if path is None:
        return None
    if workspace is not None:
        return FileCandidateStore(workspace.history.folder / NAME)
    # Hidden, so that a folder of bots does not take it for anything of theirs.
    return FileCandidateStore(path.with_name(f".{path.name}.{NAME}"))
