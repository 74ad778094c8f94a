"""Finding models: hub names, folders, devices and model cards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.encoders import hub, load_encoder
from intentmatch.encoders.onnx import OnnxEncoder
from intentmatch.encoders.onnx_cross_encoder import OnnxCrossEncoder
from intentmatch.encoders.static import StaticEncoder

NAME = "some-team/no-such-model"


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub client with an empty cache, offline."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra [torch]")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def keep(hub_cache: Path, repository: str, *files: str) -> Path:
    """Create a repository in the layout of the hub's cache."""
    home = hub_cache / f"models--{repository.replace('/', '--')}"
    snapshot = home / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    for file in files:
        (snapshot / file).parent.mkdir(exist_ok=True)
        (snapshot / file).write_bytes(b"")
    return snapshot


def test_folder_name_returns_the_folder(tmp_path: Path) -> None:
    assert hub.model_folder(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["", "./missing", "/missing/model", "a/b/c", "~nobody/model"])
def test_path_that_does_not_exist_is_not_searched_in_the_hub(name: str) -> None:
    with pytest.raises(ModelUnavailableError, match="no folder"):
        hub.model_folder(name)


def test_cached_model_needs_no_network(hub_cache: Path) -> None:
    """Also sentence-transformers models without the organisation's name."""
    full = keep(hub_cache, NAME, "config.json", "model.safetensors")
    short = keep(hub_cache, "sentence-transformers/tiny", "0_Transformer/model.safetensors")

    assert hub.model_folder(NAME) == full
    assert hub.model_folder("tiny") == short


def test_cached_snapshot_without_weights_is_ignored(hub_cache: Path) -> None:
    keep(hub_cache, NAME, "config.json")

    with pytest.raises(ModelUnavailableError, match="not on this machine"):
        hub.model_folder(NAME)


def test_unavailable_model_names_remedies(hub_cache: Path) -> None:
    with pytest.raises(
        ModelUnavailableError, match=r"Run once with a network, or name a local folder .* `encoder: static`"
    ):
        hub.model_folder(NAME)


def test_unreachable_hub_fails_within_seconds(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()

    with pytest.raises(ModelUnavailableError, match="cannot be downloaded"):
        hub.model_folder(NAME)
    assert time.monotonic() - start < 10


def test_unavailable_transformer_fails_before_importing_torch(hub_cache: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")

    with pytest.raises(ModelUnavailableError, match="no-such-model"):
        load_encoder(Settings(encoder=f"sentence_transformer:{NAME}"))


def test_device_auto_is_cpu_and_missing_devices_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra [torch]")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is an accelerator here")

    assert hub.device("auto") == hub.device("cpu") == "cpu"
    for absent in ("cuda", "cuda:1", "mps"):
        with pytest.raises(SettingsError, match="finds no such device; use auto or cpu"):
            hub.device(absent)
    with pytest.raises(SettingsError, match="'abacus' is unknown"):
        hub.device("abacus")


def test_quietly_restores_progress_bars_after_an_error() -> None:
    logging = pytest.importorskip("transformers.utils.logging", reason="needs the extra [torch]")

    def fail() -> None:
        with hub.quietly():
            assert not logging.is_progress_bar_enabled()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert logging.is_progress_bar_enabled()


@pytest.mark.parametrize(
    ("head", "languages"),
    [
        ("language: en", {"en"}),
        ("license: mit\nlanguage:\n- en\n- pt_br\n-   zh-Hant # Taiwan\ntags: [x]", {"en", "pt-BR", "zh-Hant"}),
        ("language: [no, en,\n  'on']\nlicense: mit", {"no", "en", "on"}),
        ("language:\n\n# the rest\n  - en\n\n- de", None),
        ("language:\n\n# the rest\n- en\n\n- de\n", {"en", "de"}),
        ("language: multilingual", None),
        ("language: [multilingual, en, de]", {"en", "de"}),
        ("language:", None),
        ("language: {en: 1}", {"en"}),
        ("language: [[en], {de: 1}, fr]", {"fr"}),
        ("language: &a [*a]", None),
        ("language: *a", None),
        ("language: [en", None),
        ("language: " + "[" * 100_000, None),
        ("languages: [en]\nmetadata:\n  language: en", None),
        ("language:en", None),
        ("license: mit", None),
    ],
)
def test_card_languages_reads_codes_from_the_front_matter(
    tmp_path: Path, head: str, languages: set[str] | None
) -> None:
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n# Model\nlanguage: it\n", encoding="utf-8")

    assert hub.card_languages(tmp_path) == languages


@pytest.mark.parametrize("card", [None, b"", b"# en\nlanguage: en\n", b"---\nlanguage: en\n", b"---\n\xff\n---\n"])
def test_card_languages_without_a_readable_card_is_none(tmp_path: Path, card: bytes | None) -> None:
    if card is not None:
        (tmp_path / "README.md").write_bytes(card)

    assert hub.card_languages(tmp_path) is None


def test_card_with_bom_and_windows_line_ends_is_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"\xef\xbb\xbf---\r\nlanguage:\r\n- en\r\n---\r\n")

    assert hub.card_languages(tmp_path) == {"en"}


def test_huge_card_names_no_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_MOST_BYTES_OF_A_CARD", 100)
    (tmp_path / "README.md").write_text("---\nlanguage: en\n---\n" + "x" * 100, encoding="utf-8")

    assert hub.card_languages(tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["README.md", "translations.safetensors", "sub/config.json"])
@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
@pytest.mark.parametrize("load", [StaticEncoder, OnnxEncoder, OnnxCrossEncoder, hub.model_folder])
def test_model_with_a_device_or_a_pipe_is_refused_at_once(
    tmp_path: Path, name: str, kind: str, load: Callable[[Path], object]
) -> None:
    """A pipe would be waited for, and a device fill the memory."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")

    with pytest.raises(ModelUnavailableError, match=rf"{name}: it is not a regular file, but a device or a pipe"):
        load(tmp_path)
