"""The subword vocabulary of a student: a unigram tokenizer over all languages of a corpus.

Kudo 2018, "Subword Regularization": begin with all frequent substrings, cut every word the likeliest way, count, drop
the pieces that the likelihood misses least, and again, until so many are left as were asked for. Two things are done as
a sum of vectors needs them, and other trainers do not offer them. Words count by their language, so that small
languages get pieces of their own without large ones losing lines. And a bare space is dear, so that a word keeps a
piece of its own (`▁order`) instead of sharing one with the ends of others (`▁` and `order`).
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
from intentmatch.encoders.tokenizer.unigram import NORMALIZERS, PRE_TOKENIZERS, words_of

PADDING, UNKNOWN, SPACE = "[PAD]", "[UNK]", "▁"
_SPECIAL = (PADDING, UNKNOWN)
_SPACE_SCORE, _UNKNOWN_SCORE = -13.0, -30.0
# So many times the pieces asked for are left after each round; before the first one the seed.
_SEED, _ROUNDS = 4.375, (2.875, 1.875, 1.375, 1.08, 1.0)
_LONGEST, _LONGEST_WITHOUT_SPACES = 16, 8
# Rare characters beyond this share of the text are unknown.
_CHARACTERS_COVERED = 0.99995
_RAREST_WORD = 1e-7
# In a language with so many words, one that occurs once is a name or a mistake.
_WORDS_FOR_ONCE_IS_NONE = 200_000
_SEEN = 1e-3
# Thai, Lao, Burmese, Khmer, Japanese and Chinese put no spaces between words.
_WITHOUT_SPACES = re.compile("^▁?[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def learn_tokenizer(corpus: Corpus, recipe: Recipe, progress: StepProgress | None = None) -> dict[str, Any]:
    """A tokenizer of `recipe.pieces` pieces, or of all that are of use, as the JSON that the tokenizers package reads.

    Raises `InputError` where the text has more different characters than that.
    """
    words = _weighted_words(corpus, recipe)
    characters = _characters(words)
    room = recipe.pieces - len(_SPECIAL) - len(characters)
    if room < 0:
        raise InputError(
            f"{recipe.pieces} pieces are too few: the text has {len(characters)} different characters. Ask for more "
            "pieces in the recipe."
        )
    counts = _frequent_substrings(words, int(recipe.pieces * _SEED)) | characters
    for number, times in enumerate(_ROUNDS):
        if progress is not None:
            progress("learning the vocabulary", number, len(_ROUNDS))
        counts = _counted(words, counts, characters)
        losses = _losses(counts, characters)
        kept = nlargest(int(recipe.pieces * times) - recipe.pieces + room, losses, key=losses.__getitem__)
        counts = {piece: counts[piece] for piece in kept if counts[piece] > 0} | {c: counts[c] for c in characters}
    scores = _scores({piece: max(count, _SEEN) for piece, count in _counted(words, counts, characters).items()})
    return _described(sorted(scores.items(), key=lambda scored: -scored[1]))


def _weighted_words(corpus: Corpus, recipe: Recipe) -> dict[str, float]:
    """Each word with its count, the languages weighted as they will be drawn in the training."""
    random = np.random.default_rng(recipe.seed)
    total: Counter[str] = Counter()

    def add(texts: Iterable[str], weight: float) -> None:
        counts = Counter(word for text in texts for word in words_of(text))
        many = counts.total() >= _WORDS_FOR_ONCE_IS_NONE
        share = weight / max(counts.total(), 1)
        for word, count in counts.items():
            if count > 1 or len(word) == 1 or not many:
                total[word] += count * share  # type: ignore[assignment]  # a counter of weights

    order = np.argsort(corpus.language_of, kind="stable")
    bounds = np.searchsorted(corpus.language_of[order], np.arange(len(corpus.languages) + 1))
    for language, (start, end) in zip(corpus.languages, pairwise(bounds.tolist()), strict=True):
        rows = _some(order[start:end], recipe.vocabulary_lines, random)
        weight = recipe.language_weights.get(language, 1.0) * float(end - start) ** recipe.flatness
        add((corpus.translations[row] for row in rows.tolist()), weight)
    rows = _some(np.arange(len(corpus.sentences)), recipe.vocabulary_english_lines, random)
    english = (corpus.sentences[row] for row in rows.tolist())
    add(english, recipe.vocabulary_english * len(corpus.sentences) ** recipe.flatness)
    words: dict[str, float] = {}
    for word, count in total.items():
        if word != SPACE:
            bare = word.removeprefix(SPACE) if _WITHOUT_SPACES.match(word) else word
            words[bare] = words.get(bare, 0) + count
    return words


def _some(rows: NDArray[np.int64], most: int, random: np.random.Generator) -> NDArray[np.int64]:
    return rows if len(rows) <= most else random.choice(rows, most, replace=False)


def _characters(words: Mapping[str, float]) -> dict[str, float]:
    """The characters that a text may be cut into if nothing else helps, with their counts."""
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
    """Those of at least two characters that cover the most text, with their counts."""
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
    """How often each piece is used when every word is cut the likeliest way."""
    scores = _scores(counts)
    used: dict[str, float] = {}
    for word, count in words.items():
        for piece in _cut(word, scores).pieces:
            used[piece] = used.get(piece, 0) + count
    return {piece: used.get(piece, 0) + (_SEEN if piece in characters else 0) for piece in counts}


def _losses(counts: Mapping[str, float], characters: Mapping[str, float]) -> dict[str, float]:
    """What the likelihood would lose with each piece that is not a character."""
    scores = _scores(counts)
    return {
        piece: count * (scores[piece] - _cut(piece, scores, without=piece).score) if count > 0 else -1.0
        for piece, count in counts.items()
        if piece not in characters
    }


def _scores(counts: Mapping[str, float]) -> dict[str, float]:
    """Log-probabilities of the pieces that occur."""
    total = sum(counts.values())
    return {piece: math.log(count / total) for piece, count in counts.items() if count > 0} | {SPACE: _SPACE_SCORE}


class _Cut(NamedTuple):
    score: float
    pieces: list[str]


def _cut(word: str, scores: Mapping[str, float], without: str | None = None) -> _Cut:
    """The likeliest way to cut a word (Viterbi), `without` one of the pieces."""
    best = [0.0, *[-math.inf] * len(word)]
    came_from = [0] * (len(word) + 1)
    for start in range(len(word)):
        for end in range(start + 1, min(start + _LONGEST, len(word)) + 1):
            piece = word[start:end]
            score = scores.get(piece)
            if score is None or piece == without:
                if end > start + 1:
                    continue
                score = _UNKNOWN_SCORE
            if best[start] + score > best[end]:
                best[end], came_from[end] = best[start] + score, start
    pieces = []
    end = len(word)
    while end > 0:
        pieces.append(word[came_from[end] : end])
        end = came_from[end]
    return _Cut(best[-1], pieces)


def _described(scores: Iterable[tuple[str, float]]) -> dict[str, Any]:
    # Four digits of a log-probability choose the same cuts as sixteen, and take a third of the room.
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
