"""A text in its bare form, and where in the text each letter of that form stands.

`text.bare` changes lengths, so what is found in the one must be led back to the other. The text is cut into units, each
a user-perceived character (a letter with its marks, an emoji with all that is joined to it) or, where the forms of
neighbours flow into one another, a few of them. A place between two units is a place in both; one inside of a unit is
none.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from intentmatch.text.normalize import bare

# A character that no form changes and no mark joins: what stands between two of them keeps its outer spaces.
_FENCE = "\ue000"
_SHORT = 8
"""Characters of a piece whose form is remembered; longer ones are rare, and may be as long as a message."""


class _Unit(NamedTuple):
    """A piece of the text that is one thing in every form."""

    bare: str
    start: int
    end: int
    """Behind what is left in the bare form; signs that are not may follow, up to the next unit."""


class Aligned:
    """One text.

    The law: where `span(start, end)` is a place of the text, `bare` of what stands there is `self.bare[start:end]`, but
    for spaces around it.
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
        """As `bare(text)`."""
        self._units = units

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Where in the text the letters `bare[start:end]` stand; None where they begin or end inside of a unit."""
        if not (0 <= start < end <= len(self._units) and self.divides(start) and self.divides(end)):
            return None
        return self._units[start].start, self._units[end - 1].end

    def divides(self, place: int) -> bool:
        """Whether a place of the bare form stands between two units."""
        return not 0 < place < len(self._units) or self._units[place - 1] is not self._units[place]

    def dropped(self, place: int) -> bool:
        """Whether the text has a sign there that is not in the bare form, such as an apostrophe."""
        return 0 < place < len(self._units) and self._units[place - 1].end < self._units[place].start

    def between(self, end: int, start: int) -> str | None:
        """What the text has between two places of the bare form, of which the first is behind a word."""
        if not (self.divides(end) and self.divides(start)):
            return None
        return self.text[self._units[end - 1].end : self._units[start].start]

    def widened(self, start: int, end: int) -> tuple[int, int]:
        """A span of the text, made to cut no user-perceived character apart."""
        place = 0
        for cluster in _clusters(self.text):
            after = place + len(cluster)
            if place < start < after:
                start = place
            if place < end < after:
                end = after
            place = after
        return start, end


def _units(text: str) -> list[_Unit]:
    units, place = [], 0
    for cluster in _clusters(text):
        form = _form(cluster)
        if form:
            units.append(_Unit(form, place, place + len(cluster)))
        place += len(cluster)
    if text.isascii() or " ".join("".join(unit.bare for unit in units).split()) == bare(text):
        return units
    return _joined(text)


def _joined(text: str) -> list[_Unit]:
    """Units of a text whose characters flow into one another, even across signs that are dropped."""
    spans: list[tuple[int, int]] = []
    place = 0
    for cluster in _clusters(text):
        start, place = place, place + len(cluster)
        form = _form(cluster)
        if form and spans and _flows(text, *spans[-1], place, form):
            spans[-1] = (spans[-1][0], place)
        elif form:
            spans.append((start, place))
    return [_Unit(_form(text[start:end]), start, end) for start, end in spans]


def _flows(text: str, start: int, end: int, after: int, form: str) -> bool:
    """Whether what stands between `end` and `after`, of a form of its own, changes with what stands before it."""
    return unicodedata.combining(form[0]) > 0 or _form(text[start:after]) != _form(text[start:end]) + form


def _clusters(text: str) -> list[str]:
    if text.isascii():
        return list(text)
    import regex  # takes longer than the rest of a start, and only slots ask for it

    clusters: list[str] = regex.findall(r"\X", text)
    return clusters


def _form(text: str) -> str:
    """As `bare`, with one space where it begins or ends with some."""
    return _remembered(text) if len(text) <= _SHORT else _fenced(text)


def _fenced(text: str) -> str:
    return bare(f"{_FENCE}{text}{_FENCE}")[1:-1]


_remembered = lru_cache(maxsize=8192)(_fenced)
