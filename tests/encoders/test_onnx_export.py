"""The ONNX export: what it writes and which models it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.core.errors import InputError, IntentMatchError, MissingExtraError, ModelUnavailableError
from intentmatch.encoders import onnx_export
from intentmatch.encoders.onnx import GRAPH, OnnxEncoder
from intentmatch.encoders.onnx_export import export_onnx
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.pieces.embedded import EMBEDDED

pytestmark = pytest.mark.end_to_end

TEXTS = ["where is my package", "CANCEL it!", "a b c d e f g " * 300, "no"]


@pytest.mark.parametrize("mode", ["cls", "mean", "max", ("cls", "mean")])
def test_every_pooling_mode_is_exported(tiny: Callable[..., Path], tmp_path: Path, mode: Any) -> None:
    model = tiny(lambda library, dim: [library.Pooling(dim, mode)])

    exported = export_onnx(str(model), tmp_path / "out")
    there = SentenceTransformerEncoder(str(model), device="cpu").encode(TEXTS)

    assert exported.difference < 1e-5
    assert np.abs(OnnxEncoder(tmp_path / "out").encode(TEXTS) - there).max() < 1e-5


def test_dense_layers_prompts_and_truncated_vectors_are_exported(tiny: Callable[..., Path], tmp_path: Path) -> None:
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


def test_int8_export_has_cosine_above_0_99(tiny_folder: Path, exported_folder: Path, tmp_path: Path) -> None:
    export_onnx(str(tiny_folder), tmp_path / "out", "int8")
    small, full = OnnxEncoder(tmp_path / "out"), OnnxEncoder(exported_folder)

    assert small.fingerprint != full.fingerprint
    assert (small.encode(TEXTS) * full.encode(TEXTS)).sum(axis=1).min() > 0.99
    assert small.tolerance > full.tolerance


def test_config_and_card_describe_the_weights(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """Model name, fingerprint and licence, but no local path."""
    model = tiny(lambda library, dim: [library.Pooling(dim, "mean")])
    (model / "README.md").write_text("---\nlicense: apache-2.0\nlanguage: [en, de]\n---\nA card.\n", encoding="utf-8")
    (model / "LICENSE").write_text("Do as you like.", encoding="utf-8")

    export_onnx(str(model), tmp_path / "out")
    config = json.loads((tmp_path / "out" / "encoder.json").read_text(encoding="utf-8"))

    assert config["weights"]["model"] == model.name
    assert config["weights"]["licence"] == ["apache-2.0"]
    assert config["weights"]["fingerprint"] == SentenceTransformerEncoder(str(model)).fingerprint
    assert (config["dim"], config["max_length"], config["pooling"], config["precision"]) == (32, 24, "mean", "float32")
    assert OnnxEncoder(tmp_path / "out").languages == {"en", "de"}
    assert (tmp_path / "out" / "LICENSE").read_text(encoding="utf-8") == "Do as you like."
    for file in (tmp_path / "out").iterdir():
        assert b"site-packages" not in file.read_bytes()
        assert str(model.parent).encode() not in file.read_bytes()


def test_folder_with_other_content_is_refused_and_unchanged(tiny_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("meow", encoding="utf-8")
    for taken in (tmp_path / "photos", tmp_path / "photos" / "cat.jpg"):
        with pytest.raises(InputError, match="is not an exported model"):
            export_onnx(str(tiny_folder), taken)
    assert (tmp_path / "photos" / "cat.jpg").read_text(encoding="utf-8") == "meow"


@pytest.mark.full_length
def test_older_export_is_replaced_completely(tiny_folder: Path, tmp_path: Path) -> None:
    """No old file remains, nor a temporary folder."""
    out = tmp_path / "out"
    out.mkdir()
    export_onnx(str(tiny_folder), out)
    (out / "model.onnx.more").write_text("old", encoding="utf-8")
    export_onnx(str(tiny_folder), out, "int8")

    assert not (out / "model.onnx.more").exists()
    assert json.loads((out / "encoder.json").read_text(encoding="utf-8"))["precision"] == "int8"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("precision", ["float32", pytest.param("int8", marks=pytest.mark.full_length)])
def test_export_with_different_vectors_is_not_written(
    tiny_folder: Path, exported_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Any
) -> None:
    """The older export stays, and the error gives the difference."""
    torch = pytest.importorskip("torch")
    write = onnx_export._write_graph

    def write_another(encoder: SentenceTransformerEncoder, file: Path, name: str) -> None:
        weights = next(iter(encoder.model.parameters()))
        with torch.no_grad():
            weights *= -1.0
            write(encoder, file, name)
            weights *= -1.0

    out = Path(shutil.copytree(exported_folder, tmp_path / "out"))
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    monkeypatch.setattr(onnx_export, "_write_graph", write_another)

    with pytest.raises(IntentMatchError, match="differ from those of sentence-transformers") as caught:
        export_onnx(str(tiny_folder), out, precision)
    assert "smallest cosine" in str(caught.value)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_model_without_pooling_is_refused(tiny: Callable[..., Path], tmp_path: Path) -> None:
    model = tiny(lambda library, dim: [])

    with pytest.raises((InputError, ModelUnavailableError), match="pooling"):
        export_onnx(str(model), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_model_with_prompts_left_out_of_the_pooling_is_refused(tiny: Callable[..., Path], tmp_path: Path) -> None:
    """The graph does not know where the prompt ends."""
    model = tiny(
        lambda library, dim: [library.Pooling(dim, "mean", include_prompt=False)], prompts={"query": "query: "}
    )

    with pytest.raises(InputError, match="leaves its prompts out of the pooling"):
        export_onnx(str(model), tmp_path / "out")


def test_static_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
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


def test_export_failure_of_torch_is_an_input_error_and_writes_nothing(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no such operator: aten::sing")

    monkeypatch.setattr(torch.onnx, "export", fail)

    with pytest.raises(InputError, match="torch says: no such operator: aten::sing"):
        export_onnx(str(tiny_folder), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_missing_extra_names_the_pip_command_before_loading(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "onnxscript")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[onnx-export\]"'):
        export_onnx("any", tmp_path / "out")


def test_missing_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="needs the extra [onnx-export]")
    with pytest.raises(ModelUnavailableError, match="there is no folder"):
        export_onnx("./nowhere", tmp_path / "out")


def test_damaged_export_is_refused(exported_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(exported_folder, tmp_path / "damaged")
    weights = max((tmp_path / "damaged").glob(f"{GRAPH}*"), key=lambda file: file.stat().st_size)
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)

    with pytest.raises(ModelUnavailableError, match="differs from its digest in SHA256SUMS"):
        OnnxEncoder(tmp_path / "damaged")
