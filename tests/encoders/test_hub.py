"""Names to folders, settings to devices."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.encoders import hub, load_encoder

NAME = "some-team/no-such-model"


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's client with an empty cache of its own; where there is no network, it cannot be reached either."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs the extra [torch]")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def keep(hub_cache: Path, repository: str, *files: str) -> Path:
    """A repository as the hub's client keeps it."""
    home = hub_cache / f"models--{repository.replace('/', '--')}"
    snapshot = home / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    for file in files:
        (snapshot / file).parent.mkdir(exist_ok=True)
        (snapshot / file).write_bytes(b"")
    return snapshot


def test_a_folder_is_itself(tmp_path: Path) -> None:
    """A folder on this machine needs no hub."""
    assert hub.model_folder(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["", "./missing", "/missing/model", "a/b/c", "~nobody/model"])
def test_a_missing_folder_is_not_looked_for_in_the_hub(name: str) -> None:
    """A name that can only be a path is answered as a path."""
    with pytest.raises(ModelUnavailableError, match="no folder"):
        hub.model_folder(name)


def test_a_model_in_the_cache_needs_no_network(hub_cache: Path) -> None:
    """A downloaded model is found by its name, and those of sentence-transformers without theirs."""
    full = keep(hub_cache, NAME, "config.json", "model.safetensors")
    short = keep(hub_cache, "sentence-transformers/tiny", "0_Transformer/model.safetensors")

    assert hub.model_folder(NAME) == full
    assert hub.model_folder("tiny") == short


def test_a_half_downloaded_model_is_not_taken(hub_cache: Path) -> None:
    """A snapshot without weights is no model yet."""
    keep(hub_cache, NAME, "config.json")

    with pytest.raises(ModelUnavailableError, match="not on this machine"):
        hub.model_folder(NAME)


def test_a_model_that_cannot_be_had_says_so_at_once(hub_cache: Path) -> None:
    """No network, no copy: an error with the ways out."""
    with pytest.raises(
        ModelUnavailableError, match=r"run once with a network; name a local folder .* `encoder: static`"
    ):
        hub.model_folder(NAME)


def test_a_hub_that_does_not_answer_is_given_up_within_seconds(
    hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listening is an answer too, and no reason to try for minutes."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()

    with pytest.raises(ModelUnavailableError, match="the hub did not give it"):
        hub.model_folder(NAME)
    assert time.monotonic() - start < 10


def test_a_transformer_that_cannot_be_had_is_found_out_before_the_import(hub_cache: Path) -> None:
    """Whoever misspelt a name does not wait for torch."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")

    with pytest.raises(ModelUnavailableError, match="no-such-model"):
        load_encoder(Settings(encoder=f"sentence_transformer:{NAME}"))


def test_a_device_is_chosen_or_refused() -> None:
    """Auto is what there is; a device that is not there, or is none, is an error and not a fallback."""
    torch = pytest.importorskip("torch", reason="needs the extra [torch]")
    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("there is an accelerator here")

    assert hub.device("auto") == hub.device("cpu") == "cpu"
    for absent in ("cuda", "cuda:1", "mps"):
        with pytest.raises(SettingsError, match="sees none; use auto or cpu"):
            hub.device(absent)
    with pytest.raises(SettingsError, match="'abacus' is not known"):
        hub.device("abacus")


def test_loading_quietly_leaves_the_bars_as_they_were() -> None:
    """The progress bars of transformers are off inside, and on again after, also after an error."""
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
def test_a_card_tells_the_languages(tmp_path: Path, head: str, languages: set[str] | None) -> None:
    """A code or a list of codes at the head of the model card; whatever else stands there says nothing."""
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n# Model\nlanguage: it\n", encoding="utf-8")

    assert hub.card_languages(tmp_path) == languages


@pytest.mark.parametrize("card", [None, b"", b"# en\nlanguage: en\n", b"---\nlanguage: en\n", b"---\n\xff\n---\n"])
def test_without_a_readable_card_nothing_is_said(tmp_path: Path, card: bytes | None) -> None:
    """No card, a card without a head, a head without an end, bytes that are no text."""
    if card is not None:
        (tmp_path / "README.md").write_bytes(card)

    assert hub.card_languages(tmp_path) is None


def test_a_card_may_come_from_another_system(tmp_path: Path) -> None:
    """A byte order mark and the line ends of Windows are read over."""
    (tmp_path / "README.md").write_bytes(b"\xef\xbb\xbf---\r\nlanguage:\r\n- en\r\n---\r\n")

    assert hub.card_languages(tmp_path) == {"en"}
