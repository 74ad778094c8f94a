"""What workers share about a candidate: its record, counts, and samples of the differences."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from types import UnionType
from typing import Any, Literal, NamedTuple, Protocol

from intentmatch.core.erasure import Erasure
from intentmatch.server.candidates.differences import Kind
from intentmatch.server.candidates.rollback import RollbackRule

Mode = Literal["shadow", "canary"]
State = Literal["running", "rolled_back", "promoted"]

_SHOWN = 100
SAMPLES_OF_A_KIND = 20
"""Samples kept of each kind of difference, drawn at random from those that were compared."""


@dataclass(frozen=True, slots=True)
class CandidateSource:
    """Where a candidate comes from."""

    kind: Literal["revision", "path"]
    name: str
    """Id of the revision, or the path as the author wrote it."""

    def __str__(self) -> str:
        return f"revision {self.name}" if self.kind == "revision" else self.name


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A candidate, as all workers know it."""

    id: str
    source: CandidateSource
    fingerprint: str
    """Of the loaded candidate. A worker that loads anything else takes no part."""
    mode: Mode
    share: float
    """Share of the conversations that the candidate answers; 0 in a shadow."""
    rule: RollbackRule | None
    author: str
    note: str
    started: float
    """Seconds since the epoch."""
    digest: str = ""
    """Digest of the files of a folder as they were loaded; empty for other sources."""
    registry: str = ""
    """Fingerprint of its registry alone, as answers name it."""
    state: State = "running"
    reason: str = ""
    """Why it ended."""
    ended: float | None = None
    beside: str = ""
    """Fingerprint of the registry in use when it ended: the counts beside that one stay."""

    def to_json(self) -> str:
        """Return the record as a JSON text."""
        return json.dumps(asdict(self), ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str) -> CandidateRecord:
        """Return the record of a text. Raises `ValueError`, `TypeError` or `KeyError` for another text."""
        try:
            values: dict[str, Any] = json.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        share, started = values["share"], values["started"]
        if not (isinstance(share, int | float) and 0 <= share <= 1 and isinstance(started, int | float)):
            raise ValueError(f"a share of {share!r} since {started!r}")
        # Raises for a number that is no time, which would fail in an answer only.
        datetime.fromtimestamp(started, timezone.utc)
        values["source"] = CandidateSource(**values["source"])
        values["rule"] = None if values["rule"] is None else RollbackRule(**values["rule"])
        return cls(**values)


class Sample(NamedTuple):
    """A message that both registries answer differently."""

    kind: Kind
    text: str | None
    """The text as the inbox would keep it; None in an inbox of hashes."""
    language: str | None
    present: Mapping[str, Any] | None
    candidate: Mapping[str, Any] | None
    time: float
    """When the message was said, in seconds since the epoch."""


_ANSWER: Mapping[str, type | UnionType] = {
    "verdict": str,
    "intent": str | None,
    "rivals": list,
    "confidence": float | int | None,
}
"""Names and types of an answer in a sample."""


def sample_of(row: Sequence[Any]) -> Sample:
    """Return the sample of a row: kind, text, language, answers and time.

    Raises `ValueError`, `TypeError` or `OverflowError` for a row that no server writes, as tenants can.
    """
    kind, text, language, answers, at = row
    try:
        before, after = json.loads(answers)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    for answer in (before, after):
        if answer is not None and not _is_answer(answer):
            raise ValueError(f"no answer: {str(answer)[:_SHOWN]}")
    datetime.fromtimestamp(at, timezone.utc)
    return Sample(kind, text, language, before, after, at)


def _is_answer(answer: Any) -> bool:
    return (
        isinstance(answer, dict)
        and answer.keys() == _ANSWER.keys()
        and all(isinstance(answer[name], types) for name, types in _ANSWER.items())
        and all(isinstance(rival, str) for rival in answer["rivals"])
        # Python reads NaN and Infinity in JSON, but no answer may have them.
        and (answer["confidence"] is None or math.isfinite(answer["confidence"]))
    )


def newest(oldest: float) -> float:
    """Return the time after which samples are removed: as far ahead as `oldest` is past, since a clock was set back."""
    return 2 * time.time() - oldest


class CandidateStore(Protocol):
    """Where the workers of a bot keep its one candidate. Methods raise `InputError` or `DatabaseError`."""

    def read(self) -> CandidateRecord | None:
        """Return the record of the last candidate; None if there is none."""

    def begin(self, record: CandidateRecord) -> None:
        """Replace the record; counts and samples of a candidate with another id are removed."""

    def end(self, identity: str, state: State, reason: str, ended: float, beside: str) -> bool:
        """End a running candidate; False if it does not run any more, or another one does.

        `beside` is the fingerprint of the registry in use.
        """

    def clear(self) -> None:
        """Remove record, counts and samples."""

    def add(
        self, identity: str, present: str, counts: Mapping[str, int], samples: Sequence[Sample], oldest: float
    ) -> bool:
        """Add to the counts beside the present registry with this fingerprint, and to the samples.

        Samples from before `oldest` are removed, and those said before the last erasure are dropped. Returns False, and
        adds nothing, unless the candidate runs.
        """

    def erase(self, erasure: Erasure) -> int:
        """Remove the samples with these messages; return how many there were."""

    def counts(self, present: str) -> dict[str, int]:
        """Return the counts beside the present registry with this fingerprint, by name."""

    def samples(self, present: str, oldest: float) -> list[Sample]:
        """Return the samples beside that registry from after `oldest`, the newest first."""
