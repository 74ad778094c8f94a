"""Cut a message where a clause may end: at punctuation and at words that join requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.languages.tables import Table
from intentmatch.text.normalize import language_range

JOINING_WORDS: Mapping[str, str] = Table("joining_words")
"""Words that join requests, by language."""
# Not within a number, a time, a date or an address ("3.2.", "17:00", "12,50"), nor behind an ordinal or an initial.
_PUNCTUATION = r"[;!?…\n。，、；：！？؛،؟।]|[,:](?!(?<=\d.)\d)|(?<!\b\w)(?<!\b\d\d)\.(?!\w)"


class Span(NamedTuple):
    """A part of a message: start and end in code points."""

    start: int
    end: int


def pieces(message: str, language: str | None) -> list[Span]:
    """Cut a message where a clause may end, without joining words and surrounding spaces."""
    # The even places begin a piece and the odd ones end it.
    ends = [0, *(place for match in _ends(language).finditer(message) for place in match.span()), len(message)]
    spans = (stripped(message, start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))
    return [span for span in spans if span.start < span.end]


def stripped(message: str, start: int, end: int) -> Span:
    """Return a span of a message without the white space at its ends."""
    text = message[start:end]
    start += len(text) - len(text.lstrip())
    return Span(start, max(start, start + len(text.strip())))


@cache
def _ends(language: str | None) -> re.Pattern[str]:
    """Return the pattern of clause ends in a language; languages without a list use the English one."""
    known = next((code for code in language_range(language or "en") if code in JOINING_WORDS), "en")
    words = "|".join(re.escape(word) for word in JOINING_WORDS[known].split())
    # Without spaces there is no edge of a word to ask for.
    joining = words if "unspaced" in structure_of(known) else rf"(?<!\w)(?:{words})(?!\w)"
    return re.compile(f"{_PUNCTUATION}|{joining}", re.IGNORECASE)
