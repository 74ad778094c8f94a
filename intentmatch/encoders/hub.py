"""Find and load transformer models: hub names to folders, device settings to devices, model cards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.encoders.checksums import check_checksums
from intentmatch.storage.regular_files import home_path, is_folder, read_regular, refuse_special_within
from intentmatch.text.normalize import language_code

ALL_GPUS = "cuda:all"
_SECONDS_TO_REACH_THE_HUB = 5.0
_INSTEAD = {
    "SentenceTransformer": "`encoder: static`, which needs neither",
    "CrossEncoder": "`reranker: none`, which needs neither",
}
_MOST_BYTES_OF_A_CARD = 1 << 24
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "README.md"]
# Many repositories hold the same weights in several formats: without this, a download has several times the size.
_NOT_FILES = ["onnx/*", "openvino/*", "*.bin", "*.h5"]

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*(\n|$)", re.DOTALL)
# A list such as that of the embedded card, which names more than a hundred languages; YAML takes 30 ms to read it.
_WORD = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_PLAIN_LIST = re.compile(rf"[\w-]+:\s*\[\s*({_WORD.pattern}(?:\s*,\s*{_WORD.pattern})*)\s*\]\s*")
# Only one entry is parsed, because some cards contain thousands of lines of benchmark results.
_ENTRY = r"^{}:([ \t].*)?\n([ \t#-].*\n|\n)*"


def model_folder(name: str, *, instead: str = _INSTEAD["SentenceTransformer"]) -> Path:
    """Return the folder of a model, given a folder or a Hugging Face Hub name.

    `instead` names in an error what does without a model.

    A hub model comes from the hub's cache, or is downloaded once. Only safetensors weights are downloaded. Raises
    `ModelUnavailableError` within seconds if the folder or the name does not exist, or without a network, and if the
    folder holds a device, a pipe or a damaged file.
    """
    folder = home_path(name)
    if name and is_folder(folder):
        check_files(folder)
        return folder
    # Such a name can only be a folder: the hub would be asked in vain, and told a path of this machine.
    if not name or name.startswith((".", "~")) or folder.is_absolute() or name.count("/") > 1:
        raise ModelUnavailableError(
            f"there is no folder {name!r}. Name an existing folder, or a model of the Hugging Face Hub."
        )
    hub = plugins.require("huggingface_hub", what=f"The model {name}", extra="torch")
    # Users leave out the organisation "sentence-transformers".
    repositories = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for repository in repositories:
        cached = _cached(hub, repository)
        if cached is not None:
            return cached
    reasons = []
    for repository in repositories:
        try:
            # Ask for the model's info first: a download without a network would retry for minutes.
            hub.HfApi().model_info(repository, timeout=_SECONDS_TO_REACH_THE_HUB)
            return Path(hub.snapshot_download(repository, allow_patterns=_FILES, ignore_patterns=_NOT_FILES))
        except Exception as error:  # noqa: BLE001 - the classes of network errors differ between releases of the hub
            reasons.append(str(error).strip().partition("\n")[0])
    raise ModelUnavailableError(
        f"the model {name!r} is not on this machine and cannot be downloaded ({reasons[0]}). Run once with a network, "
        f"or name a local folder with the model, or use {instead}."
    )


def check_files(folder: Path) -> None:
    """Raise `ModelUnavailableError` if a model's folder holds a device, a pipe or a socket, or a damaged file.

    No reader of a special file ends. Damage is noticed in folders with `SHA256SUMS`; see `check_checksums`.
    """
    try:
        refuse_special_within(folder)
    except OSError as error:
        raise ModelUnavailableError(f"the model {folder} is not read: {error.filename}: {error.strerror}") from None
    check_checksums(folder)


def card_languages(folder: Path) -> frozenset[str] | None:
    """Return the BCP-47 codes under `language` in the model card of a folder; None if it names none.

    Entries that are not language codes, such as "multilingual", are ignored.
    """
    return frozenset(filter(None, map(language_code, card_entry(folder, "language")))) or None


def card_entry(folder: Path, key: str) -> list[str]:
    """Return the texts under a key of a model card: the YAML front matter of `README.md` in a folder.

    The list is empty if the key is missing or the card cannot be read.
    """
    try:
        card = read_regular(folder / "README.md", _MOST_BYTES_OF_A_CARD).decode("utf-8-sig")
        head = _FRONT_MATTER.match(card.replace("\r\n", "\n"))
        entry = head and re.search(_ENTRY.format(key), head[1], re.MULTILINE)
        # The base loader creates only text, lists and mappings, so that Norwegian stays "no".
        if entry and (plain := _PLAIN_LIST.fullmatch(entry[0])):
            return _WORD.findall(plain[1])
        value = yaml.load(entry[0], Loader=yaml.BaseLoader)[key] if entry else []  # noqa: S506
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return []
    return [value] if isinstance(value, str) else [item for item in value if isinstance(item, str)]


class LoadedModel(NamedTuple):
    """A sentence-transformers model, the folder of its files, and its device."""

    model: Any
    folder: Path
    device: str


def load(kind: str, name: str, device_setting: str, *, what: str, trust_remote_code: bool = False) -> LoadedModel:
    """Load a model of the class `kind` ("SentenceTransformer" or "CrossEncoder") by hub name or folder.

    Only safetensors weights are read. Code in the model's repository runs only with `trust_remote_code`. `what` names
    the model in error messages. Raises `MissingExtraError`, `ModelUnavailableError`, or `SettingsError` if there is no
    such device.
    """
    # The import takes seconds; an error for a misspelt name should not wait for it.
    plugins.check_installed("sentence_transformers", what=what, extra="torch")
    folder = model_folder(name, instead=_INSTEAD[kind])
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
    return LoadedModel(model, folder, chosen)


@contextmanager
def quietly() -> Iterator[None]:
    """Turn off the progress bars of transformers while a model is loaded or saved."""
    logging = plugins.require("transformers.utils.logging", what="A transformer", extra="torch")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def device(setting: str) -> str:
    """Return the torch device for the setting `device`. "auto" is the GPU if torch sees one, otherwise the CPU.

    For several GPUs ("cuda:all") it is the first. Raises `SettingsError` if there is no such device.
    """
    torch = plugins.require("torch", what="A transformer", extra="torch")
    present = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if setting == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if present[name])
    kind = setting.partition(":")[0]
    if kind not in present:
        raise SettingsError(f"device {setting!r} is unknown: use auto, cpu, cuda, cuda:1, cuda:all or mps")
    if not present[kind]:
        raise SettingsError(f"device {setting!r}: torch {torch.__version__} finds no such device; use auto or cpu")
    return "cuda" if setting == ALL_GPUS else setting


def devices(setting: str) -> list[str]:
    """Return all GPUs for "cuda:all"; for other settings the one device of `device`. Raises `SettingsError`."""
    first = device(setting)
    if setting != ALL_GPUS:
        return [first]
    torch = plugins.require("torch", what="A transformer", extra="torch")
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def _cached(hub: Any, repository: str) -> Path | None:
    """Return the hub's local copy of a repository, or None if it is missing or has no weights."""
    try:
        folder = Path(hub.snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError):
        return None
    return folder if any(folder.glob("*.safetensors")) or any(folder.glob("*/*.safetensors")) else None


def _why_not(name: str, what: str, error: str) -> str:
    if "trust_remote_code" in error:
        return (
            f"{name} contains its own code, which intentmatch does not run. If you have read it and trust it, create "
            "the object in Python with trust_remote_code=True (SentenceTransformerEncoder, or CrossEncoderReranker "
            "around a CrossEncoder) and pass it to Matcher.load."
        )
    if "safetensors" in error:
        return (
            f"{name} has no safetensors weights, and pickled weights are not loaded. Save the model again with "
            f"safetensors ({error})"
        )
    return f"{name} cannot be loaded as {what[0].lower()}{what[1:]}: {error}"
