"""Options and arguments that several commands share, and the values they stand for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from intentmatch.cli import completion
from intentmatch.cli.render import progress
from intentmatch.core.errors import InputError
from intentmatch.storage.postgres.address import Address, address_of, is_address
from intentmatch.storage.unwritable import unwritable

if TYPE_CHECKING:
    from intentmatch.matching.matcher import Matcher

_Command = TypeVar("_Command", bound=Callable[..., Any])

DEFAULT_INTENTS = "intents"
INTENTS_VARIABLE = "INTENTMATCH_INTENTS"
INTENTS_HELP = (
    "Folder or file of YAML, a built artefact, or postgres://HOST/DATABASE/BOT.  "
    f"[env var: {INTENTS_VARIABLE}; default: {DEFAULT_INTENTS}]"
)

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)
OUTPUT_FOLDER = click.Path(file_okay=False, path_type=Path)


def default_intents() -> str:
    """Return the registry that is used if none is given."""
    return os.environ.get(INTENTS_VARIABLE) or DEFAULT_INTENTS


class PositionalOption(click.Option):
    """An option that a positional argument gives as well."""

    def __init__(self, declarations: Sequence[str], *, positional: str, **attributes: Any) -> None:
        super().__init__(declarations, **attributes)
        self.positional = click.Argument([f"{self.name}_argument"], metavar=positional, required=False)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser of the command read both forms."""
        super().add_to_parser(parser, ctx)
        self.positional.add_to_parser(parser, ctx)

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show the positional argument in the usage line."""
        return [f"[{self.positional.metavar}]"]

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the value of either form, with its source. InputError if both are given."""
        # Click marks what is not given with a value of its own, which changed between its versions: only a text counts.
        option, argument = opts.get(self.name or ""), opts.get(self.positional.name or "")
        if not isinstance(argument, str):
            return super().consume_value(ctx, opts)
        if isinstance(option, str):
            raise InputError(
                f"{self.positional.metavar} is given twice, as the argument {shown(argument)!r} and as --intents "
                f"{shown(option)!r}: "
                "remove one of them"
            )
        return argument, ParameterSource.COMMANDLINE


def takes_intents(
    name: str = "intents", *, positional: str | None = "INTENTS", live: bool = False
) -> Callable[[_Command], _Command]:
    """Return the decorator of a command that takes a registry: `-i/--intents`, and a positional argument as well.

    The command receives one value under `name`. `positional` is the argument in the usage line; it is None for commands
    whose other positional arguments stand in the way. Without either form the value is `$INTENTMATCH_INTENTS`, then
    "intents". If both are given, InputError is raised.

    For an address of PostgreSQL, a `live` command receives an `Address`, which `Matcher.load` takes; others receive the
    path of a folder with the files, see `cli.checkout`.
    """
    attributes: dict[str, Any] = {
        "metavar": "PATH",
        "default": DEFAULT_INTENTS,
        "envvar": INTENTS_VARIABLE,
        "help": INTENTS_HELP,
        "shell_complete": completion.paths,
        "callback": _live if live else _checked_out,
    }
    if positional is None:
        return click.option("-i", "--intents", name, **attributes)
    return click.option("-i", "--intents", name, cls=PositionalOption, positional=positional, **attributes)


def shown(value: str) -> str:
    """Return a value as messages show it: an address without its password."""
    return str(address_of(value)) if is_address(value) else value


def _live(_context: click.Context, _parameter: click.Parameter, value: str) -> str | Address:
    return address_of(value) if is_address(value) else value


def _checked_out(context: click.Context, parameter: click.Parameter, value: str) -> str:
    found = _live(context, parameter, value)
    # Completing a command line must not ask a database.
    if isinstance(found, str) or context.resilient_parsing:
        return str(found)
    from intentmatch.cli.checkout import checked_out

    return checked_out(found)


class _SettingsOption(click.Option):
    """`--set`, with the flag `--require-signature FILE` as one of its pairs."""

    _FLAG, _FILE = "--require-signature", "require_signature_file"

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser of the command read the flag as well."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[self._FLAG], dest=self._FILE, action="store", nargs=1)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the pairs, with that of the flag behind them."""
        value, source = super().consume_value(ctx, opts)
        file = opts.get(self._FILE)
        if file is None:
            return value, source
        pairs = value if isinstance(value, (list, tuple)) else ()
        return (*pairs, f"require_signature={file}"), ParameterSource.COMMANDLINE


set_option = click.option(
    "--set",
    "settings",
    cls=_SettingsOption,
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completion.settings,
    help="A setting, such as threshold=0.5; repeatable. `--require-signature FILE` sets the one of that name.",
)


def confine_options(command: _Command) -> _Command:
    """Add the flags that say what authors may name: `--confine/--no-confine` and `--allow`."""
    confine = click.option(
        "--confine/--no-confine",
        default=True,
        help="Whether each registry may read files of its own folder only: included files, models, caches.",
    )
    allow = click.option(
        "--allow",
        multiple=True,
        metavar="ENTRY",
        help="What confined YAML may name besides: a server (https://HOST), a model (KIND:MODEL or KIND) or a folder; "
        "repeatable. What it names at the start is allowed.",
    )
    return confine(allow(command))


def confined(settings: tuple[str, ...], *, confine: bool, allow: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pairs of `--set` with those of `confine_options` before them."""
    allowed = (f"allow={','.join(allow)}",) if allow else ()
    # In front, so that `--set confine=...` wins over the default of the flag.
    return (f"confine={str(confine).lower()}", *allowed, *settings)


bot_option = click.option("--bot", metavar="NAME", help="Only messages of this bot, of a server that has several.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one value per line.")


def settings_from(pairs: Iterable[str]) -> dict[str, str]:
    """Parse the `NAME=VALUE` pairs of --set. InputError if one has no `=`."""
    settings = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"--set takes NAME=VALUE, not {pair!r}")
        settings[name.strip()] = value.strip()
    return settings


def load(intents: str | Address, settings: Iterable[str], named: Sequence[str] | None = None) -> Matcher:
    """Load a matcher under the settings of the command line, with progress if that takes long.

    For a server, `named` is what the YAML named when it started, see `authoring.read_limits`.
    """
    from intentmatch.matching.matcher import Matcher

    explicit: dict[str, Any] = settings_from(settings)
    if named is not None:
        from intentmatch.authoring.read_limits import served_settings

        explicit = served_settings(explicit, named)
    with progress.shown():
        return Matcher.load(intents, **explicit)


def standard_input() -> Iterator[str]:
    """Yield the lines of standard input; bytes that are not UTF-8 become replacement characters."""
    # Whatever the locale: logs and lists of messages are UTF-8 almost everywhere.
    return (line.decode("utf-8", "replace") for line in sys.stdin.buffer)


def write_text(target: Path, text: str) -> None:
    """Write a report that the user asked for. InputError if the file cannot be written."""
    from intentmatch.storage.atomic import write_report

    try:
        # A message may hold half of a surrogate pair, for which nobody should lose a report.
        write_report(target, text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise InputError(unwritable(target, error)) from error
