"""The onnx encoder: vectors, prompts, fingerprint, and errors for broken folders."""

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
from intentmatch.encoders.checksums import CHECKSUMS
from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.encoders.translations import Translations

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
    return Path(shutil.copytree(exported_folder, tmp_path / "copy", ignore=shutil.ignore_patterns(CHECKSUMS)))


def test_float32_vectors_equal_sentence_transformers(
    minilm: SentenceTransformerEncoder, onnx_minilm: Callable[[str], OnnxEncoder]
) -> None:
    """To five places, including long texts and emoji."""
    assert np.abs(onnx_minilm("float32").encode(TEXTS) - minilm.encode(TEXTS)).max() < 1e-5


def test_int8_vectors_have_cosine_above_0_99(
    minilm: SentenceTransformerEncoder, onnx_minilm: Callable[[str], OnnxEncoder]
) -> None:
    encoder = onnx_minilm("int8")

    assert (encoder.encode(TEXTS) * minilm.encode(TEXTS)).sum(axis=1).min() > 0.99
    assert encoder.fingerprint != onnx_minilm("float32").fingerprint


def test_measured_translations_are_read_and_keep_the_fingerprint(copied: Path) -> None:
    """Those of another size are not."""
    without = OnnxEncoder(copied)
    assert without.translations is None
    pairs = without.encode(TEXTS)

    Translations.between(pairs[:2], pairs[2:4]).save(copied)
    encoder = OnnxEncoder(copied)

    assert len(encoder.translations.cosines) == 2
    assert encoder.fingerprint == without.fingerprint


def test_golden_cosine(onnx_minilm: Callable[[str], OnnxEncoder]) -> None:
    """The similarity published with the model."""
    first, second = onnx_minilm("float32").encode(["A man is eating pasta.", "A man is eating food."])

    assert float(first @ second) == pytest.approx(0.7035, abs=1e-3)


def test_text_without_known_pieces_gives_zeros(exported_folder: Path) -> None:
    """With a prompt too."""
    for prompts in ({}, {"utterance": "this is: "}):
        rows = OnnxEncoder(exported_folder, prompts=prompts).encode(["", "👩", "我", "package", "this"])

        assert rows.any(axis=1).tolist() == [False, False, False, True, True]


def test_prompts_are_prefixed_and_change_the_fingerprint(exported_folder: Path) -> None:
    plain = OnnxEncoder(exported_folder)
    prompted = OnnxEncoder(exported_folder, prompts={"query": "query: "})

    assert np.allclose(prompted.encode(["my order"], kind="query"), plain.encode(["query: my order"]), atol=1e-6)
    assert np.allclose(prompted.encode(["my order"]), plain.encode(["my order"]), atol=1e-6)
    assert prompted.fingerprint != plain.fingerprint


def test_texts_are_truncated_as_in_sentence_transformers(exported_folder: Path, tiny_folder: Path) -> None:
    """The limit of the tiny model is 24 pieces."""
    texts = ["order " * 22, "order " * 22 + "cancel", "order " * 2000]
    here, there = OnnxEncoder(exported_folder).encode(texts), SentenceTransformerEncoder(str(tiny_folder)).encode(texts)

    assert np.allclose(here, there, atol=1e-5)
    assert np.allclose(here[0], here[1], atol=1e-6)


def test_fingerprint_depends_on_the_files_not_their_folder(exported_folder: Path, copied: Path) -> None:
    before = OnnxEncoder(exported_folder).fingerprint
    assert OnnxEncoder(copied).fingerprint == before

    weights = copied / "model.onnx.data"
    weights.write_bytes(bytes([weights.read_bytes()[0] ^ 1]) + weights.read_bytes()[1:])
    assert OnnxEncoder(copied).fingerprint != before


def test_matcher_uses_the_encoder_by_name(exported_folder: Path) -> None:
    registry = Registry((Intent("where", (Utterance("where is it"),)), Intent("stop", (Utterance("cancel my order"),))))
    matcher = Matcher.load(registry, encoder=f"onnx:{exported_folder}", threads=2)

    words = {stage.name: stage.says for stage in matcher.match("cancel this order").trace.stages}

    assert words["encode"] == f"encoded by onnx:{exported_folder}"


def test_encoding_does_not_import_torch_or_transformers(exported_folder: Path) -> None:
    """Nor any other package of the exporter."""
    code = (
        "import sys; from intentmatch.encoders.onnx import OnnxEncoder\n"
        f"OnnxEncoder({str(exported_folder)!r}).encode(['hello'])\n"
        "print({'torch', 'transformers', 'sentence_transformers', 'onnx', 'onnxscript'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_setting_without_folder_is_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="onnx:FOLDER"):
        load_encoder(Settings(encoder="onnx"))


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_missing_extra_names_the_pip_command(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[onnx\]"'):
        OnnxEncoder("any")


@pytest.mark.parametrize(
    ("setting", "value", "expected"), [("device", "cuda", "runs on the CPU"), ("precision", "float16", "export-onnx")]
)
def test_device_and_precision_settings_are_refused(
    exported_folder: Path, setting: str, value: str, expected: str
) -> None:
    """They would have no effect."""
    with pytest.raises(SettingsError, match=expected):
        load_encoder(Settings(encoder=f"onnx:{exported_folder}", **{setting: value}))


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "encoder.json"])
@pytest.mark.parametrize("content", [None, b"", b"\x00 not that \xff", b"{}", b"[1]", b'{"dim": "x"}'])
def test_broken_file_is_named_with_a_remedy(copied: Path, file: str, content: bytes | None) -> None:
    (copied / file).unlink()
    if content is not None:
        (copied / file).write_bytes(content)

    with pytest.raises(ModelUnavailableError, match="export-onnx MODEL -o FOLDER") as caught:
        OnnxEncoder(copied)
    assert str(copied) in str(caught.value)
    assert file in str(caught.value)


def test_missing_weights_are_an_error(copied: Path) -> None:
    (copied / "model.onnx.data").unlink()

    with pytest.raises(ModelUnavailableError, match=r"model\.onnx cannot be run"):
        OnnxEncoder(copied)


def test_runtime_failure_names_the_encoder(copied: Path) -> None:
    weights = copied / "model.onnx.data"
    weights.write_bytes(b"\xff\x7f" * (weights.stat().st_size // 2))

    with pytest.raises(IntentMatchError, match="onnx:"):
        OnnxEncoder(copied).encode(["where is my package"])


def test_config_that_contradicts_the_graph_is_refused(copied: Path) -> None:
    config = json.loads((copied / "encoder.json").read_text(encoding="utf-8"))
    (copied / "encoder.json").write_text(json.dumps(config | {"dim": 33}), encoding="utf-8")

    with pytest.raises(ModelUnavailableError, match="rows of 33 numbers"):
        OnnxEncoder(copied)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"it has no encoder\.json"):
        OnnxEncoder(tmp_path / "nowhere")


def test_onnx_is_a_built_in_encoder() -> None:
    assert "onnx" in plugins.names("encoders")


def test_text_that_the_model_cuts_is_counted(exported_folder: Path) -> None:
    """The tiny model reads 24 pieces, of which two frame the text."""
    encoder = OnnxEncoder(exported_folder)

    assert encoder.folder == exported_folder
    assert encoder.beyond("is my " * 11) is None
    assert encoder.beyond("is my " * 100) == (202, 24)
