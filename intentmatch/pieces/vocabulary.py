"""Lazy vocabulary of a `tokenizer.json`: parses only the pieces that words need.

A message needs a few hundred pieces. Parsing all 160,000 would take a quarter of the run time of a command. In a file
without spaces, such as the embedded model's, the position and first bytes of each piece are found without parsing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPACE = "▁"

_LIST, _END_OF_LIST = b'"vocab":[', b"]]"
_BLANK, _QUOTE, _COMMA, _ESCAPE, _OPEN, _CLOSE = b' ",\\[]'
# The key of an unparsed piece: its first two bytes, or the two bytes after "▁", with which half of the pieces begin.
# A short piece is followed by a quote and a comma, so there are always two bytes.
_SIGN = SPACE.encode()
_BEHIND_SIGN = 1 << 16
ESCAPED = 1 << 17
"""Key of the few pieces that are written with JSON escapes."""
_BITS_OF_A_NUMBER = np.uint64(32)


class UnreadPieces:
    """The unparsed vocabulary of a `tokenizer.json`. Reading a damaged piece raises `ValueError` or `TypeError`."""

    def __init__(self, raw: bytes, places: NDArray[np.int64]) -> None:
        self._raw = raw
        self._places = places
        """Byte offset of each entry, and last the offset of a further one; shape `(pieces + 1,)`."""
        letters = np.frombuffer(raw, np.uint8)
        keys = _keys(letters, places[:-1] + 2)
        escapes = np.flatnonzero(letters[places[0] : places[-1]] == _ESCAPE) + places[0]
        keys[np.searchsorted(places, escapes) - 1] = ESCAPED
        self._by_key = np.sort((keys << _BITS_OF_A_NUMBER) | np.arange(len(keys), dtype=np.uint64))

    def __len__(self) -> int:
        return len(self._places) - 1

    def all(self) -> list[tuple[str, float]]:
        """Return all pieces with their scores, in order of their ids."""
        pieces: list[tuple[str, float]] = json.loads(self._raw[self._places[0] - 1 : self._places[-1]])
        return pieces

    def with_keys(self, keys: Collection[int]) -> Iterator[tuple[int, str, float]]:
        """Yield id, text and score of each piece with one of these keys."""
        bounds = np.array([[key, key + 1] for key in keys], dtype=np.uint64) << _BITS_OF_A_NUMBER
        for start, end in np.searchsorted(self._by_key, bounds).tolist():
            numbers = self._by_key[start:end].astype(np.uint32).tolist()
            entries = [self._raw[self._places[number] : self._places[number + 1] - 1] for number in numbers]
            for number, (piece, score) in zip(numbers, json.loads(b"[%b]" % b",".join(entries)), strict=True):
                yield number, piece, score


def split_vocabulary(raw: bytes) -> tuple[Any, UnreadPieces] | None:
    """Return the content of a `tokenizer.json` without its pieces, and the unparsed pieces.

    Returns None if the file has another layout and must be parsed as a whole.
    """
    first, end = raw.find(_LIST) + len(_LIST), raw.rfind(_END_OF_LIST) + 1
    if not len(_LIST) <= first < end:
        return None
    places = _places(np.frombuffer(raw, np.uint8)[:end], first)
    return None if places is None else (json.loads(raw[:first] + raw[end:]), UnreadPieces(raw, places))


def prefix(piece: str) -> str:
    """Return the first characters of a piece, as many as its key can depend on."""
    return piece[:3]


def prefixes(word: str) -> set[str]:
    """Return the `prefix` of every possible piece of a word."""
    return {word[start : start + length] for start in range(len(word)) for length in (1, 2, 3)}


def prefix_keys(parts: Iterable[str]) -> set[int]:
    """Return the keys of pieces with these prefixes; `ESCAPED` is not among them."""
    keys = set()
    for part in parts:
        first, second, _, fourth, fifth = (part.encode("utf-8", "surrogatepass") + b'",___')[:5]
        signed = (first, second) == (_SIGN[0], _SIGN[1])
        keys.add(_BEHIND_SIGN | fourth << 8 | fifth if signed else first << 8 | second)
    return keys


def _keys(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the key of each piece that starts at one of these byte offsets."""
    first, second, fourth, fifth = (letters[starts + behind].astype(np.uint64) for behind in (0, 1, 3, 4))
    signed = (first == _SIGN[0]) & (second == _SIGN[1])
    return np.where(signed, _BEHIND_SIGN | fourth << 8 | fifth, first << 8 | second)


def _places(letters: NDArray[np.uint8], first: int) -> NDArray[np.int64] | None:
    """Return the byte offset of each entry of the list, and of a further one; None if they cannot be found."""
    # A file with spaces or line breaks has its entries elsewhere, and is parsed as a whole.
    if letters[first:].min() <= _BLANK:
        return None
    opened = np.flatnonzero(letters[first:-4] == _OPEN) + first
    # Each entry but the first is preceded by `],`. Text cannot contain `["`, because a quote would be escaped.
    opened = opened[letters[opened + 1] == _QUOTE]
    opened = opened[(letters[opened - 1] == _COMMA) & (letters[opened - 2] == _CLOSE) | (opened == first)]
    # A piece that ends in `],[` looks the same. It is detected by the comma after its closing quote.
    ends = (letters[opened + 2] == _COMMA) & (letters[opened + 3] != _QUOTE)
    return None if not len(opened) or opened[0] != first or ends.any() else np.append(opened, len(letters) + 1)
