"""`intentmatch lint`: the health of a registry, for people, pull requests and programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import intentmatch
from intentmatch.cli import show
from intentmatch.cli.commands import cli, intents_argument, set_option, settings_from
from intentmatch.core.errors import Problem

if TYPE_CHECKING:
    from intentmatch.core.types import Utterance
    from intentmatch.lint import Report

# The exit code for findings, as every linter has it; what keeps it from running has the code of its error.
FOUND = 1
_SEVERITIES = ("info", "warning", "error")
_FORMATS = ("human", "github", "json", "sarif")
_MISSING = "-"


@cli.command()
@intents_argument
@click.option("--format", "form", type=click.Choice(_FORMATS), default="human", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice([*reversed(_SEVERITIES), "never"]),
    default="error",
    show_default=True,
    help="The least severity that makes the exit code 1.",
)
@click.option("--rules", is_flag=True, help="List the rules instead, each with its severity.")
@set_option
def lint(intents: str, form: str, fail_on: str, rules: bool, settings: tuple[str, ...]) -> None:
    """Report what is wrong with INTENTS by meaning, beside all that `validate` reports.

    Utterances nearer to another intent, intents that overlap, repetitions, intents that are thin, uniform or two in
    one, wrong and missing languages.

    \b
    Examples:
      intentmatch lint
      intentmatch lint shop/ --format sarif --fail-on warning > lint.sarif
      intentmatch lint shop/ --set lint=near-duplicate=off,few-utterances=error

    `# lint: ignore RULE` in the YAML is for the line it stands on and all that is indented below it.
    """
    from intentmatch.lint import CATALOGUE, to_sarif
    from intentmatch.lint import lint as examine

    if rules:
        show.table(["rule", "severity", "what it finds"], [[*rule] for rule in CATALOGUE.values()])
        return
    explicit: dict[str, Any] = settings_from(settings)
    with show.progress() as progress:
        report = examine(intents, progress=progress, **explicit)
    failed = any(_counts(problem, fail_on) for problem in report.problems)
    if form == "sarif":
        show.as_json(to_sarif(report.problems, intentmatch.__version__))
    elif form == "json":
        show.as_json({"ok": not failed, **_to_dict(report)})
    else:
        show.problems(report.problems, form)
    if form == "human":
        _tables(report)
        click.echo(click.style(_summary(report), fg="red" if failed else "yellow" if report.problems else "green"))
    sys.exit(FOUND if failed else 0)


def _counts(problem: Problem, fail_on: str) -> bool:
    return fail_on != "never" and _SEVERITIES.index(problem.severity) >= _SEVERITIES.index(fail_on)


def _tables(report: Report) -> None:
    """The intents that overlap and, where there are several languages, how many utterances each intent has in which."""
    if report.overlaps:
        click.echo()
        show.table(
            ["overlapping", "and", "nearer to the other"],
            [[pair.first, pair.second, f"{pair.errors} of {pair.lines}"] for pair in report.overlaps],
        )
    codes = next(iter(report.coverage.values()), {})
    if len(codes) > 1:
        click.echo()
        show.table(
            ["utterances", *(code or "none" for code in codes)],
            [[name, *(str(count or _MISSING) for count in row.values())] for name, row in report.coverage.items()],
        )
    if report.overlaps or len(codes) > 1:
        click.echo()


def _summary(report: Report) -> str:
    counts = {severity: sum(p.severity == severity for p in report.problems) for severity in _SEVERITIES}
    words = [f"{counts['error']} errors", f"{counts['warning']} warnings", f"{counts['info']} notes"]
    said = ", ".join(word.removesuffix("s") if word.startswith("1 ") else word for word in words)
    return (said if report.problems else "no problems") + (f" ({report.ignored} ignored)" if report.ignored else "")


def _to_dict(report: Report) -> dict[str, Any]:
    return {
        "intents": len(report.registry),
        "utterances": len(report.registry.utterances),
        "languages": list(report.registry.languages),
        "ignored": report.ignored,
        "problems": [show.problem_to_dict(problem) for problem in report.problems],
        "overlaps": [
            {
                "intents": [pair.first, pair.second],
                "errors": pair.errors,
                "utterances": pair.lines,
                "worst": [_line(pair.worst), _line(pair.near)],
            }
            for pair in report.overlaps
        ],
        "coverage": report.coverage,
    }


def _line(utterance: Utterance) -> dict[str, str | None]:
    return {"text": utterance.text, "location": utterance.location.short if utterance.location else None}
