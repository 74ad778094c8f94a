"""Words that are no free text on their own: articles, prepositions, pronouns, auxiliary verbs, polite words.

`text.stop_words` holds words that say nothing as a whole message. Free text has a stricter rule, so this table adds
words that may be a message ("on", "is", "me") but are not the value of a slot without other words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from intentmatch.languages.own import with_english
from intentmatch.languages.tables import Table
from intentmatch.text.normalize import bare, base_language
from intentmatch.text.stop_words import stop_words

_MORE = Table[str]("function_words")
"""Function words by language, beside those of `text.stop_words`."""

_POLITE = Table[str]("polite_phrases")
"""Phrases that may end a request and are no part of free text, by language; bars separate them."""

_ELISIONS = Table[Mapping[str, str]]("elisions")
"""Words that lose their last letter before an apostrophe, with the whole words."""
_LEADING = Table[str]("leading_words")
"""Words that may begin an answer ("to 12 Baker Street") and are no part of free text, by language."""
_PARTICLES = "in on up off out an auf aus ab zu over along around back away through down uit op aan af"
PARTICLES = frozenset(_PARTICLES.split())
"""Function words that belong to the verb before them if no value follows ("log in tomorrow"), in bare form."""


def words_of(table: Table[str], language: str | None, between: str | None = None) -> frozenset[str]:
    """Return the words of a section in a language and in English, in bare form; `between` separates phrases."""
    found = (word for code in _with_english(language) for word in table.get(code, "").split(between))
    return frozenset(filter(None, map(bare, found)))


def _with_english(language: str | None) -> tuple[str, ...]:
    return with_english(base_language(language)) if language else ("en",)


@lru_cache(maxsize=64)
def function_words(language: str | None) -> frozenset[str]:
    """Return the function words of a language and of English, in bare form."""
    words = (*stop_words(_with_english(language)), *words_of(_MORE, language))
    return frozenset(part for word in words for part in bare(word).split())


@lru_cache(maxsize=64)
def polite_phrases(language: str | None) -> tuple[str, ...]:
    """Return phrases that may end a request in a language or in English, in bare form, the longest first."""
    return tuple(sorted(words_of(_POLITE, language, "|"), key=len, reverse=True))


@lru_cache(maxsize=64)
def leading_words(language: str | None) -> frozenset[str]:
    """Return words that may begin an answer in a language or in English, in bare form."""
    return words_of(_LEADING, language)


@lru_cache(maxsize=64)
def elisions(language: str | None) -> Mapping[str, tuple[str, ...]]:
    """Return words before an apostrophe with the whole words they stand for, in bare form."""
    whole = _ELISIONS.get(base_language(language) if language else "", {})
    return {short: tuple(words.split()) for short, words in whole.items()}
