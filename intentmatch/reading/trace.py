"""Record the stages of one match with their times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from intentmatch.core.result import Stage, StageName


@dataclass(slots=True)
class TraceRecorder:
    """Collects the stages of one match."""

    _found: list[tuple[StageName, str, float]] = field(default_factory=list)
    _last: float = field(default_factory=perf_counter)

    @classmethod
    def of(cls, stages: Iterable[Stage]) -> TraceRecorder:
        """Return a recorder that has these stages already."""
        return cls([(stage.name, stage.says, stage.microseconds / 1e6) for stage in stages])

    def add(self, name: StageName, says: str) -> None:
        """Add a stage, timed from the end of the one before; `says` may be a stand-in of `core.when_read`."""
        now = perf_counter()
        self._found.append((name, says, now - self._last))
        self._last = now

    def resume(self) -> None:
        """Leave the time since the last stage out: it went to other messages."""
        self._last = perf_counter()

    def recorded(self) -> tuple[Stage, ...]:
        """Return the stages so far."""
        return tuple(Stage(name, says, seconds * 1e6) for name, says, seconds in self._found)
