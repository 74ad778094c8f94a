"""Text to subword pieces: the unigram tokenizer of the embedded model, read from its `tokenizer.json`.

Kudo 2018, "Subword Regularization": of all ways to cut a word into pieces the likeliest, found by Viterbi search. It
gives the same pieces as the `tokenizers` package, which the tests hold it against, loads in a quarter of the time, and
spares every install that package's dependencies. It reads the one pipeline that the embedded model uses (NFKC, lower
case, words, single digits and punctuation marks); a model with another is left to `tokenizers`.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_SPACE = "▁"
# What an unknown character costs below the rarest piece; fixed in the original implementation.
_UNKNOWN_PENALTY = 10.0
_CACHED_WORDS = 32768
_LONGEST_CACHED_WORD = 40
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")

_NORMALIZERS = [
    {"type": "NFKC"},
    {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]
_PRE_TOKENIZERS = [
    {"type": "Metaspace", "replacement": _SPACE, "prepend_scheme": "always", "split": True},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
]


class UnigramTokenizer:
    """Pieces by their probability. Safe to use from many threads."""

    def __init__(self, vocabulary: Sequence[tuple[str, float]], unknown: int) -> None:
        self._pieces = {piece: (number, score) for number, (piece, score) in enumerate(vocabulary)}
        self.size = len(vocabulary)
        self.unknown = unknown
        self._longest = max(map(len, self._pieces))
        self._unknown_score = min(score for _, score in vocabulary) - _UNKNOWN_PENALTY
        self._cached = lru_cache(_CACHED_WORDS)(self._cut)

    def encode(self, text: str, most: int) -> list[int]:
        """Numbers of the first `most` pieces of a text."""
        numbers: list[int] = []
        for word in _words(text):
            if len(numbers) >= most:
                break
            numbers += self._cached(word) if len(word) <= _LONGEST_CACHED_WORD else self._cut(word)
        return numbers[:most]

    def _cut(self, word: str) -> tuple[int, ...]:
        """The likeliest pieces of a word: best[end] is (score, start, piece) of the best path that ends there."""
        best = [(0.0, 0, -1), *[(-math.inf, 0, -1)] * len(word)]
        for start in range(len(word)):
            score_here = best[start][0]
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                piece = self._pieces.get(word[start:end])
                if piece is not None:
                    number, score = piece
                elif end == start + 1:
                    number, score = self.unknown, self._unknown_score
                else:
                    continue
                if score_here + score > best[end][0]:
                    best[end] = (score_here + score, start, number)
        return _path(best)


def read_unigram(file: Path) -> UnigramTokenizer | None:
    """The tokenizer in a `tokenizer.json`, or None where it is of another kind. Raises `ValueError` for bad JSON."""
    content = json.loads(file.read_bytes())
    if not isinstance(content, dict) or not _is_ours(content):
        return None
    model = content["model"]
    return UnigramTokenizer(model["vocab"], model["unk_id"])


def _is_ours(content: Mapping[str, Any]) -> bool:
    model, normalizer, splitter = (content.get(key) or {} for key in ("model", "normalizer", "pre_tokenizer"))
    return (
        model.get("type") == "Unigram"
        and not model.get("byte_fallback")
        and isinstance(model.get("unk_id"), int)
        and normalizer.get("normalizers") == _NORMALIZERS
        and splitter.get("pretokenizers") == _PRE_TOKENIZERS
        and all(token["special"] for token in content.get("added_tokens") or ())
    )


def _path(best: Sequence[tuple[float, int, int]]) -> tuple[int, ...]:
    numbers: list[int] = []
    end = len(best) - 1
    while end > 0:
        _, end, number = best[end]
        numbers.append(number)
    return tuple(reversed(numbers))


def _words(text: str) -> list[str]:
    # Python lowers a final capital sigma by its place in the word; the tokenizer the model was trained with does not.
    plain = unicodedata.normalize("NFKC", text).replace("Σ", "σ").lower()
    words: list[str] = []
    for word in re.sub(r"\s+", " ", plain).strip().split(" "):
        if word.isalpha():
            words.append(_SPACE + word)
        elif word:
            words += _split_marks(_SPACE + word)
    return words


def _split_marks(word: str) -> list[str]:
    """A word with each punctuation mark and each digit on its own."""
    parts: list[str] = [""]
    for char in word:
        if char in _ASCII_SYMBOLS or unicodedata.category(char)[0] in "PN":
            parts += [char, ""]
        else:
            parts[-1] += char
    return [part for part in parts if part]
