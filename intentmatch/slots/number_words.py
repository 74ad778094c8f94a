"""Numbers in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from intentmatch.languages.tables import Table
from intentmatch.slots.compounding import AND, MULTIPLIERS, PLUS_TEN, TIMES_TEN, Sum, plus
from intentmatch.slots.message import Message, NumberAt
from intentmatch.text.normalize import bare

_CARDINALS = Table[Mapping[str, Any]]("cardinals")
_LONGEST_WORD = 60


class _NumberWords(NamedTuple):
    """Words of a language for numbers, in bare form."""

    compounding: Collection[str]
    """How the language joins numbers, each one of `languages.sections.COMPOUNDING`."""
    values: dict[str, int]
    parts: dict[str, int]
    """`values` with the parts that occur only inside longer words."""
    articles: frozenset[str]
    """Words that are articles if they are alone ("un")."""


class _Run(NamedTuple):
    """Consecutive words that form one number."""

    sum: Sum
    start: int
    end: int
    """End of the last word that is not an "and"."""
    reached: int
    """End of the last word."""
    words: int
    """Number of words without an "and"."""
    scale: int = 1
    """The multiplier that it begins with."""


def spoken_numbers(message: Message) -> Iterator[NumberAt]:
    """Yield the numbers of a message in words of its language; an article is a loose one."""
    language = message.base_language
    table = _number_words(language)
    for run in _runs(message, language, table):
        is_article = run.words == 1 and message.bare[run.start : run.end] in table.articles
        span = message.aligned.span(run.start, run.end)
        if span is not None:
            yield NumberAt(*span, run.sum.total + run.sum.group, run.scale, is_article)


def _runs(message: Message, language: str, table: _NumberWords) -> Iterator[_Run]:
    run: _Run | None = None
    for start, end in message.words:
        parts = _parts(language, message.bare[start:end])
        longer = _added(table, run.sum, parts) if run and parts and message.adjacent(run.reached, start) else None
        if run and longer:
            last, more = (run.end, 0) if longer.joined else (end, 1)
            run = run._replace(sum=longer, end=last, reached=end, words=run.words + more)
            continue
        if run:
            yield run
        first = _added(table, None, parts) if parts else None
        scale = parts[0] if parts and parts[0] in MULTIPLIERS else 1
        run = _Run(first, start, end, end, 1, scale) if first else None
    if run:
        yield run


def _added(table: _NumberWords, so_far: Sum | None, parts: tuple[int, ...]) -> Sum | None:
    # The "and" of "and five" joins something else.
    for part in parts[1:] if so_far is None and parts[0] == AND else parts:
        so_far = plus(table.compounding, so_far, part)
        if so_far is None:
            return None
    return so_far


@lru_cache(maxsize=4096)
def _parts(language: str, word: str) -> tuple[int, ...] | None:
    """Return the numbers that a word consists of, with -1 for an "and"; None for other words."""
    table = _number_words(language)
    if word in table.values:
        return (table.values[word],)
    is_long = "one_word" in table.compounding and len(word) <= _LONGEST_WORD
    split = _split(table.parts, word) if is_long else None
    return split if split and split != (AND,) else None


def _split(parts: dict[str, int], word: str) -> tuple[int, ...] | None:
    """Split a word into parts, preferring long ones; None if it cannot be split."""
    splits: list[tuple[int, ...] | None] = [()]
    for end in range(1, len(word) + 1):
        # The earliest start gives the longest last part, and one pass over the ends keeps this from trying all ways.
        starts = (start for start in range(end) if splits[start] is not None and word[start:end] in parts)
        start = next(starts, None)
        before = None if start is None else splits[start]
        splits.append(None if start is None or before is None else (*before, parts[word[start:end]]))
    return splits[-1]


@lru_cache(maxsize=64)
def _number_words(language: str) -> _NumberWords:
    own = _CARDINALS.get(language, {})
    values = _by_word(own.get("words", {}))
    # The words of "dua puluh" (20) and "dua belas" (12) stand behind the unit.
    for field, part in (("and", AND), ("times_ten", TIMES_TEN), ("plus_ten", PLUS_TEN)):
        values |= dict.fromkeys(map(bare, own.get(field, "").split()), part)
    articles = frozenset(map(bare, own.get("articles", "").split()))
    return _NumberWords(own.get("compounding", ()), values, values | _by_word(own.get("inside", {})), articles)


def _by_word(words: Mapping[int, str]) -> dict[str, int]:
    return {bare(word): number for number, said in words.items() for word in said.split()}


def cardinal(language: str, words: Iterable[str], last: int | None = None) -> int | None:
    """Return the number of words in bare form, and of a number behind them; None if they are not one number.

    "Twenty" and 1 are 21; a word may be a part of a longer one ("einund" and 20).
    """
    table = _number_words(language)
    so_far: Sum | None = None
    for word in words:
        parts = _parts(language, word)
        so_far = _added(table, so_far, parts) if parts else None
        if so_far is None:
            return None
    total = so_far if last is None else plus(table.compounding, so_far, last)
    return None if total is None else total.total + total.group


@lru_cache(maxsize=64)
def small_numbers(language: str) -> dict[str, int]:
    """Return the single words of a language for 1 to 31, in bare form."""
    # 31 is the largest number that dates and times need.
    return {word: number for word, number in _number_words(language).values.items() if 0 < number <= 31}
