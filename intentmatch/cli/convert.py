"""The commands `import`, `export` and `formats`: read and write the files of other programs."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import json_option, takes_intents
from intentmatch.cli.python_names import is_python_name, python_object
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError, Problem, counted
from intentmatch.storage.unwritable import unwritable

if TYPE_CHECKING:
    from intentmatch.core.types import Registry
    from intentmatch.formats import Imported
    from intentmatch.formats.kit.format import Files

_Command = TypeVar("_Command", bound=Callable[..., Any])

_NATIVE = "intentmatch"
_STANDARD_INPUT = "-"
# An imported bot may have hundreds of problems of one rule.
_SHOWN_PER_RULE = 5
# Names and texts in a message, as `repr` and typographic quotes set them off.
_QUOTED = re.compile(r"""“.*?”|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")
_TARGET = click.Path(path_type=Path)


def _format_option(completer: completion.Completer) -> Callable[[_Command], _Command]:
    """Return the option --format, completed by `completer`."""
    known = "Format, as listed by `formats`."
    return click.option("--format", "-f", "form", metavar="NAME", shell_complete=completer, help=known)


_force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


@cli.command("import")
@click.argument("path", type=click.Path(allow_dash=True))
@_format_option(completion.formats_read)
@click.option("--output", "-o", "target", type=_TARGET, help="Folder to write the YAML to; if missing, only report.")
@click.option(
    "--language",
    "-l",
    metavar="CODE",
    shell_complete=completion.languages,
    help="BCP-47 code of texts without a language.",
)
@click.option(
    "--columns",
    metavar="COLUMN=NAME,...",
    help="Columns of a table; COLUMN is text, intent, language or response. text=* if each column is an intent.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value: the contents and every problem.")
@_force_option
@quiet_option
def import_(
    path: str,
    form: str | None,
    target: Path | None,
    language: str | None,
    columns: str | None,
    as_json: bool,
    force: bool,
) -> None:
    """Convert the files of another program to YAML.

    PATH is a file, a folder or a zip, or `-` for a table that you paste on standard input. MODULE:NAME stands for a
    Python object, such as a router: its module is imported, and its code runs. The format is detected from the contents
    unless --format names the format. The report lists everything that intentmatch cannot express or had to leave out,
    with its place.

    \b
    Examples:
      intentmatch import rasa-bot/
      intentmatch import agent.zip -o bot/
      intentmatch import faq.xlsx --columns text=Frage,intent=Thema -l de -o faq/
      intentmatch import - -o pasted/ < cases.csv
      intentmatch import routes:router -o routes/

    Exit codes: 0 done; 2 something could not be read, and nothing was written.
    """
    from intentmatch import formats
    from intentmatch.formats.kit.repair import repair
    from intentmatch.formats.kit.tidy import tidy, unused_slots, with_unused_slots_ignored

    # Reading waits for the user, who pastes or types a table.
    pasted = _pasted() if path == _STANDARD_INPUT else None
    with progress.shown() as update:
        update(f"reading {path}", 0, None)
        if pasted is not None:
            found = formats.read_bytes(pasted, form, language=language, columns=_pairs(columns))
        elif is_python_name(path):
            with python_object(path) as named:
                found = formats.read_object(named, path, form, language=language, columns=_pairs(columns))
        else:
            found = formats.read(path, form, language=language, columns=_pairs(columns))
        update("converting", 0, None)
        # First: it chooses among repeated utterances, which the repair would only remove.
        tidied, notes = tidy(found.registry)
        # An imported bot may be invalid by our rules: what they forbid is left out and
        # reported, so that the rest loads.
        registry, left_out = repair(tidied)
        files, losses = formats.render(registry, _NATIVE)
        # Slots that no intent uses are the author's work too: they stay, with a comment for `lint`.
        files = with_unused_slots_ignored(files, registry)
        # The reader of the format may have reported them, with the places that the author knows.
        if not any(problem.rule == "unused-slot" for problem in found.problems):
            notes += unused_slots(registry)
        problems = sorted({*found.problems, *notes, *left_out, *losses})
        errors = _errors(problems)
        if target is not None and not errors:
            update(f"writing {target}", 0, None)
            formats.put(files, _folder(target), force=force)
            # Read back, since a defect of the writer must not show only when the bot starts.
            problems += (written := _validated(target))
            errors = _errors(written)
    if as_json:
        output.as_json(_to_dict(found, problems))
    else:
        _show_problems(problems)
        _show_summary(found, files, problems, target if not errors else None)
    sys.exit(InputError.exit_code if errors else 0)


@cli.command()
@takes_intents()
@_format_option(completion.formats_written)
@click.option("--output", "-o", "target", required=True, type=_TARGET, help="File, folder or .zip to write.")
@_force_option
@quiet_option
def export(intents: str, form: str | None, target: Path, force: bool) -> None:
    """Convert a registry to a format of another program.

    What the other format cannot express is reported once for each kind, with the number and the first places.

    \b
    Examples:
      intentmatch export intents/ --format rasa -o rasa/
      intentmatch export intents/ --format csv -o utterances.csv
    """
    from intentmatch import formats
    from intentmatch.registry import read_registry

    if form is None:
        known = ", ".join(name for name, found in formats.formats().items() if found.write)
        raise InputError(f"name the format with --format, one of {known}")
    with progress.shown() as update:
        update("reading the intents", 0, None)
        registry = read_registry(intents, expand=False)
        update(f"writing {target}", 0, None)
        problems = formats.write(registry, form, target, force=force)
    output.problems(_each_once(problems), "human")
    lost = f"; {counted(len(problems), 'problem')}" if problems else ""
    output.say(f"{target}: {_counts(registry)}{lost}")


@cli.command("formats")
@json_option
def formats_(as_json: bool) -> None:
    """List the formats that can be read and written.

    \b
    Examples:
      intentmatch formats
      intentmatch formats --json
    """
    from intentmatch import formats

    found = formats.formats().values()
    if as_json:
        for each in found:
            reads, writes = each.read is not None, each.write is not None
            output.as_json({"format": each.name, "reads": reads, "writes": writes, "what": each.title})
        return
    rows = [[f.name, "yes" if f.read else "", "yes" if f.write else "", f.title] for f in found]
    output.table(["format", "read", "written", "what it is"], rows)


def _pasted() -> bytes:
    """Read standard input to its end, and say on a terminal how to end it."""
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        output.say(f"Paste the table, then press {end} on an empty line.", err=True)
    return sys.stdin.buffer.read()


def _pairs(text: str | None) -> dict[str, str]:
    """Parse --columns. InputError if it is not `COLUMN=NAME,...`."""
    pairs: dict[str, str] = {}
    for pair in (text or "").split(","):
        column, separator, name = pair.partition("=")
        if text and not (separator and name.strip()):
            raise InputError(f"--columns takes COLUMN=NAME,..., not {text!r}")
        if separator:
            pairs[column.strip()] = name.strip()
    return pairs


def _folder(path: Path) -> Path:
    """Create the folder if needed. InputError if it cannot be created."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(unwritable(path, error)) from error
    return path


def _validated(folder: Path) -> list[Problem]:
    """Return the errors in the written YAML; its warnings were reported when the files were read."""
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
        "utterances": found.registry.utterance_count,
        "languages": list(found.registry.languages),
        "entities": _slots(found.registry),
        "problems": [output.problem_to_dict(problem) for problem in problems],
    }


def _show_summary(found: Imported, files: Files, problems: Sequence[Problem], written: Path | None) -> None:
    """Print the contents, the YAML files, and the number of problems."""
    output.say(f"{found.format}: {_counts(found.registry)}, slots: {' '.join(_slots(found.registry)) or 'none'}")
    rows = [[name, str(content.count("\n") if isinstance(content, str) else 0)] for name, content in files.items()]
    output.table([f"written to {written}" if written else "to be written with --output", "lines"], rows)
    counts = Counter(problem.severity for problem in problems)
    numbers = [
        counted(counts["error"], "error"),
        counted(counts["warning"], "warning"),
        counted(counts["info"], "note"),
    ]
    output.say(output.style(", ".join(numbers), fg="red" if counts["error"] else "yellow" if problems else "green"))


def _show_problems(problems: Sequence[Problem]) -> None:
    """Print the first problems of each rule, and the number of the others."""
    shown: Counter[str] = Counter()
    for problem in problems:
        shown[problem.rule] += 1
        if shown[problem.rule] <= _SHOWN_PER_RULE:
            output.problems([problem], "human")
    for rule, count in shown.items():
        if count > _SHOWN_PER_RULE:
            output.say(f"... and {count - _SHOWN_PER_RULE} more [{rule}]")


def _each_once(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first problem of each kind, with the number and the first places of those that differ in names."""
    from intentmatch.formats.kit.draft import few

    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.rule, _QUOTED.sub("", problem.message)), []).append(problem)
    found = []
    for first, *more in kinds.values():
        places = few(dict.fromkeys(one.location.short for one in more if one.location != first.location))
        times = f" ({len(more) + 1} times{', also at ' if places else ''}{places})" if more else ""
        found.append(replace(first, message=first.message + times))
    return found


def _counts(registry: Registry) -> str:
    languages = " ".join(registry.languages) or "not stated"
    intents = counted(len(registry), "intent")
    return f"{intents}, {counted(registry.utterance_count, 'utterance')}, languages: {languages}"
