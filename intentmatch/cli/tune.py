"""`intentmatch tune`: measure encoders, scorers and aggregations, and print or write the best settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, set_option, settings_from, takes_intents
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError

if TYPE_CHECKING:
    from intentmatch.core.settings import Settings
    from intentmatch.core.types import Encoder, Registry
    from intentmatch.evaluation.tune import TargetRow, Trial, Tuning
    from intentmatch.registry.editing.settings_edit import Setting

# The start of every comment that `tune` writes, by which the next run finds and replaces the comment.
_MARK = "tune: "


@cli.command()
@takes_intents()
@click.option(
    "--encoder",
    "-e",
    "more",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.encoders,
    help="Try this encoder too; repeatable.",
)
@click.option("--write", is_flag=True, help="Write the settings to the YAML; comments, order and quotes stay.")
@click.option("--file", "named", type=FILE, help="YAML file for new settings, if there are several files.")
@set_option
@quiet_option
def tune(intents: str, more: tuple[str, ...], write: bool, named: Path | None, settings: tuple[str, ...]) -> None:
    """Find the best encoder, scorer and aggregation.

    The candidates are the encoder in use, the embedded encoder, encoders from other packages, and every --encoder. The
    measure is overall accuracy at the target in use: the share of held-out utterances answered right and of left-out
    intents found out of scope, weighed by the setting out_of_scope_share. Among candidates within one standard error of
    the best, the faster and simpler one wins.
    The target is your choice: the second table shows the effect of each target.

    With --write, a setting stays in the file that has it. A new one goes to the first file that has settings, or to
    the first file of all; --file names another.

    \b
    Examples:
      intentmatch tune shop/
      intentmatch tune -e sentence_transformer:intfloat/multilingual-e5-small
      intentmatch tune shop/ --write
    """
    from intentmatch.core.settings import resolve
    from intentmatch.evaluation.tune import tune as try_all
    from intentmatch.registry import is_yaml, read_registry
    from intentmatch.storage.vector_cache import VectorCache

    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: tune the folder that the artefact was built from")
    if named is not None and not write:
        raise click.UsageError("--file needs --write.")
    registry = read_registry(intents)
    explicit: dict[str, Any] = settings_from(settings)
    resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    targets = _target_files(intents, registry, named) if write else {}
    with progress.shown() as update:
        update("loading the encoders", 0, None)
        encoders = _encoders(resolved, more)
    with progress.shown():
        found = try_all(registry, resolved, encoders, cache=VectorCache.at(resolved.cache))
    _show(found)
    values = _values(found)
    output.echo("\n" + _block(values, resolved))
    if targets:
        _write(intents, targets, values, resolved)


def _encoders(settings: Settings, more: Iterable[str]) -> dict[str, Encoder]:
    """Load the encoder in use and those of --encoder, which must load, and every other one that loads."""
    from intentmatch.encoders import load_encoder

    required = [settings.encoder, *more]
    found = {name: load_encoder(replace(settings, encoder=name)) for name in dict.fromkeys(required)}
    # The other built-in encoders need the name of a model.
    for name in ["static", *sorted(plugins.third_party("encoders"))]:
        if name in found:
            continue
        try:
            found[name] = load_encoder(replace(settings, encoder=name))
        # An encoder that happens to be installed is no wish of the user's, unlike those of --encoder.
        except IntentMatchError as error:
            output.say(f"{name} is not tried: {error}", err=True)
    return found


def _show(found: Tuning) -> None:
    from intentmatch.evaluation.reports.number_format import percent

    output.say(output.style("Candidates, best first", bold=True))
    rows = [_trial_cells(trial, found) for trial in found.trials]
    head = ["", "encoder", "scorer", "aggregation", "overall", "against the best", "top 1", "AUROC", "encoding"]
    output.table(head, rows)
    output.say(
        f"  overall: accuracy at the target in use, if {percent(found.out_of_scope_share)} of the messages are out of "
        "scope.\n"
        "  Within one standard error of the best,\n"
        "  the one that refuses more out-of-scope messages is chosen (→), then the faster and simpler one.\n"
        "  top 1: the best-ranked intent is right, without a threshold."
    )
    if not found.chosen.calibrated:
        output.say("  Too few utterances to calibrate: the settings in use stay, and overall is the same as top 1.")
    output.say("\n" + output.style("Effect of each target with this choice", bold=True))
    rows = [_target_cells(row) for row in found.targets]
    output.table(["", "target", "threshold", "precision", "coverage", "refused", ""], rows)
    output.say("  precision: of the answers; coverage: of the messages in scope; refused: of left-out intents.")


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
    """Return the settings as YAML, together with the target in use."""
    from intentmatch.registry.editing.settings_edit import with_settings

    block = with_settings("", values, _MARK)
    return f"{block}  target: {_flow(settings.target)}  # yours; see the table"


def _flow(target: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{key}: {str(value).lower()}" for key, value in target.items())
    return f"{{{inside}}}"


def _target_files(intents: str, registry: Registry, named: Path | None) -> dict[str, Path]:
    """Return the file for each setting.

    A setting stays in the file that has it. The others go to `named`, or without it, to the first file that has one of
    these settings, or any setting, or to the first file of all. InputError if `named` is not among the files, or if
    another file has one of these settings.
    """
    from intentmatch.evaluation.tune import Combination
    from intentmatch.registry import yaml_files

    files = {str(file): file for file in yaml_files(intents)}
    file_of = {name: place.path for name, place in registry.setting_locations.items()}
    bound = {name: file_of[name] for name in Combination._fields if name in file_of}
    if named is not None:
        same = [file for file in files.values() if file.resolve() == named.resolve()]
        if not same:
            raise InputError(f"{named} is not among the files of {intents}")
        if elsewhere := [path for path in bound.values() if path != str(same[0])]:
            raise InputError(f"{elsewhere[0]} has one of these settings already: name that file, or remove the setting")
        return dict.fromkeys(Combination._fields, same[0])
    rest = min(bound.values() or file_of.values() or files)
    return {name: files[bound.get(name, rest)] for name in Combination._fields}


def _write(intents: str, files: Mapping[str, Path], values: Mapping[str, Setting], settings: Settings) -> None:
    """Show the changes of the files, and write them."""
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.cli.edit import workspace_of, write
    from intentmatch.registry.editing.settings_edit import ChangeSettings

    targets = dict.fromkeys(files.values())
    edits = [
        ChangeSettings(file, {name: value for name, value in values.items() if files[name] == file}, _MARK)
        for file in targets
    ]
    plan = Operation(edits, note="Write the settings that tune chose").planned(workspace_of(intents))
    if not plan.changes.files:
        have = "has" if len(targets) == 1 else "have"
        output.say(f"\n{' and '.join(map(str, targets))} {have} these settings already.")
        return
    output.echo()
    output.diff(plan.changes.diff)
    write(plan, yes=True)
    for name in values:
        # Otherwise the author would wonder why the file has no effect.
        if settings.origin(name).startswith(("environment", "argument")):
            output.say(f"  {name} is set by the {settings.origin(name)}, which overrides the file.", err=True)
