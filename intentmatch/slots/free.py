"""Slots of kind "any": free text, found by the words that stand around it in the utterances.

An utterance with a mark ("remind me to [call mum] tomorrow") is a frame: what comes before, what comes behind. The
frame of which most is there, typing mistakes forgiven and words between allowed, says where the free text begins and
ends. The word right before it must be there, and two thirds of all that come before; where none does, so for those
behind it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.core.types import Utterance
from intentmatch.slots.message import Message
from intentmatch.slots.neighbours import sides, spoken_words
from intentmatch.text.typos import only_typos

_MOST_FRAMES = 100
"""That a slot may have; authors write a handful, and templates make many alike."""
_MOST_WORDS = 6
"""Of a frame on either side."""
_REACH = 3 * _MOST_WORDS
"""How far apart the words of one side may stand."""
_MOST_TOKENS = 2000
"""Of a message; what comes after them is in the free text all the same."""
_MOST_PLACES = 20
"""Of a word in a message."""
_WORTH_OF_A_SLOT = 5
"""In letters: what it counts that the slot next to the free text was found next to it."""
_SENTENCE_MARKS = frozenset(" \t\r\n.,;:!?…。、，！？；：؟،؛۔।¿¡")
_QUOTES = ("“”", "„“", "«»", "»«", "‘’", "''", '""', "「」", "『』", "《》")


class Frame(NamedTuple):
    """What stands around the mark of a slot in an utterance."""

    left_slot: str | None = None
    """Of the mark before, if there is one."""
    left: tuple[str, ...] = ()
    """The words between that, or the beginning, and the mark."""
    right: tuple[str, ...] = ()
    right_slot: str | None = None

    @property
    def letters(self) -> int:
        """Of all its words."""
        return sum(map(len, (*self.left, *self.right)))


def frames(slot: str, utterances: Iterable[Utterance]) -> list[Frame]:
    """The distinct frames of a slot, in the order of the utterances."""
    found: dict[Frame, None] = {}
    for utterance in utterances:
        slots = [None, *(mark.slot for mark in utterance.marks), None]
        for number, (name, before, behind) in enumerate(sides(utterance)):
            if name == slot and len(found) < _MOST_FRAMES:
                left, right = spoken_words(before)[-_MOST_WORDS:], spoken_words(behind)[:_MOST_WORDS]
                found.setdefault(Frame(slots[number], left, right, slots[number + 2]))
    return list(found)


class _Fit(NamedTuple):
    """A frame laid over a message."""

    matched: int
    missing: int
    start: int
    end: int


def free_text(slot: str, among: Sequence[Frame], message: Message, others: Sequence[Entity]) -> Entity | None:
    """The free text of a slot; `others` are the entities of the slots of other kinds."""
    places = _Places(message)
    fits = [fit for frame in among if (fit := _fit(frame, message, places, others)) is not None]
    for fit in sorted(fits, key=lambda fit: (-fit.matched, fit.missing)):
        start, end = _cut(message, fit.start, fit.end, others)
        if start < end:
            text = message.text[start:end]
            return Entity(slot, text, text, start, end)
    return None


class _Places:
    """Where in a message words stand, typing mistakes forgiven."""

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
        """In order."""
        if word not in self._known:
            alike = [token for token in self._alike.get(word[0], ()) if token == word or only_typos(token, word)]
            self._known[word] = sorted(place for token in alike for place in self._where[token])
        return self._known[word]


class _Anchor(NamedTuple):
    """Where the words of one side of a frame stand."""

    letters: int
    """Of those that are there."""
    place: int
    """Of the word next to the free text."""


def _fit(frame: Frame, message: Message, places: _Places, others: Sequence[Entity]) -> _Fit | None:
    """The frame laid over the message; None where too little of it is there."""
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
        behind = [entity.start for entity in others if entity.slot == frame.right_slot and entity.start >= start]
        end, slots = (behind[0], slots + 1) if behind else (end, slots)
    first_side, anchor = (frame.left, left) if frame.left else (frame.right, right)
    if start < 0 or 3 * (anchor.letters if anchor else 0) < 2 * sum(map(len, first_side)):
        return None
    letters = sum(side.letters for side in (left, right) if side)
    return _Fit(letters + slots * _WORTH_OF_A_SLOT, frame.letters - letters, start, end)


def _anchor(words: Sequence[str], places: _Places, first: int, step: int, *, last: bool = False) -> _Anchor | None:
    """Where most of the words of a side stand from `first` on, and the first of them, which is next to the free text.

    The others follow in the direction of `step`. Of several such places it is the first, or the last.
    """
    best: _Anchor | None = None
    possible = [place for place in places.positions(words[0]) if place >= first]
    for place in (possible[::-1] if last else possible)[:_MOST_PLACES]:
        letters = len(words[0]) + _following(words[1:], places, place, step)
        if best is None or letters > best.letters:
            best = _Anchor(letters, place)
    return best


def _following(words: Iterable[str], places: _Places, place: int, step: int) -> int:
    """The letters of those words that stand in their order behind a place, or before it, and not far away."""
    letters = 0
    for word in words:
        possible = places.positions(word)
        number = bisect_right(possible, place) if step > 0 else bisect_left(possible, place) - 1
        if 0 <= number < len(possible) and abs(possible[number] - place) <= _REACH:
            place = possible[number]
            letters += len(word)
    return letters


def _cut(message: Message, start: int, end: int, others: Sequence[Entity]) -> tuple[int, int]:
    """Without the marks around it, and without entities at its edges whose slots have no other."""
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
