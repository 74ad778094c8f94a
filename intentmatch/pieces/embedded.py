"""The tokenizer of the embedded model, which token features and word alignment use whatever the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from intentmatch.pieces.unigram import UnigramTokenizer, read_unigram, words_of

EMBEDDED = Path(__file__).parents[1] / "encoders" / "multilingual-static"
"""Folder of the embedded model."""

MAX_PIECES = 512
"""Pieces of a text that are used. Later pieces barely change the direction of a sum, and a pasted document stays
cheap."""


@lru_cache(1)
def embedded_tokenizer() -> UnigramTokenizer:
    """Return the tokenizer of the embedded model, read once per process.

    Raises `ValueError` if its `tokenizer.json` is not the file of this release.
    """
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json", whole=True)
    if tokenizer is None:
        raise ValueError("it is not the file of this release; reinstall intentmatch")
    return tokenizer


def is_common_word(word: str) -> bool:
    """Return whether a word, as it is typed, is one piece in lower case: "speak" and "faktury" are, "steakk" is not."""
    cut = words_of(word.casefold())
    return len(cut) == 1 and bool(embedded_tokenizer().whole({cut[0]}))


def known_pieces(text: str) -> Sequence[int]:
    """Return the ids of a cleaned text's known pieces; none if they are only word separators."""
    return without_unknown(embedded_tokenizer().encode(text, MAX_PIECES))


def without_unknown(pieces: Sequence[int]) -> Sequence[int]:
    """Return the known ones of a text's pieces; none if they are only word separators."""
    tokenizer = embedded_tokenizer()
    if tokenizer.unknown in pieces:
        pieces = [piece for piece in pieces if piece != tokenizer.unknown]
    # Words of unknown letters all begin with the same separator.
    return [] if tokenizer.blank in pieces and {*pieces} == {tokenizer.blank} else pieces
