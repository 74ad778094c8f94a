"""`encoders` lists what there is, `export-onnx` makes another one of a transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from intentmatch.cli import show
from intentmatch.cli.commands import FOLDER, cli, json_option
from intentmatch.core import plugins
from intentmatch.core.errors import pip_line
from intentmatch.encoders import hub


@cli.command("export-onnx")
@click.argument("model")
@click.option("--output", "-o", required=True, type=FOLDER, help="Folder to write.")
@click.option("--precision", type=click.Choice(["float32", "int8"]), default="float32", show_default=True)
def export_onnx(model: str, output: Path, precision: Literal["float32", "int8"]) -> None:
    """Export a sentence-transformers MODEL, by hub name or folder, so that it runs without torch, and faster.

    Nothing is written unless its vectors are those of sentence-transformers.

    \b
    Example:
      intentmatch export-onnx all-MiniLM-L6-v2 -o minilm --precision int8
      intentmatch match --set encoder=onnx:minilm "where is my package"
    """
    from intentmatch.encoders import onnx_export

    done = onnx_export.export_onnx(model, output, precision)
    click.echo(f"{output}: {done.dim} numbers a vector, {precision}, {done.megabytes:.1f} MB")
    click.echo(
        f"  held against sentence-transformers: off by {done.difference:.1e} at most, cosine {done.similarity:.4f}"
    )
    click.echo(f"Use it with the setting encoder=onnx:{output}")


@cli.command("encoders")
@json_option
def encoders_(as_json: bool) -> None:
    """List the encoders: what is available here, and what each would need."""
    rows = [_encoder_row(name) for name in plugins.names("encoders")]
    if as_json:
        for row in rows:
            show.as_json(row)
        return
    show.table(
        ["encoder", "available", "needs", "what it is"],
        [[row["encoder"], "yes" if row["available"] else "no", row["needs"], row["what"]] for row in rows],
    )


def _encoder_row(name: str) -> dict[str, Any]:
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
            "remote:URL#MODEL, a server of embeddings that speaks as OpenAI's, or text-embeddings-inference",
        ),
    }
    extra, packages, what = described.get(name, ("", (), "from another package"))
    available = all(map(plugins.installed, packages))
    return {"encoder": name, "available": available, "needs": "" if available else pip_line(extra), "what": what}
