"""Progress of long work on stderr: a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.progress import Progress

    from intentmatch.encoders.encode import Progress as EncodeProgress

QUIET_SECONDS = 10.0
"""Commands that usually finish quickly print no progress lines before this many seconds."""

# Fewer texts than this are encoded before a bar could be read.
_LEAST_TEXTS = 256
_SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def encoding_bar() -> Iterator[EncodeProgress | None]:
    """Yield a callback that moves a progress bar for long builds; None if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as open_bar:
        updates: list[Callable[[int], None]] = []

        def update(done: int, total: int) -> None:
            if total < _LEAST_TEXTS:
                return
            if not updates:
                updates.append(_bar(open_bar, total))
            updates[0](done)

        yield update


@contextmanager
def stages(quiet_seconds: float = 0.0) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a callback `(stage, done, total)`: a bar for each stage in a terminal, a line now and then elsewhere.

    No line is printed in the first `quiet_seconds`. Of a stage's name, the part before " (" identifies the stage.
    """
    if not sys.stderr.isatty():
        yield _Lines(quiet_seconds)
        return
    with _bars(transient=False) as bars:
        tasks: dict[str, Any] = {}

        def update(what: str, done: int, total: int | None) -> None:
            stage = what.partition(" (")[0]
            if stage not in tasks:
                for earlier in tasks.values():
                    bars.stop_task(earlier)
                tasks[stage] = bars.add_task(what, total=total)
            bars.update(tasks[stage], description=what, completed=done, total=total)

        yield update


class _Lines:
    """Progress as lines: one for each new stage, and one every 30 seconds."""

    def __init__(self, quiet_seconds: float) -> None:
        self._stage, self._printed = "", 0.0
        self._quiet_until = time.monotonic() + quiet_seconds

    def __call__(self, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now < self._quiet_until:
            return
        stage = what.partition(" (")[0]
        if stage == self._stage and now - self._printed < _SECONDS_BETWEEN_LINES:
            return
        self._stage, self._printed = stage, now
        count = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
        click.echo(f"{what}: {count}".removesuffix(": "), err=True)


def _bar(open_bar: ExitStack, total: int) -> Callable[[int], None]:
    """Draw the bar; return the function that moves it."""
    bar = open_bar.enter_context(_bars(transient=True))
    task = bar.add_task("encoding", total=total)
    return lambda done: bar.update(task, completed=done)


def _bars(*, transient: bool) -> Progress:
    """Return progress bars on stderr; transient ones are erased when they are done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=transient)
