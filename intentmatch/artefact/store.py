"""The artefact: a built registry in one self-describing safetensors file with a manifest in its header.

The file of a large registry is mapped instead of copied into memory, so that processes share its pages. Every load
checks the digest of the content, mapped or not: this takes little time compared with reading the texts, and a damaged
disk must never cause a wrong answer.

The manifest is JSON under the key `intentmatch` of the header's metadata. It names everything that answers depend on:
format, text version, encoder and its fingerprint, version of the token features, settings, calibration, and a digest of
the content. The registry itself is JSON in the tensor `registry`. Nothing in the file is code.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import ArtefactError, StaleArtefactError
from intentmatch.core.settings import FROM_TESTS, LOCAL, Settings
from intentmatch.core.types import Encoder, KeptVectors, Registry, Vectors
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.labelled_share import share_in_use
from intentmatch.learning.token_features import VERSION as TOKEN_FEATURES_VERSION
from intentmatch.registry.reading.json_form import from_plain, to_plain
from intentmatch.storage.atomic import write_file
from intentmatch.storage.safetensors import tensors_within
from intentmatch.text.normalize import TEXT_VERSION

FORMAT = 5
"""Format of the files written. Format 4 is read too: it has no words, on which a calibration may count."""
SUFFIX = ".intentmatch"
_KEY, _VECTORS, _GRAPH = "intentmatch", "utterances", "graph"
# Files below this size (64 MiB) are read and closed, so that they can be overwritten while in use on every system.
_MAPPED_FROM = 1 << 26


@dataclass(frozen=True)
class Artefact:
    """A registry with its vectors, trained head and calibration. Immutable. Made by `build` or `load_artefact`."""

    registry: Registry
    settings: Settings
    encoder_name: str
    encoder_fingerprint: str
    vectors: KeptVectors
    """Vectors of all utterances in registry order, shape `(utterances, dim)`, float32 or float16."""
    negative_vectors: Vectors
    """Vectors of all negatives in registry order, shape `(negatives, dim)`."""
    label_vectors: Vectors
    """Vectors of the intents' titles or names, shape `(intents, dim)`."""
    calibration: Calibration
    trained_head: TrainedHead | None = None
    """Head, token features and words; None if scores alone decide."""
    foreign: Calibration | None = None
    """Calibration for messages in languages that the registry does not have; None if `calibration` is for all."""
    graph: NDArray[np.uint8] | None = None
    """Serialised graph of an approximate index; None for exact search."""

    @property
    def fingerprint(self) -> str:
        """Digest of everything that can change an answer: registry, encoder, text version and settings."""
        parts = [self.registry.fingerprint, self.encoder_fingerprint, TEXT_VERSION, self.settings.to_dict()]
        parts += [self.registry.tests_content] if self.learns_from_tests else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def learns_from_tests(self) -> bool:
        """Whether confidences are learned from the registry's tests, if there are enough."""
        return self.settings.out_of_scope_share == FROM_TESTS

    @property
    def out_of_scope_share(self) -> float:
        """The setting `out_of_scope_share` as a number."""
        return share_in_use(self.settings, self.calibration.labelled)

    @property
    def wide_vectors(self) -> Vectors:
        """`vectors` as float32; a copy if they are stored as float16."""
        return np.asarray(self.vectors, dtype=np.float32)

    def check_encoder(self, encoder: Encoder) -> None:
        """Raise `StaleArtefactError` unless this encoder made the vectors."""
        same_as = getattr(encoder, "same_as", encoder.fingerprint.__eq__)
        if not same_as(self.encoder_fingerprint):
            raise StaleArtefactError(
                f"built with the encoder {self.encoder_name} @ {self.encoder_fingerprint}, but the encoder in use is "
                f"{encoder.name} @ {encoder.fingerprint}. Run `intentmatch build` again, or use the other encoder."
            )


def searched_by(settings: Settings, trained_head: TrainedHead | None) -> str:
    """Return the kind of index to search; with a head always exact, because the head makes the shortlist."""
    return settings.index if trained_head is None else "exact"


def save_artefact(artefact: Artefact, path: str | os.PathLike[str]) -> None:
    """Write an artefact to a file, whole or not at all. Raises `ArtefactError` if it cannot be written."""
    check_argument("artefact", artefact, Artefact)
    check_argument("path", path, str | os.PathLike[str])
    target = Path(path)
    registry = json.dumps(
        to_plain(artefact.registry, tests=artefact.learns_from_tests), ensure_ascii=False, separators=(",", ":")
    )
    tensors: dict[str, NDArray[Any]] = {
        _VECTORS: np.ascontiguousarray(artefact.vectors),
        "negatives": np.ascontiguousarray(artefact.negative_vectors),
        "labels": np.ascontiguousarray(artefact.label_vectors),
        "registry": np.frombuffer(registry.encode("utf-8", "surrogatepass"), dtype=np.uint8),
        **({} if artefact.trained_head is None else artefact.trained_head.to_tensors()),
        **({} if artefact.graph is None else {_GRAPH: artefact.graph}),
    }
    manifest = {
        "format": FORMAT,
        "text_version": TEXT_VERSION,
        "words_version": TOKEN_FEATURES_VERSION,
        "fingerprint": artefact.fingerprint,
        "registry_fingerprint": artefact.registry.fingerprint,
        "encoder": {"name": artefact.encoder_name, "fingerprint": artefact.encoder_fingerprint},
        "settings": artefact.settings.to_dict(),
        "origins": {name: origin for name, origin in artefact.settings.origins.items() if name not in LOCAL},
        "calibration": artefact.calibration.to_dict(),
        "foreign": None if artefact.foreign is None else artefact.foreign.to_dict(),
        "content": _digest(tensors),
    }
    content = save(tensors, {_KEY: json.dumps(manifest, sort_keys=True)})
    try:
        write_file(target, content)
    except OSError as error:
        raise ArtefactError(f"{target} cannot be written: {error.strerror or error}") from error


def load_artefact(path: str | os.PathLike[str]) -> Artefact:
    """Read a file written by `save_artefact`.

    Raises `ArtefactError` if it is no artefact or is damaged, and `StaleArtefactError` if another version made it.
    """
    check_argument("path", path, str | os.PathLike[str])
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            manifest = json.loads(metadata[_KEY])
            versions = manifest["format"], manifest["text_version"], manifest.get("words_version")
            if versions not in [(number, TEXT_VERSION, TOKEN_FEATURES_VERSION) for number in (4, FORMAT)]:
                raise StaleArtefactError(
                    f"{path} has format {versions[0]}, text version {versions[1]} and words version {versions[2]}, "
                    f"written by another release; this one reads {FORMAT}, {TEXT_VERSION} and "
                    f"{TOKEN_FEATURES_VERSION}. Run `intentmatch build` again."
                )
            large = Path(path).stat().st_size >= _MAPPED_FROM
            content = np.asarray(np.memmap(path, np.uint8, "r")) if large else np.fromfile(path, np.uint8)
            tensors = tensors_within(content)
        if _digest(tensors) != manifest["content"]:
            raise ArtefactError(
                f"{path} is damaged: its content differs from what was written. Run `intentmatch build` again."
            )
        return Artefact(
            registry=from_plain(json.loads(tensors["registry"].tobytes().decode("utf-8", "surrogatepass"))),
            settings=Settings(**manifest["settings"], origins=manifest["origins"]),
            encoder_name=manifest["encoder"]["name"],
            encoder_fingerprint=str(manifest["encoder"]["fingerprint"]),
            vectors=tensors[_VECTORS],
            negative_vectors=tensors["negatives"],
            label_vectors=tensors["labels"],
            calibration=Calibration.from_dict(manifest["calibration"]),
            # Releases before 0.3.0 wrote none.
            foreign=None if manifest.get("foreign") is None else Calibration.from_dict(manifest["foreign"]),
            trained_head=TrainedHead.from_tensors(tensors),
            graph=tensors.get(_GRAPH),
        )
    except OSError as error:
        raise ArtefactError(f"{path} cannot be read: {error.strerror or error}") from error
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ArtefactError(f"{path} is not an artefact of `intentmatch build`, or is damaged ({error})") from error


def _digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape} ".encode())
        digest.update(np.ascontiguousarray(tensors[name]).data)
    return digest.hexdigest()
