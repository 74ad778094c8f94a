"""How many of a line's words an intent has already, by meaning.

The precision of `learning.word_alignment`, against all lines of an intent at once instead of one: a paraphrase takes its
words from here and there, while a message about another subject has a word that no line comes near.
"""

from __future__ import annotations

import numpy as np

from intentmatch.core.types import Registry
from intentmatch.encoders.piece_vectors import embedded_piece_vectors
from intentmatch.encoders.tokenizer.embedded import known_pieces
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.text.normalize import clean


class WordSupport:
    """The words of each intent of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._alignment = WordAlignment.fit([clean(line.text) for line in registry.utterances])
        self._pieces = {
            intent.name: np.array(
                sorted({piece for line in intent.utterances for piece in known_pieces(clean(line.text))}), dtype=np.int32
            )
            for intent in registry
        }

    def of(self, text: str, intent: str) -> float:
        """Return the mean cosine in [0, 1] of the pieces of a text to their nearest piece of the intent.

        Rare pieces weigh more, as in the alignment. 0 without known pieces.
        """
        pieces, own = np.array(known_pieces(clean(text)), dtype=np.int32), self._pieces[intent]
        if not len(pieces) or not len(own):
            return 0.0
        unit = embedded_piece_vectors().unit
        nearest = np.maximum(unit(pieces) @ unit(own).T, 0.0).max(axis=1)
        weights = self._alignment.rarity(pieces)
        return float(weights @ nearest / weights.sum())
