"""The parts of a message: "Hello! I lost my card yesterday. Please block it" has three, and one asks for something."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import NamedTuple

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.unigram import normalized
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts, ReadActs, acts_of, dialogue_acts
from intentmatch.reading.text import ReadText
from intentmatch.text.clauses import JOINING_WORDS
from intentmatch.text.normalize import fold, language_range

# More parts tell a story.
_MOST_PARTS = 8
# With the second, both requests of 70 instead of 45 of 100 messages of mixsnips with two are offered, and 4 fewer of
# 9,152 single requests of five development sets are right.
_LEAST, _LEAST_JOINED = 0.0, -5.0
"""Log odds from which a part begins with a word, and with one behind a word that joins requests."""
_MAY_DENY = 0.3
"""Probability that a message denies something from which such a word joins no requests."""
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
    requests: Sequence[MessagePart] = ()
    """The parts cut at all words that join requests, if these are more: they may be clauses of one request."""

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
        if acts.refuses <= self.acts.refuses:
            return self
        one = Parts.one(self.parts[0].read, acts)
        return one if acts.denies >= _MAY_DENY else one._replace(requests=self.requests)


def parts_of_many(texts: Sequence[ReadText], languages: Sequence[str | None]) -> list[Parts]:
    """Return what `parts_of` returns for each text in its language, up to rounding, in less time."""
    read = iter(dialogue_acts().read_many([text.known_pieces for text in texts if text.known_pieces]))
    return [
        parts_of(text, language, next(read) if text.known_pieces else None)
        for text, language in zip(texts, languages, strict=True)
    ]


def parts_of(text: ReadText, language: str | None, read: ReadActs | None = None) -> Parts:
    """Return a message and its parts; `read` is what the network makes of it, if that is known."""
    pieces = text.known_pieces
    if not pieces:
        return Parts.one(text, NO_ACTS)
    network = dialogue_acts()
    hidden, logits, acts = read or network.read(pieces)
    # "Don't lock the card and block it" is one refusal.
    joining = _joining_words(language) if acts.denies < _MAY_DENY else frozenset[str]()
    least = _LEAST if joining.isdisjoint(text.words) else _LEAST_JOINED
    if max(logits[1:], default=_LEAST) < least and _MARKS.isdisjoint(text.text):
        return Parts.one(text, acts)
    plain = normalized(text.text)
    begun = _begun(plain, len(pieces), logits, joining)
    if not 0 < len(begun) < _MOST_PARTS:
        return Parts.one(text, acts)
    # The cuts are places in the normalised text; where they fit the message itself, it keeps its capitals.
    source = text.text if len(plain) == len(text.text) else plain

    def cut(begun: Sequence[_Begun]) -> list[MessagePart]:
        starts = [_Cut(0, 0), *(one.start for one in begun)]
        ends = [*(one.end_before for one in begun), _Cut(len(pieces), len(source))]
        found = [
            MessagePart(
                ReadText(source[start.place : end.place].strip()), network.acts(hidden[start.piece : end.piece]), by
            )
            for start, end, by in zip(starts, ends, [0.0, *(one.log_odds for one in begun)], strict=True)
            if start.piece < end.piece
        ]
        return [part for part in found if part.text]

    certain = [one for one in begun if one.is_certain]
    requests = cut(begun) if len(certain) < len(begun) else []
    parts = cut(certain)
    said = Parts(acts, parts) if len(parts) > 1 else Parts.one(text, acts)
    return said._replace(requests=requests if len(requests) > 1 else ())


class _Cut(NamedTuple):
    """A piece, and its place in the normalised text."""

    piece: int
    place: int


class _Begun(NamedTuple):
    """Where a further part begins."""

    start: _Cut
    end_before: _Cut
    """Where the part before ends: words that join the two belong to none."""
    log_odds: float
    is_certain: bool
    """Whether no word that joins requests is needed to see it."""


def _begun(plain: str, count: int, logits: Sequence[float], joining: Collection[str]) -> list[_Begun]:
    """Return where further parts begin: with a word, and so with the unit of its first piece.

    Fewer log odds are enough behind `joining` words.
    """
    after = {match.end() for match in _SENTENCE_END.finditer(plain)}
    units = _units(plain, count)
    found, end = [], 0
    for number, start in enumerate(units):
        if number and fold(plain[units[number - 1].place : start.place]) not in joining:
            end = number
        is_joined = 0 < end < number
        log_odds = logits[start.piece] if 0 < start.piece < count else 0.0
        is_certain = log_odds >= _LEAST or start.place in after
        if 0 < start.piece < count and (is_certain or (is_joined and log_odds >= _LEAST_JOINED)):
            log_odds = max(log_odds, _LEAST) if is_joined or start.place in after else log_odds
            found.append(_Begun(start, units[end] if is_joined else start, log_odds, is_certain))
    return found


@cache
def _joining_words(language: str | None) -> frozenset[str]:
    """Return the words that join two requests in a language, folded; English ones for a language without a list."""
    known = next((code for code in language_range(language or "en") if code in JOINING_WORDS), "en")
    return frozenset(map(fold, JOINING_WORDS[known].split()))


def _units(plain: str, count: int) -> list[_Cut]:
    """Return the first piece of each unit of a normalised text, with its place; none if they do not fit."""
    found, piece = [], 0
    for place, pieces in embedded_tokenizer().units(plain):
        if pieces:
            found.append(_Cut(piece, place))
        piece += pieces
    return found if piece == count else []
