"""The parts of a message: "Hello! I lost my card yesterday. Please block it" has three, and one asks for something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.unigram import normalized
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts, ReadActs, acts_of, dialogue_acts
from intentmatch.reading.text import ReadText

# More parts tell a story.
_MOST_PARTS = 8
_MARKS = frozenset(".…!?؟।。！？")
# Behind it a part begins in any case. An abbreviation such as "Dr." is no end, nor is the query of an address.
_SENTENCE_END = re.compile(r"(?:(?<=\w{3})[.…]+|[!?؟।。][!?؟।。.…]*)\s+(?=\w)|[!?。]+(?=[\u3040-\u9fff])")


class MessagePart(NamedTuple):
    """A part of a cleaned message."""

    read: ReadText
    acts: Acts
    begins: float = 0.0
    """Log odds that a part of the message begins with it, as the network reads it; 0 for the first part."""

    @property
    def text(self) -> str:
        """The part as the message has it."""
        return self.read.text


class Parts(NamedTuple):
    """What a cleaned message does as one text, and its parts in order."""

    acts: Acts
    parts: Sequence[MessagePart]
    """The message alone if it has only one part, or too many."""

    @classmethod
    def one(cls, text: ReadText, acts: Acts) -> Parts:
        """Return a message as its only part."""
        return cls(acts, [MessagePart(text, acts)])

    def refusing_as(self, typed: ReadText) -> Parts:
        """Return the parts with the refusal of the message before its spelling was corrected.

        "Annule pas" may become "annuler pas", which refuses nothing. If either refuses, the message does.
        """
        if len(self.parts) > 1 or typed.text == self.parts[0].text:
            return self
        acts = acts_of(typed.text)
        return self if acts.refuses <= self.acts.refuses else Parts.one(self.parts[0].read, acts)


def parts_of_many(texts: Sequence[ReadText]) -> list[Parts]:
    """Return what `parts_of` returns for each text, up to rounding, in less time."""
    read = iter(dialogue_acts().read_many([text.known_pieces for text in texts if text.known_pieces]))
    return [parts_of(text, next(read) if text.known_pieces else None) for text in texts]


def parts_of(text: ReadText, read: ReadActs | None = None) -> Parts:
    """Return a message and its parts; `read` is what the network makes of it, if that is known."""
    pieces = text.known_pieces
    if not pieces:
        return Parts.one(text, NO_ACTS)
    network = dialogue_acts()
    hidden, logits, acts = read or network.read(pieces)
    if max(logits[1:], default=-1.0) < 0.0 and _MARKS.isdisjoint(text.text):
        return Parts.one(text, acts)
    plain = normalized(text.text)
    begins = _begins(plain, len(pieces), logits)
    if not 0 < len(begins) < _MOST_PARTS:
        return Parts.one(text, acts)
    # The cuts are places in the normalised text; where they fit the message itself, it keeps its capitals.
    source = text.text if len(plain) == len(text.text) else plain
    cuts = [0, *begins.values(), len(source)]
    places = [0, *begins, len(pieces)]
    begun = [0.0, *(logits[place] for place in begins)]
    found = [
        MessagePart(ReadText(source[cut:next_cut].strip()), network.acts(hidden[place:next_place]), begun_by)
        for (cut, next_cut), (place, next_place), begun_by in zip(pairwise(cuts), pairwise(places), begun, strict=True)
    ]
    return Parts(acts, [part for part in found if part.text])


def _begins(plain: str, count: int, logits: Sequence[float]) -> dict[int, int]:
    """Return the pieces with which further parts begin, each with its place in the normalised text.

    A part begins with a word, and so with the unit of its first piece.
    """
    after = {match.end() for match in _SENTENCE_END.finditer(plain)}
    return {
        piece: place
        for piece, place in _places(plain, count).items()
        if 0 < piece < count and (logits[piece] >= 0.0 or place in after)
    }


def _places(plain: str, count: int) -> dict[int, int]:
    """Return by piece where in a normalised text the unit begins that starts with it; empty if they do not fit."""
    found, piece = {}, 0
    for place, pieces in embedded_tokenizer().units(plain):
        if pieces:
            found[piece] = place
        piece += pieces
    return found if piece == count else {}
