"""Exporting cross-encoders: what is written, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.encoders import cross_encoder_export
from intentmatch.encoders.cross_encoder_export import ExportedReranker, is_cross_encoder
from intentmatch.encoders.onnx_cross_encoder import OnnxCrossEncoder
from intentmatch.encoders.onnx_export import export_onnx

pytestmark = pytest.mark.end_to_end

LINES = ["where is my package", "CANCEL it!", "a b c d e f g " * 300, "no", ""]


def expected_scores(folder: Path, message: str) -> np.ndarray:
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu")
    return model.predict([(message, line) for line in LINES], activation_fn=torch.nn.Sigmoid())


@pytest.mark.parametrize("message", ["where is my order", "x y z " * 100])
def test_float32_scores_equal_those_of_sentence_transformers(
    exported_cross_encoder: tuple[Path, Path], message: str
) -> None:
    """Long pairs are truncated alike, and padding does not change a score."""
    model, exported = exported_cross_encoder

    scores = OnnxCrossEncoder(exported).score(message, LINES)

    assert np.abs(scores - expected_scores(model, message)).max() < 1e-5
    assert len({round(float(score), 4) for score in scores}) > 2


def test_int8_scores_differ_little_from_float32(exported_cross_encoder: tuple[Path, Path], tmp_path: Path) -> None:
    """Of random weights, which are the hardest to quantise."""
    model, exported = exported_cross_encoder
    small = export_onnx(str(model), tmp_path / "out", "int8")
    full, quantised = OnnxCrossEncoder(exported), OnnxCrossEncoder(small.folder)

    differences = full.score("where is my order", LINES) - quantised.score("where is my order", LINES)

    assert isinstance(small, ExportedReranker)
    assert quantised.precision == "int8"
    assert 0.0 < np.abs(differences).max() < 0.02
    assert small.difference < 0.02


def test_export_describes_the_weights_and_has_no_local_path(
    exported_cross_encoder: tuple[Path, Path],
) -> None:
    model, exported = exported_cross_encoder
    config = json.loads((exported / "reranker.json").read_text(encoding="utf-8"))

    name = config["weights"].pop("model")
    assert config == {"precision": "float32", "max_length": 64, "weights": {"licence": []}}
    assert name.startswith(model.name)
    assert "/" not in name
    for file in exported.iterdir():
        assert str(model.parent).encode() not in file.read_bytes()


def test_cross_encoder_saved_by_sentence_transformers_is_exported(
    tiny_cross_encoder: Callable[..., Path], tmp_path: Path
) -> None:
    """With a card and a licence, which travel with the weights."""
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(tiny_cross_encoder()), device="cpu").save(str(tmp_path / "model"))
    (tmp_path / "model" / "LICENSE").write_text("Do as you like.", encoding="utf-8")

    exported = export_onnx(str(tmp_path / "model"), tmp_path / "out")

    assert isinstance(exported, ExportedReranker)
    assert exported.difference < 1e-5
    assert (tmp_path / "out" / "LICENSE").read_text(encoding="utf-8") == "Do as you like."


def test_encoders_are_not_taken_for_cross_encoders(tiny_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('["BertForSequenceClassification"]', encoding="utf-8")

    assert not is_cross_encoder(str(tiny_folder))
    assert not is_cross_encoder(str(tmp_path))


def test_model_with_several_outputs_is_refused(tiny_cross_encoder: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="returns 3 numbers for a pair"):
        export_onnx(str(tiny_cross_encoder(labels=3)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("precision", ["float32", pytest.param("int8", marks=pytest.mark.full_length)])
def test_export_with_different_scores_is_not_written(
    exported_cross_encoder: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Any
) -> None:
    write = cross_encoder_export._write

    def write_another(original: Any, file: Path, name: str) -> None:
        weights = original.transformers_model.classifier.weight.data
        weights *= -1.0
        write(original, file, name)
        weights *= -1.0

    monkeypatch.setattr(cross_encoder_export, "_write", write_another)

    with pytest.raises(IntentMatchError, match="scores differ from those of sentence-transformers"):
        export_onnx(str(exported_cross_encoder[0]), tmp_path / "out", precision)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full_length
def test_export_replaces_an_exported_encoder(
    exported_cross_encoder: tuple[Path, Path], tiny_folder: Path, tmp_path: Path
) -> None:
    export_onnx(str(tiny_folder), tmp_path / "out")
    export_onnx(str(exported_cross_encoder[0]), tmp_path / "out")

    assert not (tmp_path / "out" / "encoder.json").exists()
    export_onnx(str(tiny_folder), tmp_path / "out")
    assert not (tmp_path / "out" / "reranker.json").exists()
