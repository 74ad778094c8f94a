"""The commands `import`, `export` and `formats`: other programs' files in and out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show
from intentmatch.cli.commands import cli, intents_argument
from intentmatch.core.errors import InputError, Problem

if TYPE_CHECKING:
    from intentmatch.core.types import Registry
    from intentmatch.formats import Imported
    from intentmatch.formats.kit.format import Files

_NATIVE = "intentmatch"
# A bot of another program has hundreds of repetitions.
_SHOWN = 5
_OUTPUT = click.Path(path_type=Path)
_format_option = click.option("--format", "-f", "form", metavar="NAME", help="One of those that `formats` lists.")
_force_option = click.option("--force", is_flag=True, help="Write over what is there.")


@cli.command("import")
@click.argument("path", type=click.Path(exists=True))
@_format_option
@click.option("--output", "-o", type=_OUTPUT, help="The folder to write the YAML to; without it, nothing is written.")
@click.option("--language", "-l", metavar="CODE", help="BCP-47 code of whatever does not say its own.")
@click.option("--columns", metavar="COLUMN=NAME,...", help="Of a table: text, intent, language, response.")
@click.option("--json", "as_json", is_flag=True, help="One JSON value: what was found, and every problem.")
@_force_option
def import_(
    path: str,
    form: str | None,
    output: Path | None,
    language: str | None,
    columns: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Read the intents of another program at PATH, a file, folder or zip, and write them as YAML.

    The format is recognised by what is in the files. What intentmatch has no words for is reported with its place, as
    is what keeps a registry from being loaded and is left out.

    \b
    Examples:
      intentmatch import rasa-bot/
      intentmatch import agent.zip -o intents/
      intentmatch import faq.xlsx --columns text=Frage,intent=Thema --language de -o faq/

    Exit code 2 where something could not be read, and then nothing is written.
    """
    from intentmatch import formats

    found = formats.read(path, form, language=language, columns=_pairs(columns))
    files, left_out = formats.render(found.registry, _NATIVE)
    problems = sorted({*found.problems, *left_out, *_repeated(found.registry)})
    errors = _errors(problems)
    if output is not None and not errors:
        formats.put(files, _folder(output), force=force)
        problems += (written := _validated(output))
        errors = _errors(written)
    if as_json:
        show.as_json(_to_dict(found, problems))
    else:
        _show(problems)
        _tell(found, files, problems, output if not errors else None)
    sys.exit(InputError.exit_code if errors else 0)


@cli.command()
@intents_argument
@_format_option
@click.option("--output", "-o", required=True, type=_OUTPUT, help="The file, folder or .zip to write.")
@_force_option
def export(intents: str, form: str | None, output: Path, force: bool) -> None:
    """Write INTENTS in the format of another program, and report what that cannot say.

    \b
    Examples:
      intentmatch export intents/ --format rasa -o rasa-bot/
      intentmatch export intents/ --format csv -o utterances.csv
    """
    from intentmatch import formats
    from intentmatch.registry import read_registry

    if form is None:
        known = ", ".join(name for name, found in formats.formats().items() if found.write)
        raise InputError(f"name the format with --format: {known}")
    registry = read_registry(intents, expand=False)
    problems = formats.write(registry, form, output, force=force)
    _show(problems)
    lost = f"; {show.counted(len(problems), 'problem')}" if problems else ""
    click.echo(f"{output}: {_counts(registry)}{lost}")


@cli.command("formats")
@click.option("--json", "as_json", is_flag=True, help="One JSON value a line.")
def formats_(as_json: bool) -> None:
    """List the formats: which are read and which are written."""
    from intentmatch import formats

    found = formats.formats().values()
    if as_json:
        for each in found:
            reads, writes = each.read is not None, each.write is not None
            show.as_json({"format": each.name, "reads": reads, "writes": writes, "what": each.title})
        return
    rows = [[f.name, "yes" if f.read else "", "yes" if f.write else "", f.title] for f in found]
    show.table(["format", "read", "written", "what it is"], rows)


def _pairs(words: str | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in (words or "").split(","):
        column, separator, name = word.partition("=")
        if words and not (separator and name.strip()):
            raise InputError(f"--columns takes COLUMN=NAME,..., not {words!r}")
        if separator:
            pairs[column.strip()] = name.strip()
    return pairs


def _repeated(registry: Registry) -> list[Problem]:
    """What can be said of the lines where they stand now."""
    from intentmatch.registry import check

    return [problem for problem in check(registry) if problem.rule == "duplicate-utterance"]


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def _validated(folder: Path) -> list[Problem]:
    """The errors of what was written. Its warnings are known already."""
    from intentmatch.registry import examine

    return _errors(examine(folder)[1])


def _errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


def _slots(registry: Registry) -> list[str]:
    slots = (*registry.slots, *(slot for intent in registry for slot in intent.slots))
    return list(dict.fromkeys(slot.name for slot in slots))


def _to_dict(found: Imported, problems: Sequence[Problem]) -> dict[str, object]:
    return {
        "format": found.format,
        "intents": len(found.registry),
        "utterances": len(found.registry.utterances),
        "languages": list(found.registry.languages),
        "entities": _slots(found.registry),
        "problems": [show.problem_to_dict(problem) for problem in problems],
    }


def _tell(found: Imported, files: Files, problems: Sequence[Problem], written: Path | None) -> None:
    """What was found, the files, and how many problems there are."""
    click.echo(f"{found.format}: {_counts(found.registry)}, slots: {' '.join(_slots(found.registry)) or 'none'}")
    rows = [[name, str(content.count("\n") if isinstance(content, str) else 0)] for name, content in files.items()]
    show.table([f"written to {written}" if written else "to be written with --output", "lines"], rows)
    counts = Counter(problem.severity for problem in problems)
    words = [show.counted(counts[kind], kind if kind != "info" else "note") for kind in ("error", "warning", "info")]
    click.echo(click.style(", ".join(words), fg="red" if counts["error"] else "yellow" if problems else "green"))


def _show(problems: Sequence[Problem]) -> None:
    """The first problems of each kind, and how many more there are of it."""
    shown: Counter[str] = Counter()
    for problem in problems:
        shown[problem.rule] += 1
        if shown[problem.rule] <= _SHOWN:
            show.problems([problem], "human")
    for rule, count in shown.items():
        if count > _SHOWN:
            click.echo(f"... and {count - _SHOWN} more [{rule}]")


def _counts(registry: Registry) -> str:
    languages = " ".join(registry.languages) or "not stated"
    intents = show.counted(len(registry), "intent")
    return f"{intents}, {show.counted(len(registry.utterances), 'utterance')}, languages: {languages}"
