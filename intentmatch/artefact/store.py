"""Files of artefacts: one self-describing safetensors file for a built registry, with a manifest in its header.

The file of a large registry is mapped instead of copied into memory, so that processes share its pages. Every load
checks the digest of the whole file, mapped or not: this takes little time compared with reading the texts, and a
damaged disk must never cause a wrong answer.

The manifest is JSON under the key `intentmatch` of the header's metadata. It names everything that answers depend on:
format, text version, encoder and its fingerprint, version of the token features, settings and calibration. The registry
itself is JSON in the tensor `registry`. Nothing in the file is code. A digest protects from damage and not from people:
`content_checks` refuses values that no build writes, and a signature says who built the file.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.artefact.content_checks import check_content, check_words, stored_settings
from intentmatch.artefact.signing import signer, verifier
from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import ArtefactError, StaleArtefactError
from intentmatch.core.settings import LOCAL
from intentmatch.index.graph_check import graph_works
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.token_features import VERSION as TOKEN_FEATURES_VERSION
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.registry.reading.json_form import from_plain, to_plain
from intentmatch.storage.atomic import real_path, remove_strays, write_file
from intentmatch.storage.sealed import DamagedError, Sign, read_metadata, read_sealed, seal
from intentmatch.storage.unwritable import unwritable
from intentmatch.text.normalize import TEXT_VERSION

_log = logging.getLogger(__name__)

FORMAT = 8
"""Format of the files written, and the only one read."""
SUFFIX = ".intentmatch"
_KEY, _VECTORS, _GRAPH, _QUESTIONS = "intentmatch", "utterances", "graph", "questions"


def save_artefact(
    artefact: Artefact, path: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None
) -> None:
    """Write an artefact to a file, whole or not at all.

    `key` is a PEM file with an ed25519 private key that signs the artefact. Raises `ArtefactError` if the file cannot
    be written, and `InputError` if the key cannot be used.

    `key` was added in 0.3.0.
    """
    check_argument("artefact", artefact, Artefact)
    check_argument("path", path, str | os.PathLike[str])
    check_argument("key", key, str | os.PathLike[str] | None)
    target = Path(path)
    content = artefact_bytes(artefact, None if key is None else signer(key))
    try:
        # A save that was killed leaves a temporary file as large as the artefact.
        remove_strays(real_path(target).parent, real_path(target).name)
        write_file(target, content)
    except OSError as error:
        raise ArtefactError(unwritable(target, error)) from error
    except ValueError as error:
        raise ArtefactError(f"{str(target)!r} is no name of a file: {error}") from None


def artefact_bytes(artefact: Artefact, sign: Sign | None = None) -> bytes:
    """Return the content of the file of an artefact."""
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
        **_question_tensors(artefact),
    }
    manifest = {
        "format": FORMAT,
        "text_version": TEXT_VERSION,
        "words_version": TOKEN_FEATURES_VERSION,
        "fingerprint": artefact.fingerprint,
        "registry_fingerprint": artefact.registry.fingerprint,
        "encoder": {"name": artefact.encoder_name, "fingerprint": artefact.encoder_fingerprint},
        "settings": artefact.settings.to_dict(),
        # What a setting of this machine came from means nothing elsewhere.
        "origins": {name: origin for name, origin in artefact.settings.origins.items() if name not in LOCAL},
        "calibration": artefact.calibration.to_dict(),
        "foreign": None if artefact.foreign is None else artefact.foreign.to_dict(),
    }
    return seal(tensors, {_KEY: json.dumps(manifest, sort_keys=True)}, sign)


def _question_tensors(artefact: Artefact) -> dict[str, NDArray[Any]]:
    if artefact.question_vectors is None or artefact.trait_heads is None:
        return {}
    return {_QUESTIONS: np.ascontiguousarray(artefact.question_vectors), **artefact.trait_heads.to_tensors()}


def load_artefact(path: str | os.PathLike[str], *, public_key: str | os.PathLike[str] | None = None) -> Artefact:
    """Read a file written by `save_artefact`.

    `public_key` is a PEM file of the key that must have signed the artefact; None to accept unsigned ones.

    Raises `ArtefactError` if the file is no artefact, is damaged, holds invalid values or lacks the signature, and
    `StaleArtefactError` if another version made it; `InputError` if the public key cannot be used.

    `public_key` was added in 0.3.0.
    """
    check_argument("path", path, str | os.PathLike[str])
    check_argument("public_key", public_key, str | os.PathLike[str] | None)
    verify = None if public_key is None else verifier(public_key)
    try:
        # First from the header alone: a file of another release gives its own error, and not one about a digest.
        manifest = json.loads(read_metadata(path)[_KEY])
        _check_version(path, manifest)
        sealed = read_sealed(path)
        if verify is not None:
            verify(sealed.digest, sealed.signature, str(path))
        # The file may have been replaced since its version was read.
        found = _artefact(json.loads(sealed.metadata[_KEY]), sealed.tensors)
    except OSError as error:
        raise ArtefactError(f"{path} cannot be read: {error.strerror or error}") from error
    except DamagedError as error:
        raise ArtefactError(f"{path} is damaged: {error}. Run `intentmatch build` again.") from error
    except ArtefactError:
        raise
    # A crafted file may hold anything, and raise anything, such as a RecursionError.
    except Exception as error:
        raise ArtefactError(f"{path} is not an artefact of `intentmatch build`, or is damaged ({error})") from error
    # usearch may crash on a damaged graph, which no digest of a crafted file rules out; a signed one is trusted.
    if found.graph is not None and public_key is None and not graph_works(found.graph, found.vectors):
        _log.warning("the graph of the index in %s cannot be used; building it again", path)
        return replace(found, graph=None)
    return found


def artefact_from_bytes(content: bytes) -> Artefact:
    """Return the artefact whose file has this content; it exists only while it is read. Raises `ArtefactError`."""
    with tempfile.TemporaryDirectory(prefix="intentmatch-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / f"build{SUFFIX}"
        try:
            file.write_bytes(content)
        except OSError as error:
            raise ArtefactError(unwritable(file, error)) from error
        return load_artefact(file)


def _check_version(path: str | os.PathLike[str], manifest: Mapping[str, Any]) -> None:
    versions = manifest["format"], manifest["text_version"], manifest.get("words_version")
    if versions != (FORMAT, TEXT_VERSION, TOKEN_FEATURES_VERSION):
        raise StaleArtefactError(
            f"{path} has format {versions[0]}, text version {versions[1]} and words version {versions[2]}, "
            f"written by another release; this one reads {FORMAT}, {TEXT_VERSION} and "
            f"{TOKEN_FEATURES_VERSION}. Run `intentmatch build` again."
        )


def _artefact(manifest: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Artefact:
    """Make an artefact from the content of its file. Raises `InputError`, `ValueError` and others if it is invalid."""
    registry = from_plain(json.loads(tensors["registry"].tobytes().decode("utf-8", "surrogatepass")))
    check_words(tensors, len(registry.utterances))
    found = Artefact(
        registry=registry,
        settings=stored_settings(manifest["settings"], manifest["origins"]),
        encoder_name=manifest["encoder"]["name"],
        encoder_fingerprint=manifest["encoder"]["fingerprint"],
        vectors=tensors[_VECTORS],
        negative_vectors=tensors["negatives"],
        label_vectors=tensors["labels"],
        calibration=Calibration.from_dict(manifest["calibration"]),
        foreign=None if manifest["foreign"] is None else Calibration.from_dict(manifest["foreign"]),
        trained_head=TrainedHead.from_tensors(tensors, registry.owners),
        graph=tensors.get(_GRAPH),
        question_vectors=tensors.get(_QUESTIONS),
        trait_heads=TraitHeads.from_tensors(tensors) if registry.questions else None,
    )
    check_content(found)
    return found
