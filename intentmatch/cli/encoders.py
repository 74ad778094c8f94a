"""The commands about encoders: `encoders` lists them, `export-onnx` and `distill` make new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, OUTPUT_FOLDER, json_option, set_option, settings_from
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option


@cli.command("encoders")
@json_option
def encoders_(as_json: bool) -> None:
    """List the encoders and what each of them needs.

    \b
    Examples:
      intentmatch encoders
      intentmatch encoders --json
    """
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


def _encoder_row(name: str) -> dict[str, Any]:
    from intentmatch.core import plugins
    from intentmatch.core.errors import pip_line
    from intentmatch.encoders import hub
    from intentmatch.encoders.tokenizer.embedded import EMBEDDED

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


@cli.command()
@click.option(
    "--teacher",
    "-t",
    required=True,
    metavar="ENCODER",
    shell_complete=completion.encoders,
    help="Encoder to learn from, as in `encoder`.",
)
@click.option("--pairs", multiple=True, required=True, type=FILE, help="Lines of English, language, translation.")
@click.option("--english", multiple=True, type=FILE, help="Lines of further English sentences.")
@click.option("--held-out", multiple=True, type=FILE, help="Lines of language, English, translation to leave out.")
@click.option("--recipe", type=FILE, help="YAML with training options that differ from the defaults.")
@click.option("--output", "-o", "target", required=True, type=OUTPUT_FOLDER, help="Model folder to write.")
@click.option("--work", type=OUTPUT_FOLDER, help="Folder for intermediate results; OUTPUT.work if not given.")
@set_option
@quiet_option
def distill(
    teacher: str,
    pairs: tuple[Path, ...],
    english: tuple[Path, ...],
    held_out: tuple[Path, ...],
    recipe: Path | None,
    target: Path,
    work: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Train a small static encoder from a large one.

    The new encoder maps a sentence and its translations to the vector that the teacher gives the English sentence.
    Files are tab-separated UTF-8, plain or compressed (.xz, .gz, .bz2); one more column may name the source of a line.
    --pairs, --english and --held-out are repeatable. An interrupted run continues if it is started again with the same
    options. A GPU is used if torch finds one.

    \b
    Example:
      intentmatch distill -t onnx:minilm --pairs pairs.tsv -o my-encoder
      intentmatch match --set encoder=static:my-encoder "wo ist mein Paket?"
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import Recipe, read_corpus, read_recipe
    from intentmatch.distill import distill as train
    from intentmatch.encoders import load_encoder

    chosen = read_recipe(recipe) if recipe else Recipe()
    resolved = resolve({**settings_from(settings), "encoder": teacher})
    with progress.shown() as update:
        update("loading the teacher", 0, None)
        encoder = load_encoder(resolved)
        corpus = read_corpus(pairs, english, held_out=held_out, progress=update)
        update(f"{len(corpus.sentences):,} English sentences, {len(corpus.translations):,} pairs", 0, None)
        folder = work or target.with_name(f"{target.name}.work")
        train(corpus, encoder, target, chosen, work=folder, device=resolved.device, progress=update)
    size = sum(file.stat().st_size for file in target.iterdir()) / 1e6
    output.say(f"{target}: {size:.1f} MB. Use it with the setting encoder=static:{target}")


@cli.command("measure-languages")
@click.argument("model", type=OUTPUT_FOLDER)
@click.option("--pairs", multiple=True, required=True, type=FILE, help="Lines of English, language, translation.")
@click.option("--english", multiple=True, type=FILE, help="Lines of further English sentences.")
@click.option("--held-out", multiple=True, type=FILE, help="Lines of language, English, translation to leave out.")
@click.option(
    "--kind",
    type=click.Choice(["static", "onnx", "sentence_transformer"]),
    default="static",
    show_default=True,
    help="Kind of the encoder.",
)
@quiet_option
def measure_languages(
    model: Path, pairs: tuple[Path, ...], english: tuple[Path, ...], held_out: tuple[Path, ...], kind: str
) -> None:
    """Measure the languages of an encoder.

    MODEL is the folder of the encoder. The distances of translations in parallel text are written to
    translations.safetensors in it: from then on, messages in languages that a registry does not have get a calibration
    of their own. For the embedded encoder, the languages of its tokenizer's pieces are written to languages.safetensors
    too. Files are those of `distill`.

    \b
    Examples:
      intentmatch measure-languages my-encoder --pairs pairs.tsv
      intentmatch measure-languages my-model --kind onnx --pairs pairs.tsv
    """
    from intentmatch.core.settings import resolve
    from intentmatch.distill import measure, read_corpus
    from intentmatch.encoders import load_encoder

    encoder = load_encoder(resolve({"encoder": f"{kind}:{model}"}))
    with progress.shown() as update:
        corpus = read_corpus(pairs, english, held_out=held_out, progress=update)
        update(f"{len(corpus.sentences):,} English sentences, {len(corpus.translations):,} pairs", 0, None)
        files = measure(corpus, encoder, model, update)
    for file in files:
        output.say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
