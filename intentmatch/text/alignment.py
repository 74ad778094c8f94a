"""Align a text with its bare form, to map spans of the bare form back to the text.

`normalize.bare` changes lengths. The text is split into units: grapheme clusters (a letter with its marks, an emoji
sequence), or several clusters if their bare forms interact. A position between two units exists in both forms; a
position inside a unit has no counterpart.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from intentmatch.text.normalize import bare

# A private-use character that no normalisation changes and no mark joins. Put around a piece, it keeps outer spaces.
_FENCE = "\ue000"
# The time of `\X` is quadratic in the length of a row of regional indicators, two of which are a flag. A row may be cut
# behind any pair.
_FLAGS = re.compile("(?:[\U0001f1e6-\U0001f1ff]{2}){32}(?=[\U0001f1e6-\U0001f1ff])")
_SHORT = 8
"""Longest piece, in characters, whose bare form is cached. Longer pieces are rare and may be as long as a message."""


class _Unit(NamedTuple):
    """A piece of the text that maps as a whole to a piece of the bare form."""

    bare: str
    start: int
    end: int
    """End offset in the text. Characters without a bare form may follow, up to the next unit."""


class Alignment:
    """A text, its bare form, and the positions that correspond.

    If `span(start, end)` is not None, the bare form of that span of the text is `self.bare[start:end]`, except for
    spaces around it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        letters: list[str] = []
        units: list[_Unit] = []
        for unit in _units(text):
            for letter in unit.bare:
                if letter != " " or (letters and letters[-1] != " "):
                    letters.append(letter)
                    units.append(unit)
        if letters and letters[-1] == " ":
            letters.pop()
            units.pop()
        self.bare = "".join(letters)
        """Equal to `normalize.bare(text)`."""
        self._units = units

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the offsets in the text of `bare[start:end]`; None if it is empty or begins or ends inside a unit."""
        if not (0 <= start < end <= len(self._units) and self.divides(start) and self.divides(end)):
            return None
        return self._units[start].start, self._units[end - 1].end

    def divides(self, place: int) -> bool:
        """Return whether a position of the bare form lies between two units."""
        return not 0 < place < len(self._units) or self._units[place - 1] is not self._units[place]

    def dropped(self, place: int) -> bool:
        """Return whether the text has a character here that the bare form drops, such as an apostrophe."""
        return 0 < place < len(self._units) and self._units[place - 1].end < self._units[place].start

    def between(self, end: int, start: int) -> str | None:
        """Return the text between two positions of the bare form, the first being the end of a word.

        Returns None if one of the positions lies inside a unit.
        """
        if not (self.divides(end) and self.divides(start)):
            return None
        return self.text[self._units[end - 1].end : self._units[start].start]

    def widened(self, start: int, end: int) -> tuple[int, int]:
        """Widen a span of the text to whole grapheme clusters."""
        if self.text.isascii():
            return start, end
        bounds = self._bounds
        return bounds[bisect_right(bounds, start) - 1], bounds[bisect_left(bounds, end)]

    @cached_property
    def _bounds(self) -> list[int]:
        """Offsets of all grapheme clusters, and the length of the text."""
        return [0, *accumulate(map(len, _clusters(self.text)))]


def _units(text: str) -> list[_Unit]:
    units, place = [], 0
    for cluster in _clusters(text):
        form = _form(cluster)
        if form:
            units.append(_Unit(form, place, place + len(cluster)))
        place += len(cluster)
    # Nearly always, no cluster changes its neighbour: joining compares each one with the next, which takes several
    # times as long.
    if text.isascii() or " ".join("".join(unit.bare for unit in units).split()) == bare(text):
        return units
    return _joined(text)


def _joined(text: str) -> list[_Unit]:
    """Return the units of a text whose clusters interact, even across dropped characters."""
    spans: list[tuple[int, int]] = []
    place = 0
    for cluster in _clusters(text):
        start, place = place, place + len(cluster)
        form = _form(cluster)
        if form and spans and _interacts(text, *spans[-1], place, form):
            spans[-1] = (spans[-1][0], place)
        elif form:
            spans.append((start, place))
    return [_Unit(_form(text[start:end]), start, end) for start, end in spans]


def _interacts(text: str, start: int, end: int, after: int, form: str) -> bool:
    """Return whether the bare form of `text[end:after]`, alone `form`, changes after `text[start:end]`."""
    return unicodedata.combining(form[0]) > 0 or _form(text[start:after]) != _form(text[start:end]) + form


def _clusters(text: str) -> list[str]:
    if text.isascii():
        return list(text)
    import regex  # slow to import, and only slots need it

    clusters: list[str] = []
    start = 0
    for pairs in _FLAGS.finditer(text):
        clusters += regex.findall(r"\X", text[start : pairs.end()])
        start = pairs.end()
    clusters += regex.findall(r"\X", text[start:])
    return clusters


def _form(text: str) -> str:
    """Return the bare form, with outer white space kept as one space."""
    return _cached_form(text) if len(text) <= _SHORT else _fenced(text)


def _fenced(text: str) -> str:
    return bare(f"{_FENCE}{text}{_FENCE}")[1:-1]


_cached_form = lru_cache(maxsize=8192)(_fenced)
