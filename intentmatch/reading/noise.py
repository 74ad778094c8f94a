"""Recognise messages that mean nothing: random letters, keyboard rows, encoded data, markup, stop words, symbols.

The nearest utterance of such a message is an accident, but some utterance is always the nearest. A message is judged
before it is encoded, and only by its form. It is never noise if it has a word that the registry knows. If the detector
is not sure, the evidence decides as for any message.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.unigram import words_of
from intentmatch.reading.text import ReadText
from intentmatch.text.stop_words import stop_words
from intentmatch.text.typos import ALONE

LIKE_NO_LANGUAGE = "the message reads like no language."
"""The reason that is likely but not certain: a rare compound, such as "kinderzahnarzt", may read so too."""

# A shorter word of the registry may stand in random letters by accident.
_SHORTEST_KNOWN_WORD = 3
# Words of a message that are judged; a longer text is hardly noise, and a pasted document stays cheap.
_MOST_WORDS = 30
_CACHED_WORDS, _LONGEST_CACHED_WORD = 8192, 40
_WORD = re.compile(rf"[^\W\d_]{{{_SHORTEST_KNOWN_WORD},}}")


class _Weights(NamedTuple):
    """Weights of one word in the log-odds that a message of one script is random."""

    score: float
    """Weight of the summed log probabilities of its pieces; negative, because these are."""
    letter: float
    piece: float
    whole: float
    """Added if the word is a single piece."""
    word: float


# Logistic regressions by script: random letters and syllables (`evaluation.noise`, seed 0) against parallel
# text in 122 languages and messages of development sets. Random and real text weigh the same. Random Han and Hangul are
# mostly characters that the tokenizer lacks.
_WEIGHTS = {
    "Latin": _Weights(-0.16, -0.51, 0.58, -1.9, -2.13),
    "Greek": _Weights(-0.24, -0.94, -0.53, -3.53, -1.59),
    "Cyrillic": _Weights(-0.39, -1.11, -1.04, -2.07, -2.68),
    "Hebrew": _Weights(-0.75, -2.33, -3.92, -1.12, -1.32),
    "Arabic": _Weights(-0.58, -1.91, -2.47, -0.7, -0.98),
    "Devanagari": _Weights(-0.81, -2.62, -2.95, -5.22, -7.77),
    "Kana": _Weights(-0.15, -1.75, 1.11, -4.2, -1.33),
    "Han": _Weights(-0.42, -3.79, -1.71, -0.38, -2.35),
    "Hangul": _Weights(-0.66, -6.69, -3.28, -1.58, -2.65),
}
# First code point of each block of letters with its script; "" where there are no weights.
_BLOCKS = (
    (0x0000, "Latin"),
    (0x0250, ""),
    (0x0370, "Greek"),
    (0x0400, "Cyrillic"),
    (0x0530, ""),
    (0x0590, "Hebrew"),
    (0x0600, "Arabic"),
    (0x0700, ""),
    (0x0900, "Devanagari"),
    (0x0980, ""),
    (0x1E00, "Latin"),
    (0x1F00, "Greek"),
    (0x2000, ""),
    (0x3040, "Kana"),
    (0x3100, ""),
    (0x3400, "Han"),
    (0xA000, ""),
    (0xAC00, "Hangul"),
    (0xD7A4, ""),
)
_STARTS = [start for start, _ in _BLOCKS]
# Letters that are hit at random: a word with other letters of the script, such as accented ones, is never counted as
# random. It is likelier a word of a language that the tokenizer knows little of.
_BASIC = {
    "Latin": frozenset("abcdefghijklmnopqrstuvwxyz"),
    "Cyrillic": frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюя"),
    "Arabic": frozenset("ءآأؤإئابتثجحخدذرزسشصضطظعغفقکلمنهویپچژگ"),
}


# A short word alone may be an abbreviation ("wtf"): it is not enough for the threshold below.
_SYLLABIC = frozenset({"Han", "Hangul", "Kana"})
_SHORT, _MOST_OF_A_SHORT_WORD = 3, 1.1
# Log-odds from which a message is noise, higher if it is written like a name ("Fereydoun Farrokhzad"), or if one of its
# words could be a mistyped word of the registry. On every fourth message of eight development sets (5,723), 2 are
# noise, and 5 with one typing mistake. With 1.0, "quantum chromodynamics" would be noise.
_SURE, _SURE_OF_A_NAME, _SURE_OF_OTHERS = 1.12, 4.0, 4.0
_ELONGATED = re.compile(r"(\w)\1{2,}")
_LENGTHENED_KANA = re.compile(r"(?<=[ぁ-ん])[ー〜~]+")
# Words that are compared with the words of the registry before a message is called noise.
_MOST_WORDS_COMPARED = 8

_ROWS = (
    "qwertyuiop asdfghjkl zxcvbnm qwertzuiop yxcvbnm azertyuiop qsdfghjklm "
    "йцукенгшщзхъ фывапролджэ ячсмитьбю ضصثقفغعهخحج شسيبلاتنمك"
)
_ROWS += f" {_ROWS[::-1]}"
_SHORTEST_RUN = 3
# Rows are also hit with three fingers; other runs of three keys are words ("wer", "was").
_BEGINNINGS = frozenset({"qwe", "asd", "zxc", "qsd", "йцу", "фыв", "ячс"})
_SHORTEST_ROW = 4
_MOST_LETTERS_REPEATED = 3
_REPEATED = re.compile(r"(\w)\1{3,}|(\w{2,3}?)\2{3,}\w?")
# Laughter and refrains are language: "hahaha", "jajaja", "хахаха", "lalala", "blabla".
_LAUGHTER_IN_PARTS = (
    "ha ah he eh hi ih ho oh hu ja aj je ej ji js ka ak ks sk la al lo ol bla na an xa xd rs sr kk ww w k 5 555 "
    "ха ах хе ех хи их хо ох ле ля бла хех хах 哈 呵 嘿 嘻 笑 草 ㅋ ㅎ ه"
)
_LAUGHTER = frozenset(_LAUGHTER_IN_PARTS.split())
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{15,}={0,2}")
_CHANGE = re.compile(r"[a-z](?=[A-Z0-9+/])|[A-Z](?=[a-z0-9+/])|[0-9](?=[A-Za-z+/])")
_LETTERS_PER_CHANGE = 4
_MARKUP = re.compile(r"</?[A-Za-z!?][^<>]*>|\{\{[^{}]*\}\}|\{%[^{}]*%\}|&[a-z]+;")
_CODE = re.compile(
    r"[=!]=|=>|\+\+|\+=|&&|\|\||;\s*\}|\)\s*\{|\{[^{}]*[:;][^{}]*\}|^\s*#include\b|<\?php|<script\b"
    r"|\bselect \* from\b|\bdef \w+\(|\b(?:const|let|var) \w+ =",
    re.IGNORECASE,
)
_WORDS_OF_CODE = (
    "alert class const def echo else false for from function if import include int let map margin none null php return "
    "script select true var where while"
)
_KEYWORDS = frozenset(_WORDS_OF_CODE.split())
_SIGNS = frozenset('{}<>=;()[]$#|\\*:"&')
_LEAST_SIGNS = 3
# Parts of a message that are no words of a language: codes, addresses, numbers, short names in capitals. A part is
# searched alone: patterns over whole messages take quadratic time for one long part.
_IN_CODES = re.compile(r"[\d@/\\_#]|(?<=\S)\.(?=\S)")
_CAPITALS = re.compile(r"\b[A-Z]{1,6}\b")


class NoiseDetector:
    """Recognises noise among the messages for one registry. Immutable, safe to use from many threads.

    `words` are the words of the registry's folded utterances, `languages` its languages. A message of one word is noise
    if it is a stop word of these languages, or one of another language that no utterance has.
    """

    def __init__(self, words: frozenset[str], languages: Collection[str]) -> None:
        self._words = words
        self._stop_words = stop_words(languages)
        self._symbols = frozenset(
            char for word in words if not word.isalnum() for char in word if unicodedata.category(char) == "So"
        )

    def reason(self, typed: ReadText, meant: ReadText) -> str:
        """Say why a message is noise; "" if it is not or may not be.

        The form is that of the message as it was `typed`; whether it reads like a language is asked of the message as
        it was `meant`: without its typing mistakes.
        """
        words, key = typed.words, typed.key
        if self._stop_words.issuperset(words) or (len(words) == 1 and key in self._alone):
            return "the message has only stop words."
        if not any(map(str.isalnum, key)):
            return "" if self._symbols.intersection(key) else "the message has only symbols, and no utterance has them."
        if not _SIGNS.isdisjoint(typed.text) and self._is_code(typed.text):
            return "the message is markup or source code."
        if any(map(self._knows, words)):
            return ""
        if found := _form(typed.text, words):
            return "" if self._meant(words, words) else found
        return LIKE_NO_LANGUAGE if self._is_random(words, meant) else ""

    @cached_property
    def _alone(self) -> frozenset[str]:
        """Stop words of other languages: none is a request of one word in any language of the table."""
        # Reading all languages takes longer than matching a message, and most have more than one word.
        return stop_words(()).difference(self._words)

    def _is_random(self, words: Sequence[str], meant: ReadText) -> bool:
        """Whether a message without a known word reads like no language."""
        # "nooooo" is "no", "すみませーん" is "すみません".
        plain = _LENGTHENED_KANA.sub("", _ELONGATED.sub(r"\1", meant.text))
        random = randomness(plain)
        if random <= (_SURE_OF_A_NAME if plain.istitle() else _SURE):
            return False
        # One word that can be read as a known one is an accident if the others are random.
        known = self._meant(words, meant.words)
        others = " ".join(word for word in words if word not in known)
        return not known or randomness(others) > _SURE_OF_OTHERS

    def _meant(self, words: Sequence[str], read: Sequence[str]) -> set[str]:
        """Return those of the first words that are mistyped words of the registry, as typed or as `read`."""
        found = {word for word, other in zip(words, read, strict=False) if self._knows(other)}
        for word in words[:_MOST_WORDS_COMPARED]:
            mistakes = ALONE.mistakes(len(word))
            if mistakes and extractOne(word, self._words, scorer=OSA.distance, score_cutoff=mistakes):
                found.add(word)
        return found

    def _knows(self, word: str) -> bool:
        """Whether an utterance has a word, which is not too short to count."""
        return word in self._words and len(word) >= _SHORTEST_KNOWN_WORD

    def _is_code(self, text: str) -> bool:
        content = _MARKUP.sub(" ", text)
        is_code = sum(map(_SIGNS.__contains__, text)) >= _LEAST_SIGNS and _CODE.search(text) is not None
        if not is_code and content == text:
            return False
        words = [word for word in _WORD.findall(content.lower()) if word not in _KEYWORDS]
        # Words between tags are judged as a message of their own; words between operators are names.
        return self._words.isdisjoint(words) and (is_code or len(words) < 2)


def _form(text: str, words: Sequence[str]) -> str:
    """Say why a message without a known word is noise."""
    if all(map(_is_typed_row, words)):
        return "the message is a row of keys."
    if all(map(_is_repetition, words)):
        return "the message repeats the same letters."
    if any(len(token) > 15 and _is_encoded(token) for token in text.split()):
        return "the message is encoded data."
    return ""


def randomness(text: str) -> float:
    """Return the log-odds that the words of a cleaned text are random letters or syllables.

    The sum of a value for each word, so that a longer message is judged with more certainty. Parts that are no words
    (numbers, codes, addresses) and words of other scripts count nothing. Before a threshold, random and real messages
    are taken to be equally frequent.
    """
    plain = text if text == text.lower() and text.replace(" ", "").isalpha() else _without_codes(text)
    found = words_of(plain)[:_MOST_WORDS]
    return sum(_cached_randomness(word) if len(word) <= _LONGEST_CACHED_WORD else _of_word(word) for word in found)


def _without_codes(text: str) -> str:
    return " ".join(_CAPITALS.sub(" ", part) for part in text.split() if _IN_CODES.search(part) is None)


def _of_word(word: str) -> float:
    letters = word.lstrip("▁")
    script = _script(letters) if letters.isalpha() else ""
    weights = _WEIGHTS.get(script)
    if weights is None:
        return 0.0
    pieces, score = embedded_tokenizer().weigh(word)
    whole = weights.whole if pieces == 1 else 0.0
    value = weights.score * score + weights.letter * len(letters) + weights.piece * pieces + whole + weights.word
    is_basic = script not in _BASIC or _BASIC[script].issuperset(letters)
    is_short = len(letters) <= _SHORT and script not in _SYLLABIC
    is_word = not is_basic or _REPEATED.fullmatch(letters) is not None
    return min(value, 0.0 if is_word else _MOST_OF_A_SHORT_WORD if is_short else value)


_cached_randomness = lru_cache(_CACHED_WORDS)(_of_word)


def _script(letters: str) -> str:
    """Return the script of a word; "" if it is mixed or has no weights."""
    found = {_BLOCKS[bisect_right(_STARTS, ord(letter)) - 1][1] for letter in letters}
    return found.pop() if len(found) == 1 else ""


def _is_typed_row(word: str) -> bool:
    """Whether a word consists of runs of neighbouring keys: "asdfgh", "qweqwe", "poiuytrewq"."""
    if len(word) < _SHORTEST_ROW:
        return word in _BEGINNINGS
    place = 0
    while place < len(word):
        end = place + _SHORTEST_RUN
        if word[place:end] not in _ROWS or end > len(word):
            return False
        while end < len(word) and word[place : end + 1] in _ROWS:
            end += 1
        place = end
    return True


def _is_repetition(word: str) -> bool:
    """Whether a word is one letter four times or more, or two or three letters in turn."""
    found = _REPEATED.fullmatch(word) if len(set(word)) <= _MOST_LETTERS_REPEATED else None
    return found is not None and not word.isdigit() and (found[1] or found[2]) not in _LAUGHTER


def _is_encoded(token: str) -> bool:
    """Whether a token changes between upper case, lower case and digits as base64 does."""
    if not _ENCODED.fullmatch(token) or token.lower() == token or token.upper() == token:
        return False
    return len(_CHANGE.findall(token)) * _LETTERS_PER_CHANGE >= len(token)
