"""The subword vocabulary of a student: a unigram tokenizer over all languages of a corpus.

Kudo 2018, "Subword Regularization": start with all frequent substrings, segment every word in the most likely way,
count the pieces, drop those that reduce the likelihood least, and repeat until the requested number is left.

Two changes suit a sum of vectors, and other trainers lack them. Words are weighted by language, so small languages get
pieces of their own while large languages keep all lines. A bare space has a low score, so a word keeps its own piece
(`▁order`) instead of `▁` and `order`, which the ends of other words share.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import InputError
from intentmatch.distill.corpus import Corpus, StepProgress
from intentmatch.distill.recipe import Recipe
from intentmatch.pieces.unigram import NORMALIZERS, PRE_TOKENIZERS, words_of

PADDING, UNKNOWN, SPACE = "[PAD]", "[UNK]", "▁"
_SPECIAL = (PADDING, UNKNOWN)
_SPACE_SCORE, _UNKNOWN_SCORE = -13.0, -30.0
# Pieces before the first round and after each round, as multiples of the requested number.
_SEED, _ROUNDS = 4.375, (2.875, 1.875, 1.375, 1.08, 1.0)
_LONGEST, _LONGEST_WITHOUT_SPACES = 16, 8
# Share of the text that known characters cover; rarer characters are unknown.
_CHARACTERS_COVERED = 0.99995
_RAREST_WORD = 1e-7
# Number of words of a language from which words that occur once are dropped as names or typos.
_WORDS_WITHOUT_SINGLES = 200_000
_SEEN = 1e-3
# Thai, Lao, Burmese, Khmer, Japanese and Chinese put no spaces between words.
_WITHOUT_SPACES = re.compile("^▁?[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def train_tokenizer(corpus: Corpus, recipe: Recipe, progress: StepProgress | None = None) -> dict[str, Any]:
    """Train a tokenizer with at most `recipe.pieces` pieces; return the JSON of the tokenizers package.

    Raises `InputError` if the text has more distinct characters than `recipe.pieces`.
    """
    words = _weighted_words(corpus, recipe)
    characters = _characters(words)
    room = recipe.pieces - len(_SPECIAL) - len(characters)
    if room < 0:
        raise InputError(
            f"{recipe.pieces} pieces are too few: the text has {len(characters)} distinct characters. Increase "
            "`pieces` in the recipe."
        )
    counts = _frequent_substrings(words, int(recipe.pieces * _SEED)) | characters
    for number, times in enumerate(_ROUNDS):
        if progress is not None:
            progress("training the tokenizer", number, len(_ROUNDS))
        counts = _counted(words, counts, characters)
        losses = _losses(counts, characters)
        kept = nlargest(int(recipe.pieces * times) - recipe.pieces + room, losses, key=losses.__getitem__)
        counts = {piece: counts[piece] for piece in kept if counts[piece] > 0} | {c: counts[c] for c in characters}
    scores = _scores({piece: max(count, _SEEN) for piece, count in _counted(words, counts, characters).items()})
    return _to_json(sorted(scores.items(), key=lambda scored: -scored[1]))


def _weighted_words(corpus: Corpus, recipe: Recipe) -> dict[str, float]:
    """Return the weighted count of each word; languages have the weights with which they are sampled in training."""
    random = np.random.default_rng(recipe.seed)
    total: Counter[str] = Counter()

    def add(texts: Iterable[str], weight: float) -> None:
        counts = Counter(word for text in texts for word in words_of(text))
        many = counts.total() >= _WORDS_WITHOUT_SINGLES
        share = weight / max(counts.total(), 1)
        for word, count in counts.items():
            if count > 1 or len(word) == 1 or not many:
                total[word] += count * share  # type: ignore[assignment]  # a counter of weights

    order = np.argsort(corpus.language_of, kind="stable")
    bounds = np.searchsorted(corpus.language_of[order], np.arange(len(corpus.languages) + 1))
    for language, (start, end) in zip(corpus.languages, pairwise(bounds.tolist()), strict=True):
        rows = _sample(order[start:end], recipe.vocabulary_lines, random)
        weight = recipe.language_weights.get(language, 1.0) * float(end - start) ** recipe.flatness
        add((corpus.translations[row] for row in rows.tolist()), weight)
    rows = _sample(np.arange(len(corpus.sentences)), recipe.vocabulary_english_lines, random)
    english = (corpus.sentences[row] for row in rows.tolist())
    add(english, recipe.vocabulary_english * len(corpus.sentences) ** recipe.flatness)
    words: dict[str, float] = {}
    for word, count in total.items():
        if word != SPACE:
            # There a space says nothing about the word, and each word would need two pieces.
            bare = word.removeprefix(SPACE) if _WITHOUT_SPACES.match(word) else word
            words[bare] = words.get(bare, 0) + count
    return words


def _sample(rows: NDArray[np.int64], most: int, random: np.random.Generator) -> NDArray[np.int64]:
    return rows if len(rows) <= most else random.choice(rows, most, replace=False)


def _characters(words: Mapping[str, float]) -> dict[str, float]:
    """Return the characters that are always pieces, with their counts."""
    counts: dict[str, float] = {}
    for word, count in words.items():
        for char in word:
            counts[char] = counts.get(char, 0) + count
    covered, kept = 0.0, {}
    for char in sorted(counts, key=counts.__getitem__, reverse=True):
        if covered > _CHARACTERS_COVERED * sum(counts.values()):
            break
        kept[char] = counts[char]
        covered += counts[char]
    return kept | {SPACE: counts.get(SPACE, _SEEN)}


def _frequent_substrings(words: Mapping[str, float], most: int) -> dict[str, float]:
    """Return the substrings of at least two characters that cover the most text, with their counts."""
    rarest = sum(words.values()) * _RAREST_WORD
    counts: dict[str, float] = {}
    for word, count in words.items():
        if count < rarest:
            continue
        longest = _LONGEST_WITHOUT_SPACES if _WITHOUT_SPACES.match(word) else _LONGEST
        for start in range(len(word)):
            for end in range(start + 2, min(start + longest, len(word)) + 1):
                piece = word[start:end]
                counts[piece] = counts.get(piece, 0) + count
    return dict(nlargest(most, counts.items(), key=lambda counted: counted[1] * len(counted[0])))


def _counted(
    words: Mapping[str, float], counts: Mapping[str, float], characters: Mapping[str, float]
) -> dict[str, float]:
    """Count each piece in the most likely segmentation of every word."""
    scores = _scores(counts)
    used: dict[str, float] = {}
    for word, count in words.items():
        for piece in _segment(word, scores).pieces:
            used[piece] = used.get(piece, 0) + count
    return {piece: used.get(piece, 0) + (_SEEN if piece in characters else 0) for piece in counts}


def _losses(counts: Mapping[str, float], characters: Mapping[str, float]) -> dict[str, float]:
    """Return the loss in likelihood from dropping each piece that is not a single character."""
    scores = _scores(counts)
    return {
        piece: count * (scores[piece] - _segment(piece, scores, without=piece).score) if count > 0 else -1.0
        for piece, count in counts.items()
        if piece not in characters
    }


def _scores(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the log-probabilities of the pieces that occur."""
    total = sum(counts.values())
    return {piece: math.log(count / total) for piece, count in counts.items() if count > 0} | {SPACE: _SPACE_SCORE}


class _Segmentation(NamedTuple):
    score: float
    pieces: list[str]


def _segment(word: str, scores: Mapping[str, float], without: str | None = None) -> _Segmentation:
    """Find the most likely segmentation of a word (Viterbi), optionally `without` one piece."""
    best = [0.0, *[-math.inf] * len(word)]
    previous = [0] * (len(word) + 1)
    for start in range(len(word)):
        for end in range(start + 1, min(start + _LONGEST, len(word)) + 1):
            piece = word[start:end]
            score = scores.get(piece)
            if score is None or piece == without:
                if end > start + 1:
                    continue
                score = _UNKNOWN_SCORE
            if best[start] + score > best[end]:
                best[end], previous[end] = best[start] + score, start
    pieces = []
    end = len(word)
    while end > 0:
        pieces.append(word[previous[end] : end])
        end = previous[end]
    return _Segmentation(best[-1], pieces)


def _to_json(scores: Iterable[tuple[str, float]]) -> dict[str, Any]:
    # Four digits of a log-probability give the same segmentation as sixteen, in a third of the space.
    pieces = [*((name, 0.0) for name in _SPECIAL), *((piece, round(score, 4)) for piece, score in scores)]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [{"id": number, "content": name} | special for number, name in enumerate(_SPECIAL)],
        "normalizer": {"type": "Sequence", "normalizers": NORMALIZERS},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": PRE_TOKENIZERS},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 1, "vocab": pieces, "byte_fallback": False},
    }
