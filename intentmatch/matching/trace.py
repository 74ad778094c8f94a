"""Record the stages of one match with their times."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from intentmatch.core.result import Stage, StageName


@dataclass(slots=True)
class TraceRecorder:
    """Collects the stages of one match."""

    done: list[Stage] = field(default_factory=list)
    _last: float = field(default_factory=perf_counter)

    def add(self, name: StageName, says: str) -> None:
        """Add a stage, timed from the end of the one before."""
        now = perf_counter()
        self.done.append(Stage(name, says, (now - self._last) * 1e6))
        self._last = now

    def resume(self) -> None:
        """Leave the time since the last stage out: it went to other messages."""
        self._last = perf_counter()
