"""Unigram tokenizer: text to subword pieces, with the vocabulary and scores of a `tokenizer.json`.

The most probable segmentation of each word, found by Viterbi search (Kudo 2018, "Subword Regularization"). It gives the
same pieces as the package `tokenizers`, as the tests check, loads in a quarter of the time, and needs no further
package. It supports only the pipeline of the embedded model: NFKC, lower case, words, single digits and punctuation
marks. Other models need `tokenizers`.
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
from intentmatch.pieces.vocabulary import (
    ESCAPED,
    SPACE,
    UnreadPieces,
    prefix,
    prefix_keys,
    prefixes,
    split_vocabulary,
)
from intentmatch.runtime.gc_pause import gc_paused

UNKNOWN_SCORE = -25.0
"""Log probability that `UnigramTokenizer.weigh` gives an unknown character; the rarest pieces have about -15."""

# Score of an unknown character below the rarest piece, as in the original implementation.
_UNKNOWN_PENALTY = 10.0
_CACHED_WORDS, _CACHED_TEXTS = 32768, 4096
_LONGEST_CACHED_WORD, _LONGEST_CACHED_TEXT = 40, 200
# Prefix keys after which the whole vocabulary is read, because that is then faster; reached after 100 messages or more.
_MOST_KEYS_READ = 384
# Letters of a word that are cut at once. Only text without spaces has longer ones.
_LONGEST_SEARCHED = 10_000
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")

NORMALIZERS: list[dict[str, Any]] = [
    # Before NFKC, which would split an acute accent typed as an apostrophe.
    {"type": "Replace", "pattern": {"Regex": "[’‘ʼ`´]"}, "content": "'"},
    {"type": "NFKC"},
    {"type": "Lowercase"},
    # The combining dot left over from a lowered İ; Arabic and Hebrew vowel points; tatweel.
    {
        "type": "Replace",
        "pattern": {"Regex": "[\u0307\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"},
        "content": "",
    },
    # Letter variants that depend on keyboard and habit.
    {"type": "Replace", "pattern": {"Regex": "[أإآٱ]"}, "content": "ا"},
    {"type": "Replace", "pattern": {"Regex": "[يى]"}, "content": "ی"},
    {"type": "Replace", "pattern": {"Regex": "ك"}, "content": "ک"},
    {"type": "Replace", "pattern": {"Regex": "[ةۀ]"}, "content": "ه"},
    # The Arabic article and the prefixes attached to it, if at least three letters of the word remain.
    {
        "type": "Replace",
        "pattern": {"Regex": "(?<![\u0600-\u06ff])(?:[وفبک]?ال|و?لل)(?=[\u0621-\u06cc]{3})"},
        "content": "",
    },
    # The zero-width non-joiner: in Persian it is an alternative to a space; elsewhere it only shapes letters.
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
    """Unigram tokenizer. Safe to use from many threads.

    `vocabulary` holds pieces with log probabilities; a piece's id is its position. `unknown` is the id of the unknown
    piece. Set `whole` if no piece is less probable than a segmentation of it; most words then need no search.
    """

    def __init__(
        self, vocabulary: Sequence[tuple[str, float]] | UnreadPieces, unknown: int, *, whole: bool = False
    ) -> None:
        self.size = len(vocabulary)
        self.unknown = unknown
        self._whole = whole
        self._unread: UnreadPieces | None = None
        self._keys_read: set[int] = set()
        self._prefixes_read: set[str] = set()
        self._texts: list[str] = []
        self._texts_read = 0
        if isinstance(vocabulary, UnreadPieces):
            self._unread = vocabulary
            self._ids: dict[str, int] = {}
            self._scores = [0.0] * self.size
            self._longest = 1
            # Pieces with JSON escapes have no key by their letters, and are few: they are read at once.
            self._look_up({SPACE}, {ESCAPED})
        else:
            self._read(vocabulary)
        self.blank = self._ids.get(SPACE)
        """Id of the piece for the beginning of a word, or None."""
        self._cached = lru_cache(_CACHED_WORDS)(self._cut)
        # A build tokenizes an utterance twice: for its vector and for its token features.
        self._cached_texts = lru_cache(_CACHED_TEXTS)(self._pieces)

    def encode(self, text: str, most: int) -> list[int]:
        """Return the ids of the first `most` pieces of a text.

        Raises `ModelUnavailableError` if a part of `tokenizer.json` that is read now is damaged.
        """
        pieces = self._cached_texts if len(text) <= _LONGEST_CACHED_TEXT else self._pieces
        return [*pieces(text, most)]

    def texts_of(self, ids: Sequence[int]) -> list[str]:
        """Return the texts of pieces that `encode` has returned; "▁" stands for the beginning of a word.

        The first call, and one after more pieces were read, takes milliseconds.
        """
        if len(self._ids) > self._texts_read:
            known = [*self._ids.items()]
            texts = [""] * self.size
            for piece, number in known:
                texts[number] = piece
            self._texts = texts
            self._texts_read = len(known)  # last: another thread that sees it finds the texts
        found = self._texts
        return [found[number] if number < len(found) else "" for number in ids]

    def units(self, text: str) -> list[tuple[int, int]]:
        """Return where each unit of a normalised text begins, and how many known pieces it has.

        A unit is a word, a punctuation mark or a digit. A mark that follows a word begins where it stands.
        """
        found, place = [], 0
        for word in text.split(" "):
            begin = place
            for unit in _split_marks(SPACE + word) if word else ():
                found.append((begin, sum(piece != self.unknown for piece in self._cut_once(unit))))
                begin += len(unit) - unit.startswith(SPACE)
            place += len(word) + 1
        return found

    def _pieces(self, text: str, most: int) -> tuple[int, ...]:
        ids: list[int] = []
        cached = self._cached
        for word in words_of(text):
            if len(ids) >= most:
                break
            if len(word) <= _LONGEST_CACHED_WORD:
                ids += cached(word)
            elif len(word) <= _LONGEST_SEARCHED:
                ids += self._cut(word)
            else:
                ids += self._beginning(word, most - len(ids))
        return tuple(ids[:most])

    def _beginning(self, word: str, most: int) -> list[int]:
        """Return at least `most` pieces of a long word, or all: it is cut part by part, which bounds the time."""
        ids: list[int] = []
        for start in range(0, len(word), _LONGEST_SEARCHED):
            if len(ids) >= most:
                break
            ids += self._cut(word[start : start + _LONGEST_SEARCHED])
        return ids

    def weigh(self, word: str) -> tuple[int, float]:
        """Return the number of pieces of one of the `words_of` a text, and the sum of their log probabilities.

        The piece for the beginning of a word counts only as part of a longer piece. An unknown character counts as
        `UNKNOWN_SCORE`.
        """
        ids = [piece for piece in self._cut_once(word) if piece != self.blank]
        return len(ids), sum(UNKNOWN_SCORE if piece == self.unknown else self._scores[piece] for piece in ids)

    def whole(self, words: Set[str]) -> dict[str, float]:
        """Return those of the `words` that are one piece, with their log probabilities.

        Each word is written as in `words_of`: "▁" and its letters.
        """
        if self._unread is not None:
            self._look_up({prefix(word) for word in words})
        scores = self._scores
        return {word: scores[self._ids[word]] for word in words & self._ids.keys()}

    def read_all(self) -> None:
        """Read all pieces that are still unread; takes about 0.1 seconds. A server calls it at start."""
        if (unread := self._unread) is not None:
            with gc_paused(), _damage_reported():
                self._read(unread.all())
            self._unread = None

    def pieces(self) -> Mapping[str, int]:
        """Return the ids of all pieces; reads those that are still unread."""
        self.read_all()
        return self._ids

    def _cut_once(self, word: str) -> tuple[int, ...]:
        return self._cached(word) if len(word) <= _LONGEST_CACHED_WORD else self._cut(word)

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the most probable pieces of a word."""
        # One look-up instead of a search: most words of a message are one piece.
        if self._whole:
            if self._unread is not None:
                self._look_up({prefix(word)})
            if (piece := self._ids.get(word)) is not None:
                return (piece,)
        if self._unread is not None:
            self._look_up(prefixes(word))
        return self._searched(word)

    def _searched(self, word: str) -> tuple[int, ...]:
        """Viterbi search: best[end] is the score of the best path to `end`; its last piece begins at start[end]."""
        id_of, scores = self._ids.get, self._scores
        best = [0.0, *[-math.inf] * len(word)]
        start = [0] * (len(word) + 1)
        for first in range(len(word)):
            here = best[first]
            for end in range(first + 1, min(first + self._longest, len(word)) + 1):
                piece = id_of(word[first:end])
                if piece is not None:
                    score = here + scores[piece]
                elif end == first + 1:
                    score = here + self._score_of_unknown
                else:
                    continue
                if score > best[end]:
                    best[end], start[end] = score, first
        ids: list[int] = []
        end = len(word)
        while end > 0:
            ids.append(id_of(word[start[end] : end], self.unknown))
            end = start[end]
        return tuple(reversed(ids))

    @cached_property
    def _score_of_unknown(self) -> float:
        self.read_all()
        return min(self._scores) - _UNKNOWN_PENALTY

    def _look_up(self, wanted: Set[str], more: Collection[int] = ()) -> None:
        """Read the pieces with the `wanted` prefixes and the keys `more`, or all pieces after many keys."""
        unread, new_prefixes = self._unread, wanted - self._prefixes_read
        if unread is None or not new_prefixes:
            return
        if len(self._keys_read) > _MOST_KEYS_READ:
            self.read_all()
            return
        new_keys = (prefix_keys(new_prefixes) | {*more}) - self._keys_read
        with _damage_reported():
            for number, piece, score in unread.with_keys(new_keys):
                self._scores[number] = score
                self._longest = max(self._longest, len(piece))
                self._ids[piece] = number
        # Last, so that no other thread takes pieces for read before they are.
        self._keys_read |= new_keys
        self._prefixes_read |= new_prefixes

    def _read(self, vocabulary: Sequence[tuple[str, float]]) -> None:
        # A dictionary of ids and a list of scores: a second dictionary would add a fifth to the loading time.
        ids = dict(zip([piece for piece, _ in vocabulary], range(len(vocabulary)), strict=True))
        self._scores = [score for _, score in vocabulary]
        self._ids, self._longest = ids, max(map(len, ids))


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ModelUnavailableError(f"tokenizer.json is damaged ({error}). Download the model again.") from None


def read_unigram(file: Path, *, whole: bool = False) -> UnigramTokenizer | None:
    """Read a `tokenizer.json`; return None if it holds another kind of tokenizer. Raises `ValueError` for bad JSON.

    `whole` is as in `UnigramTokenizer`.
    """
    with gc_paused():
        raw = file.read_bytes()
        content, pieces = split_vocabulary(raw) or (json.loads(raw), None)
        if not isinstance(content, dict) or not _is_supported(content):
            return None
        model = content["model"]
        return UnigramTokenizer(pieces or model["vocab"], model["unk_id"], whole=whole)


def _is_supported(content: Mapping[str, Any]) -> bool:
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
    """Return a text after all `NORMALIZERS`."""
    if text.isascii():
        # All that the steps below change in ASCII.
        return " ".join(text.replace("`", "'").lower().split())
    for step in _STEPS:
        text = step(text)
    return text


def _step(described: Mapping[str, Any]) -> Callable[[str], str]:
    match described["type"]:
        case "NFKC":
            return partial(unicodedata.normalize, "NFKC")
        case "Lowercase":
            # Python lowers Σ by its position in the word; the tokenizers package does not.
            return lambda text: text.replace("Σ", "σ").lower()
        case "Replace":
            return partial(re.compile(described["pattern"]["Regex"]).sub, described["content"])
        case _:
            return str.strip


_STEPS = [_step(described) for described in NORMALIZERS]


def words_of(text: str) -> tuple[str, ...]:
    """Normalise and split a text into the units that are tokenized separately: words with "▁" before, marks, digits."""
    words: list[str] = []
    for word in normalized(text).split(" "):
        if word.isalpha():
            words.append(SPACE + word)
        elif word:
            words += _split_marks(SPACE + word)
    return tuple(words)


def _split_marks(word: str) -> list[str]:
    """Split a word so that each punctuation mark and each digit stands alone."""
    parts: list[str] = [""]
    for char in word:
        if char in _ASCII_SYMBOLS or unicodedata.category(char)[0] in "PN":
            parts += [char, ""]
        else:
            parts[-1] += char
    return [part for part in parts if part]
