"""How things look in a terminal, and plainly when they go to a file or another program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from intentmatch.core.errors import IntentMatchError, Problem, RegistryError
from intentmatch.core.result import Candidate, Entity, MatchResult

if TYPE_CHECKING:
    from rich.progress import Progress

    from intentmatch.core.types import Registry
    from intentmatch.dialogue import Turn
    from intentmatch.encoders.encode import Progress as EncodeProgress

# Encoding fewer texts than this is over before a bar could be read.
_WORTH_A_BAR = 256
_SECONDS_BETWEEN_LINES = 30.0
PATIENCE = 10.0
"""Seconds before work that is mostly short tells how far it has got."""
_ON_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}
_IN_A_DIFF = {"+": "green", "-": "red", "@": "cyan"}
_COLOURS = {
    "matched": "green",
    "ambiguous": "yellow",
    "out_of_scope": "red",
    "error": "red",
    "warning": "yellow",
    "info": "cyan",
}


def result(found: MatchResult) -> None:
    """One answer: the decision, what it rests on, and the runners-up."""
    headline = found.intent or found.verdict.replace("_", " ")
    title = found.candidates[0].title if found.intent else None
    click.echo(click.style(headline, fg=_COLOURS[found.verdict], bold=True) + (f"  {title}" if title else ""))
    facts = [f"score {found.score:.2f}"]
    if found.confidence is not None:
        facts.insert(
            0, f"confidence {found.confidence:.0%}" + ("" if found.intent else f" in {found.candidates[0].intent}")
        )
    if found.trace.threshold is not None:
        facts.append(f"threshold {found.trace.threshold:.2f} ({found.trace.threshold_origin})")
    if found.language:
        facts.append(f"language {found.language}")
    click.echo("  " + "   ".join(facts))
    runners_up = found.candidates[1:] if found.intent else found.candidates
    if found.intent:
        click.echo(f"  nearest: {_nearest(found.candidates[0])}")
        for line in _slots(found):
            click.echo(f"  {line}")
    else:
        click.echo(f"  {found.trace.reason}")
    if runners_up:
        click.echo()
        measure = "score" if found.confidence is None else "confidence"
        table(
            ["runners-up" if found.intent else "candidates", measure, "nearest utterance"],
            [[c.intent, c.measured, _nearest(c)] for c in runners_up],
        )


def why(found: MatchResult) -> None:
    """The explanation, and each stage with the time it took."""
    click.echo(found.explain())
    for stage in found.trace.stages:
        click.echo(click.style(f"  {stage.name:9} {stage.microseconds:7.0f} µs  {stage.says}", dim=True))


def turn(taken: Turn, registry: Registry) -> None:
    """One turn of a conversation: what a bot would say, and why in dim lines."""
    if taken.intent is not None:
        said = taken.text or registry[taken.intent].title_in(taken.language) or taken.intent
    else:
        said = taken.text or "(out of scope: this is where your bot's fallback answers)"
    colour = "ambiguous" if taken.choices else "matched" if taken.understood else "out_of_scope"
    click.echo(click.style(f"bot> {said}".replace("\n", "\n     "), fg=_COLOURS[colour]))
    for line in _reasons(taken):
        click.echo(click.style(f"     {line}", dim=True))


def _reasons(taken: Turn) -> Iterator[str]:
    """Why a turn is what it is."""
    found = taken.result
    if found is None or taken.answers:
        yield f"{taken.intent or taken.pending or 'none of these'}: by the question before"
    if found is not None:
        sure = "" if found.confidence is None else f", confidence {found.confidence:.0%}"
        yield f"{found.intent or found.verdict}{sure}: {found.trace.reason}"
    yield from _found(taken.entities)
    if taken.asks_for is not None:
        yield f"{taken.asks_for}: missing  “{taken.reply}”"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns: with rules and colours in a terminal, padded with spaces elsewhere."""
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(*headers, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for row in rows:
            drawn.add_row(*(Text(cell) for cell in row))
        Console().print(drawn)
        return
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    for row in [headers, *rows]:
        click.echo(("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip())


def problems(found: Sequence[Problem], form: str) -> None:
    """Problems for people, or as annotations that GitHub pins to the lines of a pull request."""
    for problem in found:
        if form == "github":
            click.echo(_annotation(problem))
            continue
        severity = click.style(problem.severity, fg=_COLOURS[problem.severity], bold=True)
        click.echo(f"{problem.location}: {severity} [{problem.rule}] {problem.message}")
        if problem.hint:
            click.echo(click.style(f"  hint: {problem.hint}", dim=True))


def counted(count: int, thing: str) -> str:
    """So many of a thing, in words."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def diff(text: str) -> None:
    """A unified diff."""
    for line in text.split("\n")[:-1]:
        colour = _IN_A_DIFF.get(line[:1])
        click.echo(click.style(line, fg=colour) if colour else line)


def as_json(value: Any) -> None:
    """One JSON value on one line, in UTF-8."""
    click.echo(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def problem_to_dict(problem: Problem) -> dict[str, Any]:
    """A problem as plain JSON values."""
    return {
        "path": problem.location.path,
        "line": problem.location.line,
        "column": problem.location.column,
        "severity": problem.severity,
        "rule": problem.rule,
        "message": problem.message,
        "hint": problem.hint,
    }


def error(raised: IntentMatchError) -> None:
    """An error on stderr; for a registry, each of its problems and how many there are."""
    if isinstance(raised, RegistryError):
        count = sum(problem.severity == "error" for problem in raised.problems)
        click.echo(str(raised), err=True)
        click.echo(click.style(f"{count} error{'s' if count != 1 else ''}", fg="red"), err=True)
    else:
        click.echo(click.style("error: ", fg="red", bold=True) + str(raised), err=True)


@contextmanager
def progress() -> Iterator[EncodeProgress | None]:
    """A bar on stderr for long builds; nothing where nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as open_bar:
        updates: list[Callable[[int], None]] = []

        def tell(done: int, total: int) -> None:
            if total < _WORTH_A_BAR:
                return
            if not updates:
                updates.append(_bar(open_bar, total))
            updates[0](done)

        yield tell


@contextmanager
def steps(patience: float = 0.0) -> Iterator[Callable[[str, int, int | None], None]]:
    """What a long piece of work is at: a bar for each stage in a terminal, a line now and then elsewhere, on stderr.

    Lines begin when it has taken `patience` seconds.
    """
    if not sys.stderr.isatty():
        yield _Lines(patience)
        return
    with _bars(transient=False) as bars:
        stages: dict[str, Any] = {}

        def tell(what: str, done: int, total: int | None) -> None:
            stage = what.partition(" (")[0]
            if stage not in stages:
                for earlier in stages.values():
                    bars.stop_task(earlier)
                stages[stage] = bars.add_task(what, total=total)
            bars.update(stages[stage], description=what, completed=done, total=total)

        yield tell


class _Lines:
    """Progress as lines: one for each new stage, and one whenever half a minute has passed."""

    def __init__(self, patience: float) -> None:
        self._stage, self._told = "", 0.0
        self._quiet_until = time.monotonic() + patience

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() < self._quiet_until:
            return
        stage = what.partition(" (")[0]
        if stage == self._stage and time.monotonic() - self._told < _SECONDS_BETWEEN_LINES:
            return
        self._stage, self._told = stage, time.monotonic()
        count = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
        click.echo(f"{what}: {count}".removesuffix(": "), err=True)


def _bar(open_bar: ExitStack, total: int) -> Callable[[int], None]:
    """Draw the bar; the function it returns moves it."""
    bar = open_bar.enter_context(_bars(transient=True))
    task = bar.add_task("encoding", total=total)
    return lambda done: bar.update(task, completed=done)


def _bars(*, transient: bool) -> Progress:
    """Bars on stderr; transient ones are wiped away when they are done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=transient)


def _nearest(candidate: Candidate) -> str:
    if candidate.utterance is None:
        return ""
    place = f"  {candidate.utterance.location.short}" if candidate.utterance.location else ""
    return f"“{candidate.utterance.text}”{place}"


def _slots(found: MatchResult) -> Iterator[str]:
    """What is there of the intent's slots, and what is asked for."""
    yield from _found(found.entities)
    for missing in found.missing:
        yield f"{missing.slot}: missing" + (f"  “{missing.question}”" if missing.question else "")


def _found(entities: Iterable[Entity]) -> Iterator[str]:
    for entity in entities:
        yield f"{entity.slot}: {entity.value}" + ("" if entity.text == entity.value else f"  “{entity.text}”")


def _annotation(problem: Problem) -> str:
    def escaped(text: str, more: str = "") -> str:
        for sign in "%\r\n" + more:
            text = text.replace(sign, f"%{ord(sign):02X}")
        return text

    place = problem.location
    body = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
    path = escaped(place.path, ",:")
    kind = _ON_GITHUB[problem.severity]
    return f"::{kind} file={path},line={place.line},col={place.column},title={problem.rule}::{escaped(body)}"
