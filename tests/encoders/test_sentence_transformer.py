"""A real transformer behind the protocol."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError, ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.encoders import hub, load_encoder
from intentmatch.encoders import sentence_transformer as room
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("A man is eating pasta.", "A man is eating food.", 0.7035),
        ("A cheetah chases prey on across a field.", "A cheetah is running behind its prey.", 0.8253),
    ],
)
def test_golden_cosines(minilm: SentenceTransformerEncoder, one: str, other: str, expected: float) -> None:
    """all-MiniLM-L6-v2 gives the similarities that it is published with."""
    first, second = minilm.encode([one, other])

    assert float(first @ second) == pytest.approx(expected, abs=1e-3)


def test_device_and_precision_are_chosen(minilm: SentenceTransformerEncoder) -> None:
    """Without a GPU "auto" means the CPU in full precision."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is an accelerator here; test_gpu covers it")

    assert minilm.device == "cpu"
    assert minilm.tolerance == 1e-4


def test_prompts_go_before_the_text(minilm: SentenceTransformerEncoder, minilm_folder: Path) -> None:
    """A prompted text has the vector of prompt and text together, and the fingerprint tells the prompts apart."""
    prompted = SentenceTransformerEncoder(str(minilm_folder), prompts={"query": "query: ", "utterance": "passage: "})

    assert np.allclose(prompted.encode(["hello"], kind="query"), minilm.encode(["query: hello"]), atol=1e-4)
    assert np.allclose(prompted.encode(["hello"], kind="utterance"), minilm.encode(["passage: hello"]), atol=1e-4)
    assert prompted.fingerprint != minilm.fingerprint


def test_a_model_named_e5_is_prompted_as_such(
    minilm: SentenceTransformerEncoder, minilm_folder: Path, tmp_path: Path
) -> None:
    """e5 models get the prefixes they were trained with although their files do not say so; others get none."""
    folder = tmp_path / "multilingual-e5-small"
    folder.symlink_to(minilm_folder)
    e5 = SentenceTransformerEncoder(str(folder))

    assert np.allclose(e5.encode(["hello"], kind="query"), minilm.encode(["query: hello"]), atol=1e-4)


def test_a_models_own_prompts_are_used(minilm: SentenceTransformerEncoder, minilm_folder: Path, tmp_path: Path) -> None:
    """Prompts in the model's configuration are used, unless the settings give others."""
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder, folder)
    config = json.loads((folder / "config_sentence_transformers.json").read_text(encoding="utf-8"))
    config["prompts"] = {"query": "ask: ", "document": "doc: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config), encoding="utf-8")

    own = SentenceTransformerEncoder(str(folder))
    given = SentenceTransformerEncoder(str(folder), prompts={"query": "q: "})

    assert np.allclose(own.encode(["x"], kind="query"), minilm.encode(["ask: x"]), atol=1e-4)
    assert np.allclose(own.encode(["x"], kind="utterance"), minilm.encode(["doc: x"]), atol=1e-4)
    assert np.allclose(given.encode(["x"], kind="query"), minilm.encode(["q: x"]), atol=1e-4)


def test_a_name_is_needed() -> None:
    """The kind alone names no model."""
    with pytest.raises(ModelUnavailableError, match="sentence_transformer:NAME_OR_FOLDER"):
        load_encoder(Settings(encoder="sentence_transformer"))


def test_pickled_weights_are_refused(minilm_folder: Path, tmp_path: Path) -> None:
    """A folder with only pickled weights is not loaded."""
    torch = pytest.importorskip("torch")
    folder = tmp_path / "pickled"
    shutil.copytree(minilm_folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save({}, folder / "pytorch_model.bin")

    with pytest.raises(ModelUnavailableError):
        SentenceTransformerEncoder(str(folder))


def test_code_in_a_model_folder_is_not_run(minilm_folder: Path, tmp_path: Path) -> None:
    """A model that brings its own code is refused, and the code leaves no trace."""
    folder = tmp_path / "remote"
    shutil.copytree(minilm_folder, folder)
    mark = tmp_path / "ran"
    (folder / "custom.py").write_text(f"open({str(mark)!r}, 'w')\nclass Custom: pass\n", encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "custom", "architectures": ["Custom"]}
    config["auto_map"] = {"AutoConfig": "custom.Custom", "AutoModel": "custom.Custom"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    with pytest.raises(ModelUnavailableError, match="brings its own code"):
        SentenceTransformerEncoder(str(folder))
    assert not mark.exists()


def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that says what to install."""
    monkeypatch.setattr(plugins.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[torch\]"'):
        SentenceTransformerEncoder("any")


def test_texts_come_back_in_order_and_in_one_copy(minilm: SentenceTransformerEncoder) -> None:
    """Sorted by length for the model, and back in the order they were given, whatever the lengths."""
    texts = ["a " * length + "parcel" for length in (9, 1, 40, 3, 0, 17)]

    alone = np.vstack([minilm.encode([text]) for text in texts])

    assert minilm.encode(texts).dtype == np.float32
    assert np.abs(minilm.encode(texts) - alone).max() <= minilm.tolerance


def test_all_gpus_need_a_gpu() -> None:
    """The setting `cuda:all` without one is an error that names it."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is an accelerator here")
    with pytest.raises(SettingsError, match="'cuda:all'"):
        hub.devices("cuda:all")
    assert hub.devices("cpu") == ["cpu"]


def test_many_texts_go_through_a_pool_of_devices(minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With several devices a build's texts are spread over them, and the model is back in its place afterwards."""
    encoder = SentenceTransformerEncoder(str(minilm_folder), device="cpu")
    expected = encoder.encode(["one", "two"])
    asked: list[object] = []

    def pooled(texts: list[str], *, device: list[str], **how: object) -> np.ndarray:
        asked.append((texts, device))
        return np.asarray(expected, dtype=np.float16)

    monkeypatch.setattr(room, "_WORTH_A_POOL", 2)
    monkeypatch.setattr(encoder, "_devices", ["cuda:0", "cuda:1"])
    monkeypatch.setattr(encoder.model, "encode", pooled)

    assert np.abs(encoder.encode(["one", "two"]) - expected).max() < 1e-3
    assert asked == [(["one", "two"], ["cuda:0", "cuda:1"])]
    assert encoder.texts_at_once == 2048


@pytest.mark.gpu
def test_several_gpus_agree_with_one(minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of a pool are those of one card within the declared tolerance."""
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("fewer than two GPUs here")
    monkeypatch.setattr(room, "_WORTH_A_POOL", 100)
    one = SentenceTransformerEncoder(str(minilm_folder), device="cuda:0")
    several = SentenceTransformerEncoder(str(minilm_folder), device="cuda:all")
    texts = [f"message number {number} about parcels" for number in range(300)]

    assert np.abs(several.encode(texts) - one.encode(texts)).max() <= one.tolerance


@pytest.mark.gpu
def test_half_precision_on_a_gpu_agrees_with_the_cpu(minilm: SentenceTransformerEncoder, minilm_folder: Path) -> None:
    """Vectors made on the GPU in half precision are the CPU's within the declared tolerance."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    on_gpu = SentenceTransformerEncoder(str(minilm_folder), device="cuda")
    texts = [f"message number {number} about parcels" for number in range(300)]

    assert np.abs(on_gpu.encode(texts) - minilm.encode(texts)).max() <= on_gpu.tolerance
    assert on_gpu.fingerprint == minilm.fingerprint


def test_the_card_names_the_languages(minilm: SentenceTransformerEncoder) -> None:
    """all-MiniLM-L6-v2 is for English."""
    assert minilm.languages == {"en"}
