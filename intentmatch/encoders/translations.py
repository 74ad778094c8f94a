"""How far the vectors of translations lie from the vector of a sentence, measured on parallel text.

An encoder gives a sentence v and its translation t vectors with a cosine c that depends on the language: t = c * v +
sqrt(1 - c²) * r, where r is a unit vector. Pairs of c and r drawn from parallel text turn the vectors of any utterances
into vectors of plausible translations, without a translator.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Encoder, Vectors
from intentmatch.storage.atomic import write_file
from intentmatch.storage.sealed import read_sealed, seal

FILE = "translations.safetensors"
"""Name of the file in the folder of an encoder."""

_SEED = 0
# Translations that are made of each sentence.
_EACH = 3
# Part of a residual that points to one of the nearest utterances of other intents, against 1 of the pair's own: what a
# translation loses is often what tells similar intents apart. Chosen on xsid, mtop, massive and banking77, where the
# share of right answers and the confidences of held-out utterances then come nearest to those of real translations.
_NEAR, _NEAREST = 0.15, 5
_LARGEST = 127


class Translations(NamedTuple):
    """Pairs of cosine and residual of an encoder."""

    cosines: NDArray[np.float32]
    """Cosine of a sentence and its translation, shape `(pairs,)`."""
    residuals: NDArray[np.float32]
    """Unit vectors, orthogonal to the sentence, shape `(pairs, dim)`."""

    @classmethod
    def between(cls, sentences: Vectors, translations: Vectors) -> Translations:
        """Measure pairs of unit vectors, shape `(pairs, dim)`. Pairs with equal vectors or zeros are left out."""
        cosines = np.einsum("ij,ij->i", sentences, translations)
        residuals = translations - cosines[:, None] * sentences
        lengths = np.linalg.norm(residuals, axis=1)
        usable = (lengths > 1e-3) & sentences.any(axis=1) & translations.any(axis=1)
        return cls(cosines[usable].astype(np.float32), (residuals[usable] / lengths[usable, None]).astype(np.float32))

    def first(self, most: int) -> Translations:
        """Return the first pairs."""
        return Translations(self.cosines[:most], self.residuals[:most])

    def moved(self, vectors: Vectors, owners: NDArray[np.int64]) -> Vectors:
        """Return unit vectors of plausible translations of utterances, shape `(translations, utterances, dim)`.

        `vectors` are those of the utterances, shape `(utterances, dim)`, and `owners` their intents. Deterministic:
        every pair is drawn about equally often. A part of each residual points to a similar utterance of another
        intent.
        """
        random = np.random.default_rng(_SEED)
        near = _near_others(vectors, owners)
        return np.stack([self._moved_once(vectors, near, random) for _ in range(_EACH)])

    def _moved_once(self, vectors: Vectors, near: NDArray[np.int64], random: np.random.Generator) -> Vectors:
        pairs = len(self.cosines)
        shuffled = [random.permutation(pairs) for _ in range(len(vectors) // pairs + 1)]
        drawn = np.concatenate(shuffled)[: len(vectors)]
        residuals = _across(vectors, self.residuals[drawn])
        if near.size:
            one = near[np.arange(len(vectors)), random.integers(0, near.shape[1], len(vectors))]
            residuals = _unit(residuals + np.float32(_NEAR) * _across(vectors, vectors[one]))
        cosines = self.cosines[drawn, None]
        return _unit(cosines * vectors + np.sqrt(1.0 - cosines * cosines) * residuals)

    @property
    def digest(self) -> str:
        """Digest of all numbers."""
        return hashlib.sha256(self.cosines.tobytes() + self.residuals.tobytes()).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write the pairs to `FILE` in their encoder's folder, a byte a number, with a digest. Raises `OSError`."""
        scaled = self.residuals * (_LARGEST / np.abs(self.residuals).max(axis=1, keepdims=True).clip(1e-9))
        tensors = {"cosines": self.cosines.astype(np.float16), "residuals": np.rint(scaled).astype(np.int8)}
        write_file(folder / FILE, seal(tensors, {}))


def read_translations(folder: Path, dim: int) -> Translations | None:
    """Read the pairs of the encoder in a folder; None if there is no such file or its vectors have not `dim` numbers.

    Raises `ValueError` if the file is damaged.
    """
    try:
        tensors = read_sealed(folder / FILE).tensors
        cosines, residuals = (tensors[name].astype(np.float32) for name in Translations._fields)
    except FileNotFoundError:
        return None
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{FILE} is damaged ({error})") from None
    if residuals.ndim != 2 or residuals.shape != (len(cosines), dim) or not len(cosines):
        return None
    return Translations(cosines, _unit(residuals))


def _across(vectors: Vectors, others: Vectors) -> Vectors:
    """Return the part of each of the others that is orthogonal to its vector, scaled to unit length, or zeros."""
    return _unit(others - np.einsum("ij,ij->i", vectors, others)[:, None] * vectors)


def _near_others(vectors: Vectors, owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the nearest utterances of other intents, shape `(utterances, at most _NEAREST)`."""
    cosines = vectors @ vectors.T
    cosines[owners[:, None] == owners] = -np.inf
    count = min(_NEAREST, int(np.isfinite(cosines).sum(axis=1).min(initial=len(vectors))))
    return np.argsort(-cosines, axis=1, kind="stable")[:, :count]


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-6)
    return units.astype(np.float32, copy=False)


def translations_beside(folder: Path, dim: int) -> Translations | None:
    """Read the pairs of the encoder in a folder as `read_translations` does.

    Raises `ModelUnavailableError` if the file is damaged.
    """
    try:
        return read_translations(folder, dim)
    except ValueError as error:
        raise ModelUnavailableError(f"{folder}: {error}; measure it again with `measure-languages`") from None


def translations_of(encoder: Encoder) -> Translations | None:
    """Return the pairs that an encoder declares, or None."""
    found: Translations | None = getattr(encoder, "translations", None)
    return found
