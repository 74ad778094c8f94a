"""`intentmatch encoders` lists and compares encoders, `export-onnx` exports one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import (
    FILE,
    OUTPUT_FOLDER,
    json_option,
    set_option,
    settings_from,
    takes_intents,
)
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError

if TYPE_CHECKING:
    from intentmatch.core.types import Registry
    from intentmatch.evaluation.encoder_comparison import ComparedEncoder


@cli.command("encoders")
@click.argument("names", metavar="[ENCODER]...", nargs=-1, shell_complete=completion.encoders)
@click.option("--compare", is_flag=True, help="Measure each ENCODER on the registry.")
@click.option("--sts", type=FILE, help="Tab-separated pairs of sentences with human scores, for --compare.")
@takes_intents(positional=None)
@set_option
@json_option
@quiet_option
def encoders_(
    names: tuple[str, ...], compare: bool, sts: Path | None, intents: str, settings: tuple[str, ...], as_json: bool
) -> None:
    """List the encoders and their needs, or compare some.

    With --compare, each ENCODER is measured on held-out utterances of the registry: first candidates that are right,
    right answers and refusals at the target in use, languages, time, memory and size. With --sts, the cosines of its
    vectors are compared with human scores of similarity.

    \b
    Examples:
      intentmatch encoders
      intentmatch encoders --json
      intentmatch encoders --compare static onnx:minilm -i shop/
      intentmatch encoders --compare static onnx:minilm --sts pairs.tsv
    """
    if compare:
        if not names:
            raise click.UsageError("--compare needs the names of encoders, such as `--compare static onnx:FOLDER`.")
        _compare(names, sts, intents, settings, as_json)
        return
    if names or sts:
        raise click.UsageError(f"{'--sts' if sts else 'the name of an encoder'} needs --compare.")
    _list(as_json)


def _list(as_json: bool) -> None:
    from intentmatch.core import plugins

    rows = [_encoder_row(name) for name in plugins.names("encoders")]
    if as_json:
        for row in rows:
            output.as_json(row)
        return
    output.table(
        ["encoder", "available", "needs", "what it is"],
        [[row["encoder"], "yes" if row["available"] else "no", row["needs"], row["what"]] for row in rows],
    )


def _compare(names: Iterable[str], sts: Path | None, intents: str, settings: tuple[str, ...], as_json: bool) -> None:
    from intentmatch.core.settings import resolve
    from intentmatch.encoders import load_encoder
    from intentmatch.evaluation.encoder_comparison import compare_encoders
    from intentmatch.evaluation.similarity import read_pairs
    from intentmatch.registry import is_yaml, read_registry
    from intentmatch.storage.vector_cache import VectorCache

    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: compare encoders on the folder that the artefact was built from")
    registry = read_registry(intents)
    explicit: dict[str, Any] = settings_from(settings)
    resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    pairs = read_pairs(sts) if sts else ()
    with progress.shown() as update:
        update("loading the encoders", 0, None)
        # All before the first is measured: a mistyped name should not show after minutes.
        loaded = {name: load_encoder(replace(resolved, encoder=name)) for name in dict.fromkeys(names)}
    with progress.shown():
        rows = compare_encoders(registry, resolved, loaded, pairs=pairs, cache=VectorCache.at(resolved.cache))
    if as_json:
        for row in rows:
            # `asdict` leaves a named tuple as it is, which JSON would have as a list without names.
            output.as_json({**asdict(row), "agreement": row.agreement and row.agreement._asdict()})
        return
    _show(rows, registry)


def _show(rows: Sequence[ComparedEncoder], registry: Registry) -> None:
    from intentmatch.evaluation.reports.number_format import decimal, percent

    codes = {line.language for line in registry.utterances if line.language}
    head = ["encoder", "top 1", "overall", "refused", "AUROC", "languages", "one message", "memory", "size"]
    cells = [
        [
            row.encoder,
            percent(row.accuracy),
            percent(row.overall),
            _or_dash(row.refused, percent),
            decimal(row.auroc),
            # "0 of 0" would look as if the encoder knew no language.
            "–" if row.covered is None or not codes else f"{len(row.covered)} of {len(codes)}",
            f"{row.milliseconds:.2f} ms",
            _or_dash(row.memory_megabytes, lambda size: f"{size:,.0f} MB"),
            _or_dash(row.size_megabytes, lambda size: f"{size:,.1f} MB"),
        ]
        for row in rows
    ]
    output.table(head, cells)
    output.say("  top 1: the first candidate of held-out utterances is right; refused: of left-out intents.")
    output.say("  overall: right answers and refusals at the target in use; memory: with libraries, on the CPU.")
    languages = sorted({code for row in rows for code in row.accuracy_by_language})
    if len(languages) > 1:
        output.heading("Top 1 by language")
        output.table(
            ["language", *(row.encoder for row in rows)],
            [[code, *(_or_dash(row.accuracy_by_language.get(code), percent) for row in rows)] for code in languages],
        )
    agreed = [(row.encoder, row.agreement) for row in rows if row.agreement]
    if agreed:
        output.heading("Agreement with human scores")
        correlations = [
            [name, *(_or_dash(value, lambda r: f"{100 * r:.1f}") for value in each)] for name, each in agreed
        ]
        output.table(["encoder", "Spearman", "Pearson"], correlations)
        output.say("  Correlation of the cosines with the scores, times 100.")


def _or_dash(value: float | None, shown: Callable[[float], str]) -> str:
    return "–" if value is None else shown(value)


def _encoder_row(name: str) -> dict[str, Any]:
    from intentmatch.core import plugins
    from intentmatch.core.errors import pip_line
    from intentmatch.encoders import hub
    from intentmatch.pieces.embedded import EMBEDDED

    languages = len(hub.card_languages(EMBEDDED) or ())
    described = {
        "static": ("", (), f"embedded, {languages} languages, no download; static:FOLDER for a model2vec model"),
        "onnx": (
            "onnx",
            ("onnxruntime", "tokenizers"),
            "onnx:FOLDER, a transformer exported by export-onnx: the fastest on the CPU",
        ),
        "sentence_transformer": (
            "torch",
            ("torch", "sentence_transformers"),
            "any sentence-transformers model by hub name or folder, on the GPU where there is one",
        ),
        "remote": (
            "remote",
            ("urllib3",),
            "remote:URL#MODEL, an embeddings server with the API of OpenAI or text-embeddings-inference",
        ),
    }
    extra, packages, what = described.get(name, ("", (), "from another package"))
    # Looked for and not imported: torch alone takes seconds.
    available = all(map(plugins.installed, packages))
    return {"encoder": name, "available": available, "needs": "" if available else pip_line(extra), "what": what}


@cli.command("export-onnx")
@click.argument("model")
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FOLDER, help="Model folder to write.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "int8"]),
    default="float32",
    show_default=True,
    help="int8 makes a smaller and less exact model.",
)
@quiet_option
def export_onnx(model: str, target: Path, precision: Literal["float32", "int8"]) -> None:
    """Export a transformer to ONNX, to run it without torch.

    MODEL is a sentence-transformers model or a cross-encoder, by hub name or folder. The vectors or scores of the
    exported model are compared with those of sentence-transformers; if they differ, nothing is written.

    \b
    Example:
      intentmatch export-onnx all-MiniLM-L6-v2 -o minilm --precision int8
      intentmatch match --set encoder=onnx:minilm "where is my package"
      intentmatch export-onnx cross-encoder/quora-distilroberta-base -o quora
      intentmatch match --set reranker=onnx:quora "where is my package"
    """
    from intentmatch.encoders import onnx_export
    from intentmatch.encoders.cross_encoder_export import ExportedReranker

    with progress.shown() as update:
        update(f"exporting {model}", 0, None)
        done = onnx_export.export_onnx(model, target, precision)
    if isinstance(done, ExportedReranker):
        output.say(f"{target}: cross-encoder, {precision}, {done.megabytes:.1f} MB")
        output.say(f"  compared with sentence-transformers: largest difference of a score {done.difference:.1e}")
        output.say(f"Use it with the setting reranker=onnx:{target}")
        return
    output.say(f"{target}: {done.dim} numbers a vector, {precision}, {done.megabytes:.1f} MB")
    output.say(
        f"  compared with sentence-transformers: largest difference {done.difference:.1e}, "
        f"lowest cosine {done.similarity:.4f}"
    )
    output.say(f"Use it with the setting encoder=onnx:{target}")
