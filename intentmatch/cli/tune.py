"""The command `tune`: what each choice of encoder, scorer and aggregation is worth, and the settings that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import show
from intentmatch.cli.commands import FILE, cli, intents_argument, set_option, settings_from
from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError

if TYPE_CHECKING:
    from intentmatch.core.settings import Settings
    from intentmatch.core.types import Encoder, Registry
    from intentmatch.evaluation.tune import TargetRow, Trial, Tuning
    from intentmatch.registry.editing.settings_edit import Setting

# What comments of ours begin with, so that the next run may tell them anew.
_MARK = "tune: "


@cli.command()
@intents_argument
@click.option("--encoder", "-e", "more", multiple=True, metavar="NAME", help="Try this one too; may be repeated.")
@click.option("--write", is_flag=True, help="Put the settings into the YAML; comments, order and quotes stay.")
@click.option("--file", "named", type=FILE, help="The file to put them into, where there are several.")
@set_option
def tune(intents: str, more: tuple[str, ...], write: bool, named: Path | None, settings: tuple[str, ...]) -> None:
    """Try encoders, scorers and aggregations on INTENTS, and print the settings with what each choice is worth.

    Tried are the encoder in use, the embedded one, those that other packages bring, and every --encoder. What decides
    is the share of all messages, held-out utterances and left-out intents, that is rightly answered or rightly refused
    at the target in use; where two cannot be told apart by one standard error, the faster and simpler is preferred. The
    target is yours to choose: the second table shows what each gives.

    \b
    Examples:
      intentmatch tune shop/
      intentmatch tune shop/ --encoder sentence_transformer:intfloat/multilingual-e5-small
      intentmatch tune shop/ --write
    """
    from intentmatch.core.settings import resolve
    from intentmatch.evaluation.tune import tune as try_all
    from intentmatch.registry import is_yaml, read_registry
    from intentmatch.storage.vector_cache import VectorCache

    if not is_yaml(intents):
        raise InputError(f"{intents} is no YAML: tune the folder that it was built from")
    if named is not None and not write:
        raise click.UsageError("--file goes with --write.")
    registry = read_registry(intents)
    explicit: dict[str, Any] = settings_from(settings)
    resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    target = _target_file(intents, registry, named) if write else None
    encoders = _encoders(resolved, more)
    with show.steps(patience=show.PATIENCE) as tell:
        found = try_all(registry, resolved, encoders, cache=VectorCache.at(resolved.cache), progress=tell)
    _show(found)
    values = _values(found)
    click.echo("\n" + _block(values, resolved))
    if target is not None:
        _write(intents, target, values, resolved)


def _encoders(settings: Settings, more: Iterable[str]) -> dict[str, Encoder]:
    """Those that were asked for and the one in use, which must load; of the others, those that do."""
    from intentmatch.encoders import load_encoder

    asked = [settings.encoder, *more]
    found = {name: load_encoder(replace(settings, encoder=name)) for name in dict.fromkeys(asked)}
    # A kind of encoder that needs a model is not to be had by its bare name.
    for name in ["static", *sorted(plugins.third_party("encoders"))]:
        if name in found:
            continue
        try:
            found[name] = load_encoder(replace(settings, encoder=name))
        except IntentMatchError as error:
            click.echo(f"{name} is not tried: {error}", err=True)
    return found


def _show(found: Tuning) -> None:
    click.echo(click.style("Tried, the best first", bold=True))
    rows = [_trial_cells(trial, found) for trial in found.trials]
    head = ["", "encoder", "scorer", "aggregation", "overall", "against the best", "leads right", "AUROC", "encoding"]
    show.table(head, rows)
    click.echo(
        "  overall: messages rightly answered or rightly refused, expected at the target in use. It decides; what is\n"
        "  within one standard error of the best counts as equal, and the faster and simpler of those is taken (→)."
    )
    if not found.chosen.calibrated:
        click.echo(
            "  There are too few utterances to learn from, so what is in use stays; overall is what leads right."
        )
    click.echo("\n" + click.style("What each target gives with these", bold=True))
    rows = [_target_cells(row) for row in found.targets]
    show.table(["", "target", "threshold", "precision", "coverage", "refused", ""], rows)
    click.echo("  precision: of the answers; coverage: of the messages in scope; refused: of left-out intents.")


def _trial_cells(trial: Trial, found: Tuning) -> list[str]:
    from intentmatch.evaluation.reports.number_format import decimal, percent
    from intentmatch.evaluation.tune import compared

    return [
        "→" if trial == found.chosen else "",
        *trial.choice,
        percent(trial.overall),
        "" if trial == found.best else str(compared(trial, found.best)),
        percent(trial.accuracy),
        decimal(trial.auroc),
        f"{trial.microseconds:,.0f} µs",
    ]


def _target_cells(row: TargetRow) -> list[str]:
    from intentmatch.evaluation.reports.number_format import percent

    numbers = percent(row.precision), percent(row.coverage), percent(row.refused)
    threshold = "–" if row.threshold is None else f"{row.threshold:.2f}"
    return ["→" if row.current else "", _flow(row.target), threshold, *numbers, row.note]


def _values(found: Tuning) -> dict[str, Setting]:
    from intentmatch.registry.editing.settings_edit import Setting

    chosen = found.chosen.choice._asdict()
    return {name: Setting(value, found.gain_of(name)) for name, value in chosen.items()}


def _block(values: Mapping[str, Setting], settings: Settings) -> str:
    """The settings as YAML, the target among them as it is."""
    from intentmatch.registry.editing.settings_edit import with_settings

    block = with_settings("", values, _MARK)
    return f"{block}  target: {_flow(settings.target)}  # yours; the table shows what others give"


def _flow(target: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{key}: {str(value).lower()}" for key, value in target.items())
    return f"{{{inside}}}"


def _target_file(intents: str, registry: Registry, named: Path | None) -> Path:
    """The file that the settings go into. Raises `InputError` where that is not for us to say."""
    from intentmatch.evaluation.tune import Choice
    from intentmatch.registry import yaml_files

    files = {str(file): file for file in yaml_files(intents)}
    holding = {name: place.path for name, place in registry.setting_locations.items()}
    bound = sorted({holding[name] for name in Choice._fields if name in holding})
    if named is not None:
        same = [file for file in files.values() if file.resolve() == named.resolve()]
        if not same:
            raise InputError(f"{named} is not among the files of {intents}")
        if [path for path in bound if path != str(same[0])]:
            raise InputError(f"{bound[0]} has one of these settings already; name that file, or remove it there")
        return same[0]
    candidates = bound or sorted(set(holding.values())) or sorted(files)
    if len(candidates) > 1:
        raise InputError(f"the settings could go into {' or '.join(candidates)}: name one with --file")
    return files[candidates[0]]


def _write(intents: str, file: Path, values: Mapping[str, Setting], settings: Settings) -> None:
    """Show what will change in the file, and change it."""
    from intentmatch.registry.editing.plan import plan
    from intentmatch.registry.editing.settings_edit import ChangeSettings

    changes = plan(intents, [ChangeSettings(file, values, _MARK)])
    if not changes.files:
        click.echo(f"\n{file} says so already.")
        return
    click.echo()
    show.diff(changes.diff)
    changes.write()
    click.echo(f"{file} is written.")
    for name in values:
        if settings.origin(name).startswith(("environment", "argument")):
            click.echo(f"  {name} comes from the {settings.origin(name)} here, which wins over the file.", err=True)
