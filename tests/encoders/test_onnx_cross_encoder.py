"""The reranker `onnx:FOLDER`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.errors import IntentMatchError, MissingExtraError, ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Reranker
from intentmatch.encoders.checksums import CHECKSUMS
from intentmatch.encoders.onnx_cross_encoder import OnnxCrossEncoder
from intentmatch.matching.reranker import load_reranker

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def folder(exported_cross_encoder: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the export without its digests, to be damaged."""
    return Path(shutil.copytree(exported_cross_encoder[1], tmp_path / "copy", ignore=shutil.ignore_patterns(CHECKSUMS)))


def test_setting_loads_the_reranker(exported_cross_encoder: tuple[Path, Path]) -> None:
    reranker = load_reranker(Settings(reranker=f"onnx:{exported_cross_encoder[1]}"))

    assert isinstance(reranker, OnnxCrossEncoder)
    assert isinstance(reranker, Reranker)
    assert reranker.name == f"onnx:{exported_cross_encoder[1]}"
    assert reranker.score("hello", []).shape == (0,)


def test_score_of_a_pair_does_not_depend_on_the_others(exported_cross_encoder: tuple[Path, Path]) -> None:
    """More pairs than one batch holds, in any order."""
    reranker = OnnxCrossEncoder(exported_cross_encoder[1])
    lines = [f"where is my package {'x' * (number % 30)}" for number in range(200)]

    scores = reranker.score("my order", lines)

    alone = [float(reranker.score("my order", [line])[0]) for line in lines[::40]]
    assert scores[::40] == pytest.approx(alone, abs=1e-6)
    assert scores.dtype == np.float32


def test_matcher_asks_the_exported_model_in_doubt(exported_cross_encoder: tuple[Path, Path], tmp_path: Path) -> None:
    model = json.dumps(f"onnx:{exported_cross_encoder[1]}")
    (tmp_path / "bot.yaml").write_text(
        f"settings:\n  reranker: {model}\n  band: 1.0\nintents:\n  a:\n    utterances: [hello you]\n", encoding="utf-8"
    )

    result = Matcher.load(tmp_path, encoder=WordHashEncoder()).match("hello me")

    assert result.trace.decided_by == "reranker"
    assert "onnx:" in next(stage.says for stage in result.trace.stages if stage.name == "reranker")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("reranker.json", None, "has no reranker.json"),
        ("model.onnx", None, "has no model.onnx"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("reranker.json", "[]", "lacks the precision"),
        ("reranker.json", "{", "cannot be read"),
        ("tokenizer.json", "{}", "tokenizer.json cannot be read"),
        ("model.onnx", "no graph", "model.onnx cannot be run"),
    ],
)
def test_damaged_folder_is_refused(folder: Path, file: str, content: str | None, message: str) -> None:
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content, encoding="utf-8")

    with pytest.raises(ModelUnavailableError, match=message):
        OnnxCrossEncoder(folder)


def test_exported_encoder_is_refused_as_a_reranker(exported_folder: Path, folder: Path) -> None:
    """Also where its graph has been put behind the other's name."""
    with pytest.raises(ModelUnavailableError, match="is not an exported cross-encoder"):
        OnnxCrossEncoder(exported_folder)
    for file in exported_folder.glob("model.onnx*"):
        shutil.copyfile(file, folder / file.name)
    with pytest.raises(ModelUnavailableError, match="into one score a pair"):
        OnnxCrossEncoder(folder)


def test_missing_folder_or_extra_is_an_error(
    exported_cross_encoder: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelUnavailableError, match="needs a folder"):
        load_reranker(Settings(reranker="onnx:"))
    with pytest.raises(ModelUnavailableError, match=r"has no reranker\.json"):
        load_reranker(Settings(reranker="onnx:./missing"))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"intentmatch\[onnx\]"):
        load_reranker(Settings(reranker=f"onnx:{exported_cross_encoder[1]}"))


def test_failure_of_onnxruntime_is_an_error_with_the_name(
    exported_cross_encoder: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def run(self, *_: Any) -> None:
            raise RuntimeError("no memory")

    reranker = OnnxCrossEncoder(exported_cross_encoder[1])
    monkeypatch.setattr(reranker, "_session", Failing())

    with pytest.raises(IntentMatchError, match=r"onnx:.* failed: no memory"):
        reranker.score("hello", ["you"])
