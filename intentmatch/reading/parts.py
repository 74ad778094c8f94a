"""The parts of a message: "Hello! I lost my card yesterday. Please block it" has three, and one asks for something."""

from __future__ import annotations

from typing import NamedTuple

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.unigram import normalized
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts, acts_of, dialogue_acts
from intentmatch.reading.text import ReadText

# Probability from which a part begins. More parts than these tell a story.
_BEGINS = 0.5
_MOST_PARTS = 8


class Part(NamedTuple):
    """A part of a cleaned message."""

    text: str
    acts: Acts


def parts_of(text: ReadText, typed: ReadText | None = None) -> list[Part]:
    """Return the parts of a message in order; the message alone if it has only one, or too many.

    `typed` is the message before its spelling was corrected: "annule pas" may become "annuler pas", which refuses
    nothing. If either refuses, the message does.
    """
    found = _parts_of(text)
    if typed is None or typed is text or len(found) > 1:
        return found
    acts = acts_of(typed.text)
    return found if acts.refuses <= found[0].acts.refuses else [Part(text.text, acts)]


def _parts_of(text: ReadText) -> list[Part]:
    pieces = text.known_pieces
    if not pieces:
        return [Part(text.text, NO_ACTS)]
    network = dialogue_acts()
    hidden = network.read(pieces)
    begins = network.begins(hidden)
    begins[0] = 0.0
    if begins.max() < _BEGINS:
        return [Part(text.text, network.acts(hidden))]
    places = _places(text, len(pieces))
    # A part begins with a word, and so with the unit of its first piece.
    starts = [0, *(piece for piece in sorted({*places}) if 0 < piece < len(pieces) and begins[piece] >= _BEGINS)]
    if not 1 < len(starts) <= _MOST_PARTS:
        return [Part(text.text, network.acts(hidden))]
    ends = [*starts[1:], len(pieces)]
    plain = normalized(text.text)
    source = text.text if len(plain) == len(text.text) else plain
    cuts = [*(places[start] for start in starts), len(source)]
    cuts[0] = 0
    found = [
        Part(source[begin:end].strip(), network.acts(hidden[start:stop]))
        for begin, end, start, stop in zip(cuts[:-1], cuts[1:], starts, ends, strict=True)
    ]
    return [part for part in found if part.text]


def _places(text: ReadText, count: int) -> dict[int, int]:
    """Return by piece where in the normalised text the unit begins that starts with it; empty if they do not fit."""
    found, piece = {}, 0
    for place, pieces in embedded_tokenizer().units(normalized(text.text)):
        if pieces:
            found[piece] = place
        piece += pieces
    return found if piece == count else {}
