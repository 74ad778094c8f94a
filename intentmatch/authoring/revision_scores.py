"""The evaluation of a revision: how many answers were right before it and after it, kept beside the history."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError
from intentmatch.storage.atomic import remove_strays, write_file
from intentmatch.storage.file_lock import locked
from intentmatch.storage.unwritable import unwritable

SECONDS = 60.0
"""Time for the evaluation of one revision; what is not reached by then is left out."""

FOLDER = "evaluations"
_MOST_KEPT = 1000
_IDENTITY = re.compile(r"[0-9a-f]{1,64}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceScore:
    """Right answers to the messages of one source."""

    source: str
    """`held_out` or `tests`."""
    messages: int
    """Messages that were compared."""
    of: int
    """Messages that there are."""
    right_before: int | None
    """None for the first revision."""
    right_after: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Evaluation before and after one revision, on the same messages."""

    sources: tuple[SourceScore, ...]
    fixed: int
    """Answers that became right."""
    broken: int
    """Answers that became wrong."""
    sampled: bool
    """Whether some messages were left out for lack of time."""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Scores:
        """Read what `to_dict` wrote. Raises `TypeError` or `KeyError` for anything else."""
        sources = tuple(SourceScore(**each) for each in values["sources"])
        return cls(sources, int(values["fixed"]), int(values["broken"]), bool(values["sampled"]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "sources": [asdict(each) for each in self.sources]}


class ScoreFolder:
    """The evaluations of the revisions of one registry: one JSON file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, identity: str) -> Scores | None:
        """Return the evaluation of a revision; None if there is none, or if its file is damaged."""
        # It becomes the name of a file.
        if not _IDENTITY.fullmatch(identity):
            return None
        try:
            return Scores.from_dict(json.loads(self._file(identity).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("the evaluation %s is damaged and left out: %s", self._file(identity), error)
            return None

    def write(self, identity: str, scores: Scores) -> None:
        """Keep the evaluation of a revision. Raises `InputError` if it cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self._file(identity), json.dumps(scores.to_dict()).encode())
            # The oldest go: they can be evaluated again.
            kept = sorted(self.folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in kept[:-_MOST_KEPT]:
                file.unlink(missing_ok=True)
            remove_strays(self.folder)
        except OSError as error:
            raise InputError(unwritable(self.folder, error)) from error

    def turn(self, gives_up: Callable[[], bool] = lambda: True) -> AbstractContextManager[bool]:
        """Give whether the block may evaluate: only one block of one process may at a time.

        It waits for its turn until it `gives_up`, by default at once. Raises `InputError` if the folder cannot be made.
        """
        return locked(self.folder, gives_up)

    def _file(self, identity: str) -> Path:
        return self.folder / f"{identity}.json"
