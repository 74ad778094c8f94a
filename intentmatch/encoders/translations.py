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
from safetensors.numpy import load_file, save

from intentmatch.core.types import Encoder, Vectors
from intentmatch.storage.atomic import write_file

FILE = "translations.safetensors"
"""Name of the file in the folder of an encoder."""

_SEED = 0
# Part of a residual that points to another utterance of the same registry, against 1 of the pair's own. Translations of
# messages in development sets have 1.4 times the variance along a registry's axes that random residuals have.
_SUBJECT = 0.25
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

    def moved(self, vectors: Vectors) -> Vectors:
        """Return unit vectors of plausible translations of the given ones, of the same shape. Deterministic.

        Every pair is drawn about equally often. A part of each residual points to another of the vectors: a translation
        keeps the subject of a sentence better than its details.
        """
        random = np.random.default_rng(_SEED)
        pairs = len(self.cosines)
        shuffled = [random.permutation(pairs) for _ in range(len(vectors) // pairs + 1)]
        drawn = np.concatenate(shuffled)[: len(vectors)]
        others = _across(vectors, vectors[random.permutation(len(vectors))])
        residuals = _unit(_across(vectors, self.residuals[drawn]) + np.float32(_SUBJECT) * others)
        cosines = self.cosines[drawn, None]
        return _unit(cosines * vectors + np.sqrt(1.0 - cosines * cosines) * residuals)

    @property
    def digest(self) -> str:
        """Digest of all numbers."""
        return hashlib.sha256(self.cosines.tobytes() + self.residuals.tobytes()).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write the pairs to `FILE` in the folder of their encoder, rounded to a byte a number. Raises `OSError`."""
        scaled = self.residuals * (_LARGEST / np.abs(self.residuals).max(axis=1, keepdims=True).clip(1e-9))
        tensors = {"cosines": self.cosines.astype(np.float16), "residuals": np.rint(scaled).astype(np.int8)}
        write_file(folder / FILE, save(tensors))


def read_translations(folder: Path, dim: int) -> Translations | None:
    """Read the pairs of the encoder in a folder; None if there is no such file or its vectors have not `dim` numbers.

    Raises `ValueError` if the file is damaged.
    """
    try:
        tensors = load_file(folder / FILE)
        cosines, residuals = (tensors[name].astype(np.float32) for name in Translations._fields)
    except FileNotFoundError:
        return None
    except (SafetensorError, KeyError) as error:
        raise ValueError(f"{FILE} is damaged ({error})") from None
    if residuals.ndim != 2 or residuals.shape != (len(cosines), dim) or not len(cosines):
        return None
    return Translations(cosines, _unit(residuals))


def _across(vectors: Vectors, others: Vectors) -> Vectors:
    """Return the part of each of the others that is orthogonal to its vector, scaled to unit length, or zeros."""
    return _unit(others - np.einsum("ij,ij->i", vectors, others)[:, None] * vectors)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-6)
    return units.astype(np.float32, copy=False)


def translations_of(encoder: Encoder) -> Translations | None:
    """Return the pairs that an encoder declares, or None."""
    found: Translations | None = getattr(encoder, "translations", None)
    return found
