"""Input and output of the slot finders: `Message` and `SlotHit`."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property, lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

from intentmatch.core.types import Value
from intentmatch.text.alignment import Alignment
from intentmatch.text.normalize import base_language
from intentmatch.text.scripts import is_boundary, kind, tokens, words

_Found = TypeVar("_Found")

AS_DECLARED, BUT_FOR_ACCENTS, WITH_AN_ENDING, MISTYPED = range(4)

# Prefixes that Arabic and Hebrew attach to the next word: "and", "in", "to", "like", "the".
_WRITTEN_TOGETHER = "و ف ب ل ک ال وب ول فب فل وال فال بال کال لل ה ו ב ל מ כ ש וה שה וב ול"
_PROCLITICS = frozenset(_WRITTEN_TOGETHER.split())
_LONGEST_PROCLITIC = 3


MOST_WORDS = 300
"""Words of a message that are searched for typing mistakes."""
MOST_WORDS_READ, MOST_LETTERS_READ = 800, 4000
"""Words and letters of the bare form that slots are read from. Free text may extend beyond them.

With these, fifteen slots take at most about 0.1 s of processor time for the slowest text of `tests/hardening`.
"""
_SHORT = MOST_WORDS_READ // 4
"""Characters whose bare form never exceeds the bounds: a character has at most four words and 18 letters."""


_HYPHENS = " \t\u00a0\u202f-\u2010\u2011\u200c"
_SAME = dict(zip("’ʼ´`‘ıİىیک−–—‑", "'''''iiييك----", strict=True))
"""Letters and signs that are read as others."""


class SlotHit(NamedTuple):
    """A possible slot value at `text[start:end]` of the message."""

    start: int
    end: int
    value: Value
    distance: int = AS_DECLARED
    """Difference from the declared name, from `AS_DECLARED` to `MISTYPED`."""


class NumberAt(NamedTuple):
    """A number in a message."""

    start: int
    end: int
    value: int | float
    scale: int | float = 1
    """The scale that it begins with: a number before it counts thousands or millions."""
    is_loose: bool = False
    """Whether it is a number only beside a unit or in a longer number: a numeral that may be part of a word."""
    counts: bool = False
    """Whether it counts something: "a dozen", and "hat fő" (six people) where the word alone is another one."""


class Start(NamedTuple):
    """A position of the bare text where a name may begin."""

    place: int
    inside: bool
    """Whether it is inside a word, after an attached prefix."""


class Token(NamedTuple):
    """A word of the message, or a character of a script without spaces; the span is in the message itself."""

    bare: str
    start: int
    end: int


class Run(NamedTuple):
    """Consecutive words of scripts with spaces; text and span are of the bare form."""

    text: str
    start: int
    end: int
    together: str
    """The text without spaces."""
    initials: str


Find = Callable[["Message"], list[SlotHit]]
"""Returns all possible values of a slot in a message, including overlapping ones, in any order."""


class Message:
    """A message with the forms that finders share, computed once."""

    def __init__(self, text: str, language: str | None = None, now: datetime | None = None) -> None:
        """`language` may be a bot's own form of a language, as `OwnLanguages.code` gives it."""
        self.text = text
        self.language = language
        self.now = now or datetime.now()
        self.remarks: list[str] = []
        """Remarks for the trace, such as a pattern that timed out."""
        self.seconds_on_patterns = 0.0
        self.memo: dict[Any, list[Any]] = {}
        """What functions have found in the message (`once`), so that several slots share it."""
        self._runs: dict[int, list[Run]] = {}

    @cached_property
    def base_language(self) -> str:
        """The language whose words are read, without region and script; English if the message has none."""
        return base_language(self.language) if self.language else "en"

    @cached_property
    def aligned(self) -> Alignment:
        """The bare form, aligned with the message."""
        return Alignment(self.text)

    @property
    def bare(self) -> str:
        """The bare form."""
        return self.aligned.bare

    @cached_property
    def words(self) -> list[tuple[int, int]]:
        """Spans, in the bare form, of the words of scripts with spaces."""
        return list(words(self.bare))

    @cached_property
    def plain(self) -> str:
        """The text, character by character in lower case, without accents, with ASCII digits: offsets stay the same."""
        return plain(self.text)

    def runs(self, length: int) -> list[Run]:
        """Return all runs of `length` consecutive words, within the first `MOST_WORDS` words."""
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

    def tokens_before(self, place: int, count: int) -> list[Token]:
        """Return the last `count` words that end at or before a position of the message."""
        last = bisect_right(self.tokens, place, key=lambda token: token.end)
        return self.tokens[max(last - count, 0) : last]

    def tokens_after(self, place: int, count: int) -> list[Token]:
        """Return the first `count` words that begin at or after a position of the message."""
        first = bisect_left(self.tokens, place, key=lambda token: token.start)
        return self.tokens[first : first + count]

    @cached_property
    def starts(self) -> list[Start]:
        """Positions of the bare form where names may begin, sorted."""
        bare = self.bare
        found = [Start(place, inside=False) for place in range(len(bare)) if bare[place] != " " and self.begins(place)]
        for start, end in self.words:
            for place in range(start + 1, min(start + 1 + _LONGEST_PROCLITIC, end)):
                if bare[start:place] in _PROCLITICS:
                    found.append(Start(place, inside=True))
        return sorted(found)

    def marked(self, spans: Iterable[tuple[int, int]]) -> bytearray:
        """Return a mark for each character: 1 within a span."""
        marks = bytearray(len(self.text))
        for start, end in spans:
            marks[start:end] = b"\1" * (end - start)
        return marks

    def adjacent(self, end: int, start: int) -> bool:
        """Return whether only spaces and hyphens stand between two words of the bare form."""
        between = self.aligned.between(end, start)
        return between is not None and not between.strip(_HYPHENS)

    def begins(self, place: int) -> bool:
        """Return whether a name may begin at a position of the bare form."""
        return place == 0 or self.ends(place)

    def ends(self, place: int) -> bool:
        """Return whether a name may end at a position of the bare form."""
        bare = self.bare
        return place >= len(bare) or is_boundary(bare[place - 1], bare[place]) or self.aligned.dropped(place)

    def bounds(self, start: int, end: int) -> bool:
        """Return whether a span may be a name; Korean names may also end before attached particles."""
        return self.begins(start) and (self.ends(end) or kind(self.bare[end - 1]) == "hangul")


def once(find: Callable[[Message], list[_Found]]) -> Callable[[Message], list[_Found]]:
    """Keep what a function finds in a message, and return that the next time."""

    @wraps(find)
    def kept(message: Message) -> list[_Found]:
        if kept not in message.memo:
            message.memo[kept] = find(message)
        return message.memo[kept]

    return kept


def readable(text: str) -> str:
    """Return the beginning of a text that slots are read from, within `MOST_WORDS_READ` and `MOST_LETTERS_READ`.

    A character of a script without spaces and a numeral such as "½" are words. The time to read slots is proportional
    to these numbers, so they bound it for any message.
    """
    if len(text) <= _SHORT:
        return text
    words = letters = 0
    before = "sign"
    for place, char in enumerate(text):
        now = kind(char)
        alone = now in ("ideograph", "unspaced") or (now == "digit" and not char.isdecimal())
        words += now != "sign" and (alone or now != before)
        letters += _letters(char)
        if words > MOST_WORDS_READ or letters > MOST_LETTERS_READ:
            return text[:place]
        before = now
    return text


@lru_cache(maxsize=4096)
def _letters(char: str) -> int:
    return len(unicodedata.normalize("NFKC", char))


def plain(text: str) -> str:
    """Return a text of the same length in lower case, without accents, with ASCII digits, spaces and apostrophes."""
    return text.lower() if text.isascii() else "".join(map(_plain_letter, text))


@lru_cache(maxsize=4096)
def _plain_letter(char: str) -> str:
    if char in _SAME:
        return _SAME[char]
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    # A line break stays one, so that no pattern with a space reaches over it.
    if char.isspace() and char != "\n":
        return " "
    wide = unicodedata.normalize("NFKC", char)
    char = wide if len(wide) == 1 else char
    # One character for each: "İ" has two in lower case, and offsets must stay.
    return (unicodedata.normalize("NFD", char) if kind(char) == "letter" else char)[0].lower()[0]


def _run(bare: str, start: int, end: int) -> Run:
    text = bare[start:end]
    return Run(text, start, end, text.replace(" ", ""), initials(text))


def initials(text: str) -> str:
    """Return the first letters of all words."""
    return "".join(word[:1] for word in text.split(" "))
