"""The pieces in a `tokenizer.json`, of which only those are read that words ask for.

A message asks for a few hundred, and to take all 160,000 apart would be a quarter of the time in which a command line
answers. In a file without spaces, as ours is, it is seen without parsing where each piece stands and how it begins.
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
# What tells a piece before it is read: its first two bytes, or those behind the sign of a space, which half of the
# pieces begin with. A short one goes on with a quote and a comma, so that there are always two.
_SIGN = SPACE.encode()
_BEHIND_SIGN = 1 << 16
ESCAPED = 1 << 17
"""The beginning of pieces that are not written as they are; they are few."""
_BITS_OF_A_NUMBER = np.uint64(32)


class UnreadPieces:
    """The vocabulary of a `tokenizer.json`. Reading it raises `ValueError` or `TypeError` where it is damaged."""

    def __init__(self, raw: bytes, places: NDArray[np.int64]) -> None:
        self._raw = raw
        self._places = places
        """Where each entry begins, and at last where one more would."""
        self.longest = int(np.diff(places).max())
        """No piece has more characters."""
        letters = np.frombuffer(raw, np.uint8)
        keys = _keys(letters, places[:-1] + 2)
        escapes = np.flatnonzero(letters[places[0] : places[-1]] == _ESCAPE) + places[0]
        keys[np.searchsorted(places, escapes) - 1] = ESCAPED
        self._by_beginning = np.sort((keys << _BITS_OF_A_NUMBER) | np.arange(len(keys), dtype=np.uint64))

    def __len__(self) -> int:
        return len(self._places) - 1

    def all(self) -> list[tuple[str, float]]:
        """Every piece with its score."""
        found: list[tuple[str, float]] = json.loads(self._raw[self._places[0] - 1 : self._places[-1]])
        return found

    def beginning(self, ways: Collection[int]) -> Iterator[tuple[int, str, float]]:
        """Number, text and score of each piece that begins in one of these ways."""
        bounds = np.array([[way, way + 1] for way in ways], dtype=np.uint64) << _BITS_OF_A_NUMBER
        for start, end in np.searchsorted(self._by_beginning, bounds).tolist():
            numbers = self._by_beginning[start:end].astype(np.uint32).tolist()
            entries = [self._raw[self._places[number] : self._places[number + 1] - 1] for number in numbers]
            for number, (piece, score) in zip(numbers, json.loads(b"[%b]" % b",".join(entries)), strict=True):
                yield number, piece, score


def unread(raw: bytes) -> tuple[Any, UnreadPieces] | None:
    """What a `tokenizer.json` says beside its pieces, and those; None for one that is written in another way."""
    first, end = raw.find(_LIST) + len(_LIST), raw.rfind(_END_OF_LIST) + 1
    if not len(_LIST) <= first < end:
        return None
    places = _places(np.frombuffer(raw, np.uint8)[:end], first)
    return None if places is None else (json.loads(raw[:first] + raw[end:]), UnreadPieces(raw, places))


def beginning(piece: str) -> str:
    """The first letters of a piece: as many as tell its way to begin."""
    return piece[:3]


def beginnings(word: str) -> set[str]:
    """The `beginning` of any piece that stands in a word."""
    return {word[start : start + length] for start in range(len(word)) for length in (1, 2, 3)}


def ways_to_begin(parts: Iterable[str]) -> set[int]:
    """How pieces with these `beginnings` begin, but for those that are `ESCAPED`."""
    ways = set()
    for part in parts:
        first, second, _, fourth, fifth = (part.encode("utf-8", "surrogatepass") + b'",___')[:5]
        signed = (first, second) == (_SIGN[0], _SIGN[1])
        ways.add(_BEHIND_SIGN | fourth << 8 | fifth if signed else first << 8 | second)
    return ways


def _keys(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The way in which each piece begins that starts there."""
    first, second, fourth, fifth = (letters[starts + behind].astype(np.uint64) for behind in (0, 1, 3, 4))
    signed = (first == _SIGN[0]) & (second == _SIGN[1])
    return np.where(signed, _BEHIND_SIGN | fourth << 8 | fifth, first << 8 | second)


def _places(letters: NDArray[np.uint8], first: int) -> NDArray[np.int64] | None:
    """Where the entries of a list begin, and at last where one more would; None where that is not to be told."""
    if letters[first:].min() <= _BLANK:
        return None
    opened = np.flatnonzero(letters[first:-4] == _OPEN) + first
    # Each stands in `],["`, but for the first; a mark for a quote is never inside of a text.
    opened = opened[letters[opened + 1] == _QUOTE]
    opened = opened[(letters[opened - 1] == _COMMA) & (letters[opened - 2] == _CLOSE) | (opened == first)]
    # So does a text that ends in `],[`, which no digit or sign follows otherwise.
    ends = (letters[opened + 2] == _COMMA) & (letters[opened + 3] != _QUOTE)
    return None if not len(opened) or opened[0] != first or ends.any() else np.append(opened, len(letters) + 1)
