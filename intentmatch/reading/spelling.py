"""Find utterances that equal a message, exactly or except for typing mistakes.

A typing mistake keeps the number of words and the first letter of each word. It changes one letter of a word of four or
more letters, or two of a word of eight or more. A word of the registry is never mistyped: "abmelden" is not "anmelden".
A ratio over the whole line would be too lenient: it would call "turn the light on" and "turn the light off" the same.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.runtime.block_sizes import SPELLING_TEXTS
from intentmatch.text.accents import by_form_without_accents, unaccented
from intentmatch.text.typos import letters_of, only_typos


class SpellingHit(NamedTuple):
    """An utterance that equals a message but for typing mistakes."""

    row: int
    """Row of the utterance in the registry."""
    similarity: float
    """1 - (optimal string alignment distance / longer length); 1.0 for an exact hit."""


class LexicalIndex:
    """Index of a registry's folded utterances: `vocabulary.folded[row]` belongs to the intent `owners[row]`."""

    def __init__(self, vocabulary: Vocabulary, owners: Sequence[int], cut_off: float) -> None:
        folded = vocabulary.folded
        self._words = vocabulary.words
        self._owners = tuple(owners)
        self._cut_off = cut_off
        self._texts = folded
        # Two texts that differ by typing mistakes share either all letters or the first letter of every word. A lookup
        # by these keys leaves a handful of texts to compare, however many there are.
        letters, initials = array("q"), array("q")
        for start in range(0, len(folded), SPELLING_TEXTS):
            texts = "\n".join(folded[start : start + SPELLING_TEXTS])
            letters.extend(map(hash, letters_of(texts).split("\n")))
            initials.extend(map(hash, _initials_of_lines(texts).split("\n")))
        self._by_text = _Rows(array("q", map(hash, folded)))
        self._by_letters, self._by_initials = _Rows(letters), _Rows(initials)

    def rows(self, folded: str) -> Sequence[int]:
        """Return every row with this folded text, in rising order."""
        return [row for row in self._by_text.find(folded) if self._texts[row] == folded]

    def but_for_accents(self, folded: str) -> Sequence[int]:
        """Return every row with this folded text but for accents, in rising order; none if the cut-off is 1.0."""
        if self._cut_off >= 1.0:
            return []
        bare = unaccented(folded)
        rows = self._unaccented.get(folded, ())
        if not rows and bare == folded:
            return ()
        if bare != folded:
            rows = [*rows, *self._unaccented.get(bare, ()), *self.rows(bare)]
        return sorted({*rows}) if rows else []

    @cached_property
    def _unaccented(self) -> dict[str, list[int]]:
        """Rows of the texts with accents, by their forms without them. Made at the first message that needs it."""
        return by_form_without_accents((text, row) for row, text in enumerate(self._texts))

    def exact(self, rows: Sequence[int]) -> dict[int, SpellingHit]:
        """Return the first of the `rows` of each owner, as exact hits by owner."""
        return self._first_by_owner((row, 1.0) for row in rows) if rows else {}

    def fuzzy(self, folded: str) -> dict[int, SpellingHit]:
        """Return the best row of each owner that differs only by typing mistakes, at or above the cut-off."""
        if self._cut_off >= 1.0:
            return {}
        near, words = self._by_letters.find(letters_of(folded)), folded.split(" ")
        # Known words are not mistyped: then only spaces can be wrong.
        if not self._words.issuperset(words):
            near = (*near, *self._by_initials.find(_initials(words)))
        if not near:
            return {}
        typos = [text for text in {self._texts[row] for row in near} if only_typos(folded, text, self._words)]
        similar = [(OSA.normalized_similarity(folded, text), text) for text in typos]
        return self._first_by_owner(
            (row, similarity)
            for similarity, text in sorted(similar, reverse=True)
            if similarity >= self._cut_off
            for row in self.rows(text)
        )

    def alike(self, folded: str, rows: Iterable[int]) -> dict[int, SpellingHit]:
        """Return the first of the `rows` of each owner, with its similarity to a folded text."""
        similar = ((row, OSA.normalized_similarity(folded, self._texts[row])) for row in rows)
        return self._first_by_owner(similar)

    def _first_by_owner(self, rows: Iterable[tuple[int, float]]) -> dict[int, SpellingHit]:
        hits: dict[int, SpellingHit] = {}
        for row, similarity in rows:
            hits.setdefault(self._owners[row], SpellingHit(row, similarity))
        return hits


class _Rows:
    """Rows by key, 12 bytes each. Keys are compared by hash, so that rows of another key may be returned too."""

    # The hashes of texts differ from process to process, so that these rows cannot be stored.
    def __init__(self, hashes: array[int]) -> None:
        order = np.argsort(hashes, kind="stable")
        self._hashes = array("q", np.asarray(hashes)[order].tobytes())
        self._rows = array("i", order.astype(np.int32).tobytes())

    def find(self, key: str) -> Sequence[int]:
        """Return the rows with this key, in rising order."""
        sought, hashes = hash(key), self._hashes
        begin = bisect_left(hashes, sought)
        if begin == len(hashes) or hashes[begin] != sought:
            return ()
        return self._rows[begin : bisect_right(hashes, sought, begin)]


def _initials(words: Iterable[str]) -> str:
    return "".join([word[:1] for word in words])


def _initials_of_lines(folded: str) -> str:
    """As `_initials`, of each line of many; in a quarter of the time."""
    letters = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    ends = letters == ord("\n")
    spaces = letters == ord(" ")
    initial = np.append(True, (ends | spaces)[:-1]) & ~spaces
    return str(letters[initial | ends].tobytes(), "utf-32-le", "surrogatepass")
