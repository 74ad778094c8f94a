"""The commands that check a registry and change nothing: `validate`, `lint` and `schema`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

import intentmatch
from intentmatch.cli.commands import cli
from intentmatch.cli.edit import dry_run_option, planned, workspace_of, write, yes_option
from intentmatch.cli.options import set_option, settings_from, takes_intents
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError, Problem, counted

if TYPE_CHECKING:
    from intentmatch.core.types import Utterance
    from intentmatch.lint import LintReport

FINDINGS_EXIT_CODE = 1
"""Exit code of `lint` for findings, as with other linters; errors that stop `lint` have the code of their class."""

_FORM_HELP = (
    "Output format. full shows the source lines, concise one line for each problem; human is full in a terminal and "
    "concise elsewhere. github prints annotations for a pull request."
)
_FOR_PEOPLE = ("human", "full", "concise")
_SEVERITIES = ("info", "warning", "error")
_NO_UTTERANCES = "-"


@cli.command()
@takes_intents()
@click.option(
    "--format",
    "form",
    type=click.Choice([*output.PROBLEM_FORMS, "json"]),
    default="human",
    show_default=True,
    help=_FORM_HELP,
)
@quiet_option
def validate(intents: str, form: str) -> None:
    """Report every problem in the YAML.

    Each problem has its file, line and column, and a hint how to correct it. `lint` checks the meaning as well.

    \b
    Examples:
      intentmatch validate
      intentmatch validate shop/ --format github

    Exit codes: 0 no errors, 2 errors.
    """
    from intentmatch.registry import examine
    from intentmatch.registry.checks import missing_extra, unknown_encoder

    with progress.shown() as update:
        update("reading the intents", 0, None)
        registry, problems = examine(intents)
        problems = sorted([*problems, *unknown_encoder(registry), *missing_extra(registry)])
    # Lines as the author wrote them: a template counts once, and a description is no utterance.
    own = zip(registry.lines, registry.is_described, strict=True)
    lines, sentences = len({line for line, is_described in own if not is_described}), registry.utterance_count
    counts = {
        "intents": len(registry),
        "utterances": lines,
        "sentences": sentences,
        "languages": list(registry.languages),
    }
    errors = sum(problem.severity == "error" for problem in problems)
    if form == "json":
        found = [output.problem_to_dict(problem) for problem in problems]
        output.as_json({"ok": not errors, **counts, "problems": found})
    else:
        output.problems(problems, form)
    if form in _FOR_PEOPLE:
        of = f" of {counted(sentences, 'sentence')}" if sentences != lines else ""
        facts = f"{counted(len(registry), 'intent')}, {counted(lines, 'utterance')}{of}, languages: "
        output.say(facts + (" ".join(registry.languages) or "not stated"))
        output.say(output.style(_severities(problems), fg="red" if errors else "yellow" if problems else "green"))
    sys.exit(InputError.exit_code if errors else 0)


def _severities(problems: list[Problem]) -> str:
    """Return the number of problems of each severity in words."""
    errors, warnings, notes = (sum(p.severity == kind for p in problems) for kind in ("error", "warning", "info"))
    if not problems:
        return "no problems"
    more = f", {counted(notes, 'note')}" if notes else ""
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')}{more}"


@cli.command()
@takes_intents()
@click.option(
    "--format",
    "form",
    type=click.Choice([*output.PROBLEM_FORMS, "json", "sarif"]),
    default="human",
    show_default=True,
    help=_FORM_HELP,
)
@click.option(
    "--fail-on",
    type=click.Choice([*reversed(_SEVERITIES), "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 for findings of this severity or a higher one.",
)
@click.option("--rules", is_flag=True, help="List the rules with their severities, and exit.")
@click.option("--fix", is_flag=True, help="Remove duplicates, and report what is left; the change is shown first.")
@dry_run_option
@yes_option
@set_option
@quiet_option
def lint(
    intents: str,
    form: str,
    fail_on: str,
    rules: bool,
    fix: bool,
    dry_run: bool,
    yes: bool,
    settings: tuple[str, ...],
) -> None:
    """Report weak spots in the meaning of the intents.

    Besides everything that `validate` reports, `lint` finds utterances that are nearer to another intent, overlapping
    intents, near-duplicates, intents with few or uniform utterances or two meanings, and wrong or missing languages.

    A comment `# lint: ignore RULE` in the YAML applies to its line and to everything indented below that line.

    \b
    Examples:
      intentmatch lint
      intentmatch lint shop/ --format sarif --fail-on warning > lint.sarif
      intentmatch lint shop/ --set lint=near-duplicate=off,few-utterances=error
      intentmatch lint shop/ --fix --dry-run

    Exit codes: 0 no findings of the severity --fail-on or higher, 1 findings.
    """
    from intentmatch.lint import CATALOGUE, to_sarif
    from intentmatch.lint import lint as examine

    if rules:
        output.table(["rule", "severity", "what it finds"], [[*rule] for rule in CATALOGUE.values()])
        return
    if (dry_run or yes) and not fix:
        raise click.UsageError("--dry-run and --yes need --fix.")
    if fix and form not in _FOR_PEOPLE:
        # The diff would stand in the middle of the JSON.
        raise click.UsageError(f"--fix shows a change, which --format {form} cannot; choose full or concise.")
    explicit: dict[str, Any] = settings_from(settings)
    with progress.shown():
        report = examine(intents, **explicit)
    # Again, since the places of the findings that are left have moved.
    if fix and _fixed(intents, report, dry_run=dry_run, yes=yes):
        with progress.shown():
            report = examine(intents, **explicit)
    failed = any(_fails(problem, fail_on) for problem in report.problems)
    if form == "sarif":
        output.as_json(to_sarif(report.problems, intentmatch.__version__))
    elif form == "json":
        output.as_json({"ok": not failed, **_report_to_dict(report)})
    else:
        output.problems(report.problems, form)
    if form in _FOR_PEOPLE:
        _tables(report)
        output.say(output.style(_summary(report), fg="red" if failed else "yellow" if report.problems else "green"))
    sys.exit(FINDINGS_EXIT_CODE if failed else 0)


def _fixed(intents: str, report: LintReport, *, dry_run: bool, yes: bool) -> bool:
    """Show the fixes and write them, unless it is a dry run. Return whether files have changed."""
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.lint import fixes

    edits = fixes(report.problems, report.registry)
    plan = planned(workspace_of(intents), Operation(edits, note="Fix what lint found")) if edits else None
    if plan is None or not plan.changes.files:
        output.say("Nothing to fix without a decision of yours.")
        return False
    if not dry_run:
        write(plan, yes=yes)
    output.echo()
    return not dry_run


def _fails(problem: Problem, fail_on: str) -> bool:
    return fail_on != "never" and _SEVERITIES.index(problem.severity) >= _SEVERITIES.index(fail_on)


def _tables(report: LintReport) -> None:
    """Print the overlapping intents and, for several languages, the number of utterances per intent and language."""
    if report.overlaps:
        output.echo()
        output.table(
            ["overlapping", "and", "nearer to the other"],
            [[pair.first, pair.second, f"{pair.errors} of {pair.lines}"] for pair in report.overlaps],
        )
    # Every intent has a count for each language.
    codes = next(iter(report.coverage.values()), {})
    if len(codes) > 1:
        output.echo()
        output.table(
            ["utterances", *(code or "none" for code in codes)],
            [
                [name, *(str(count or _NO_UTTERANCES) for count in row.values())]
                for name, row in report.coverage.items()
            ],
        )
    if report.overlaps or len(codes) > 1:
        output.echo()


def _summary(report: LintReport) -> str:
    if not report.problems:
        counts = "no problems"
    else:
        numbers = {kind: sum(p.severity == kind for p in report.problems) for kind in _SEVERITIES}
        names = {"error": "error", "warning": "warning", "info": "note"}
        counts = ", ".join(counted(numbers[kind], name) for kind, name in names.items())
    return counts + (f" ({report.ignored} ignored)" if report.ignored else "")


def _report_to_dict(report: LintReport) -> dict[str, Any]:
    return {
        "intents": len(report.registry),
        "utterances": len(report.registry.utterances),
        "languages": list(report.registry.languages),
        "ignored": report.ignored,
        "problems": [output.problem_to_dict(problem) for problem in report.problems],
        "overlaps": [
            {
                "intents": [pair.first, pair.second],
                "errors": pair.errors,
                "utterances": pair.lines,
                "worst": [_utterance_to_dict(pair.worst), _utterance_to_dict(pair.near)],
            }
            for pair in report.overlaps
        ],
        "coverage": report.coverage,
    }


def _utterance_to_dict(utterance: Utterance) -> dict[str, str | None]:
    return {"text": utterance.text, "location": utterance.location.short if utterance.location else None}


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the YAML for editors.

    Editors use the schema to complete and check the YAML as you type.

    \b
    Example:
      intentmatch schema > intents.schema.json

    \b
    For the YAML plugin of VS Code, make this the first line of a YAML file:
      # yaml-language-server: $schema=intents.schema.json
    """
    from intentmatch.registry.reading.schema import schema as schema_of_files

    # As bytes: redirected into a file, the text would take the code page of the terminal on Windows.
    click.echo(json.dumps(schema_of_files(), indent=2, ensure_ascii=False).encode())
