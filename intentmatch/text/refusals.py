"""Find negated requests by language, and read them without the negation.

Most negations in messages are harmless: "it isn't here yet", "I can't log in". `refusal` knows only negations that
refuse: a negated wish or need ("I don't want to cancel", "no need to"), a prohibition ("don't cancel"), and a request
that is taken back ("forget the cancellation") or was never made ("I never asked for"). `possible_refusal` finds others
that often do ("it should not be cancelled").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import repeat
from typing import NamedTuple

from intentmatch.text.clauses import Span, pieces
from intentmatch.text.negation_words import NEGATIONS, SIGNS
from intentmatch.text.normalize import fold, language_range
from intentmatch.text.refusal_marks import MARKS, PARTS
from intentmatch.text.refusal_phrases import DECLINED, PHRASES
from intentmatch.text.refusal_rules import FORGET, REFUSALS
from intentmatch.text.retractions import RETRACTIONS
from intentmatch.text.rewriting import Rules, compiled, rewritten

LANGUAGES = frozenset(REFUSALS)
"""Languages with rules for refusals."""

_LETTERS_OF_SHORT_WORDS = 3
_CACHED_WORDS, _CACHED_LANGUAGES = 4096, 256
# What makes a clause depend on the one before it: "..., dass ihr es löscht", "..., mein Konto zu löschen".
_DEPENDENT = re.compile(
    r"(?:to|dass?|om|dat|que|qu['’]|de|d['’]|che|di|aby\w*|že|że\w*|hogy|чтобы?|что|щоб|що|att|at|å|να|ότι|că|să|da|че)\b"
    r"|.*\bzu \w+(?:e[lr]?n)\b",
    re.IGNORECASE,
)


class Refusal(NamedTuple):
    """A negation that refuses something, or may refuse it."""

    words: str
    """The negation as it stands in the message, for display."""
    without: str
    """The clause with the negation, without the negation."""
    is_whole: bool = False
    """Whether this clause is the whole text."""
    is_affix: bool = False
    """Whether the negation is a part of a word, in a clause with spaces: "nechci", "silmeyin"."""
    with_before: str | None = None
    """`without`, behind the clauses that come before it; None if it comes first."""
    after: str | None = None
    """The clauses that come after it, as they are; None if it comes last, or if they depend on it."""
    clause: str = ""
    """The clause with the negation."""
    retracts: bool = False
    """Whether it takes a request back: "forget the cancellation"."""


def refusal(text: str, language: str | None, words: Collection[str] | None = None) -> Refusal | None:
    """Find a clause of a cleaned text with a refusing negation; None if there is none.

    `words` are those of the folded text, if they are known.

    Beside `language`, which is often a guess, the rules of other languages apply if one of their negations stands in
    the text and is no negation of `language`. At most one negation is taken out.
    """
    words = fold(text).split() if words is None else words
    named = _with_rules(language)
    languages = [named] if named is not None and _may_refuse(text, words, named) else []
    # One look for all languages: most messages have no such word.
    if not _telling_marks().isdisjoint(words):
        for word in words:
            others = _by_word().get(word, ())
            languages += [code for code in others if named not in others and code not in languages]
    return next((found for code in languages if (found := _refusal(text, code)) is not None), None)


def possible_refusal(text: str, language: str | None) -> Refusal | None:
    """Find a negation in a cleaned text that often refuses, but may be harmless; None if there is none.

    The text without it is the whole text: "mi pedido no debe ser cancelado" gives "mi pedido debe ser cancelado".
    """
    known = _with_rules(language)
    if known is None or not _may_be_negated(text, known):
        return None
    without = rewritten(text, _negations(known))
    return Refusal(_difference(text, without), without, is_whole=True, clause=text) if without else None


@lru_cache(_CACHED_LANGUAGES)
def _with_rules(language: str | None) -> str | None:
    """Return a language or the nearest one that it falls back to, if there are rules for it."""
    return next((code for code in language_range(language) if code in LANGUAGES), None) if language else None


def _refusal(text: str, language: str) -> Refusal | None:
    spans = pieces(text, language)
    if (found := _retraction(text, spans, language)) is not None:
        return found
    for span in spans:
        clause = text[span.start : span.end]
        without = rewritten(clause, _rules(language))
        if without is not None:
            # "Don't forget to cancel" asks for what it names.
            forgets = language in FORGET and re.search(FORGET[language], without, re.IGNORECASE)
            # As many words as before, so that a word has lost its prefix or ending.
            is_affix = " " in clause and clause.count(" ") == without.count(" ")
            behind = text[: span.start] + without if span.start else None
            after = _after(text, spans, span.end)
            words, is_whole = _difference(clause, without), len(spans) == 1
            found = Refusal(words, without, is_whole, is_affix, behind, after, clause)
            return None if forgets else found
    return None


def _retraction(text: str, spans: Sequence[Span], language: str) -> Refusal | None:
    without = rewritten(text, _retractions(language))
    if without is None or any(_is_kept(text[span.start : span.end], language) for span in spans):
        return None
    words = _difference(text, without)
    after = _after(text, spans, text.find(words) + len(words)) if words else None
    return Refusal(words, without, is_whole=True, after=after, clause=text, retracts=True)


def _is_kept(clause: str, language: str) -> bool:
    """Whether a clause takes a request back and is in the negative itself: "streichen Sie den Termin nicht"."""
    if rewritten(clause, _retractions(language)) is None:
        return False
    # In "ne tenez pas compte de", the negation belongs to the phrase.
    without = rewritten(clause, _rules(language))
    return without is not None and rewritten(without, _retractions(language)) is not None


def _after(text: str, spans: Sequence[Span], place: int) -> str | None:
    """Return the clauses of a text that begin after a place; None without any, or if they depend on the one before."""
    begin = next((span.start for span in spans if span.start >= place), None)
    return None if begin is None or _DEPENDENT.match(text, begin) else text[begin:]


def _may_refuse(text: str, words: Collection[str], language: str) -> bool:
    """Return whether a mark of the language stands in the text; it takes less time than the patterns."""
    if language in PARTS:
        return re.search(PARTS[language], text, re.IGNORECASE) is not None
    return not _marks(language).isdisjoint(words)


def _may_be_negated(text: str, language: str) -> bool:
    """Return whether a sign of the language stands in the text: in one of its words, most of which occur often."""
    if language not in SIGNS:
        return True
    return any(map(_has_sign, text.split(" "), repeat(language)))


@lru_cache(_CACHED_WORDS)
def _has_sign(word: str, language: str) -> bool:
    return re.search(SIGNS[language], word, re.IGNORECASE) is not None


def _difference(text: str, other: str) -> str:
    """Return the words of a text that differ from another text, from the first to the last of them."""
    most = min(len(text), len(other))
    start = next((n for n in range(most) if text[n] != other[n]), most)
    left = most - start
    end = len(text) - next((n for n in range(left) if text[-1 - n] != other[-1 - n]), left)
    # Widened to whole words, where there are spaces to find them by.
    if " " in text:
        while start < end and text[start].isspace():
            start += 1
        while start > 0 and not text[start - 1].isspace():
            start -= 1
        while end < len(text) and not text[end].isspace() and not text[end - 1].isspace():
            end += 1
    return text[start:end].strip()


@cache
def _marks(language: str) -> frozenset[str]:
    return frozenset(MARKS[language].split())


@cache
def _by_word() -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each mark that tells them: short Latin words, such as "no", stand in too many."""
    found: dict[str, tuple[str, ...]] = {"not": ("en",)}
    for language, marks in MARKS.items():
        for mark in marks.split():
            if len(mark) > _LETTERS_OF_SHORT_WORDS or not mark.isascii():
                found[mark] = (*found.get(mark, ()), language)
    return found


@cache
def _telling_marks() -> frozenset[str]:
    return frozenset(_by_word())


@cache
def _rules(language: str) -> Rules:
    return compiled((*REFUSALS[language], *PHRASES.get(language, ()), *DECLINED.get(language, ())))


@cache
def _retractions(language: str) -> Rules:
    return compiled(RETRACTIONS.get(language, ()))


@cache
def _negations(language: str) -> Rules:
    return compiled((*NEGATIONS.get(language, ()), *DECLINED.get(language, ())))
