"""An exported transformer behind the protocol, and what is said where there is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, MissingExtraError, ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.encoders import load_encoder
from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder

TEXTS = [
    "where is my package",
    "CANCEL it!",
    "wo ist mein Paket?",
    "a b c d e f g " * 300,
    "no 👩‍👩‍👧",
    "我的包裹在哪里",
]


@pytest.fixture
def copied(exported_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported_folder, tmp_path / "copy"))


def test_float32_is_sentence_transformers(
    minilm: SentenceTransformerEncoder, onnx_minilm: Callable[[str], OnnxEncoder]
) -> None:
    """Every number of every vector is the same to five places, long texts and emoji too."""
    assert np.abs(onnx_minilm("float32").encode(TEXTS) - minilm.encode(TEXTS)).max() < 1e-5


def test_int8_is_near_it(minilm: SentenceTransformerEncoder, onnx_minilm: Callable[[str], OnnxEncoder]) -> None:
    """Weights of 8 bits turn a vector by a few degrees."""
    encoder = onnx_minilm("int8")

    assert (encoder.encode(TEXTS) * minilm.encode(TEXTS)).sum(axis=1).min() > 0.99
    assert encoder.fingerprint != onnx_minilm("float32").fingerprint


def test_golden_cosine(onnx_minilm: Callable[[str], OnnxEncoder]) -> None:
    """The similarity that the model is published with."""
    first, second = onnx_minilm("float32").encode(["A man is eating pasta.", "A man is eating food."])

    assert float(first @ second) == pytest.approx(0.7035, abs=1e-3)


def test_a_text_of_nothing_known_is_zeros(exported_folder: Path) -> None:
    """Empty texts, and letters or emoji that the model has no piece for; with a prompt before them as well."""
    for prompts in ({}, {"utterance": "this is: "}):
        rows = OnnxEncoder(exported_folder, prompts=prompts).encode(["", "👩", "我", "package", "this"])

        assert rows.any(axis=1).tolist() == [False, False, False, True, True]


def test_prompts_go_before_the_text(exported_folder: Path) -> None:
    """As those of the settings do for any transformer; the fingerprint tells them apart."""
    plain = OnnxEncoder(exported_folder)
    prompted = OnnxEncoder(exported_folder, prompts={"query": "query: "})

    assert np.allclose(prompted.encode(["my order"], kind="query"), plain.encode(["query: my order"]), atol=1e-6)
    assert np.allclose(prompted.encode(["my order"]), plain.encode(["my order"]), atol=1e-6)
    assert prompted.fingerprint != plain.fingerprint


def test_texts_are_cut_where_the_model_cuts_them(exported_folder: Path, tiny_folder: Path) -> None:
    """What comes after 24 pieces changes nothing, here and there."""
    texts = ["order " * 22, "order " * 22 + "cancel", "order " * 2000]
    here, there = OnnxEncoder(exported_folder).encode(texts), SentenceTransformerEncoder(str(tiny_folder)).encode(texts)

    assert np.allclose(here, there, atol=1e-5)
    assert np.allclose(here[0], here[1], atol=1e-6)


def test_the_fingerprint_is_that_of_the_files(exported_folder: Path, copied: Path) -> None:
    """A copy elsewhere has the same; other weights and another tokenizer have others."""
    before = OnnxEncoder(exported_folder).fingerprint
    assert OnnxEncoder(copied).fingerprint == before

    weights = copied / "model.onnx.data"
    weights.write_bytes(bytes([weights.read_bytes()[0] ^ 1]) + weights.read_bytes()[1:])
    assert OnnxEncoder(copied).fingerprint != before


def test_a_matcher_uses_it_by_name(exported_folder: Path) -> None:
    """The setting names a folder, and threads."""
    registry = Registry((Intent("where", (Utterance("where is it"),)), Intent("stop", (Utterance("cancel my order"),))))
    matcher = Matcher.load(registry, encoder=f"onnx:{exported_folder}", threads=2)

    said = {stage.name: stage.says for stage in matcher.match("cancel this order").trace.stages}

    assert said["encode"] == f"encoded by onnx:{exported_folder}"


def test_neither_torch_nor_transformers_is_imported(exported_folder: Path) -> None:
    """Nor anything else of the exporter's."""
    code = (
        "import sys; from intentmatch.encoders.onnx import OnnxEncoder\n"
        f"OnnxEncoder({str(exported_folder)!r}).encode(['hello'])\n"
        "print({'torch', 'transformers', 'sentence_transformers', 'onnx', 'onnxscript'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_a_folder_is_needed() -> None:
    """The kind alone names none."""
    with pytest.raises(ModelUnavailableError, match="onnx:FOLDER"):
        load_encoder(Settings(encoder="onnx"))


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """A missing package is an error that says what to install."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[onnx\]"'):
        OnnxEncoder("any")


@pytest.mark.parametrize(
    ("setting", "value", "says"), [("device", "cuda", "runs on the CPU"), ("precision", "float16", "export-onnx")]
)
def test_settings_of_other_encoders_are_refused(exported_folder: Path, setting: str, value: str, says: str) -> None:
    """What would do nothing is not taken in silence."""
    with pytest.raises(SettingsError, match=says):
        load_encoder(Settings(encoder=f"onnx:{exported_folder}", **{setting: value}))


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "encoder.json"])
@pytest.mark.parametrize("content", [None, b"", b"\x00 not that \xff", b"{}", b"[1]", b'{"dim": "x"}'])
def test_a_broken_folder_is_told(copied: Path, file: str, content: bytes | None) -> None:
    """Each file missing, empty, or something else: the folder, the file, and the way out."""
    (copied / file).unlink()
    if content is not None:
        (copied / file).write_bytes(content)

    with pytest.raises(ModelUnavailableError, match="export-onnx MODEL -o FOLDER") as caught:
        OnnxEncoder(copied)
    assert str(copied) in str(caught.value)
    assert file in str(caught.value)


def test_missing_weights_are_told(copied: Path) -> None:
    """The graph alone is no model."""
    (copied / "model.onnx.data").unlink()

    with pytest.raises(ModelUnavailableError, match=r"model\.onnx cannot be run"):
        OnnxEncoder(copied)


def test_what_goes_wrong_while_it_runs_is_told(copied: Path) -> None:
    """Weights that were overwritten raise an error of ours, with the name of the encoder."""
    weights = copied / "model.onnx.data"
    weights.write_bytes(b"\xff\x7f" * (weights.stat().st_size // 2))

    with pytest.raises(IntentMatchError, match="onnx:"):
        OnnxEncoder(copied).encode(["where is my package"])


def test_a_graph_of_another_shape_is_told(copied: Path) -> None:
    """Where the file of facts and the graph disagree, neither is believed."""
    config = json.loads((copied / "encoder.json").read_text(encoding="utf-8"))
    (copied / "encoder.json").write_text(json.dumps(config | {"dim": 33}), encoding="utf-8")

    with pytest.raises(ModelUnavailableError, match="rows of 33 numbers"):
        OnnxEncoder(copied)


def test_there_must_be_a_folder(tmp_path: Path) -> None:
    """A name that is none."""
    with pytest.raises(ModelUnavailableError, match=r"no encoder\.json there"):
        OnnxEncoder(tmp_path / "nowhere")


def test_it_stands_in_the_table() -> None:
    """Naming it imports it and nothing heavy."""
    assert "onnx" in plugins.names("encoders")
