"""Patterns for words of a language in plain form, as whole words in scripts with spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable

from intentmatch.slots.message import plain
from intentmatch.text.scripts import kind


def any_of(words: Iterable[str], endings: str = "") -> str:
    """Return a pattern for any of the words, in plain form, as whole words in scripts with spaces.

    The regular expression `endings` may follow a word, and is no part of it.
    Words with the same ends share their look-around, and the first letters are tested together: a long message is
    searched several times faster than with one look-around a word.
    """
    groups: dict[tuple[bool, bool], list[str]] = {}
    for word in sorted(set(words) - {""}, key=len, reverse=True):
        ends = kind(word[0]) == "letter", kind(word[-1]) == "letter"
        groups.setdefault(ends, []).append(re.escape(word))
    if not groups:
        return "(?!)"
    firsts = "".join(sorted({re.escape(text.removeprefix("\\")[0]) for texts in groups.values() for text in texts}))
    # "un'" comes before "un".
    patterns = [_whole("|".join(groups[ends]), *ends, endings) for ends in sorted(groups, key=lambda ends: ends[1])]
    return f"(?=[{firsts}])(?:{'|'.join(patterns)})"


def either(texts: Iterable[str]) -> str:
    """Return a pattern for any of the texts, wherever they stand; the longest come first."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or "(?!)"


def any_phrase(*phrases: str) -> str:
    """Return a pattern for any of the phrases, which bars separate."""
    return any_of(plain(phrase) for phrase in "|".join(phrases).split("|"))


def beside(words: str) -> tuple[str, str]:
    """Return patterns for the words that stand before something, and for those with `~`, which stand behind it.

    Bars separate the words.
    """
    behind = [plain(word[1:]) for word in words.split("|") if word.startswith("~")]
    return any_of(plain(word) for word in words.split("|") if not word.startswith("~")), any_of(behind)


def _whole(pattern: str, starts_with_letter: bool, ends_with_letter: bool, endings: str) -> str:
    before = "(?<![^\\W\\d_])" if starts_with_letter else ""
    end = f"(?=(?:{endings})?(?![^\\W\\d_]))" if endings else "(?![^\\W\\d_])"
    after = end if ends_with_letter else ""
    return f"{before}(?:{pattern}){after}"
