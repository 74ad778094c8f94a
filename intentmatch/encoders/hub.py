"""What is to be known of a model before it runs: hub names to folders, device settings to devices, its card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.text.normalize import language_code

ALL_GPUS = "cuda:all"
_SECONDS_TO_REACH_THE_HUB = 5.0
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "README.md"]
_NOT_FILES = ["onnx/*", "openvino/*", "*.bin", "*.h5"]

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(\n|$)", re.DOTALL)
# Only the entry in question is parsed: some cards bring thousands of lines of benchmark results.
_ENTRY = r"^{}:([ \t].*)?\n([ \t#-].*\n|\n)*"


def model_folder(name: str) -> Path:
    """The folder of a model named by a folder, or by a hub name: from the hub's cache, or downloaded once.

    Only safetensors weights are fetched. Raises `ModelUnavailableError`, within seconds, when there is no such folder,
    no such name, or no network.
    """
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    if not name or name.startswith((".", "~")) or folder.is_absolute() or name.count("/") > 1:
        raise ModelUnavailableError(f"there is no folder {name!r}. Name an existing one, or a model of the hub.")
    hub = plugins.require("huggingface_hub", what=f"The model {name}", extra="torch")
    # sentence-transformers publishes under its own name, which its users leave out.
    repositories = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for repository in repositories:
        cached = _cached(hub, repository)
        if cached is not None:
            return cached
    reasons = []
    for repository in repositories:
        try:
            # One short question first: the download itself would retry for minutes before it gave up.
            hub.HfApi().model_info(repository, timeout=_SECONDS_TO_REACH_THE_HUB)
            return Path(hub.snapshot_download(repository, allow_patterns=_FILES, ignore_patterns=_NOT_FILES))
        except Exception as error:  # noqa: BLE001 - whose network errors these are changes between the hub's releases
            reasons.append(str(error).strip().partition("\n")[0])
    raise ModelUnavailableError(
        f"the model {name!r} is not on this machine, and the hub did not give it ({reasons[0]}). Ways out: run once "
        "with a network; name a local folder with the model; or use `encoder: static`, which needs neither."
    )


def card_languages(folder: Path) -> frozenset[str] | None:
    """The languages that the model in a folder was trained on, as BCP-47 codes; None where it does not say.

    They stand under `language` in its model card. What is no code ("multilingual") says nothing.
    """
    return frozenset(filter(None, map(language_code, card_entry(folder, "language")))) or None


def card_entry(folder: Path, key: str) -> list[str]:
    """The texts under a key of the YAML at the head of a model card, `README.md` (the form Hugging Face gives it).

    None of them where it has no such key, or cannot be read.
    """
    try:
        head = _FRONT_MATTER.match((folder / "README.md").read_text(encoding="utf-8-sig"))
        entry = head and re.search(_ENTRY.format(key), head[1], re.MULTILINE)
        # The base loader makes nothing but text, lists and mappings, so that Norwegian stays "no".
        named = yaml.load(entry[0], Loader=yaml.BaseLoader)[key] if entry else []  # noqa: S506
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return []
    return [named] if isinstance(named, str) else [item for item in named if isinstance(item, str)]


class Loaded(NamedTuple):
    """A model of sentence-transformers, where its files are and what it runs on."""

    model: Any
    folder: Path
    device: str


def load(kind: str, name: str, device_setting: str, *, what: str, trust_remote_code: bool = False) -> Loaded:
    """A model of one kind ("SentenceTransformer" or "CrossEncoder") by hub name or folder; `what` it is, for messages.

    Weights are read as safetensors only, and code that a model brings along is not run unless it is trusted. Raises
    `MissingExtraError`, `ModelUnavailableError` (with the way out) or `SettingsError` (no such device).
    """
    # The import takes seconds; whoever misspelt a name should not have to wait for it.
    plugins.check_installed("sentence_transformers", what=what, extra="torch")
    folder = model_folder(name)
    library = plugins.require("sentence_transformers", what=what, extra="torch")
    chosen = device(device_setting)
    try:
        with quietly():
            model = getattr(library, kind)(
                str(folder),
                device=chosen,
                trust_remote_code=trust_remote_code,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
    except (OSError, ValueError, ImportError) as error:
        raise ModelUnavailableError(_why_not(name, what, str(error).strip())) from error
    return Loaded(model, folder, chosen)


@contextmanager
def quietly() -> Iterator[None]:
    """Load a model without the bars that transformers draws for a matter of milliseconds."""
    logging = plugins.require("transformers.utils.logging", what="A transformer", extra="torch")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def device(setting: str) -> str:
    """The device that the `device` setting names; "auto" is the GPU where torch sees one, otherwise the CPU.

    Of several GPUs ("cuda:all") it is the first. Raises `SettingsError` for a device that is not there.
    """
    torch = plugins.require("torch", what="A transformer", extra="torch")
    present = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if setting == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if present[name])
    kind = setting.partition(":")[0]
    if kind not in present:
        raise SettingsError(f"device {setting!r} is not known: use auto, cpu, cuda, cuda:1, cuda:all or mps")
    if not present[kind]:
        raise SettingsError(f"device {setting!r}: torch {torch.__version__} sees none; use auto or cpu")
    return "cuda" if setting == ALL_GPUS else setting


def devices(setting: str) -> list[str]:
    """All GPUs for "cuda:all"; for any other setting the one that `device` finds."""
    first = device(setting)
    if setting != ALL_GPUS:
        return [first]
    torch = plugins.require("torch", what="A transformer", extra="torch")
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def _cached(hub: Any, repository: str) -> Path | None:
    """The hub's local copy, if its weights are complete enough to be there."""
    try:
        folder = Path(hub.snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError):
        return None
    return folder if any(folder.glob("*.safetensors")) or any(folder.glob("*/*.safetensors")) else None


def _why_not(name: str, what: str, error: str) -> str:
    if "trust_remote_code" in error:
        return (
            f"{name} brings its own code, which is not run. If you have read it and trust it, make the object in "
            "Python with trust_remote_code=True (SentenceTransformerEncoder, or CrossEncoderReranker around a "
            "CrossEncoder) and pass it to Matcher.load."
        )
    if "safetensors" in error:
        return f"{name} has no safetensors weights, and pickled ones are not loaded; save it again as such ({error})"
    return f"{name} cannot be loaded. {what} was expected there: {error}"
