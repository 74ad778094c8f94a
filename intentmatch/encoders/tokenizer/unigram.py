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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.tokenizer.vocabulary import (
    ESCAPED,
    SPACE,
    UnreadPieces,
    beginning,
    beginnings,
    unread,
    ways_to_begin,
)
from intentmatch.runtime.gc_pause import gc_paused

# What an unknown character costs below the rarest piece; fixed in the original implementation.
_UNKNOWN_PENALTY = 10.0
_CACHED_WORDS, _CACHED_TEXTS = 32768, 4096
_LONGEST_CACHED_WORD, _LONGEST_CACHED_TEXT = 40, 200
# A hundred messages and more; by then it takes less time to read the rest at once.
_WAYS_ASKED_FOR = 384
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")

NORMALIZERS: list[dict[str, Any]] = [
    # Before NFKC, which tears the acute accent that is typed for an apostrophe in two.
    {"type": "Replace", "pattern": {"Regex": "[’‘ʼ`´]"}, "content": "'"},
    {"type": "NFKC"},
    {"type": "Lowercase"},
    # What is left of a capital dotted I; Arabic and Hebrew vowel points, and the stretching of Arabic letters.
    {
        "type": "Replace",
        "pattern": {"Regex": "[\u0307\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"},
        "content": "",
    },
    # Letters that keyboards and habits tell apart and readers do not.
    {"type": "Replace", "pattern": {"Regex": "[أإآٱ]"}, "content": "ا"},
    {"type": "Replace", "pattern": {"Regex": "[يى]"}, "content": "ی"},
    {"type": "Replace", "pattern": {"Regex": "ك"}, "content": "ک"},
    {"type": "Replace", "pattern": {"Regex": "[ةۀ]"}, "content": "ه"},
    # The Arabic article and what is written together with it, which hide the word they stand before. Of short words
    # nothing is taken: too little would be left to know them by.
    {
        "type": "Replace",
        "pattern": {"Regex": "(?<![\u0600-\u06ff])(?:[وفبک]?ال|و?لل)(?=[\u0621-\u06cc]{3})"},
        "content": "",
    },
    # Persian joins with it what is as often written apart; elsewhere it only shapes letters.
    {"type": "Replace", "pattern": {"Regex": "(?<=[\u0600-\u06ff])\u200c"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": "[\u200c\u200d]"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]
PRE_TOKENIZERS: list[dict[str, Any]] = [
    {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
]


class UnigramTokenizer:
    """Pieces by their probability. Safe to use from many threads.

    `whole` says that no piece is likelier cut in several, which spares most words the search.
    """

    def __init__(
        self, vocabulary: Sequence[tuple[str, float]] | UnreadPieces, unknown: int, *, whole: bool = False
    ) -> None:
        self.size = len(vocabulary)
        self.unknown = unknown
        self._whole = whole
        self._unread: UnreadPieces | None = None
        self._asked: set[int] = set()
        self._read_for: set[str] = set()
        if isinstance(vocabulary, UnreadPieces):
            self._unread = vocabulary
            self._numbers: dict[str, int] = {}
            self._scores = [0.0] * self.size
            self._longest = vocabulary.longest
            self._look_up({SPACE}, {ESCAPED})
        else:
            self._read(vocabulary)
        self.blank = self._numbers.get(SPACE)
        """The piece that only says that a word begins."""
        self._cached = lru_cache(_CACHED_WORDS)(self._cut)
        # A message is cut once for its vector and once for its words, as are those that are encoded together.
        self._cached_texts = lru_cache(_CACHED_TEXTS)(self._pieces)

    def encode(self, text: str, most: int) -> list[int]:
        """Numbers of the first `most` pieces of a text."""
        pieces = self._cached_texts if len(text) <= _LONGEST_CACHED_TEXT else self._pieces
        return [*pieces(text, most)]

    def _pieces(self, text: str, most: int) -> tuple[int, ...]:
        numbers: list[int] = []
        for word in words_of(text):
            if len(numbers) >= most:
                break
            numbers += self._cached(word) if len(word) <= _LONGEST_CACHED_WORD else self._cut(word)
        return tuple(numbers[:most])

    def read_all(self) -> None:
        """Read the pieces that no word has asked for yet: a tenth of a second, which no message waits for then."""
        if (unread := self._unread) is not None:
            with gc_paused(), _readable():
                self._read(unread.all())
            self._unread = None

    def _cut(self, word: str) -> tuple[int, ...]:
        """The likeliest pieces of a word."""
        if self._whole:
            if self._unread is not None:
                self._look_up({beginning(word)})
            if (piece := self._numbers.get(word)) is not None:
                return (piece,)
        if self._unread is not None:
            self._look_up(beginnings(word))
        return self._searched(word)

    def _searched(self, word: str) -> tuple[int, ...]:
        """As `_cut`: best[end] is the score of the best path that ends there, from start[end]."""
        numbers_of, scores = self._numbers.get, self._scores
        best = [0.0, *[-math.inf] * len(word)]
        start = [0] * (len(word) + 1)
        for first in range(len(word)):
            here = best[first]
            for end in range(first + 1, min(first + self._longest, len(word)) + 1):
                number = numbers_of(word[first:end])
                if number is not None:
                    score = here + scores[number]
                elif end == first + 1:
                    score = here + self._score_of_unknown
                else:
                    continue
                if score > best[end]:
                    best[end], start[end] = score, first
        numbers: list[int] = []
        end = len(word)
        while end > 0:
            numbers.append(self._numbers.get(word[start[end] : end], self.unknown))
            end = start[end]
        return tuple(reversed(numbers))

    @cached_property
    def _score_of_unknown(self) -> float:
        self.read_all()
        return min(self._scores) - _UNKNOWN_PENALTY

    def _look_up(self, begun: Set[str], more: Collection[int] = ()) -> None:
        """Read the pieces that begin so; all that are left, once words have asked in many ways."""
        unread, parts = self._unread, begun - self._read_for
        if unread is None or not parts:
            return
        if len(self._asked) > _WAYS_ASKED_FOR:
            self.read_all()
            return
        new = (ways_to_begin(parts) | {*more}) - self._asked
        with _readable():
            for number, piece, score in unread.beginning(new):
                self._scores[number] = score
                self._numbers[piece] = number
        # At last, so that no other thread misses them meanwhile.
        self._asked |= new
        self._read_for |= parts

    def _read(self, vocabulary: Sequence[tuple[str, float]]) -> None:
        # One dictionary and a list beside it: a second dictionary would take a fifth of the time to load.
        numbers = dict(zip([piece for piece, _ in vocabulary], range(len(vocabulary)), strict=True))
        self._scores = [score for _, score in vocabulary]
        self._numbers, self._longest = numbers, max(map(len, numbers))


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ModelUnavailableError(f"tokenizer.json is damaged ({error}). Get the model again.") from None


def read_unigram(file: Path, *, whole: bool = False) -> UnigramTokenizer | None:
    """The tokenizer in a `tokenizer.json`, or None where it is of another kind. Raises `ValueError` for bad JSON.

    `whole` is as for `UnigramTokenizer`.
    """
    with gc_paused():
        raw = file.read_bytes()
        content, pieces = unread(raw) or (json.loads(raw), None)
        if not isinstance(content, dict) or not _is_ours(content):
            return None
        model = content["model"]
        return UnigramTokenizer(pieces or model["vocab"], model["unk_id"], whole=whole)


def _is_ours(content: Mapping[str, Any]) -> bool:
    model, normalizer, splitter = (content.get(key) or {} for key in ("model", "normalizer", "pre_tokenizer"))
    return (
        model.get("type") == "Unigram"
        and not model.get("byte_fallback")
        and isinstance(model.get("unk_id"), int)
        and normalizer.get("normalizers") == NORMALIZERS
        and splitter.get("pretokenizers") == PRE_TOKENIZERS
        and all(token["special"] for token in content.get("added_tokens") or ())
    )


def normalized(text: str) -> str:
    """What `NORMALIZERS` make of a text."""
    if text.isascii():
        return " ".join(text.replace("`", "'").lower().split())
    for step in _STEPS:
        text = step(text)
    return text


def _step(described: Mapping[str, Any]) -> Callable[[str], str]:
    match described["type"]:
        case "NFKC":
            return partial(unicodedata.normalize, "NFKC")
        case "Lowercase":
            # Python lowers a final capital sigma by its place in the word; the tokenizers package does not.
            return lambda text: text.replace("Σ", "σ").lower()
        case "Replace":
            return partial(re.compile(described["pattern"]["Regex"]).sub, described["content"])
        case _:
            return str.strip


_STEPS = [_step(described) for described in NORMALIZERS]


def words_of(text: str) -> list[str]:
    """The parts of a text that are cut into pieces each for itself: words that begin with "▁", marks and digits."""
    words: list[str] = []
    for word in normalized(text).split(" "):
        if word.isalpha():
            words.append(SPACE + word)
        elif word:
            words += _split_marks(SPACE + word)
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
