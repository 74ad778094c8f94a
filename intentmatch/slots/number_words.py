"""Numbers in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from intentmatch.languages.tables import Table
from intentmatch.slots.message import Message, NumberAt
from intentmatch.text.normalize import bare, base_language


class _Cardinals(NamedTuple):
    """Words of a language for numbers."""

    words: Mapping[int, str]
    joint: str = ""
    """Words that join two parts ("and")."""
    articles: str = ""
    """Words that are articles if they are alone ("un")."""
    inside: Mapping[int, str] = {}
    """Parts that occur only inside longer words."""
    compounding: Collection[str] = ()
    """How the language joins numbers, each one of `COMPOUNDING`."""


COMPOUNDING = {
    "one_word": "compound numbers are written as one word (einundzwanzig)",
    "units_first": "the units come before the tens (one and twenty)",
    "vigesimal": "four twenties are eighty, and sixty ten is seventy",
    "ten_behind_units": "three ten is thirteen",
}
"""Ways to join numbers, by name."""

_CARDINALS = Table[_Cardinals]("cardinals", lambda own: _cardinals(**own))
_MULTIPLIERS = (1000, 1_000_000, 1_000_000_000)
_AND = -1
_LONGEST_WORD = 60
_MOST_DIGITS = 18
_HYPHENS = " \t\u00a0\u202f-\u2010\u2011\u200c"


class _Table(NamedTuple):
    compounding: Collection[str]
    values: dict[str, int]
    parts: dict[str, int]
    """`values` with the parts that occur only inside longer words."""
    articles: frozenset[str]


class _Sum(NamedTuple):
    """A partly read number."""

    total: int
    """Completed thousands and above."""
    group: int
    """The current group below a thousand, which a multiplier may follow."""
    joined: bool = False
    """Whether the last word was an "and"."""


class _Run(NamedTuple):
    """Consecutive words that form one number."""

    sum: _Sum
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
    language = base_language(message.language) if message.language else "en"
    table = _table(language)
    if table is None:
        return
    for run in _runs(message, language, table):
        is_article = run.words == 1 and message.bare[run.start : run.end] in table.articles
        span = message.aligned.span(run.start, run.end)
        if span is not None:
            yield NumberAt(*span, run.sum.total + run.sum.group, run.scale, is_article)


def _runs(message: Message, language: str, table: _Table) -> Iterator[_Run]:
    run: _Run | None = None
    for start, end in message.words:
        parts = _parts(language, message.bare[start:end])
        longer = _added(table, run.sum, parts) if run and parts and _adjacent(message, run.reached, start) else None
        if run and longer:
            last, more = (run.end, 0) if longer.joined else (end, 1)
            run = run._replace(sum=longer, end=last, reached=end, words=run.words + more)
            continue
        if run:
            yield run
        first = _added(table, None, parts) if parts else None
        scale = parts[0] if parts and parts[0] in _MULTIPLIERS else 1
        run = _Run(first, start, end, end, 1, scale) if first else None
    if run:
        yield run


def _adjacent(message: Message, end: int, start: int) -> bool:
    between = message.aligned.between(end, start)
    return between is not None and not between.strip(_HYPHENS)


def _added(table: _Table, so_far: _Sum | None, parts: tuple[int, ...]) -> _Sum | None:
    for part in parts[1:] if so_far is None and parts[0] == _AND else parts:
        so_far = _plus(table.compounding, so_far, part)
        if so_far is None:
            return None
    return so_far


def _plus(compounding: Collection[str], so_far: _Sum | None, part: int) -> _Sum | None:
    """Extend a number by one part; return None if the part cannot follow."""
    if so_far is None:
        return None if part == _AND else _Sum(part, 0) if part >= 1000 else _Sum(0, part)
    total, group, _ = so_far
    if part == _AND:
        return _Sum(total, group, joined=True)
    if part in _MULTIPLIERS and group > 0 and total % (part * 1000) == 0:
        return _Sum(total + group * part, 0)
    if part == 100 and 0 < group < 100:
        return _Sum(total, group * 100)
    if "vigesimal" in compounding and part == 20 and group % 100 == 4:
        return _Sum(total, group - 4 + 80)
    return _Sum(total, group + part) if _fits(compounding, so_far, part) else None


def _fits(compounding: Collection[str], so_far: _Sum, part: int) -> bool:
    """Return whether a part below a thousand can follow a partly read number."""
    tens = so_far.group % 100
    if part == 0 or part >= 1000 or so_far == (0, 0, so_far.joined):
        return False
    if part >= 100:
        return so_far.group == 0
    if "ten_behind_units" in compounding and part == 10:
        return tens < 10
    if "units_first" in compounding and 0 < tens < 10:
        return part >= 20 and so_far.joined
    if "vigesimal" in compounding and tens in (60, 80):
        return part < 20
    return tens == 0 or (tens >= 20 and tens % 10 == 0 and part < 10)


@lru_cache(maxsize=4096)
def _parts(language: str, word: str) -> tuple[int, ...] | None:
    """Return the numbers that a word consists of, with -1 for an "and"; None for other words."""
    table = _table(language)
    if table is None:
        return None
    if word in table.values:
        return (table.values[word],)
    is_long = "one_word" in table.compounding and len(word) <= _LONGEST_WORD
    split = _split(table.parts, word) if is_long else None
    return split if split and split != (_AND,) else None


def _split(parts: dict[str, int], word: str) -> tuple[int, ...] | None:
    """Split a word into parts, preferring long ones; None if it cannot be split."""
    splits: list[tuple[int, ...] | None] = [()]
    for end in range(1, len(word) + 1):
        starts = (start for start in range(end) if splits[start] is not None and word[start:end] in parts)
        start = next(starts, None)
        before = None if start is None else splits[start]
        splits.append(None if start is None or before is None else (*before, parts[word[start:end]]))
    return splits[-1]


@lru_cache(maxsize=64)
def _table(language: str) -> _Table | None:
    if language not in _CARDINALS:
        return None
    own = _CARDINALS[language]
    values = _by_word(own.words) | {bare(word): _AND for word in own.joint.split()}
    articles = frozenset(map(bare, own.articles.split()))
    return _Table(own.compounding, values, values | _by_word(own.inside), articles)


def _cardinals(**own: Any) -> _Cardinals:
    return _Cardinals(joint=own.pop("and", ""), **own)


def _by_word(words: Mapping[int, str]) -> dict[str, int]:
    return {bare(word): number for number, said in words.items() for word in said.split()}


def with_cardinals(language: str, before: Iterable[str], last: int) -> int | None:
    """Return the number of words in bare form and of a number behind them, None if they are not one number.

    "Twenty" and 1 are 21; a word may be a part of a longer one ("einund" and 20).
    """
    table = _table(language)
    so_far: _Sum | None = None
    for word in before:
        parts = _parts(language, word)
        so_far = _added(table, so_far, parts) if table and parts else None
        if so_far is None:
            return None
    total = _plus(table.compounding, so_far, last) if table else None
    return None if total is None else total.total + total.group


def cardinal(language: str, word: str) -> int | None:
    """Return the number that a single word in bare form means; None for other words."""
    table, parts = _table(language), _parts(language, word)
    total = _added(table, None, parts) if table and parts else None
    return None if total is None else total.total + total.group


@lru_cache(maxsize=64)
def small_numbers(language: str) -> dict[str, int]:
    """Return the single words of a language for 1 to 31, in bare form."""
    table = _table(language)
    return {} if table is None else {word: number for word, number in table.values.items() if 0 < number <= 31}
