"""How many of a line's words an intent has already, by meaning.

The precision of `learning.word_alignment`, against all lines of an intent at once instead of one, and its description
where that is read: a paraphrase takes its words from here and there, while a message about another subject has a word
that no line comes near. Words weigh as much as in the embedded model: those that every text has weigh little, so that
few lines suffice.
"""

from __future__ import annotations

import numpy as np

from intentmatch.core.types import Registry
from intentmatch.pieces.embedded import known_pieces
from intentmatch.pieces.vectors import embedded_piece_vectors
from intentmatch.text.normalize import fold


class WordSupport:
    """The words of each intent of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._pieces = {
            intent.name: np.array(
                sorted({piece for line in intent.all_utterances for piece in known_pieces(fold(line.text))}),
                dtype=np.int32,
            )
            for intent in registry
        }

    def of(self, text: str, intent: str) -> float:
        """Return the weighted mean cosine in [0, 1] of the pieces of a text to their nearest piece of the intent.

        0 without known pieces.
        """
        pieces, own = np.array(known_pieces(fold(text)), dtype=np.int32), self._pieces[intent]
        if not len(pieces) or not len(own):
            return 0.0
        vectors = embedded_piece_vectors()
        nearest = np.maximum(vectors.unit(pieces) @ vectors.unit(own).T, 0.0).max(axis=1)
        weights = vectors.lengths(pieces)
        return float(weights @ nearest / weights.sum())
