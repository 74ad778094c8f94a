"""What a registry teaches about itself: the head, the confidence and the cuts, worked out once and remembered."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from intentmatch.calibration import Calibration, calibrate
from intentmatch.files import write_file
from intentmatch.head import Fitting, Opinion, fit_head, prepare
from intentmatch.heldout import HeldOut, hold_out
from intentmatch.settings import Settings
from intentmatch.text import TEXT_VERSION, clean
from intentmatch.types import Registry, Vectors
from intentmatch.words import VERSION as WORDS_VERSION
from intentmatch.words import WordRows, WordVectors

_log = logging.getLogger(__name__)

# To be raised with anything that changes what the same registry teaches.
_VERSION = 1
# Of what was learned, so much is kept: a bot, its last edits, and its neighbours.
_MOST_FILES = 32


class Learned(NamedTuple):
    """What a registry teaches about itself."""

    calibration: Calibration
    opinion: Opinion | None
    """None where the scores are all that counts."""


def learn(registry: Registry, vectors: Vectors, settings: Settings) -> Learned:
    """Fit the head and calibrate, from the vectors of all utterances. Deterministic."""
    names = [intent.name for intent in registry]
    languages = [utterance.language for utterance in registry.utterances]
    tested = put_to_the_test(registry, vectors, settings)
    calibration = calibrate(tested.held_out, settings.target, names, languages)
    if tested.fitting is None or tested.words is None or calibration.curve is None:
        # What has not been put to the test is not relied upon.
        return Learned(calibration, None)
    return Learned(calibration, Opinion(fit_head(tested.fitting), tested.words, WordRows.of(tested.rows)))


class Tested(NamedTuple):
    """Held-out cases, and what they were scored with."""

    held_out: HeldOut
    rows: Vectors
    """Of words, one for each utterance; of no columns where there is no head."""
    words: WordVectors | None
    fitting: Fitting | None


def put_to_the_test(registry: Registry, vectors: Vectors, settings: Settings) -> Tested:
    """Hold out a registry's utterances from itself, under the settings `scorer` and `aggregation`."""
    rows = vectors[:, :0]
    fitting = words = None
    if settings.scorer == "head" and len(registry) > 1:
        texts = [clean(utterance.text) for utterance in registry.utterances]
        words = WordVectors.fit(texts)
        rows = words.rows(texts)
        fitting = prepare(vectors, rows, registry.owners, len(registry))
    return Tested(hold_out(vectors, rows, registry.owners, settings.aggregation, fitting), rows, words, fitting)


def learned(registry: Registry, vectors: Vectors, settings: Settings, folder: Path | None) -> Learned:
    """As `learn`; what was learned before from the same lines and vectors is read from the folder.

    A file that cannot be read or written is a warning in the log, and costs only time.
    """
    if folder is None:
        return learn(registry, vectors, settings)
    file = folder / "learned" / f"{_key(registry, vectors, settings)}.safetensors"
    found = _read(file)
    if found is None:
        found = learn(registry, vectors, settings)
        _write(file, found)
    return found


def _key(registry: Registry, vectors: Vectors, settings: Settings) -> str:
    """Digest of everything that `learn` looks at."""
    said = [
        [_VERSION, TEXT_VERSION, WORDS_VERSION, settings.scorer, settings.aggregation, dict(settings.target)],
        [intent.name for intent in registry],
        registry.owners,
        [[utterance.text, utterance.language] for utterance in registry.utterances],
    ]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass"))
    digest.update(np.ascontiguousarray(vectors).tobytes())
    return digest.hexdigest()[:32]


def _read(file: Path) -> Learned | None:
    try:
        with safe_open(file, framework="numpy") as stored:
            calibration = Calibration.from_dict(json.loads((stored.metadata() or {})["calibration"]))
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - no mapping
        return Learned(calibration, Opinion.from_tensors(tensors))
    except FileNotFoundError:
        return None
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        _log.warning("%s cannot be used (%s); learning again", file, error)
        return None


def _write(file: Path, found: Learned) -> None:
    tensors = {} if found.opinion is None else found.opinion.to_tensors()
    try:
        write_file(file, save(tensors, {"calibration": json.dumps(found.calibration.to_dict())}))
        newest = sorted(file.parent.glob("*.safetensors"), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in newest[_MOST_FILES:]:
            old.unlink(missing_ok=True)
    except (SafetensorError, OSError) as error:
        _log.warning("what was learned cannot be kept at %s: %s", file, error)
