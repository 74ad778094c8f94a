"""Find out whether an answer is a yes or a no, or which choice it means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from rapidfuzz import fuzz

from intentmatch.dialogue.coverings import LONGEST, coverings, is_unspaced
from intentmatch.dialogue.phrases import Phrases, listed
from intentmatch.reading.answers import AnswerChances, answer_of
from intentmatch.text.normalize import bare, fold

_SAME_WORDS = 85.0
# Code points that turn a digit into an emoji: 1️⃣.
_NO_KEYCAP = dict.fromkeys([0xFE0F, 0x20E3])
_Meaning = TypeVar("_Meaning")
# A question is no answer: "yes?" confirms nothing.
_QUESTIONS = "?？؟⸮¿՞"
_SURELY_UNSURE = 0.95
_ENDS, _ENDS_ALONE = 0.5, 0.8
_CLAUSES = r"[,.;!?\n…،؛。，、！]+|\s[-–—]\s"
_PAUSES = ",.!…~、，。！"
_SURE, _UNDECIDED = 0.9, 0.8
"""Learned probabilities of a yes or a no, and of an answer that says neither for sure, from which they count.

Of 2,746 answers that no training saw and that are no yes, 4 are taken for one by what was learned, 4 by the words.
"""
_SURE_OF_MORE = 0.95
"""The same for a yes that begins with a word for yes and goes on: Turkish "tamam mı" asks whether it is all right."""
_MAY_BE_NO, _MAY_BE_CONDITIONAL, _MAY_BE_ELSE = 0.2, 0.3, 0.5
"""Learned probabilities between which "hmm no" is a no. Of the answers in 31 languages that train the network, 15 more
are understood, and 4 are taken for a no that are none ("I wouldn't say no")."""
_MAY_BE_VALUE, _SURELY_VALUE = 0.1, 0.6
"""Learned probabilities from which an answer may be the free text that was asked for, and from which it is that though
it has another value for a slot that is filled. `tests/dialogue/free_answers.tsv` chose the first."""
_MOST_BEFORE_NO = 2
"""Words before a no that may say nothing: "hmm", "I said"."""
_SIGNS: dict[str, bool | None] = {
    **dict.fromkeys("👍👌✅☑✔🆗💯", True),
    **dict.fromkeys("👎❌✖🚫🙅", False),
    **dict.fromkeys("🙏😊🙂😀😃😄😁😉😍🥳🤗☺🎉👏💪❤♥♡💙💚💛🤝✨", None),
}


_SOUNDS = "hm, hmm, hmmm, mm, ehm, eh, ah, oh, ach, uhm, um, uh, äh, ähm, öh, euh, ehh"
"""What people of any language say before they answer."""


class YesOrNo(NamedTuple):
    """What an answer to a yes-or-no question says."""

    yes: bool | None
    """Whether it is a yes; None if it has a yes in it and more than that: a condition, a question, a no."""
    rest: str = ""
    """The folded words after a no, or after a yes with more than that; empty if there are none."""


def yes_or_no(
    answer: str, phrases: Sequence[Phrases], yes: Iterable[str] = (), neutral: Iterable[str] = ()
) -> YesOrNo | None:
    """Read the answer to a yes-or-no question; None if it begins with no word for either.

    It is a yes only if the whole answer is words for yes, courtesy and `neutral` texts. It is a no if it begins with a
    word for no and has none for yes. `phrases` are of the languages of the conversation; `yes` are more words for yes.
    """
    own = _yes_no_words(tuple(phrases))
    known = {fold(word) for _, word in own}
    more = [(None, text) for text in neutral if fold(text) not in known] + [(True, text) for text in yes]
    words = _by_word([*own, *more])
    said = _by_word((meaning, fold(word)) for meaning, word in (*own, *more))
    said.pop("", None)
    folded = fold(answer)
    covered = coverings(answer, words)
    begun, rest = _begun(folded, said)
    if is_question(answer):
        return YesOrNo(None, rest) if covered - {frozenset()} or begun else None
    if frozenset([False]) in covered:
        return YesOrNo(False)
    # Words of courtesy alone are a yes only where the phrases say so: "please", but not "please, thanks".
    if frozenset([True]) in covered and (frozenset() not in covered or _is_yes_word(answer, words)):
        return YesOrNo(True)
    # A word that may also be courtesy, such as "right", does not make a yes of what follows a no.
    certain = (word for word, meanings in said.items() if True in meanings and None not in meanings)
    if begun == {False} and not _has_one_of(certain, rest):
        return YesOrNo(False, rest)
    return YesOrNo(None, rest) if begun else None


def without_fillers(answer: str, phrases: Sequence[Phrases]) -> str:
    """Return an answer with spaces in place of the words that add nothing at its ends: "   30" for "ok 30".

    So the places of a value stay the same.
    """
    if len(answer) > LONGEST:
        return answer
    before, behind = _fillers(tuple(phrases))
    first, last = 0, len(answer)
    # One after the other: a pattern of many words could be read in too many ways.
    while found := before.match(answer, first):
        first = found.end()
    while found := behind.search(answer, first, last):
        last = found.start()
    return " " * first + answer[first:last] + " " * (len(answer) - last)


@lru_cache(64)
def _fillers(phrases: tuple[Phrases, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of what stands before and behind a value: words for yes, courtesy, sounds, "let's say"."""
    lists = [_SOUNDS, *(part for one in phrases for part in (one.yes, one.yes_words, one.courtesy, one.fillers))]
    # A letter may be a unit, as in "30 k".
    words = {
        word for part in lists for word in listed(part) if word[-1].isalpha() and not re.fullmatch("[a-zA-Z]", word)
    }
    longest = sorted(words, key=len, reverse=True)
    spaced = "|".join(re.escape(word) for word in longest if not is_unspaced(word[-1]))
    unspaced = "|".join(re.escape(word) for word in longest if is_unspaced(word[-1])) or "(?!)"
    gap = rf"[\s{_PAUSES}]*"
    return (
        re.compile(rf"{gap}(?:(?:{spaced})(?!\w)|{unspaced}){gap}", re.IGNORECASE),
        re.compile(rf"(?:(?<!\w)(?:{spaced})|{unspaced}){gap}$", re.IGNORECASE),
    )


def is_question(answer: str) -> bool:
    """Whether an answer has a question mark."""
    # The semicolon is the question mark of Greek.
    return any(mark in answer for mark in _QUESTIONS) or answer.rstrip().endswith(";")


def _has_no(answer: str, phrases: Sequence[Phrases]) -> bool:
    no = (word for meaning, word in _yes_no_words(tuple(phrases)) if meaning is False)
    return any(_SIGNS.get(char) is False for char in answer) or _has_one_of(no, answer)


def _has_one_of(words: Iterable[str], text: str) -> bool:
    said = f" {fold(text)} "
    return any(f" {word} " in said for word in map(fold, words) if word)


def _is_lone_word(answer: str) -> bool:
    words = answer.split()
    return len(words) == 1 and not is_unspaced(words[0][0])


def _is_yes_word(answer: str, words: Mapping[str, frozenset[bool | None]]) -> bool:
    key = bare(answer)
    return any(True in meanings and bare(word) == key for word, meanings in words.items())


def _begun(folded: str, said: Mapping[str, frozenset[bool | None]]) -> tuple[set[bool], str]:
    """Return what the words that a text begins with mean, and the text after them."""
    begun: set[bool] = set()
    at = 0
    while at < LONGEST and (first := _first(folded, at, said)):
        begun |= {meaning for meaning in said[first] if meaning is not None and None not in said[first]}
        at += len(first) + 1
    return begun, folded[at:]


def _first(folded: str, at: int, phrases: Iterable[str]) -> str:
    """Return the longest of the phrases that stands at a place in the text, as whole words; empty if none does."""
    # The longest: of "no thank you" nothing may be left over, which "no" alone would do.
    return max((word for word in phrases if f"{folded} ".startswith(f"{word} ", at)), key=len, default="")


def _by_word(meanings: Iterable[tuple[_Meaning, str]]) -> dict[str, frozenset[_Meaning]]:
    """Return all meanings of each word."""
    words: dict[str, frozenset[_Meaning]] = {}
    for meaning, word in meanings:
        words[word] = words.get(word, frozenset()) | {meaning}
    return words


@lru_cache(64)
def _yes_no_words(phrases: tuple[Phrases, ...]) -> list[tuple[bool | None, str]]:
    """Return the words and signs for yes (True), no (False) and courtesy (None)."""
    meanings = [(meaning, sign) for sign, meaning in _SIGNS.items()]
    meanings += [(None, sound) for sound in listed(_SOUNDS)]
    for one in phrases:
        meanings += [(True, word) for word in (one.yes, *listed(one.yes_words))]
        meanings += [(False, word) for word in (one.no, *listed(one.no_words))]
        meanings += [(None, word) for word in listed(one.courtesy)]
    return meanings


def learned_yes_or_no(answer: str, phrases: Sequence[Phrases]) -> YesOrNo | None:
    """Read the answer by what was learned from answers in many languages; None if it seems to be no answer.

    For answers that the words for yes and no do not decide: "go for it then", "I'd rather leave it". A question is
    never a yes or a no, and an answer with a word or a sign for no is never a yes.
    """
    if is_question(answer) or len(answer) > LONGEST:
        return None
    chances = answer_of(answer)
    # A word that no training saw looks like any other one of its letters.
    is_yes = chances.yes >= _SURE and not _is_lone_word(answer) and not _has_no(answer, phrases)
    if is_yes and (chances.yes >= _SURE_OF_MORE or not _goes_on(answer, phrases)):
        return YesOrNo(True)
    if chances.no >= _SURE or _is_no_behind_fillers(answer, chances, phrases):
        return YesOrNo(False)
    return YesOrNo(None, answer) if chances.unsure + chances.conditional >= _UNDECIDED else None


def _goes_on(answer: str, phrases: Sequence[Phrases]) -> bool:
    """Whether an answer begins with a word for yes or no, and says more."""
    said = yes_or_no(answer, phrases)
    return said is not None and bool(said.rest)


def _is_no_behind_fillers(answer: str, chances: AnswerChances, phrases: Sequence[Phrases]) -> bool:
    """Whether an answer is a no but for a word or two that say nothing: "hmm no", "I said no"."""
    if not chances.no >= _MAY_BE_NO or max(chances.yes, chances.neither + chances.value) >= _MAY_BE_ELSE:
        return False
    if chances.unsure >= _UNDECIDED or chances.conditional >= _MAY_BE_CONDITIONAL or _has_yes(answer, phrases):
        return False
    words = fold(answer).split()
    ends = (" ".join(words[number:]) for number in range(1, min(len(words), _MOST_BEFORE_NO + 1)))
    return any(after_no(end, phrases) is not None and yes_or_no(end, phrases) == YesOrNo(False) for end in ends)


def _has_yes(answer: str, phrases: Sequence[Phrases]) -> bool:
    """Whether an answer has a word for yes that is nothing else."""
    words = _by_word(_yes_no_words(tuple(phrases)))
    return _has_one_of((word for word, meanings in words.items() if meanings == {True}), answer)


def declines(answer: str) -> bool:
    """Whether an answer, by what was learned, says no or does not decide: "no, I'll keep it", "no sé"."""
    chances = answer_of(answer)
    return chances.no + chances.unsure >= _UNDECIDED


def after_no(answer: str, phrases: Sequence[Phrases]) -> str | None:
    """Return the folded words behind a plain no that an answer begins with; None if it begins with none."""
    folded = f"{fold(answer)} "
    plain = next((no for one in phrases if folded.startswith(no := f"{fold(one.no)} ")), None)
    return None if plain is None else folded[len(plain) :].strip()


def hardly_declines(answer: str) -> bool:
    """Whether an answer, by what was learned, most likely has no no, no doubt and no condition in it."""
    chances = answer_of(answer)
    return chances.no + chances.unsure + chances.conditional < _MAY_BE_ELSE


def agrees_to_nothing(answer: str) -> bool:
    """Whether an answer, by what was learned, is most likely no yes, on no condition, and no hesitation either."""
    chances = answer_of(answer)
    return max(chances.yes, chances.unsure, chances.conditional) < _MAY_BE_ELSE


def drops(answer: str) -> bool:
    """Whether an answer, by what was learned, surely says no: "let's leave it"."""
    return answer_of(answer).no >= _SURE


def may_be_value(answer: str, *, surely: bool = False) -> bool:
    """Whether an answer, by what was learned, may be the free text that was asked for: a name, a note, a reason."""
    return answer_of(answer).value >= (_SURELY_VALUE if surely else _MAY_BE_VALUE)


def asks(text: str) -> bool:
    """Whether a text, by what was learned, most likely answers nothing: a question or another request."""
    return answer_of(text).neither >= _MAY_BE_ELSE


def is_unsure(answer: str, *, surely: bool = False) -> bool:
    """Whether an answer, by what was learned, says that its writer does not know, and no more: "no idea"."""
    return answer_of(answer).unsure >= (_SURELY_UNSURE if surely else _UNDECIDED)


def stops(answer: str, phrases: Sequence[Phrases]) -> bool:
    """Whether an answer to the question for a value is words that end the request, with or without courtesy."""
    return frozenset([True]) in coverings(answer, _stop_words(tuple(phrases)))


def stops_within(answer: str, phrases: Sequence[Phrases]) -> bool:
    """Whether a clause of an answer is words that end the request: "no look, forget it, I'll drop by".

    Words that end it alone may be no end among others: "doesn't matter, as soon as possible".
    """
    chances = answer_of(answer)
    clauses = re.split(_CLAUSES, answer) if chances.no + chances.unsure >= _ENDS else ()
    return any(stops(clause, phrases) and answer_of(clause).no >= _ENDS_ALONE for clause in clauses)


def stop_words_in(answer: str, phrases: Sequence[Phrases]) -> str:
    """Return the longest words in an answer that end a request, folded; empty without such."""
    words = (fold(word) for word, meanings in _stop_words(tuple(phrases)).items() if True in meanings)
    return max((word for word in words if word and has_words(answer, word)), key=len, default="")


def has_words(text: str, words: str) -> bool:
    """Whether a text has folded words in it, as whole words where the script has spaces."""
    folded = fold(text)
    return words in folded if is_unspaced(words[0]) else f" {words} " in f" {folded} "


@lru_cache(64)
def _stop_words(phrases: tuple[Phrases, ...]) -> dict[str, frozenset[bool | None]]:
    courtesy: list[tuple[bool | None, str]] = [(None, word) for one in phrases for word in listed(one.courtesy)]
    return _by_word([*courtesy, *((True, word) for one in phrases for word in listed(one.stop_words))])


Spoken = int | Literal["several", "neither"]
"""What an answer says about numbered choices: the number of one, none of them, or several, which is no choice."""


def spoken_choice(answer: str, phrases: Sequence[Phrases]) -> Spoken | None:
    """Read an answer such as "the second one", "1 please", "neither" or "both"; None if it says anything else."""
    if any(mark in answer for mark in _QUESTIONS):
        return None
    words: dict[str, frozenset[Spoken | None]] = dict(_choice_words(tuple(phrases)))
    # A longer number is a value and no place in a list.
    numbers = (digits for digits in re.findall(r"\d+", answer.translate(_NO_KEYCAP)) if len(digits) <= 3)
    words |= {digits: frozenset([int(digits)]) for digits in numbers}
    covered: set[frozenset[Spoken]] = coverings(answer, words)
    found = [said for said in covered if said]
    # Readings of several words for one choice count only if all agree.
    single: set[Spoken] = {meaning for said in found if len(said) == 1 for meaning in said}
    if len(single) == 1:
        return single.pop()
    return "several" if found else None


@lru_cache(64)
def _choice_words(phrases: tuple[Phrases, ...]) -> dict[str, frozenset[Spoken | None]]:
    # A sign of refusal is none of the fillers: beside a number, it makes the answer unclear.
    meanings: list[tuple[Spoken | None, str]] = [
        (None, sign) for sign, meaning in _SIGNS.items() if meaning is not False
    ]
    for one in phrases:
        for number, names in enumerate(listed(one.numbers), 1):
            meanings += [(number, name) for name in names.split("/")]
        meanings += [("several", word) for word in listed(one.several)]
        meanings += [
            ("neither", word) for word in (one.none_of_these, one.no, *listed(one.neither + "," + one.no_words))
        ]
        fillers = (one.courtesy, one.choice_words, one.yes_words, one.yes)
        meanings += [(None, word) for words in fillers for word in listed(words)]
    return _by_word(meanings)


def choice_by_number(answer: str, count: int) -> int | None:
    """Read an answer as a number from 1 to `count`, in the digits of any script; None if it is no such number."""
    folded = fold(answer.translate(_NO_KEYCAP))
    number = int(folded) if folded.isdecimal() and len(folded) <= 3 else 0
    return number if 1 <= number <= count else None


def choice_by_words(answer: str, choices: Sequence[Collection[str]]) -> int | None:
    """Return the number, from 1, of the only choice with a name similar to the answer; None if there is no such one."""
    key = fold(answer)
    if not key:
        return None
    similarities = [max((fuzz.ratio(key, fold(name)) for name in names), default=0.0) for names in choices]
    # One title may be nearly another one: what was written exactly is meant.
    required = 100.0 if max(similarities, default=0.0) == 100.0 else _SAME_WORDS
    similar = [number for number, similarity in enumerate(similarities, 1) if similarity >= required]
    return similar[0] if len(similar) == 1 else None
