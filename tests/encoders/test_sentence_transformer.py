"""The sentence-transformers encoder, with a real model."""

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
from intentmatch.encoders import sentence_transformer as module
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.encoders.translations import Translations


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("A man is eating pasta.", "A man is eating food.", 0.7035),
        ("A cheetah chases prey on across a field.", "A cheetah is running behind its prey.", 0.8253),
    ],
)
def test_golden_cosines(minilm: SentenceTransformerEncoder, one: str, other: str, expected: float) -> None:
    """The similarities published with all-MiniLM-L6-v2."""
    first, second = minilm.encode([one, other])

    assert float(first @ second) == pytest.approx(expected, abs=1e-3)


def test_auto_means_cpu_in_float32_without_a_gpu(minilm: SentenceTransformerEncoder) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is an accelerator here; test_gpu covers it")

    assert minilm.device == "cpu"
    assert minilm.tolerance == 1e-4


def test_prompts_are_prefixed_and_change_the_fingerprint(
    minilm: SentenceTransformerEncoder, minilm_folder: Path
) -> None:
    prompted = SentenceTransformerEncoder(str(minilm_folder), prompts={"query": "query: ", "utterance": "passage: "})

    assert np.allclose(prompted.encode(["hello"], kind="query"), minilm.encode(["query: hello"]), atol=1e-4)
    assert np.allclose(prompted.encode(["hello"], kind="utterance"), minilm.encode(["passage: hello"]), atol=1e-4)
    assert prompted.fingerprint != minilm.fingerprint


def test_e5_model_gets_its_usual_prompts(
    minilm: SentenceTransformerEncoder, minilm_folder: Path, tmp_path: Path
) -> None:
    """e5 models were trained with prefixes, but their files do not say so."""
    folder = tmp_path / "multilingual-e5-small"
    folder.symlink_to(minilm_folder)
    e5 = SentenceTransformerEncoder(str(folder))

    assert np.allclose(e5.encode(["hello"], kind="query"), minilm.encode(["query: hello"]), atol=1e-4)


def test_prompts_of_the_model_are_used_unless_settings_override(
    minilm: SentenceTransformerEncoder, minilm_folder: Path, tmp_path: Path
) -> None:
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


def test_setting_without_model_is_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="sentence_transformer:NAME_OR_FOLDER"):
        load_encoder(Settings(encoder="sentence_transformer"))


def test_pickled_weights_are_refused(minilm_folder: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    folder = tmp_path / "pickled"
    shutil.copytree(minilm_folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save({}, folder / "pytorch_model.bin")

    with pytest.raises(ModelUnavailableError):
        SentenceTransformerEncoder(str(folder))


def test_code_in_a_model_folder_is_not_run(minilm_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    shutil.copytree(minilm_folder, folder)
    mark = tmp_path / "ran"
    (folder / "custom.py").write_text(f"open({str(mark)!r}, 'w')\nclass Custom: pass\n", encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "custom", "architectures": ["Custom"]}
    config["auto_map"] = {"AutoConfig": "custom.Custom", "AutoModel": "custom.Custom"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    with pytest.raises(ModelUnavailableError, match="contains its own code"):
        SentenceTransformerEncoder(str(folder))
    assert not mark.exists()


def test_missing_extra_names_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[torch\]"'):
        SentenceTransformerEncoder("any")


def test_vectors_are_in_the_order_of_the_texts(minilm: SentenceTransformerEncoder) -> None:
    """The library sorts texts by length internally."""
    texts = ["a " * length + "parcel" for length in (9, 1, 40, 3, 0, 17)]

    alone = np.vstack([minilm.encode([text]) for text in texts])

    assert minilm.encode(texts).dtype == np.float32
    assert np.abs(minilm.encode(texts) - alone).max() <= minilm.tolerance


def test_cuda_all_without_gpu_is_refused() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is an accelerator here")
    with pytest.raises(SettingsError, match="'cuda:all'"):
        hub.devices("cuda:all")
    assert hub.devices("cpu") == ["cpu"]


def test_many_texts_use_a_pool_of_devices(minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Afterwards the model is back on its own device."""
    encoder = SentenceTransformerEncoder(str(minilm_folder), device="cpu")
    expected = encoder.encode(["one", "two"])
    asked: list[object] = []

    def pooled(texts: list[str], *, device: list[str], **options: object) -> np.ndarray:
        asked.append((texts, device))
        return np.asarray(expected, dtype=np.float16)

    monkeypatch.setattr(module, "_LEAST_TEXTS_FOR_POOL", 2)
    monkeypatch.setattr(encoder, "_devices", ["cuda:0", "cuda:1"])
    monkeypatch.setattr(encoder.model, "encode", pooled)

    assert np.abs(encoder.encode(["one", "two"]) - expected).max() < 1e-3
    assert asked == [(["one", "two"], ["cuda:0", "cuda:1"])]
    assert encoder.texts_at_once == 2048


@pytest.mark.gpu
def test_several_gpus_agree_with_one(minilm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the declared tolerance."""
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("fewer than two GPUs here")
    monkeypatch.setattr(module, "_LEAST_TEXTS_FOR_POOL", 100)
    one = SentenceTransformerEncoder(str(minilm_folder), device="cuda:0")
    several = SentenceTransformerEncoder(str(minilm_folder), device="cuda:all")
    texts = [f"message number {number} about parcels" for number in range(300)]

    assert np.abs(several.encode(texts) - one.encode(texts)).max() <= one.tolerance


@pytest.mark.gpu
def test_half_precision_on_a_gpu_agrees_with_the_cpu(minilm: SentenceTransformerEncoder, minilm_folder: Path) -> None:
    """Within the declared tolerance, with the same fingerprint."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    on_gpu = SentenceTransformerEncoder(str(minilm_folder), device="cuda")
    texts = [f"message number {number} about parcels" for number in range(300)]

    assert np.abs(on_gpu.encode(texts) - minilm.encode(texts)).max() <= on_gpu.tolerance
    assert on_gpu.fingerprint == minilm.fingerprint


def test_languages_come_from_the_model_card(minilm: SentenceTransformerEncoder) -> None:
    assert minilm.languages == {"en"}


def test_measured_translations_are_read_and_keep_the_fingerprint(
    minilm: SentenceTransformerEncoder, minilm_folder: Path, tmp_path: Path
) -> None:
    """A model without them has none."""
    copied = Path(shutil.copytree(minilm_folder, tmp_path / "copy"))
    pairs = minilm.encode(["one", "two", "three", "four"])
    Translations.between(pairs[:2], pairs[2:]).save(copied)

    encoder = SentenceTransformerEncoder(str(copied), device="cpu")

    assert len(encoder.translations.cosines) == 2
    assert encoder.fingerprint == minilm.fingerprint
    assert minilm.translations is None


def test_text_beyond_max_seq_length_is_counted(minilm: SentenceTransformerEncoder) -> None:
    """A piece each for "a" and "b", and two that frame the text; 256 of them are read."""
    assert minilm.beyond("a b " * 127) is None
    assert minilm.beyond("a b " * 200) == (402, 256)
    assert minilm.beyond("internationalisation " * 20) is None
