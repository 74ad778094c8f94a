"""Registry + encoder + cache to artefact. Everything expensive happens here, and only for what is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact import Artefact, searched_by
from intentmatch.cache import VectorCache
from intentmatch.errors import IntentMatchError, Location, Problem, RegistryError
from intentmatch.index import check_extras, make_graph
from intentmatch.languages import Coverage
from intentmatch.learning import Before, learned
from intentmatch.registry import check
from intentmatch.registry.rules import NOWHERE
from intentmatch.settings import Settings
from intentmatch.text import clean
from intentmatch.types import Encoder, KeptVectors, Kind, Registry, Vectors


class Known(NamedTuple):
    """Vectors of utterances from an earlier build with the same encoder."""

    rows: Mapping[str, int]
    """Cleaned text to its row."""
    vectors: KeptVectors
    others: Mapping[str, NDArray[np.float32]]
    """Vectors that stand in no row, by cleaned text."""

    @classmethod
    def of(cls, artefact: Artefact) -> Known:
        """All that an artefact holds."""
        texts, count = texts_of(artefact.registry), len(artefact.vectors)
        others = zip(texts[count:], (*artefact.negative_vectors, *artefact.label_vectors), strict=True)
        return cls(dict(zip(texts[:count], range(count), strict=True)), artefact.vectors, dict(others))

    def fill(self, texts: Sequence[str], vectors: Vectors) -> list[int]:
        """Give cleaned texts that are known their vectors; the positions of those that are not."""
        rows = np.array([self.rows.get(text, -1) for text in texts], dtype=np.int64)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            # What is not known has some vector or other until it has its own.
            vectors[some] = self.vectors.take(rows[some], axis=0, mode="clip")
        unknown = []
        for position in np.flatnonzero(rows < 0).tolist():
            if (vector := self.others.get(texts[position])) is None:
                unknown.append(position)
            else:
                vectors[position] = vector
        return unknown


Progress = Callable[[int, int], None]
"""Told (texts encoded, texts to encode) as a build goes on; the texts that the cache has do not count."""

# Finished vectors go to the cache after each so many, if the encoder wants no other number, so that a build that is
# stopped begins where it ended.
_TEXTS_AT_ONCE = 1024
# What is copied stays in the processor's cache on the way.
_ROWS_AT_ONCE = 512
_UNIT_WITHIN = 0.01


def build(
    registry: Registry,
    encoder: Encoder,
    settings: Settings | None = None,
    *,
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    meanwhile: Before | None = None,
    known: Known | None = None,
    checked: bool = False,
) -> Artefact:
    """Encode, learn and pack a registry; with `meanwhile`, only as much is learned as `learned` says there.

    What is `known` is not encoded. The rules are not looked at again where that was done before, as any reader does.

    Raises `RegistryError` where the registry breaks a rule, and `IntentMatchError` where an encoder breaks its
    protocol.
    """
    errors = [] if checked else [problem for problem in check(registry) if problem.severity == "error"]
    if errors:
        raise RegistryError(errors)
    settings = settings or Settings()
    check_extras(settings.index, settings.vectors)
    vectors = encode_all(encoder, texts_of(registry), "utterance", cache, progress, known=known)
    of_utterances, others = np.split(vectors, [len(registry.utterances)])
    of_negatives, of_labels = np.split(others, [len(registry.negatives)])
    kept = of_utterances.astype(settings.vectors, copy=False)
    # What is learned is learned of what is kept, so that it can be learned again.
    of_utterances = kept.astype(np.float32, copy=False)
    taught = learned(registry, of_utterances, of_labels, settings, cache.folder if cache else None, meanwhile=meanwhile)
    searched = searched_by(settings, taught.opinion)
    return Artefact(
        registry=registry,
        settings=settings,
        encoder_name=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        vectors=kept,
        negative_vectors=of_negatives,
        label_vectors=of_labels,
        graph=make_graph(of_utterances) if searched == "usearch" else None,
        **taught._asdict(),
    )


def texts_of(registry: Registry) -> list[str]:
    """All that is encoded, as encoders see it: utterances, negatives, and what the intents are called."""
    lines = [utterance.text for utterance in (*registry.utterances, *registry.negatives)]
    return [clean(text) for text in (*lines, *(intent.label for intent in registry))]


def uncovered(registry: Registry, encoder: Encoder) -> list[Problem]:
    """A warning for each language of the registry that the encoder was not trained on, at its first line."""
    coverage = Coverage(encoder)
    lines = (*registry.utterances, *registry.negatives)
    missing = {code for code in {line.language for line in lines} if code and not coverage.covers(code)}
    places: dict[str, Location] = {}
    for line in lines if missing else ():
        if line.language in missing:
            places.setdefault(line.language, line.location or NOWHERE)
    hint = "name one that was in the setting `encoder`; this one may match such lines by their spelling only"
    return [
        Problem(place, "warning", "language-not-covered", f"{encoder.name} was not trained on {language}", hint)
        for language, place in places.items()
    ]


def encode_all(
    encoder: Encoder,
    texts: Sequence[str],
    kind: Kind,
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    *,
    known: Known | None = None,
) -> Vectors:
    """Vectors of cleaned texts, shape `(len(texts), dim)`.

    Each distinct text that is neither `known` nor in the cache is encoded once.
    """
    cache = cache or VectorCache(None)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    asked = list(range(len(texts))) if known is None else known.fill(texts, vectors)
    cached = cache.get(encoder, [texts[position] for position in asked], kind)
    missing: dict[str, list[int]] = {}
    for number, position in enumerate(asked):
        if number in cached:
            vectors[position] = cached[number]
        else:
            missing.setdefault(texts[position], []).append(position)
    # Longest first over the whole build, so that each batch holds texts of like length.
    new = sorted(missing, key=lambda text: (-len(text), text))
    together: int = getattr(encoder, "texts_at_once", _TEXTS_AT_ONCE)
    for start in range(0, len(new), together):
        if progress is not None:
            progress(start, len(new))
        some = new[start : start + together]
        encoded = _checked(encoder, encoder.encode(some, kind=kind), len(some))
        cache.put(encoder, some, encoded, kind)
        for text, vector in zip(some, encoded, strict=True):
            vectors[missing[text]] = vector
    if progress is not None:
        progress(len(new), len(new))
    return vectors


def _checked(encoder: Encoder, vectors: Vectors, count: int) -> Vectors:
    shape = getattr(vectors, "shape", None)
    if shape != (count, encoder.dim) or not bool(np.isfinite(vectors).all()):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: {count} texts must give finite numbers of shape "
            f"({count}, {encoder.dim}), and it gave {type(vectors).__name__} of shape {shape}"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = lengths[(lengths > 0.0) & (np.abs(lengths - 1.0) > _UNIT_WITHIN)]
    if len(wrong):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: rows must be of length 1 or all zeros, and {len(wrong)} "
            f"of {count} are not (the first is of length {wrong[0]:.3g})"
        )
    return vectors
