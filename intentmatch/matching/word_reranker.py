"""A reranker that needs no model: word alignment with the importance that pieces have in the embedded model.

Source: Zhang et al. 2020, "BERTScore: Evaluating Text Generation with BERT".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.pieces.embedded import known_pieces
from intentmatch.pieces.vectors import embedded_piece_vectors

# Keeps a sum above 0, by which is divided.
_LEAST = 1e-9


def load(model: str, settings: Settings) -> WordReranker:
    """Return the reranker. Raises `SettingsError` if the setting names a model."""
    if model:
        raise SettingsError(f"reranker: words takes no model, so {model!r} must be left out")
    return WordReranker()


class WordReranker:
    """Scores utterances by word alignment.

    The evidence has word alignment too, but with all utterances of an intent at once, and there one missing word weighs
    more. A second opinion like the first one would say little: here the mean cosine with one utterance counts.
    """

    name = "words"

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return scores in [0, 1], shape `(len(utterances),)`; 0 for texts without known pieces."""
        scores = np.zeros(len(utterances), dtype=np.float32)
        lines = [known_pieces(utterance) for utterance in utterances]
        some = [place for place, pieces in enumerate(lines) if pieces]
        message_pieces = np.array(known_pieces(message), dtype=np.int32)
        if some and len(message_pieces):
            vectors = embedded_piece_vectors()
            pieces = np.array([piece for place in some for piece in lines[place]], dtype=np.int32)
            begins = [0, *accumulate(len(lines[place]) for place in some[:-1])]
            weights, own = vectors.lengths(pieces), vectors.lengths(message_pieces)
            cosines = vectors.unit(message_pieces) @ vectors.unit(pieces).T
            precision = own @ np.maximum.reduceat(cosines, begins, axis=1) / own.sum()
            recall = np.add.reduceat(weights * cosines.max(axis=0), begins) / np.add.reduceat(weights, begins)
            both = np.maximum(precision, 0.0), np.maximum(recall, 0.0)
            scores[some] = 2.0 * both[0] * both[1] / np.maximum(both[0] + both[1], _LEAST)
        return scores
