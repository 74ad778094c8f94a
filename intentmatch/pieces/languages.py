"""Which languages the pieces of the embedded tokenizer speak for: the language of a text among all that it knows.

Naive Bayes over subword pieces. For each piece, the file `languages.safetensors` holds the four languages that use it
most, and how much more likely each of them makes the piece than all other languages do. `intentmatch.distill.languages`
counts them in parallel text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces.embedded import EMBEDDED, MAX_PIECES, embedded_tokenizer
from intentmatch.storage.atomic import write_file
from intentmatch.storage.sealed import read_sealed, seal

FILE = "languages.safetensors"
"""Name of the file in the folder of the embedded model."""

EACH = 4
"""Languages that are stored for a piece."""
STEP, LEVELS = 0.8, 16
"""The evidence of a piece for a language is one of 16 multiples of 0.8: half a byte."""

_KEY = "languages"
_CACHED_PIECES = 1 << 15
_SHIFTS = np.arange(0, 4 * EACH, 4, dtype=np.uint16)
_LEVEL = np.uint16(LEVELS - 1)


class PieceLanguages:
    """Evidence of a text's pieces for languages. Immutable, safe to use from many threads."""

    def __init__(
        self,
        codes: Sequence[str],
        languages: NDArray[np.uint8],
        levels: NDArray[np.uint16],
        prior: NDArray[np.float32],
    ) -> None:
        self.codes = tuple(codes)
        """BCP-47 codes of all languages."""
        self.languages = languages
        """Positions in `codes`, shape `(pieces, 4)`."""
        self.levels = levels
        """The four levels of a piece, half a byte each, the first language in the lowest bits, shape `(pieces,)`."""
        self.prior = prior
        """Log probabilities of the languages before a text is read, up to a constant, shape `(languages,)`."""
        self.priors: Sequence[float] = prior.tolist()
        """`prior` as a list."""
        self._told = (levels != 0).tobytes()
        self._cached_levels = lru_cache(_CACHED_PIECES)(self._levels_of)
        self._cached_lag = lru_cache(_CACHED_PIECES)(self._lag_of)

    def evidence(self, pieces: Sequence[int]) -> NDArray[np.float64] | None:
        """Return the log likelihood of each language, up to a constant, shape `(languages,)`; without the prior.

        A piece counts once, however often it is repeated ("hahaha"). None if no piece tells languages apart: numbers,
        punctuation, emoji, unknown letters.
        """
        ids = np.array([*{*pieces}], dtype=np.intp)
        levels = (self.levels.take(ids)[:, None] >> _SHIFTS) & _LEVEL
        sums = np.bincount(self.languages.take(ids, axis=0).ravel(), levels.ravel(), len(self.codes))
        return np.multiply(sums, STEP, dtype=np.float64) if sums.any() else None

    def tell(self, pieces: Sequence[int]) -> bool:
        """Return whether a piece tells languages apart: whether there is any `evidence`."""
        return any(map(self._told.__getitem__, pieces))

    def levels_of(self, pieces: Sequence[int]) -> Mapping[int, int]:
        """Return the summed levels of each language that the pieces speak for, by its position: `evidence` / `STEP`.

        For the few pieces of a message in a third of the time.
        """
        found: dict[int, int] = {}
        for piece in {*pieces}:
            for language, level in self._cached_levels(piece):
                found[language] = found.get(language, 0) + level
        return found

    def evidence_of(self, text: str) -> NDArray[np.float64] | None:
        """Return `evidence` for a cleaned text."""
        return self.evidence(pieces_of(text))

    def advantage(self, pieces: Sequence[int], language: int, others: NDArray[np.int64]) -> float:
        """Return by how many nats a language makes pieces likelier than the best of some others does.

        Only those pieces count that the language does make likelier. Languages are positions in `codes`.
        """
        ids = np.array([*{*pieces}], dtype=np.intp)
        levels = ((self.levels.take(ids)[:, None] >> _SHIFTS) & _LEVEL).astype(np.float64)
        languages = self.languages.take(ids, axis=0)
        own = np.where(languages == language, levels, 0.0).max(axis=1)
        best_other = np.where(np.isin(languages, others), levels, 0.0).max(axis=1)
        return STEP * float((own - best_other).clip(0.0).sum())

    def most_behind(self, pieces: Sequence[int], language: int) -> float:
        """Return by how many nats a language, given by its position, is at most less likely than any other.

        An upper bound, found in a fraction of the time of `evidence`: each piece may be best in another language.
        """
        least = float(self.prior.max()) - self.prior.item(language)
        return least + STEP * sum([self._cached_lag(piece, language) for piece in {*pieces}])

    def _levels_of(self, piece: int) -> tuple[tuple[int, int], ...]:
        """Return the languages that a piece speaks for with their levels; those with level 0 are left out."""
        packed = self.levels.item(piece)
        levels = [packed >> shift & LEVELS - 1 for shift in range(0, 4 * EACH, 4)]
        found = zip(self.languages[piece].tolist(), levels, strict=True)
        return tuple((language, level) for language, level in found if level)

    def _lag_of(self, piece: int, language: int) -> int:
        """Return how many levels a language has less than the one that a piece speaks for most."""
        levels = dict(self._cached_levels(piece))
        return max(levels.values()) - levels.get(language, 0) if levels else 0

    def save(self, folder: Path) -> None:
        """Write `FILE` into the folder of the tokenizer, with a digest. Raises `OSError`."""
        tensors: dict[str, NDArray[Any]] = {"languages": self.languages, "levels": self.levels, "prior": self.prior}
        write_file(folder / FILE, seal(tensors, {_KEY: json.dumps(self.codes)}))


def pieces_of(text: str) -> list[int]:
    """Return the embedded tokenizer's pieces of a cleaned text."""
    return embedded_tokenizer().encode(text, MAX_PIECES)


def read_piece_languages(folder: Path) -> PieceLanguages:
    """Read `FILE` from a folder. Raises `ModelUnavailableError` if it is missing or damaged."""
    try:
        stored = read_sealed(folder / FILE)
        codes = json.loads(stored.metadata[_KEY])
        languages, levels, prior = (stored.tensors[name] for name in ("languages", "levels", "prior"))
        found = PieceLanguages(codes, languages, levels, prior)
        whole = languages.shape == (len(levels), EACH) and prior.shape == (len(codes),)
        # A file that was made for another list of languages would name the wrong ones.
        if not whole or int(languages.max(initial=0)) >= len(codes):
            raise ValueError("its tables do not fit together")
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelUnavailableError(f"{folder / FILE} cannot be read ({error}); reinstall intentmatch") from None
    return found


@lru_cache(1)
def piece_languages() -> PieceLanguages:
    """Return the languages of the embedded tokenizer's pieces, read once per process.

    Raises `ModelUnavailableError` if the file is damaged or belongs to another tokenizer.
    """
    found = read_piece_languages(EMBEDDED)
    if len(found.levels) != embedded_tokenizer().size:
        raise ModelUnavailableError(f"{EMBEDDED / FILE} belongs to another tokenizer; reinstall intentmatch")
    return found
