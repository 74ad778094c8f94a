"""Compare encoders on one registry: accuracy, refusals, languages, time, memory, and agreement with human scores.

The registry's own utterances are held out as in `tune`, with the scorer and aggregation in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry
from intentmatch.encoders.coverage import Coverage
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.encoder_memory import megabytes_of
from intentmatch.evaluation.similarity import Agreement, ScoredPair, agreement
from intentmatch.evaluation.tune import Combination, microseconds_a_message, trial_of
from intentmatch.learning.calibration import calibrate
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.labelled_share import labelled_share, share_in_use
from intentmatch.learning.training import TrainingData, background_for, cross_validate_registry
from intentmatch.runtime import steps
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

_TEXTS_IN_MEMORY = 25
"""Utterances that are encoded, one at a time, to measure memory."""


@dataclass(frozen=True)
class ComparedEncoder:
    """What one encoder does for a registry. Shares are from 0 to 1."""

    encoder: str
    accuracy: float
    """Share of held-out utterances whose first candidate is right."""
    accuracy_by_language: Mapping[str, float]
    overall: float
    """Expected share of messages that are answered or refused rightly; the accuracy without a calibration."""
    refused: float | None
    """Share of utterances of left-out intents that are refused; None if the registry is too small to calibrate."""
    auroc: float | None
    covered: tuple[str, ...] | None
    """Languages of the registry that the encoder was trained on; None if it does not say."""
    languages: int | None
    """Number of languages that the encoder was trained on; None if it does not say."""
    milliseconds: float
    """Median time to encode one message."""
    memory_megabytes: float | None
    """Memory that the encoder and its libraries take on the CPU."""
    size_megabytes: float | None
    """Size of the model's files; None without a folder."""
    dim: int
    agreement: Agreement | None
    """Agreement with human scores, if there are pairs."""


def compare_encoders(
    registry: Registry,
    settings: Settings,
    encoders: Mapping[str, Encoder],
    *,
    pairs: Sequence[ScoredPair] = (),
    cache: VectorCache | None = None,
) -> list[ComparedEncoder]:
    """Measure each encoder on a registry, in their order.

    `encoders` maps the value of the setting `encoder` to the loaded encoder. Time and memory are measured one after
    another, each encoder's memory in a process of its own.
    """
    found = []
    for number, (name, encoder) in enumerate(encoders.items()):
        with steps.inside(f"measuring {name}", number, len(encoders)):
            found.append(_compared(registry, replace(settings, encoder=name), encoder, pairs, cache))
    return found


def _compared(
    registry: Registry, settings: Settings, encoder: Encoder, pairs: Sequence[ScoredPair], cache: VectorCache | None
) -> ComparedEncoder:
    texts = [clean(utterance.text) for utterance in registry.utterances]
    labels = [clean(intent.label) for intent in registry]
    encoded = encode_all(encoder, [*texts, *labels], "utterance", cache)
    data = TrainingData(
        registry,
        encoded[: len(texts)],
        encoded[len(texts) :],
        settings,
        settings.encoder,
        background_for(registry, settings, encoder, cache),
    )
    held_out = cross_validate_registry(data).held_out
    share = share_in_use(settings, labelled_share(registry.tests))
    # Measured apart from the encoding above, whose vectors may come from the cache.
    time = microseconds_a_message(encoder, texts)
    choice = Combination(settings.encoder, settings.scorer, settings.aggregation)
    trial = trial_of(choice, held_out, settings.target, share, time)
    cut = calibrate(held_out, settings.target, out_of_scope_share=share).cut
    codes = sorted({line.language for line in registry.utterances if line.language})
    coverage, known = Coverage(encoder), getattr(encoder, "languages", None)
    return ComparedEncoder(
        encoder=settings.encoder,
        accuracy=trial.accuracy,
        accuracy_by_language=_by_language(registry, held_out),
        overall=trial.overall,
        refused=None if cut is None else cut.refused,
        auroc=trial.auroc,
        covered=None if known is None else tuple(code for code in codes if coverage.covers(code)),
        languages=None if known is None else len(known),
        milliseconds=time / 1000,
        memory_megabytes=megabytes_of(settings, texts[:_TEXTS_IN_MEMORY]),
        size_megabytes=_size(getattr(encoder, "folder", None)),
        dim=encoder.dim,
        agreement=agreement(encoder, pairs, cache) if pairs else None,
    )


def _by_language(registry: Registry, held_out: HeldOut) -> dict[str, float]:
    """Return the share of held-out utterances of each language whose first candidate is right."""
    # Labelled messages have no row.
    scored = held_out.known & (held_out.rows >= 0)
    codes = np.array([registry.utterances[row].language or "" for row in held_out.rows[scored]])
    right = held_out.right[scored]
    return {code: float(right[codes == code].mean()) for code in sorted({*codes.tolist()} - {""})}


def _size(folder: str | Path | None) -> float | None:
    """Return the megabytes of the files in a folder, without those that a version control or download left."""
    if folder is None or not Path(folder).is_dir():
        return None
    inside = (file for file in Path(folder).rglob("*") if file.is_file())
    hidden = (file for file in inside if not any(part.startswith(".") for part in file.relative_to(folder).parts))
    return sum(file.stat().st_size for file in hidden) / 1e6
