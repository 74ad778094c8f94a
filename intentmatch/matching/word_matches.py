"""Which word of a message met which word of an utterance, to be shown to the author of the utterance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from intentmatch.core.result import LEAST_SALIENCE, WordMatch
from intentmatch.encoders.context import embedded_context
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.pieces.embedded import embedded_tokenizer, known_pieces
from intentmatch.pieces.vectors import embedded_piece_vectors
from intentmatch.pieces.vocabulary import SPACE
from intentmatch.text.scripts import kind

# Scripts without spaces between words: there each piece is shown as a word.
_UNSPACED = frozenset({"unspaced", "ideograph", "katakana"})
# Keeps the sums of weights, by which similarities are divided, above 0.
_LEAST = 1e-3


class _WordPieces(NamedTuple):
    """The words of a text, with the pieces that count for them."""

    texts: list[str]
    """Lower case, without punctuation marks around them."""
    pieces: list[int]
    word_of_piece: list[int]
    """The number of each piece's word."""
    salience: list[float]
    """How much each piece counts in the text."""


def word_matches(alignment: WordAlignment, text: str, utterance: str) -> tuple[WordMatch, ...]:
    """Return a match for each word of a cleaned text; none if the text or the utterance has no known words.

    A word's pieces meet their nearest pieces of the utterance, as in `WordAlignment`. The word meets the word that has
    most of these pieces by weight; its similarity is their mean cosine by weight.
    """
    message, line = _words(text), _words(utterance)
    if not message.pieces or not line.pieces:
        return ()
    vectors, others = (embedded_piece_vectors().unit(np.array(words.pieces)) for words in (message, line))
    cosines = np.maximum(vectors @ others.T, 0.0)
    weights = alignment.importance(message.pieces) * np.maximum(message.salience, _LEAST)
    nearest, found = cosines.argmax(axis=1), weights * cosines.max(axis=1)
    met = np.zeros((len(message.texts), len(line.texts)))
    np.add.at(met, (message.word_of_piece, np.array(line.word_of_piece)[nearest]), found)
    weight = np.bincount(message.word_of_piece, weights, len(message.texts))
    similarity, best = met.sum(axis=1) / weight, met.argmax(axis=1)
    rows = zip(message.texts, best.tolist(), similarity, weight / weight.sum(), _of_words(message), strict=True)
    return tuple(
        WordMatch(word, line.texts[other], *(round(float(number), 4) for number in numbers))
        for word, other, *numbers in rows
    )


def ignored_words(text: str) -> list[str]:
    """Return the words of a cleaned text that hardly count, such as a greeting beside a request."""
    words = _words(text)
    return [word for word, salience in zip(words.texts, _of_words(words), strict=True) if salience < LEAST_SALIENCE]


def _of_words(words: _WordPieces) -> list[float]:
    """Return the salience of each word, 1 on the mean."""
    if not words.texts:
        return []
    means = np.bincount(words.word_of_piece, words.salience) / np.bincount(words.word_of_piece)
    relative: list[float] = (means / max(float(means.mean()), _LEAST)).tolist()
    return relative


def _words(text: str) -> _WordPieces:
    """Split a text into words that have a letter or digit; pieces of punctuation marks are left out."""
    pieces = known_pieces(text)
    words: list[list[tuple[int, str]]] = []
    for piece, spelled in zip(pieces, embedded_tokenizer().texts_of(pieces), strict=True):
        if not words or spelled.startswith(SPACE) or kind(spelled[0]) in _UNSPACED:
            words.append([])
        words[-1].append((piece, spelled))
    saliences = iter(embedded_context().read(pieces)[1].tolist() if pieces else ())
    found = _WordPieces([], [], [], [])
    for word in words:
        read = [(piece, spelled, next(saliences)) for piece, spelled in word]
        counted = [(piece, salience) for piece, spelled, salience in read if any(map(_is_part_of_a_word, spelled))]
        if counted:
            spelled = "".join(part for _, part in word).lstrip(SPACE)
            found.pieces.extend(piece for piece, _ in counted)
            found.salience.extend(salience for _, salience in counted)
            found.word_of_piece.extend([len(found.texts)] * len(counted))
            found.texts.append(_without_marks(spelled))
    return found


def _without_marks(word: str) -> str:
    places = [place for place, char in enumerate(word) if _is_part_of_a_word(char)]
    return word[places[0] : places[-1] + 1]


def _is_part_of_a_word(char: str) -> bool:
    return kind(char) != "sign"
