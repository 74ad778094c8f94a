"""`intentmatch init`: write a small registry to begin with."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import DEFAULT_INTENTS
from intentmatch.cli.render import output
from intentmatch.core.errors import InputError, counted
from intentmatch.storage.unwritable import unwritable

if TYPE_CHECKING:
    from intentmatch.registry.editing.folder import Folder

_T = TypeVar("_T")

SCHEMA_FILE = "intents.schema.json"
"""File beside the intents with the JSON Schema that editors read."""


@cli.command()
@click.argument("folder", default=DEFAULT_INTENTS, type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="Name of the bot; names the file.  [default: that of the parent folder]")
@click.option("--languages", metavar="CODES", help="The bot's languages, such as en,de or german.  [default: en]")
@click.option("--start", metavar="SET", help="Starting set: empty, shop, bank, helpdesk or voice.  [default: empty]")
@click.option(
    "--description", "descriptions", multiple=True, metavar="NAME=TEXT", help="An intent to begin with; repeatable."
)
def init(
    folder: Path, name: str | None, languages: str | None, start: str | None, descriptions: tuple[str, ...]
) -> None:
    """Write a small registry to begin with.

    FOLDER, by default intents, gets one YAML file with intents, comments and tests, and the schema for your editor. In
    a terminal, you are asked for what the options leave open. Existing intents are never overwritten.

    \b
    Examples:
      intentmatch init bot/
      intentmatch init pizza/ --name pizza --languages en,de --start shop
      intentmatch init bank/ --description "block_card=block a card that is lost"
    """
    from intentmatch.registry import read_registry
    from intentmatch.registry.editing.document import Document
    from intentmatch.registry.editing.folder import Folder
    from intentmatch.registry.reading.schema import schema
    from intentmatch.registry.starters import LANGUAGES, STARTERS, starter

    # Before the first question, which would be answered in vain.
    _check_empty(folder)
    asking = _has_terminal()
    if name is None:
        name = _asked("Name of the bot", folder.resolve().parent.name or "bot", str.strip, asking=asking)
    codes = _asked("Languages", "en", _codes, asking=asking) if languages is None else _codes(languages)
    if start is None and asking:
        for known, about in STARTERS.items():
            output.say(f"  {known.ljust(max(map(len, STARTERS)))}  {about}")

    def lines_of(start: str) -> str:
        return starter(start.strip(), codes)

    text = _asked("Starting set", "empty", lines_of, asking=asking) if start is None else lines_of(start)

    file = folder / f"{_file_name(name)}.yaml"
    missing = [code for code in codes if code not in LANGUAGES]
    first = next((code for code in codes if code in LANGUAGES), "en")
    begun = Folder(folder, {file: Document(str(file), _head(name, missing, first) + text)})
    for described in descriptions:
        begun = _with_intent(begun, described)
    if asking and not descriptions:
        output.say("  An intent may begin as a description, such as: refund=get money back for a purchase")
        while (more := _asked("Intent", "", partial(_with_intent, begun), asking=True)) is not begun:
            begun = more
    _write(folder, {file: begun.documents[file].text, folder / SCHEMA_FILE: _json(schema())})
    registry = read_registry(str(folder))
    counts = {"intent": len(registry), "utterance": registry.utterance_count, "test": len(registry.tests)}
    output.say(f"{file}: " + ", ".join(counted(count, thing) for thing, count in counts.items()))
    if missing:
        output.say(
            f"No starting set has lines in {', '.join(missing)}: add yours under such a key below `utterances:`."
        )
    _show_next_steps(folder, registry.tests[0].text)


def _check_empty(folder: Path) -> None:
    """Raise `InputError` if the folder has YAML files already."""
    if not folder.is_dir():
        return
    files = sorted(file.name for file in folder.rglob("*") if file.suffix.lower() in (".yaml", ".yml"))
    if files:
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        raise InputError(
            f"{folder} already has intents ({files[0]}{more}), and nothing was written. Name another folder, or add to "
            "these with `intentmatch add`"
        )


def _has_terminal() -> bool:
    # Both: with one of them redirected, the questions would not be seen or not be answered.
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked(question: str, default: str, read: Callable[[str], _T], *, asking: bool) -> _T:
    """Return what `read` makes of the answer, and ask again as long as it raises `InputError`."""

    def answer(typed: str) -> _T:
        try:
            return read(typed)
        except InputError as error:
            # Click asks again after an error of its own only.
            raise click.UsageError(str(error)) from error

    return (
        click.prompt(question, default=default, show_default=bool(default), value_proc=answer)
        if asking
        else read(default)
    )


def _codes(languages: str) -> list[str]:
    """Return the codes of languages such as `en, german`, each once. Raises `InputError`."""
    from intentmatch.core.types import checked_language_code
    from intentmatch.languages.country_codes import language_named

    words = [word for word in re.split(r"[\s,]+", languages.strip()) if word]
    codes = [language_named(word) or checked_language_code(word) for word in words]
    if not codes:
        raise InputError("name at least one language, such as en or en,de")
    return list(dict.fromkeys(codes))


def _with_intent(folder: Folder, described: str) -> Folder:
    """Return the files with the intent of `NAME=TEXT`, or as they are without one. Raises `InputError`."""
    from intentmatch.registry.editing.edits import AddIntent

    name, sign, description = described.partition("=")
    if not described.strip():
        return folder
    if not sign:
        raise InputError(f"{described!r} describes no intent: write NAME=TEXT, such as refund=get money back")
    return AddIntent(name.strip(), description=description).apply(folder)


def _file_name(name: str) -> str:
    """Return a name for the file: letters, digits and underscores."""
    return re.sub(r"\W+", "_", name.strip().lower()).strip("_") or "bot"


def _head(name: str, missing: Sequence[str], beside: str) -> str:
    lines = [
        f"# yaml-language-server: $schema={SCHEMA_FILE}",
        # In one line: a name with a line end would go on as YAML.
        f"# What {' '.join(name.split())} understands. `intentmatch guide yaml-reference` explains every key.",
    ]
    if missing:
        lines.append(
            f"# Add lines in {', '.join(missing)} beside `{beside}:`. Until then, such messages are matched across "
            "languages."
        )
    return "".join(f"{line}\n" for line in lines)


def _json(schema: object) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _write(folder: Path, texts: dict[Path, str]) -> None:
    """Write the files. Raises `InputError`."""
    from intentmatch.storage.atomic import write_file

    try:
        for file, text in texts.items():
            write_file(file, text.encode())
    except OSError as error:
        raise InputError(unwritable(folder, error)) from error


def _show_next_steps(folder: Path, message: str) -> None:
    """Print the commands to try next."""
    here = "" if str(folder) == DEFAULT_INTENTS else f" -i {folder}"
    rows = [
        (f'intentmatch match{here} "{message}"', "match a message"),
        (f"intentmatch chat{here}", "talk to the bot"),
        (f"intentmatch lint{here}", "see what could be written better"),
        (f"intentmatch eval{here}", "see how often it is right"),
    ]
    output.heading("Next")
    width = max(len(command) for command, _ in rows)
    for command, does in rows:
        output.say(f"  {command.ljust(width)}  {output.style(does, dim=True)}")
