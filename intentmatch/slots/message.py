"""What the finders are given, and what they give back."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import NamedTuple, Protocol

from intentmatch.slots.scripts import kind, parted, tokens, words
from intentmatch.text.alignment import Alignment

AS_DECLARED, BUT_FOR_ACCENTS, WITH_AN_ENDING, MISTYPED = range(4)

# What Arabic and Hebrew write together with the word behind it: "and", "in", "to", "like", "the".
_WRITTEN_TOGETHER = "و ف ب ل ک ال وب ول فب فل وال فال بال کال لل ה ו ב ל מ כ ש וה שה וב ול"
_PROCLITICS = frozenset(_WRITTEN_TOGETHER.split())
_LONGEST_PROCLITIC = 3


MOST_WORDS = 300
"""Of a message, in which typing mistakes are looked for."""


class SlotHit(NamedTuple):
    """What may be the value of a slot: `text[start:end]` of the message."""

    start: int
    end: int
    value: str | int | float
    distance: int = AS_DECLARED
    """How it differs from what was declared; the less, the better."""


class Start(NamedTuple):
    """A place of the bare text where a name may begin."""

    place: int
    inside: bool
    """Behind a word that is written together with it."""


class Token(NamedTuple):
    """A word of the message, or a character of a script without spaces."""

    bare: str
    start: int
    """In the message itself."""
    end: int


class Run(NamedTuple):
    """Some words in a row, of scripts with spaces."""

    text: str
    """In bare form."""
    start: int
    end: int
    """In the bare form."""
    together: str
    """Without spaces."""
    initials: str


class Finder(Protocol):
    """Finds the values of one slot."""

    def find(self, message: Message) -> list[SlotHit]:
        """Everything that may be a value, overlaps included, in any order."""


class Message:
    """One message as the finders see it; what several of them need is worked out once."""

    def __init__(self, text: str, language: str | None = None, now: datetime | None = None) -> None:
        self.text = text
        self.language = language
        self.now = now or datetime.now()
        self.remarks: list[str] = []
        """What the author should hear of, such as a pattern that took too long."""
        self.seconds_on_patterns = 0.0
        self._runs: dict[int, list[Run]] = {}

    @cached_property
    def aligned(self) -> Alignment:
        """The bare form."""
        return Alignment(self.text)

    @property
    def bare(self) -> str:
        """The bare form without the way back."""
        return self.aligned.bare

    @cached_property
    def words(self) -> list[tuple[int, int]]:
        """Where in the bare form the words of scripts with spaces stand."""
        return list(words(self.bare))

    def runs(self, length: int) -> list[Run]:
        """The words in rows of `length`; those of a very long message are not all looked at."""
        if length not in self._runs:
            words = self.words[:MOST_WORDS]
            ends = words[length - 1 :]
            self._runs[length] = [
                _run(self.bare, start, end) for (start, _), (_, end) in zip(words, ends, strict=False)
            ]
        return self._runs[length]

    @cached_property
    def tokens(self) -> list[Token]:
        """The words, in order."""
        places = ((place, self.aligned.span(*place)) for place in tokens(self.bare))
        return [Token(self.bare[slice(*place)], *span) for place, span in places if span is not None]

    @cached_property
    def starts(self) -> list[Start]:
        """Where in the bare form names may begin, in order."""
        bare = self.bare
        found = [Start(place, inside=False) for place in range(len(bare)) if bare[place] != " " and self.begins(place)]
        for start, end in self.words:
            for place in range(start + 1, min(start + 1 + _LONGEST_PROCLITIC, end)):
                if bare[start:place] in _PROCLITICS:
                    found.append(Start(place, inside=True))
        return sorted(found)

    def begins(self, place: int) -> bool:
        """Whether a name may begin at a place of the bare form."""
        return place == 0 or self.ends(place)

    def ends(self, place: int) -> bool:
        """Whether a name may end there."""
        bare = self.bare
        return place >= len(bare) or parted(bare[place - 1], bare[place]) or self.aligned.dropped(place)

    def bounds(self, start: int, end: int) -> bool:
        """Whether a name may begin and end there; Korean ones also before what is written together with them."""
        return self.begins(start) and (self.ends(end) or kind(self.bare[end - 1]) == "hangul")


def _run(bare: str, start: int, end: int) -> Run:
    text = bare[start:end]
    return Run(text, start, end, text.replace(" ", ""), initials(text))


def initials(text: str) -> str:
    """The first letter of each word."""
    return "".join(word[:1] for word in text.split(" "))
