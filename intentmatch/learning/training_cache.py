"""Cache what was trained, with its held-out cases."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from intentmatch.core.shared_lines import SharedLines
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.token_features import VERSION as TOKEN_FEATURES_VERSION
from intentmatch.learning.training import (
    PreviousTraining,
    Trained,
    TrainingData,
    calibrated,
    cross_validate_registry,
    provisional_training,
    trains_head,
)
from intentmatch.storage.atomic import remove_strays, write_file
from intentmatch.storage.sealed import Sealed, read_sealed, seal
from intentmatch.storage.unwritable import with_advice
from intentmatch.text.normalize import TEXT_VERSION

_Found = TypeVar("_Found")

_log = logging.getLogger(__name__)

TRAINING_VERSION = 31
"""Raise with any change that trains something else from the same registry."""
# Most cached trainings: a bot, its last edits, and a few other bots.
_MOST_FILES = 32
# Prefix of the names of the held-out cases in a cache file.
_CASES = "cases."


def load_or_train(data: TrainingData, folder: Path | None, *, provisional: PreviousTraining | None = None) -> Trained:
    """Train, or load from the cache folder what was trained on the same data.

    With `provisional`, what is not in the cache is trained only provisionally: see `provisional_training`. A cache file
    that cannot be read or written is logged as a warning and costs only time.
    """
    file = folder and _file(folder / "learned", data, there=provisional is not None)
    owners = data.registry.owners
    found = read_cached(file, lambda stored: _trained(stored, owners)) if file else None
    if found is None and provisional is not None and _counts_alike(data, provisional):
        return provisional_training(data, provisional)
    if found is None:
        validated = cross_validate_registry(data)
        found = calibrated(validated, data)
        if file:
            _write(file, found, validated.held_out)
    return found


def _counts_alike(data: TrainingData, before: PreviousTraining) -> bool:
    """Whether the calibrations of a training before fit: not if only one of both has a head, or a background."""
    head = before.trained_head
    if head is None:
        return True
    return trains_head(data.registry, data.settings) and (head.background is None) == (data.background is None)


def cached_cases(data: TrainingData, folder: Path | None) -> HeldOut | None:
    """Return the held-out cases of the cross-validation that a cached training was calibrated on; None without one.

    Labelled and unseen messages are not among them.
    """
    file = folder and _file(folder / "learned", data, there=True)
    try:
        tensors = read_sealed(file).tensors if file else {}
    except (SafetensorError, OSError, ValueError):
        return None  # `load_or_train` says so
    return HeldOut(*(tensors[_CASES + name] for name in HeldOut.__slots__)) if tensors else None


def _file(folder: Path, data: TrainingData, *, there: bool) -> Path | None:
    """Return the cache file named after everything `train` uses; None if it must be `there` and cannot be."""
    registry, settings, labelled = data.registry, data.settings, data.labelled
    parts = [
        [TRAINING_VERSION, TEXT_VERSION, TOKEN_FEATURES_VERSION, settings.scorer, settings.aggregation],
        [dict(settings.target), settings.out_of_scope_share, data.word_weight],
        [[intent.name, intent.label] for intent in registry],
        [utterance.text for utterance in registry.utterances],
        [utterance.language for utterance in registry.utterances],
        registry.owners,
        registry.lines,
        None if data.translations is None else data.translations.digest,
        None if labelled is None else [labelled.share, registry.tests_content],
    ]
    # Only where it counts, so that other cached trainings keep their names.
    if data.unseen is not None:
        parts.append(data.unseen.digest)
    if SharedLines(registry):
        parts.append([intent.when for intent in registry])
    utterances_digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[
        :16
    ]
    # Vectors take much longer to hash than utterances.
    if there and not any(folder.glob(f"{utterances_digest}-*")):
        return None
    vectors_digest = hashlib.sha256()
    for one in (data, data.background, labelled):
        if one is not None:
            vectors_digest.update(np.ascontiguousarray(one.vectors).data)
    vectors_digest.update(np.ascontiguousarray(data.labels).data)
    return folder / f"{utterances_digest}-{vectors_digest.hexdigest()[:16]}.safetensors"


def _trained(stored: Sealed, owners: Sequence[int]) -> Trained:
    calibration = Calibration.from_dict(json.loads(stored.metadata["calibration"]))
    foreign = Calibration.from_dict(json.loads(stored.metadata["foreign"])) if "foreign" in stored.metadata else None
    return Trained(calibration, TrainedHead.from_tensors(stored.tensors, owners), foreign)


def _write(file: Path, found: Trained, held_out: HeldOut) -> None:
    tensors = {} if found.trained_head is None else found.trained_head.to_tensors()
    tensors |= {_CASES + name: np.ascontiguousarray(getattr(held_out, name)) for name in HeldOut.__slots__}
    calibrations = {"calibration": found.calibration} | ({} if found.foreign is None else {"foreign": found.foreign})
    write_cached(file, tensors, {name: json.dumps(one.to_dict()) for name, one in calibrations.items()})


def read_cached(file: Path, parse: Callable[[Sealed], _Found]) -> _Found | None:
    """Return what `parse` makes of a cache file; None if there is none, or with a warning if it cannot be used."""
    try:
        stored = read_sealed(file)
        # A file that was copied over another one has a right digest, and would decide silently.
        if stored.metadata["name"] != file.name:
            raise ValueError(f"it is a copy of {stored.metadata['name']}")
        return parse(stored)
    except FileNotFoundError:
        return None
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        _log.warning("%s cannot be used (%s); training again", file, error)
        return None


def write_cached(file: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write a cache file, and remove the oldest ones of its folder. If that fails, it is logged as a warning."""
    try:
        write_file(file, seal(tensors, {"name": file.name, **metadata}))
        _remove_oldest(file.parent)
        remove_strays(file.parent)
    except (SafetensorError, OSError) as error:
        _log.warning("the trained head cannot be cached at %s: %s", file, with_advice(error))


def _remove_oldest(folder: Path) -> None:
    """Keep the newest files. Other processes share the folder, and may remove a file meanwhile."""
    found: list[tuple[int, Path]] = []
    for file in folder.glob("*.safetensors"):
        with suppress(FileNotFoundError):
            found.append((file.stat().st_mtime_ns, file))
    for _, old in sorted(found, reverse=True)[_MOST_FILES:]:
        old.unlink(missing_ok=True)
