"""Find negated requests by language, and read them without the negation.

Most negations in messages are harmless: "it isn't here yet", "I can't log in". `refusal` knows only negations that
refuse: a negated wish or need ("I don't want to cancel", "no need to"), a prohibition ("don't cancel"), and a request
that is taken back ("forget the cancellation") or was never made ("I never asked for"). Others ("it should not be
cancelled") are left to `reading.dialogue_acts`. The rules are in the files of `intentmatch.languages`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from rapidfuzz.distance import Postfix, Prefix

from intentmatch.languages.rules import LETTER, head
from intentmatch.languages.tables import Table
from intentmatch.text.clauses import Span, pieces
from intentmatch.text.normalize import fold, language_range
from intentmatch.text.rewriting import Rules, compiled, rewritten

REFUSALS: Mapping[str, Mapping[str, Any]] = Table("refusals")
"""Rules for refusals, by language."""

NEGATED: Mapping[str, Rules] = Table("negated")
"""By language: rules that put a request into the negative."""

_WORDS: Mapping[str, Mapping[str, str]] = Table("refusal_words")
_SIGNS: Mapping[str, re.Pattern[str]] = Table("refusal_sign", lambda sign: re.compile(sign, re.IGNORECASE))
_DECLINED: Mapping[str, Mapping[str, str]] = Table("declined")
_DEPENDENT: Mapping[str, str] = Table("dependent_clauses")
_LETTERS_OF_SHORT_WORDS = 3
_CACHED_LANGUAGES = 256


class Refusal(NamedTuple):
    """A negation that refuses something."""

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
    if not _by_word().keys().isdisjoint(words):
        for word in words:
            others = _by_word().get(word, ())
            languages += [code for code in others if named not in others and code not in languages]
    return next((found for code in languages if (found := _refusal(text, code)) is not None), None)


def negated(text: str, language: str) -> str | None:
    """Put a request into the negative: "cancel my order" gives "please don't cancel my order".

    None if the text is not a request of a form that the rules know.
    """
    known = next((code for code in language_range(language) if code in NEGATED), None)
    # A request that refuses already would become its own opposite.
    if known is None or refusal(text, known) is not None:
        return None
    return rewritten(text, NEGATED[known])


@lru_cache(_CACHED_LANGUAGES)
def _with_rules(language: str | None) -> str | None:
    """Return a language or the nearest one that it falls back to, if there are rules for it."""
    return next((code for code in language_range(language) if code in REFUSALS), None) if language else None


def _refusal(text: str, language: str) -> Refusal | None:
    spans = pieces(text, language)
    if (found := _retraction(text, spans, language)) is not None:
        return found
    for span in spans:
        clause = text[span.start : span.end]
        without = rewritten(clause, _rules(language))
        if without is not None:
            # "Don't forget to cancel" asks for what it names.
            forgetting = REFUSALS[language].get("forgetting")
            forgets = forgetting and re.search(forgetting, without, re.IGNORECASE)
            # As many words as before, so that a word has lost its prefix or ending.
            is_affix = " " in clause and clause.count(" ") == without.count(" ")
            behind = text[: span.start] + without if span.start else None
            after = _after(text, spans, span.end)
            words, is_whole = _difference(clause, without), len(spans) == 1
            found = Refusal(words, without, is_whole, is_affix, behind, after, clause)
            return None if forgets else found
    # "Cancel my order? No!" is declined in another clause.
    without = rewritten(text, _declined(language)) if len(spans) > 1 else None
    return Refusal(_difference(text, without), without, is_whole=True, clause=text) if without else None


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
    return None if begin is None or _dependent().match(text, begin) else text[begin:]


def _may_refuse(text: str, words: Collection[str], language: str) -> bool:
    """Return whether a mark or a sign of the language stands in the text; it takes less time than the rules."""
    sign = _SIGNS.get(language)
    return not _marks(language).isdisjoint(words) if sign is None else sign.search(text) is not None


def _difference(text: str, other: str) -> str:
    """Return the words of a text that differ from another text, from the first to the last of them."""
    start = Prefix.similarity(text, other)
    end = len(text) - Postfix.similarity(text[start:], other[start:])
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
    return frozenset(_WORDS.get(language, {}).get("marks", "").split())


@cache
def _by_word() -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each mark that tells them: short Latin words, such as "no", stand in too many."""
    found: dict[str, tuple[str, ...]] = {}
    for language, words in _WORDS.items():
        marks = words.get("marks", "").split()
        telling = {mark for mark in marks if len(mark) > _LETTERS_OF_SHORT_WORDS or not mark.isascii()}
        for mark in telling.union(words.get("telling", "").split()):
            found[mark] = (*found.get(mark, ()), language)
    return found


@cache
def _rules(language: str) -> Rules:
    return (*REFUSALS[language].get("rules", ()), *_declined(language))


@cache
def _retractions(language: str) -> Rules:
    """Return the rules of phrases at the head of a clause that take a request back: "forget the cancellation".

    The text is read without such a phrase as a whole, as what comes behind may tell which request: "scrap that, I want
    my order".
    """
    rules = []
    if (phrase := REFUSALS[language].get("taken_back")) is not None:
        # "Forget not to call" takes nothing back.
        behind = rf"(?: |(?<=['’]))(?!(?:{_every('not')})\b)(?=\w)"
        rules.append((rf"{_at_head(phrase)}(?:{phrase}){behind}", ""))
    if alone := REFUSALS[language].get("left_alone"):
        begins, ends = alone["begins"], alone["ends"]
        rules.append((rf"{_at_head(begins)}(?:{begins}) (.+?) (?:{ends})(?!{LETTER})", r"\1"))
    return compiled(rules)


def _at_head(phrase: str) -> str:
    """Return the pattern of a place at the head of a clause; to look for the phrase first takes less time."""
    return rf"(?<!{LETTER})(?={phrase}){head(_every('please').replace('|', ' '))}"


@cache
def _declined(language: str) -> Rules:
    """Return the rules of something that is politely declined: "no refund please", "a refund? no thanks".

    Without the courtesy it may describe a problem: "no refund yet".
    """
    if (found := _DECLINED.get(language)) is None:
        return ()
    no, please = found["no"], found["please"]
    surely_not = f"(?:{_every('surely')}) (?:{_every('not')})"
    return compiled(
        (
            (rf"^(?:{no}) ?(\w.*?),? (?:{please})\W*$", r"\1"),
            (rf"^(.*{LETTER})[?,]? (?:{found.get('behind', no)}),? (?:{please})\W*$", r"\1"),
            (rf"^(.*{LETTER}) ?\? (?:{LETTER}+,? )?(?:{_every('no')}|{surely_not})\W*$", r"\1"),
        )
    )


@cache
def _every(kind: str) -> str:
    """Return words of all languages as one pattern: a message may be in another language than it is taken for."""
    return "|".join(dict.fromkeys(re.escape(word) for words in _WORDS.values() for word in words.get(kind, "").split()))


@cache
def _dependent() -> re.Pattern[str]:
    """Return the pattern of a clause that depends on the one before: "I never said that you should cancel it"."""
    return re.compile(rf"(?:{'|'.join(_DEPENDENT.values())})\b", re.IGNORECASE)
