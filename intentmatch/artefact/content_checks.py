"""Check the content of a stored artefact: what no build writes is refused before it can decide anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.artefact import Artefact
from intentmatch.core.arguments import check_argument
from intentmatch.core.settings import Settings, parse
from intentmatch.core.types import Registry
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.head import TrainedHead
from intentmatch.learning.token_features import DIM, RARITIES
from intentmatch.registry import check

# Unit vectors have no larger number; rounding may add a little.
_LARGEST = 1.01


def stored_settings(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    """Return the settings of an artefact. Raises `SettingsError` for an unknown name or an invalid value."""
    check_argument("settings", values, Mapping[str, object])
    check_argument("origins", origins, Mapping[str, str])
    return Settings(**{name: parse(name, value) for name, value in values.items()}, origins=origins)


def check_words(tensors: Mapping[str, NDArray[Any]], utterances: int) -> None:
    """Raise `ValueError` unless the stored pieces belong to this number of utterances.

    To be called before they are used: with other counts, that would fill the memory.
    """
    if "pieces" not in tensors:
        return
    pieces, counts = tensors["pieces"], tensors["piece_counts"]
    if {pieces.dtype, counts.dtype} != {np.dtype(np.int32)} or (pieces.ndim, counts.ndim) != (1, 1):
        raise ValueError("the pieces of its words are not whole numbers")
    # In 64 bits: a crafted file could let a sum of 32 bits overflow to the right one.
    total = counts.sum(dtype=np.int64)
    if len(counts) != utterances or counts.min(initial=0) < 0 or total != len(pieces) or pieces.min(initial=0) < 0:
        raise ValueError("the pieces of its words are not those of its utterances")


def check_content(artefact: Artefact) -> None:
    """Raise `InputError` or `ValueError` if types, counts, shapes or numbers are not those of a built artefact."""
    registry, dim = artefact.registry, artefact.vectors.shape[-1]
    _check_registry(registry)
    check_argument("encoder name", artefact.encoder_name, str)
    check_argument("encoder fingerprint", artefact.encoder_fingerprint, str)
    _check_array("utterances", artefact.vectors, (len(registry.utterances), dim), artefact.settings.vectors)
    _check_array("negatives", artefact.negative_vectors, (len(registry.negatives), dim))
    _check_array("labels", artefact.label_vectors, (len(registry), dim))
    for calibration in (artefact.calibration, artefact.foreign):
        if calibration is not None:
            _check_calibration(calibration)
            if artefact.trained_head is not None and calibration.curve is None:
                # Matching takes the curve for granted where there is a head.
                raise ValueError("it has a head, and no curve for the confidences of the head")
    if artefact.trained_head is not None:
        _check_head(artefact.trained_head, registry, dim)
    _check_traits(artefact, dim)
    graph = artefact.graph
    if graph is not None and (graph.dtype != np.uint8 or graph.ndim != 1):
        raise ValueError("its graph is not a list of bytes")


def _check_registry(registry: Registry) -> None:
    """Check types, of lines in a quick way because there are many, and the rules that every reader checks."""
    intents = registry.intents
    check_argument("intents", [intent.name for intent in intents], tuple[str, ...])
    without_lines = tuple(replace(intent, utterances=(), negatives=(), described=(), excluded=()) for intent in intents)
    check_argument("registry", replace(registry, intents=without_lines), Registry)
    for line in (*registry.utterances, *registry.negatives, *registry.question_lines):
        _check_line(line)
    if not intents or not all(intent.name and intent.all_utterances for intent in intents):
        raise ValueError("an intent has no name or no utterances")
    errors = [problem for problem in check(registry) if problem.severity == "error"]
    if errors:
        raise ValueError(str(errors[0]))


def _check_line(line: Any) -> None:
    if not isinstance(line.text, str) or not {type(line.language), type(line.template)} <= {str, type(None)}:
        raise ValueError(f"an utterance is not text: {line.text!r}")
    place = line.location
    if place is not None and (type(place.path), type(place.line), type(place.column)) != (str, int, int):
        raise ValueError(f"{line.text!r} is at no place of a file: {place}")
    for mark in line.marks:
        ends = (mark.start, mark.end)
        if type(mark.slot) is not str or not all(type(end) is int for end in ends):
            raise ValueError(f"a slot value of {line.text!r} is not at a place: {mark}")
        # A negative offset would count from the end, and take other words out of the line.
        if not 0 <= mark.start <= mark.end <= len(line.text):
            raise ValueError(f"a slot value lies outside of {line.text!r}: {mark}")


def _check_array(name: str, values: NDArray[Any], shape: tuple[int, ...], dtype: str = "float32") -> None:
    if values.dtype != dtype or values.shape != shape:
        raise ValueError(f"the tensor {name!r} is {values.dtype} {values.shape}, and must be {dtype} {shape}")
    # Comparisons with NaN are false.
    if values.size and not (values.min() >= -_LARGEST and values.max() <= _LARGEST):
        raise ValueError(f"the tensor {name!r} holds other numbers than unit vectors do")


def _check_calibration(calibration: Calibration) -> None:
    check_argument("calibration", calibration, Calibration)
    curve: Sequence[float] = calibration.curve or (0.0, 0.0)
    cuts = [calibration.cut, *calibration.by_language.values(), *calibration.by_intent.values()]
    numbers = [*curve, calibration.sharpness, *(cut.value for cut in cuts if cut is not None)]
    if len(curve) != 2 or not all(map(math.isfinite, numbers)):
        raise ValueError("a number of its calibration is not finite")


def _check_head(head: TrainedHead, registry: Registry, dim: int) -> None:
    _finite("head", head.head.weights, (dim + DIM + 1, len(registry)))
    _finite("rarity", head.vectorizer.rarity, (RARITIES,))
    if head.background is not None:
        _finite("background", head.background.direction, (dim,))
        _finite("background", np.array([head.background.offset], dtype=np.float32), (1,))


def _check_traits(artefact: Artefact, dim: int) -> None:
    questions, heads = artefact.registry.questions, artefact.trait_heads
    if heads is None or artefact.question_vectors is None:
        if questions or artefact.question_vectors is not None:
            raise ValueError("its questions have no vectors or no heads, or it has these without questions")
        return
    _check_array("questions", artefact.question_vectors, (len(artefact.registry.question_lines), dim))
    columns = sum(len(question.answers) + 1 for question in questions)
    _finite("traits", heads.vector_weights, (dim, columns))
    _finite("traits", heads.bias, (columns,))
    _finite("trait_numbers", heads.numbers, (len(questions), 3))
    _finite("trait_certain", heads.certain, (columns,))
    if heads.numbers.min() < 0.0 or heads.numbers[:, 2].max() > 1.0 or heads.certain.min() <= 0.0:
        raise ValueError("the curves of its questions are not those of a training")


def _finite(name: str, values: NDArray[Any], shape: tuple[int, ...]) -> None:
    if values.dtype != np.float32 or values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"the tensor {name!r} is {values.dtype} {values.shape}, and must be float32 {shape}, finite")
