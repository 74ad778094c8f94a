"""Progress of long work: a moving line in a terminal, lines in a log, nothing on stdout, silence on request."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from intentmatch.cli.render import progress
from intentmatch.cli.render.progress import Display, quiet_option, shown
from intentmatch.runtime import steps
from intentmatch.runtime.steps import Step


class Stream(io.StringIO):
    """A stream that remembers what is written to it."""

    encoding = "utf-8"

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")


def run(display: Display, clock: Clock, seconds: float, total: int, name: str = "cross-validating") -> None:
    """Let steady work run, drawn four times a second."""
    ticks = int(seconds * 4)
    for tick in range(ticks):
        display.update(Step(name, tick * total // ticks, total))
        display.draw()
        clock.now += 0.25


def test_terminal_shows_a_line_within_the_first_second(clock):
    stream = Stream(terminal=True)
    display = Display(stream, clock)
    display.update(Step("training the head"))

    display.draw()
    assert stream.getvalue() == "", "short work shows nothing"
    clock.now += 0.75
    display.draw()

    assert stream.getvalue() == "\rtraining the head: 0 s"


def test_terminal_line_has_bar_count_time_and_estimate(clock):
    stream = Stream(terminal=True)
    display = Display(stream, clock)

    run(display, clock, 10, 100)

    line = stream.getvalue().rsplit("\r", 1)[-1]
    assert line.startswith("━━━━━━━━━━━━━━━━━━━─ cross-validating: 97 of 100, 9 s, a few seconds left")


def test_every_line_fits_the_terminal(clock):
    stream = Stream(terminal=True)
    display = Display(stream, clock)
    display.update(Step("held-out utterances, before", 120_000, 250_000, 5000.0, "cross-validating"))
    clock.now += 5
    display.draw()
    display.update(Step("データを読む " * 20, 3, 9))
    clock.now += 5
    display.draw()

    lines = stream.getvalue().split("\r")[1:]
    assert [line.startswith(("held-out", "データ")) for line in lines] == [True, True]
    assert all(cell_len(line) < 80 for line in lines)


def test_shorter_line_covers_the_longer_one_and_clear_erases_it(clock):
    stream = Stream(terminal=True)
    display = Display(stream, clock)
    for name in ("a long name of a step", "short"):
        clock.now += 1
        display.update(Step(name))
        display.draw()
    display.clear()

    _, long, short, blank, end = stream.getvalue().split("\r")
    assert len(short) == len(long)
    assert (blank.strip(), end) == ("", "")
    assert len(blank) == len("short: 0 s")


def test_log_gets_a_line_every_ten_seconds_and_none_before(clock):
    stream = Stream(terminal=False)
    display = Display(stream, clock)

    run(display, clock, 60, 600)

    assert stream.getvalue().splitlines() == [
        "cross-validating: 100 of 600, 10 s, about 50 s left",
        "cross-validating: 200 of 600, 20 s, about 40 s left",
        "cross-validating: 300 of 600, 30 s, about 30 s left",
        "cross-validating: 400 of 600, 40 s, about 20 s left",
        "cross-validating: 500 of 600, 50 s, about 10 s left",
    ]


def test_log_names_the_step_inside(clock):
    stream = Stream(terminal=False)
    display = Display(stream, clock)
    display.update(Step("held-out utterances", 10, 40, 90.0, "training the head"))
    clock.now += 11
    display.draw()

    assert stream.getvalue() == "held-out utterances (training the head): 10 of 40, 11 s, about 2 min left\n"


def test_dumb_terminal_gets_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")

    assert not Display(Stream(terminal=True), clock).in_terminal


def test_terminal_without_these_signs_gets_a_plain_bar(clock):
    stream = Stream(terminal=True)
    stream.encoding = "latin-1"
    display = Display(stream, clock)
    display.update(Step("encoding", 1, 2))
    clock.now += 1
    display.draw()

    assert "##########----------" in stream.getvalue()


def test_new_step_starts_a_new_estimate(clock):
    stream = Stream(terminal=False)
    display = Display(stream, clock)
    run(display, clock, 9, 100, "encoding")
    display.update(Step("training", 1, 100))
    clock.now += 2
    display.draw()

    assert stream.getvalue() == "training: 1 of 100, 2 s\n"


def test_name_before_a_bracket_identifies_the_step(clock):
    stream = Stream(terminal=False)
    display = Display(stream, clock)
    for second in range(11):
        display.update(Step(f"training (loss {second})", second, 100))
        clock.now += 1
    display.draw()

    assert stream.getvalue() == "training (loss 10): 10 of 100, 11 s, about 90 s left\n".replace("90 s", "2 min")


def test_broken_stream_does_not_end_the_work(clock):
    class Broken(Stream):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    display = Display(Broken(terminal=False), clock)
    display.update(Step("work"))
    clock.now += 20

    display.draw()
    display.clear()


def test_work_in_a_log_writes_to_stderr_alone(monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_DRAWINGS", 0.05)

    @click.command()
    @quiet_option
    def work() -> None:
        with shown() as update:
            update("counting", 1, 3)
            time.sleep(0.3)
            steps.report("elsewhere")
            time.sleep(0.3)

    loud, quiet = CliRunner().invoke(work), CliRunner().invoke(work, ["--quiet"])

    assert "counting: 1 of 3, 0 s\n" in loud.stderr
    assert "elsewhere: 0 s\n" in loud.stderr
    assert (loud.stdout, quiet.stdout, quiet.stderr) == ("", "", "")


def test_text_written_meanwhile_stands_on_a_line_of_its_own(monkeypatch):
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_DRAWINGS", 0.02)
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)

    with shown() as update:
        update("counting", 1, 3)
        time.sleep(0.2)
        sys.stderr.write("a warning\n")

    assert sys.stderr is stream
    before, _, _ = stream.getvalue().partition("a warning")
    assert before.endswith("\r" + " " * (len(before.split("\r")[1])) + "\r")
    assert stream.getvalue().endswith(("\r", "\n"))


def registry_of(folder: Path, intents: int, lines: int) -> str:
    words = ("red", "green", "blue", "old", "new", "small", "quick", "slow", "warm", "cold", "early", "late", "far")
    text = ["intents:"]
    for intent in range(intents):
        text += [f"  thing_{intent}:", "    utterances:", "      en:"]
        text += [
            f"        - show me the {words[(intent + line) % 13]} {words[line * 7 % 13]} thing {intent} {line}"
            for line in range(lines)
        ]
    (folder / "things.yaml").write_text("\n".join(text), encoding="utf-8")
    return str(folder)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_eval_in_a_terminal_shows_something_within_a_second_of_its_work(tmp_path: Path):
    registry = registry_of(tmp_path, 60, 20)

    # A busy machine may stop a process for a second: the best of three counts.
    waits = (seconds_to_the_first_line(registry) for _ in range(3))

    assert any(seconds < 1.0 for seconds in waits)


def seconds_to_the_first_line(registry: str) -> float:
    """Run `eval` in a terminal until it shows a step; Python's own start and imports do not count."""
    import pty
    import select

    imports = "import sys, intentmatch.cli.evaluate, intentmatch.matching.matcher, intentmatch.evaluation.run; "
    program = imports + "print('begin', file=sys.stderr, flush=True); from intentmatch.cli import main; main()"
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", "INTENTMATCH_CACHE": "off"}
    command = [sys.executable, "-c", program, "eval", registry, "--no-robustness"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        read, began, deadline = b"", 0.0, time.monotonic() + 60
        try:
            while time.monotonic() < deadline:
                if not select.select([ours], [], [], 1)[0]:
                    continue
                read += os.read(ours, 4096)
                began = began or (time.monotonic() if b"begin" in read else 0.0)
                # "training the head: 0 s", or "cross-validating: 0 of 10, 0 s" where the steps before were quick.
                if b" 0 s" in read.partition(b"begin")[2]:
                    return time.monotonic() - began
        finally:
            process.kill()
            os.close(ours)
    raise AssertionError(read)


def test_eval_in_a_log_keeps_stdout_clean(tmp_path: Path):
    program = (
        "from intentmatch.cli.render import progress; progress._SECONDS_BETWEEN_LINES = 0.2; "
        "from intentmatch.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "eval", registry_of(tmp_path, 20, 10), "--no-robustness"]
    environment = {**os.environ, "INTENTMATCH_CACHE": "off"}

    loud, quiet = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=True, timeout=120, env=environment)
        for more in ([], ["-q"])
    )

    named = {line.partition(":")[0] for line in loud.stderr.splitlines()}
    assert any(name.startswith("held-out utterances (") for name in named), named
    assert quiet.stderr == ""
    assert "Held-out utterances: 200 in scope" in quiet.stdout
    assert "training the head" not in loud.stdout
