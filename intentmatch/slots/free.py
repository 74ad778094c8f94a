"""Slots of kind "any": free text, located by the words around it in the utterances.

Each marked utterance ("remind me to [call mum] tomorrow") gives a frame: the words before and after the mark. The
frame that matches most letters of the message sets the span of the free text. Typing mistakes and extra words are
allowed. The message must contain the word next to the free text and two thirds of the letters on that side: the left
side, or the right side if the left one is empty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.core.types import Utterance
from intentmatch.slots.message import Message
from intentmatch.slots.neighbours import bare_words, sides
from intentmatch.text.typos import only_typos

_MOST_FRAMES = 100
"""Frames per slot; authors write a handful, and templates produce many similar ones."""
_MOST_WORDS = 6
"""Words per side of a frame."""
_REACH = 3 * _MOST_WORDS
"""Largest distance between neighbouring words of one side, in tokens."""
_MOST_TOKENS = 2000
"""Tokens of a message that frames are matched against; free text may extend beyond them."""
_MOST_PLACES = 20
"""Positions of a word in a message that are tried."""
_SLOT_BONUS = 5
"""Bonus, in letters, if the neighbouring slot of the frame is next to the free text."""
_SENTENCE_MARKS = frozenset(" \t\r\n.,;:!?…。、，！？；：؟،؛۔।¿¡")
_QUOTES = ("“”", "„“", "«»", "»«", "‘’", "''", '""', "「」", "『』", "《》")


class Frame(NamedTuple):
    """Words and slots around the mark of a slot in an utterance."""

    left_slot: str | None = None
    """Slot of the previous mark, if any."""
    left: tuple[str, ...] = ()
    """Words between the previous mark, or the start, and the mark."""
    right: tuple[str, ...] = ()
    right_slot: str | None = None

    @property
    def letters(self) -> int:
        """Number of letters of all its words."""
        return sum(map(len, (*self.left, *self.right)))


def frames(slot: str, utterances: Iterable[Utterance]) -> list[Frame]:
    """Return the distinct frames of a slot in utterance order."""
    found: dict[Frame, None] = {}
    for utterance in utterances:
        slots = [None, *(mark.slot for mark in utterance.marks), None]
        for number, (name, before, after) in enumerate(sides(utterance)):
            if name == slot and len(found) < _MOST_FRAMES:
                left, right = bare_words(before)[-_MOST_WORDS:], bare_words(after)[:_MOST_WORDS]
                found.setdefault(Frame(slots[number], left, right, slots[number + 2]))
    return list(found)


class _Fit(NamedTuple):
    """A frame matched against a message."""

    matched: int
    """Letters found in the message, plus bonuses for slots."""
    missing: int
    """Letters not found."""
    start: int
    end: int


def free_text(slot: str, among: Sequence[Frame], message: Message, others: Sequence[Entity]) -> Entity | None:
    """Return the free text of a slot, None if no frame matches; `others` are the entities found so far."""
    places = _Places(message)
    fits = [fit for frame in among if (fit := _fit(frame, message, places, others)) is not None]
    for fit in sorted(fits, key=lambda fit: (-fit.matched, fit.missing)):
        start, end = _cut(message, fit.start, fit.end, others)
        if start < end:
            text = message.text[start:end]
            return Entity(slot, text, text, start, end)
    return None


class _Places:
    """Positions of words in a message, tolerating typing mistakes."""

    def __init__(self, message: Message) -> None:
        self.tokens = message.tokens[:_MOST_TOKENS]
        self._alike: dict[str, list[str]] = {}
        self._where: dict[str, list[int]] = {}
        self._known: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            if token.bare not in self._where:
                self._alike.setdefault(token.bare[0], []).append(token.bare)
            self._where.setdefault(token.bare, []).append(place)

    def positions(self, word: str) -> list[int]:
        """Return the token positions of a word, sorted."""
        if word not in self._known:
            alike = [token for token in self._alike.get(word[0], ()) if token == word or only_typos(token, word)]
            self._known[word] = sorted(place for token in alike for place in self._where[token])
        return self._known[word]


class _Anchor(NamedTuple):
    """Match of one side of a frame."""

    letters: int
    """Letters of the words found."""
    place: int
    """Position of the word next to the free text."""


def _fit(frame: Frame, message: Message, places: _Places, others: Sequence[Entity]) -> _Fit | None:
    """Match a frame against a message; return None if too few of its words are there."""
    start, first, slots = 0, 0, 0
    left = right = None
    if frame.left:
        left = _anchor(frame.left[::-1], places, 0, -1)
        if left is None:
            return None
        start, first = places.tokens[left.place].end, left.place + 1
    elif frame.left_slot:
        start = next((entity.end for entity in others if entity.slot == frame.left_slot), -1)
        first, slots = sum(token.start < start for token in places.tokens), 1
    end = len(message.text)
    if frame.right:
        right = _anchor(frame.right, places, first, 1, last=frame.right_slot is None)
        end = places.tokens[right.place].start if right else end
    elif frame.right_slot:
        after = [entity.start for entity in others if entity.slot == frame.right_slot and entity.start >= start]
        end, slots = (after[0], slots + 1) if after else (end, slots)
    first_side, anchor = (frame.left, left) if frame.left else (frame.right, right)
    if start < 0 or 3 * (anchor.letters if anchor else 0) < 2 * sum(map(len, first_side)):
        return None
    letters = sum(side.letters for side in (left, right) if side)
    return _Fit(letters + slots * _SLOT_BONUS, frame.letters - letters, start, end)


def _anchor(words: Sequence[str], places: _Places, first: int, step: int, *, last: bool = False) -> _Anchor | None:
    """Find the position of `words[0]`, from `first` on, with the most letters of the other words around it.

    `words[0]` is next to the free text; the other words follow in the direction of `step`. Among equal positions the
    first one is returned, or the last one with `last`.
    """
    best: _Anchor | None = None
    possible = [place for place in places.positions(words[0]) if place >= first]
    for place in (possible[::-1] if last else possible)[:_MOST_PLACES]:
        letters = len(words[0]) + _following(words[1:], places, place, step)
        if best is None or letters > best.letters:
            best = _Anchor(letters, place)
    return best


def _following(words: Iterable[str], places: _Places, place: int, step: int) -> int:
    """Count the letters of the words that follow a position in order, each within `_REACH` of the previous one."""
    letters = 0
    for word in words:
        possible = places.positions(word)
        number = bisect_right(possible, place) if step > 0 else bisect_left(possible, place) - 1
        if 0 <= number < len(possible) and abs(possible[number] - place) <= _REACH:
            place = possible[number]
            letters += len(word)
    return letters


def _cut(message: Message, start: int, end: int, others: Sequence[Entity]) -> tuple[int, int]:
    """Trim punctuation and quotes, and entities at the edges that are the only ones of their slots."""
    elsewhere = {entity.slot for entity in others if entity.end <= start or entity.start >= end}
    own = [entity for entity in others if entity.slot not in elsewhere]
    start, end = _trimmed(message.text, start, end)
    for entity in (*own, *reversed(own)):
        if entity.start <= start and end <= entity.end:
            return start, start
        if entity.start <= start < entity.end:
            start, end = _trimmed(message.text, entity.end, end)
        elif start < entity.start < end <= entity.end:
            start, end = _trimmed(message.text, start, entity.start)
    if text_between := message.text[start:end]:
        quoted = len(text_between) > 2 and text_between[0] + text_between[-1] in _QUOTES
        return message.aligned.widened(start + quoted, end - quoted)
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _SENTENCE_MARKS:
        start += 1
    while start < end and text[end - 1] in _SENTENCE_MARKS:
        end -= 1
    return start, end
