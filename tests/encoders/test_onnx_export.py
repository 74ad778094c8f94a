"""What is written, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.core.errors import InputError, IntentMatchError, MissingExtraError, ModelUnavailableError
from intentmatch.encoders import onnx_export
from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.onnx_export import export_onnx
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.encoders.tokenizer.embedded import EMBEDDED

TEXTS = ["where is my package", "CANCEL it!", "a b c d e f g " * 300, "no"]


@pytest.mark.parametrize("mode", ["cls", "mean", "max", ("cls", "mean")])
def test_every_pooling_is_in_the_graph(tiny: Callable[..., Path], tmp_path: Path, mode: Any) -> None:
    """Vectors are those of sentence-transformers whatever they are taken from."""
    model = tiny(lambda library, dim: [library.Pooling(dim, mode)])

    exported = export_onnx(str(model), tmp_path / "out")
    there = SentenceTransformerEncoder(str(model), device="cpu").encode(TEXTS)

    assert exported.difference < 1e-5
    assert np.abs(OnnxEncoder(tmp_path / "out").encode(TEXTS) - there).max() < 1e-5


def test_dense_layers_prompts_and_shortened_vectors_are_exported(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """All that stands behind the transformer, and what is put before the text."""
    model = tiny(
        lambda library, dim: [library.Pooling(dim, "mean"), library.Dense(dim, 16), library.Normalize()],
        prompts={"query": "query: ", "document": "a text: "},
        truncate_dim=12,
    )

    exported = export_onnx(str(model), tmp_path / "out")
    here, there = OnnxEncoder(tmp_path / "out"), SentenceTransformerEncoder(str(model), device="cpu")

    assert exported.dim == here.dim == 12
    for kind in ("query", "utterance"):
        assert np.abs(here.encode(TEXTS, kind=kind) - there.encode(TEXTS, kind=kind)).max() < 1e-5
    assert not np.allclose(here.encode(["my order"], kind="query"), here.encode(["my order"], kind="utterance"))


def test_int8_is_smaller_and_near(tiny_folder: Path, exported_folder: Path, tmp_path: Path) -> None:
    """Its own graph, its own fingerprint."""
    export_onnx(str(tiny_folder), tmp_path / "out", "int8")
    small, full = OnnxEncoder(tmp_path / "out"), OnnxEncoder(exported_folder)

    assert small.fingerprint != full.fingerprint
    assert (small.encode(TEXTS) * full.encode(TEXTS)).sum(axis=1).min() > 0.99
    assert small.tolerance > full.tolerance


def test_the_folder_says_whose_weights_they_are(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """Model, fingerprint and licence in the file of facts; the card goes along; no path of this machine anywhere."""
    model = tiny(lambda library, dim: [library.Pooling(dim, "mean")])
    (model / "README.md").write_text("---\nlicense: apache-2.0\nlanguage: [en, de]\n---\nA card.\n", encoding="utf-8")
    (model / "LICENSE").write_text("Do as you like.", encoding="utf-8")

    export_onnx(str(model), tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "encoder.json").read_text(encoding="utf-8"))

    assert facts["weights"]["model"] == model.name
    assert facts["weights"]["licence"] == ["apache-2.0"]
    assert facts["weights"]["fingerprint"] == SentenceTransformerEncoder(str(model)).fingerprint
    assert (facts["dim"], facts["max_length"], facts["pooling"], facts["precision"]) == (32, 24, "mean", "float32")
    assert OnnxEncoder(tmp_path / "out").languages == {"en", "de"}
    assert (tmp_path / "out" / "LICENSE").read_text(encoding="utf-8") == "Do as you like."
    for file in (tmp_path / "out").iterdir():
        assert b"site-packages" not in file.read_bytes()
        assert str(model.parent).encode() not in file.read_bytes()


def test_a_folder_that_is_something_else_is_left_alone(tiny_folder: Path, tmp_path: Path) -> None:
    """Neither a folder with other files in it nor a file; what is there stays."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("meow", encoding="utf-8")
    for taken in (tmp_path / "photos", tmp_path / "photos" / "cat.jpg"):
        with pytest.raises(InputError, match="is no exported model"):
            export_onnx(str(tiny_folder), taken)
    assert (tmp_path / "photos" / "cat.jpg").read_text(encoding="utf-8") == "meow"


def test_an_older_export_is_replaced_whole(tiny_folder: Path, tmp_path: Path) -> None:
    """An empty folder and an earlier export make way; nothing of the latter is left, and nothing lies beside."""
    out = tmp_path / "out"
    out.mkdir()
    export_onnx(str(tiny_folder), out)
    (out / "model.onnx.more").write_text("old", encoding="utf-8")
    export_onnx(str(tiny_folder), out, "int8")

    assert not (out / "model.onnx.more").exists()
    assert json.loads((out / "encoder.json").read_text(encoding="utf-8"))["precision"] == "int8"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_other_vectors_are_not_written(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Any
) -> None:
    """Where the graph is not what sentence-transformers computes, the older export stays and the numbers are told."""
    torch = pytest.importorskip("torch")
    write = onnx_export._write_graph

    def write_another(encoder: SentenceTransformerEncoder, file: Path, name: str) -> None:
        weights = next(iter(encoder.model.parameters()))
        with torch.no_grad():
            weights *= -1.0
            write(encoder, file, name)
            weights *= -1.0

    out = tmp_path / "out"
    export_onnx(str(tiny_folder), out)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    monkeypatch.setattr(onnx_export, "_write_graph", write_another)

    with pytest.raises(IntentMatchError, match="not sentence-transformers'") as caught:
        export_onnx(str(tiny_folder), out, precision)
    assert "least cosine" in str(caught.value)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_model_without_pooling_is_refused(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """It has a vector for each piece and none for the text."""
    model = tiny(lambda library, dim: [])

    with pytest.raises((InputError, ModelUnavailableError), match="pooling"):
        export_onnx(str(model), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_prompts_left_out_of_the_pooling_are_refused(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """The graph does not know where the prompt ends."""
    model = tiny(
        lambda library, dim: [library.Pooling(dim, "mean", include_prompt=False)], prompts={"query": "query: "}
    )

    with pytest.raises(InputError, match="leaves its prompts out of the pooling"):
        export_onnx(str(model), tmp_path / "out")


def test_a_static_model_is_refused(tmp_path: Path) -> None:
    """It needs no runtime, and the error says how it runs."""
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")
    pytest.importorskip("sentence_transformers", reason="needs the extra [onnx-export]")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=4)], device="cpu")
    model.save(str(tmp_path / "static"))

    with pytest.raises(InputError, match="static:FOLDER"):
        export_onnx(str(tmp_path / "static"), tmp_path / "out")


def test_what_torch_cannot_express_is_told(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own words, as an error of ours, and without half a folder."""
    torch = pytest.importorskip("torch")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no such operator: aten::sing")

    monkeypatch.setattr(torch.onnx, "export", fail)

    with pytest.raises(InputError, match="torch says: no such operator: aten::sing"):
        export_onnx(str(tiny_folder), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Said before anything is loaded."""
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "onnxscript")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[onnx-export\]"'):
        export_onnx("any", tmp_path / "out")


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    """As for every transformer."""
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")
    with pytest.raises(ModelUnavailableError, match="there is no folder"):
        export_onnx("./nowhere", tmp_path / "out")
