"""Progress of long work on stderr: one line that moves in a terminal, a line every ten seconds elsewhere.

Work that takes less than half a second shows nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from intentmatch.text.printable import one_line

if TYPE_CHECKING:
    from intentmatch.cli.render.estimate import TimeLeft
    from intentmatch.runtime.steps import Step

StepProgress = Callable[[str, int, "int | None"], None]

_QUIET = "intentmatch.quiet"
# What ends sooner would only flicker.
_FIRST_SECONDS = 0.5
_SECONDS_BETWEEN_DRAWINGS = 0.25
# Logs of CI show nothing until a line ends, and some stop a job that is silent for minutes.
_SECONDS_BETWEEN_LINES = 10.0
_BAR_CELLS = 20
_LEAST_COLUMNS = 20


def _keep(context: click.Context, _option: click.Parameter, quiet: bool) -> None:
    context.meta[_QUIET] = quiet


quiet_option = click.option(
    "--quiet", "-q", is_flag=True, expose_value=False, callback=_keep, help="Show no progress on standard error."
)


@contextmanager
def shown() -> Iterator[StepProgress]:
    """Show the steps that run inside the block on stderr, unless the command line says --quiet.

    Yields a callback `(name, done, total)` for work that is given one; other work reports to `runtime.steps`. Of a
    name, the part before " (" identifies the step.
    """
    from intentmatch.runtime.steps import Step, listening

    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(_QUIET):
        yield lambda _name, _done, _total: None
        return
    with ExitStack() as stack:
        display = Display(sys.stderr)
        if display.in_terminal:
            # What the work prints would otherwise stand behind the progress on its line.
            stack.enter_context(redirect_stdout(cast("TextIO", _Cleared(sys.stdout, display))))
            stack.enter_context(redirect_stderr(cast("TextIO", _Cleared(sys.stderr, display))))
        stack.enter_context(_ticking(display))
        stack.enter_context(listening(display.update))
        yield lambda name, done, total: display.update(Step(name, done, total))


@contextmanager
def _ticking(display: Display) -> Iterator[None]:
    """Let a thread draw the display again and again, and clear it at the end."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(_SECONDS_BETWEEN_DRAWINGS):
            display.draw()

    thread = threading.Thread(target=tick, name="intentmatch progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        display.clear()


class Display:
    """Draws the step that runs now. Safe to use from several threads."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        # A dumb terminal, such as the shell of an editor, prints the line again and again.
        self.in_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._stream, self._clock = stream, clock
        self._lock = threading.RLock()
        self._step: Step | None = None
        self._estimate: TimeLeft | None = None
        self._step_began = clock()
        self._next = self._step_began + (_FIRST_SECONDS if self.in_terminal else _SECONDS_BETWEEN_LINES)
        self._drawn = 0

    def update(self, step: Step) -> None:
        """Take note of how far the work is."""
        from intentmatch.cli.render.estimate import TimeLeft

        with self._lock:
            now = self._clock()
            # Fewer done than before: the same step begins again, as for the next fold.
            if self._step is None or _identity(self._step) != _identity(step) or step.done < self._step.done:
                self._step_began, self._estimate = now, TimeLeft(now)
            self._step = step
            if self._estimate is not None:
                self._estimate.update(step, now)

    def draw(self) -> None:
        """Draw the line again in a terminal; elsewhere print a line if the last one is old enough."""
        with self._lock:
            now = self._clock()
            if self._step is None or now < self._next:
                return
            if not self.in_terminal:
                self._next = now + _SECONDS_BETWEEN_LINES
                self._write(self._line(now) + "\n")
                return
            self._next = now
            columns = max(_LEAST_COLUMNS, shutil.get_terminal_size().columns)
            # One column stays free: in the last one, many terminals begin a new line.
            line = _cut(self._line(now, columns), columns - 1)
            length = _cells(line)
            self._write("\r" + line + " " * (self._drawn - length))
            self._drawn = length

    def clear(self) -> None:
        """Erase the line in a terminal."""
        with self._lock:
            if self._drawn:
                self._write("\r" + " " * self._drawn + "\r")
            self._drawn = 0

    def _line(self, now: float, columns: int | None = None) -> str:
        """Return the line about the step; with a bar if there are `columns` for it."""
        from intentmatch.cli.render.estimate import in_words

        step = self._step
        if step is None or self._estimate is None:
            return ""
        count = f"{step.done:,} of {step.total:,}" if step.total else f"{step.done:,}" if step.done else ""
        left = self._estimate.seconds_left(now)
        times = [_duration(now - self._step_began), *([] if left is None else [f"{in_words(left)} left"])]
        facts = ", ".join([*([count] if count else []), *times])
        plain = one_line(step.name)
        name = f"{plain} ({one_line(step.detail)})" if step.detail else plain
        if columns and step.total:
            with_bar = f"{self._bar(step.done / step.total)} {name}: {facts}"
            if _cells(with_bar) < columns:
                return with_bar
        # Without the detail, before the numbers behind it are cut.
        if columns and _cells(f"{name}: {facts}") >= columns:
            name = plain
        return f"{name}: {facts}"

    def _bar(self, share: float) -> str:
        """Return a bar of `_BAR_CELLS` cells."""
        full, empty = "━", "─"
        try:
            (full + empty).encode(self._stream.encoding or "ascii")
        except UnicodeEncodeError:
            full, empty = "#", "-"
        filled = min(_BAR_CELLS, int(_BAR_CELLS * share))
        return full * filled + empty * (_BAR_CELLS - filled)

    def _write(self, text: str) -> None:
        # A closed pipe or terminal must not end the work.
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._drawn = 0


class _Cleared:
    """A stream that erases the line of a display before anything else is written."""

    def __init__(self, stream: TextIO, display: Display) -> None:
        self._stream, self._display = stream, display

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text below the erased line."""
        self._display.clear()
        return self._stream.write(text)


def _identity(step: Step) -> tuple[str, int | None]:
    return step.name.partition(" (")[0], step.total


def _duration(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"


def _cells(text: str) -> int:
    """Return the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, cells: int) -> str:
    while _cells(text) > cells:
        text = text[:-1]
    return text
