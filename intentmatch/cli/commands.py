"""The commands. Each parses its words, makes one call, and shows what came of it."""

from __future__ import annotations

import gc
import importlib
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import intentmatch
from intentmatch.cli import show
from intentmatch.core.errors import InputError, IntentMatchError

if TYPE_CHECKING:
    from intentmatch.matching.matcher import Matcher

# What `match` tells a script beside the errors: 0 matched, and these.
EXIT_CODES = {"matched": 0, "ambiguous": 3, "out_of_scope": 4}
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


# Where the commands stand that are not in this file; they are imported when they are asked for, as `match` is to start
# soon.
_HOMES = {
    "add": "edit",
    "chat": "chat",
    "diff": "diff",
    "encoders": "encoders",
    "eval": "evaluate",
    "explain-thresholds": "thresholds",
    "export": "formats",
    "export-onnx": "encoders",
    "format": "edit",
    "formats": "formats",
    "guide": "guide",
    "import": "formats",
    "inbox": "inbox",
    "lint": "lint",
    "mcp": "mcp",
    "move": "edit",
    "remove": "edit",
    "rename": "edit",
    "schema": "schema",
    "serve": "serve",
    "tune": "tune",
}


class Group(click.Group):
    """Shows our own errors as sentences and exits with their code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted({*self.commands, *_HOMES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, which joins the others when its file is imported."""
        if cmd_name not in self.commands and cmd_name in _HOMES:
            importlib.import_module(f"intentmatch.cli.{_HOMES[cmd_name]}")
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except IntentMatchError as raised:
            show.error(raised)
            ctx.exit(raised.exit_code)


def settings_from(pairs: Iterable[str]) -> dict[str, str]:
    """`NAME=VALUE` words as settings."""
    settings = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"--set takes NAME=VALUE, not {pair!r}")
        settings[name.strip()] = value.strip()
    return settings


intents_option = click.option(
    "--intents",
    "-i",
    default="intents",
    envvar="INTENTMATCH_INTENTS",
    show_default=True,
    show_envvar=True,
    help="Folder or file of YAML, or a built artefact.",
)
intents_argument = click.argument("intents", default="intents", envvar="INTENTMATCH_INTENTS")
set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting, such as threshold=0.5; may be repeated."
)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON value a line.")


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(intentmatch.__version__, prog_name="intentmatch")
def cli() -> None:
    """Match messages to intents written in YAML: this one, these two are close, or none of them.

    Exit codes: 0 done; 2 something you wrote is wrong; 5 something has to be installed or downloaded first; 1 the gate
    of `eval`, `lint`, `diff` or `format --check` failed, or anything else.
    """


@cli.command()
@click.argument("messages", nargs=-1)
@intents_option
@click.option("--language", "-l", help="BCP-47 code of the messages; guessed otherwise.")
@click.option("--top-k", "-k", type=click.IntRange(1), help="Candidates to show.")
@click.option("--allow", multiple=True, metavar="INTENT", help="Only this intent may answer; may be repeated.")
@click.option("--context", multiple=True, metavar="TAG", help="This tag is active; may be repeated.")
@click.option("--why", is_flag=True, help="Explain, stage by stage.")
@json_option
@set_option
def match(
    messages: tuple[str, ...],
    intents: str,
    language: str | None,
    top_k: int | None,
    allow: tuple[str, ...],
    context: tuple[str, ...],
    why: bool,
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """Match MESSAGES, or the lines of standard input when there are none (or the only one is -).

    \b
    Examples:
      intentmatch match "wo ist mein Paket?"
      intentmatch match --intents shop/ --why "cancel that"
      intentmatch match --json - < messages.txt

    Exit codes for a single message: 0 matched, 3 ambiguous, 4 out of scope.
    """
    given = list(messages)
    if not given and sys.stdin.isatty():
        raise click.UsageError("Give a message, or pipe lines into the command.")
    if given in ([], ["-"]):
        given = [line.rstrip("\r\n") for line in standard_input()]
    options: dict[str, Any] = {"language": language, "top_k": top_k, "allowed": allow or None, "context": context}
    found = load(intents, settings).match_many(given, **options)
    for number, result in enumerate(found):
        if as_json:
            show.as_json(result.to_dict())
            continue
        if len(found) > 1:
            click.echo(("\n" if number else "") + click.style(f"> {result.message}", bold=True))
        show.result(result)
        if why:
            click.echo()
            show.why(result)
    if len(found) == 1:
        sys.exit(EXIT_CODES[found[0].verdict])


@cli.command()
@intents_argument
@click.option("--format", "form", type=click.Choice(["human", "github", "json"]), default="human", show_default=True)
def validate(intents: str, form: str) -> None:
    """Report every problem of the YAML in INTENTS, each with its place and a hint. Exit code 2 if there are errors.

    \b
    Examples:
      intentmatch validate
      intentmatch validate shop/ --format github
    """
    from intentmatch.registry import examine

    registry, problems = examine(intents)
    errors = sum(problem.severity == "error" for problem in problems)
    counts = {
        "intents": len(registry),
        "utterances": len(set(registry.lines)),
        "sentences": len(registry.utterances),
        "languages": list(registry.languages),
    }
    if form == "json":
        show.as_json({"ok": not errors, **counts, "problems": [show.problem_to_dict(problem) for problem in problems]})
    else:
        show.problems(problems, form)
    if form == "human":
        sentences = f" of {counts['sentences']} sentences" if counts["sentences"] != counts["utterances"] else ""
        words = f"{counts['intents']} intents, {counts['utterances']} utterances{sentences}, languages: "
        click.echo(words + (" ".join(registry.languages) or "not stated"))
        warnings, notes = (sum(problem.severity == kind for problem in problems) for kind in ("warning", "info"))
        more = f", {show.counted(notes, 'note')}" if notes else ""
        summary = (
            f"{show.counted(errors, 'error')}, {show.counted(warnings, 'warning')}{more}" if problems else "no problems"
        )
        click.echo(click.style(summary, fg="red" if errors else "yellow" if problems else "green"))
    sys.exit(InputError.exit_code if errors else 0)


@cli.command()
@intents_argument
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@set_option
def build(intents: str, output: str, settings: tuple[str, ...]) -> None:
    """Build INTENTS into one file that needs no YAML and can be shipped to another machine.

    \b
    Example:
      intentmatch build intents/ -o shop.intentmatch && intentmatch match -i shop.intentmatch "hello"
    """
    from intentmatch.artefact.store import save_artefact

    start = time.perf_counter()
    matcher = load(intents, settings)
    artefact = matcher.artefact
    save_artefact(artefact, output)
    size = Path(output).stat().st_size / 1e6
    registry = artefact.registry
    click.echo(f"{output}: {len(registry)} intents, {len(registry.utterances)} utterances, {size:.1f} MB")
    click.echo(f"  encoder {artefact.encoder_name}, fingerprint {artefact.fingerprint}")
    click.echo(f"  in {time.perf_counter() - start:.1f} s")
    show.problems(matcher.problems, "human")


@cli.command()
@click.option("--teacher", "-t", required=True, metavar="ENCODER", help="As in the setting `encoder`.")
@click.option("--pairs", multiple=True, required=True, type=FILE, help="Lines of English, language, translation.")
@click.option("--english", multiple=True, type=FILE, help="Lines of further English sentences.")
@click.option("--held-out", multiple=True, type=FILE, help="Lines of language, English, translation to be kept out.")
@click.option("--recipe", type=FILE, help="YAML of what shall differ from the defaults; every model has its own.")
@click.option("--output", "-o", required=True, type=FOLDER, help="Model folder to write.")
@click.option("--work", type=FOLDER, help="Folder of what a later run goes on from; OUTPUT.work if not given.")
@set_option
def distill(
    teacher: str,
    pairs: tuple[Path, ...],
    english: tuple[Path, ...],
    held_out: tuple[Path, ...],
    recipe: Path | None,
    output: Path,
    work: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Train a small static encoder that maps translations to where TEACHER puts the English sentence.

    Files are tab-separated UTF-8, plain or compressed (.xz, .gz, .bz2); a further column may name the source of a line.
    A run that was stopped goes on where it was, if it is told the same. A GPU is used where torch sees one.

    \b
    Example:
      intentmatch distill --teacher sentence_transformer:all-MiniLM-L6-v2 --pairs pairs.tsv -o my-encoder
      intentmatch match --set encoder=static:my-encoder "wo ist mein Paket?"
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import Recipe, read_corpus, read_recipe
    from intentmatch.distill import distill as train
    from intentmatch.encoders import load_encoder

    chosen = read_recipe(recipe) if recipe else Recipe()
    told = resolve({**settings_from(settings), "encoder": teacher})
    encoder = load_encoder(told)
    with show.steps() as tell:
        corpus = read_corpus(pairs, english, held_out=held_out, progress=tell)
        tell(f"{len(corpus.sentences):,} English sentences, {len(corpus.translations):,} pairs", 0, None)
        kept = work or output.with_name(f"{output.name}.work")
        train(corpus, encoder, output, chosen, work=kept, device=told.device, progress=tell)
    size = sum(file.stat().st_size for file in output.iterdir()) / 1e6
    click.echo(f"{output}: {size:.1f} MB. Use it with the setting encoder=static:{output}")


def main() -> None:
    """Run the command line."""
    # A short life makes hundreds of thousands of objects and little garbage: to look for it after every 700 of them
    # takes a sixth of the time of `match`.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        cli.main()
    finally:
        # The interpreter would look for it once more when it ends, among all that goes away with it.
        gc.freeze()


def load(intents: str, settings: Iterable[str]) -> Matcher:
    """The matcher of INTENTS, under the settings of the command line; a bar shows long builds."""
    from intentmatch.matching.matcher import Matcher

    explicit: dict[str, Any] = settings_from(settings)
    with show.progress() as progress:
        return Matcher.load(intents, progress=progress, **explicit)


def standard_input() -> Iterator[str]:
    """Its lines, whatever bytes they are."""
    return (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
