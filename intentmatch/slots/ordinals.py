"""Slots of kind "ordinal": "third" is 3, "last" is -1, in figures ("3rd", "3º", "第3") and in words.

A word is an ordinal of the table, or a cardinal with an ending ("einundzwanzigste"); the cardinals before it belong to
it ("twenty-first").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from intentmatch.slots.durations import unit_words
from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.number_words import cardinal, with_cardinals
from intentmatch.slots.numerals import NUMERALS, numeral
from intentmatch.slots.word_patterns import any_of
from intentmatch.text.normalize import bare, base_language

_WORDS = {
    "ar": "1 أول اولى 2 ثاني ثانية 3 ثالث ثالثة 4 رابع رابعة 5 خامس خامسة 6 سادس سادسة 7 سابع سابعة 8 ثامن ثامنة 9 "
    "تاسع تاسعة 10 عاشر عاشرة -1 أخير أخيرة آخر",
    "de": "1 erst 2 zweit 3 dritt 4 viert 5 fünft 6 sechst 7 siebt siebent 8 acht 9 neunt 10 zehnt 11 elft 12 zwölft "
    "-1 letzt -2 vorletzt zweitletzt -3 drittletzt vorvorletzt",
    "en": "1 first 2 second 3 third 4 fourth 5 fifth 6 sixth 7 seventh 8 eighth 9 ninth 10 tenth 11 eleventh 12 "
    "twelfth -1 last -2 penultimate second_last second_to_last second_to_the_last next_to_last last_but_one -3 "
    "third_last third_to_last last_but_two",
    "es": "1 primer primero primera 2 segundo segunda 3 tercer tercero tercera 4 cuarto cuarta 5 quinto quinta 6 "
    "sexto sexta 7 séptimo séptima 8 octavo octava 9 noveno novena 10 décimo décima 11 undécimo undécima 12 duodécimo "
    "duodécima 20 vigésimo vigésima 30 trigésimo trigésima 40 cuadragésimo cuadragésima 50 quincuagésimo "
    "quincuagésima 60 sexagésimo sexagésima 70 septuagésimo septuagésima 80 octogésimo octogésima 90 nonagésimo "
    "nonagésima 100 centésimo centésima -1 último última -2 penúltimo penúltima -3 antepenúltimo antepenúltima",
    "fa": "1 اول یکم 2 دوم 3 سوم -1 آخر آخرین -2 یکی_مانده_به_آخر",
    "fr": "1 premier première 2 second seconde 5 cinquième 9 neuvième -1 dernier dernière -2 avant-dernier "
    "avant-dernière",
    "it": "1 primo prima 2 secondo seconda 3 terzo terza 4 quarto quarta 5 quinto quinta 6 sesto sesta 7 settimo "
    "settima 8 ottavo ottava 9 nono nona 10 decimo decima -1 ultimo ultima -2 penultimo penultima",
    "nl": "1 eerste 2 tweede 3 derde 8 achtste -1 laatste -2 voorlaatste op_een_na_laatste",
    "pl": "1 pierwsz 2 drug 3 trzec 4 czwart 5 piąt 6 szóst 7 siódm 8 ósm 9 dziewiąt 10 dziesiąt 11 jedenast 12 "
    "dwunast 13 trzynast 14 czternast 15 piętnast 16 szesnast 17 siedemnast 18 osiemnast 19 dziewiętnast 20 dwudziest "
    "30 trzydziest 40 czterdziest 50 pięćdziesiąt 60 sześćdziesiąt 70 siedemdziesiąt 80 osiemdziesiąt 90 "
    "dziewięćdziesiąt 100 setn -1 ostatn -2 przedostatn",
    "pt": "1 primeiro primeira 2 segundo segunda 3 terceiro terceira 4 quarto quarta 5 quinto quinta 6 sexto sexta 7 "
    "sétimo sétima 8 oitavo oitava 9 nono nona 10 décimo décima 20 vigésimo vigésima 30 trigésimo trigésima 40 "
    "quadragésimo quadragésima 50 quinquagésimo quinquagésima 60 sexagésimo sexagésima 70 septuagésimo septuagésima "
    "80 octogésimo octogésima 90 nonagésimo nonagésima 100 centésimo centésima -1 último última -2 penúltimo "
    "penúltima",
    "ru": "1 перв 2 втор 3 трет 4 четверт 5 пят 6 шест 7 седьм 8 восьм 9 девят 10 десят 11 одиннадцат 12 двенадцат 13 "
    "тринадцат 14 четырнадцат 15 пятнадцат 16 шестнадцат 17 семнадцат 18 восемнадцат 19 девятнадцат 20 двадцат 30 "
    "тридцат 40 сороков 50 пятидесят 60 шестидесят 70 семидесят 80 восьмидесят 90 девяност 100 сот -1 последн -2 "
    "предпоследн",
    "tr": "1 birinci ilk 3 üçüncü 4 dördüncü -1 son sonuncu -2 sondan_ikinci",
}
"""Words with their numbers, "_" for a space; -1 is the last one. Those of `_ENDINGS` are stems."""
_ENDINGS = {
    "de": "e|er|en|em|es",
    "pl": "y|a|e|ego|ej|ym|ą|i|ia|ie|iego|iej|im|ią",
    "ru": "ый|ий|ой|ая|яя|ое|ее|ого|его|ому|ему|ую|юю|ым|им|ом|ем|ей|ые|ие|ых|их|ий|ья|ье|ьего|ьей|ью",
}
_SUFFIXES = {
    "de": (r"s?t(?:e|er|en|em|es)$", ("",)),
    "en": (r"(?:th|ieth)$", ("", "y")),
    "fa": (r"(?:م|مین)$", ("",)),
    "fr": (r"ieme$", ("", "e")),
    "it": (r"esim[oaie]$", ("", "o", "a", "e", "i")),
    "nl": (r"(?:de|ste)$", ("",)),
    "tr": (r"[iu]nc[iu](?:s[iu]|y[iu])?$", ("", "i", "u")),
}
"""What makes an ordinal of a cardinal, and the letters that the cardinal has instead, by language."""
_BEFORE_UNITS = frozenset(["es", "it", "pl", "pt"])
"""Languages that say "twentieth first"."""
_MOST_BEFORE = 3
"""Cardinals before an ordinal that are a part of it."""
_SHORTEST_STEM = 2
_FIGURES = {
    "de": r"(?<=[denrsm] )(?P<n>[0-9]{1,3})\.(?![0-9])|(?P<n2>[0-9]{1,3})\.(?= [^\W\d_])",
    "en": r"(?P<n>[0-9]{1,3})(?:st|nd|rd|th)",
    "es": r"(?P<n>[0-9]{1,3})\.?(?:º|ª|o|a|er|ro|ra|do|da|to|ta)",
    "fa": r"(?P<n>[0-9]{1,3}) ?م(?:ین)?",
    "fr": r"(?P<n>[0-9]{1,3})(?:ers?|eres?|e|emes?|nde?|ieme)",
    "it": r"(?P<n>[0-9]{1,3})(?:º|ª|°|o|a)",
    "ja": r"第(?P<n>[0-9]{1,3})|(?P<n2>[0-9]{1,3})(?:番目?|つ目)(?![号地])",
    "nl": r"(?P<n>[0-9]{1,3})(?:e|de|ste)",
    "pl": r"(?P<n>[0-9]{1,3})(?:-(?:szy|gi|ci|ty|my)|\.(?= [^\W\d_]))",
    "pt": r"(?P<n>[0-9]{1,3})\.?(?:º|ª|o|a)",
    "ru": r"(?P<n>[0-9]{1,3})-?(?:ого|его|ому|ему|ый|ий|ой|ая|ое|ую|го|му|и|я|е|ю|м)",
    "tr": r"(?P<n>[0-9]{1,3})(?:\.(?= [^\W\d_])|'?(?:inci|nci|uncu|ncu|uncu))",
    "zh": r"第(?P<n>[0-9]{1,3})",
}
"""Ordinals in figures by language, in plain form ("й" is "и")."""
_COUNTED = {
    "ja": re.compile(f"第(?P<n>[{NUMERALS}]{{1,5}})|(?P<n2>[{NUMERALS}]{{1,5}})(?:番目?|つ目)(?![号地])"),
    "zh": re.compile(f"(?P<back>倒数)?第(?P<n>[{NUMERALS}]{{1,5}})"),
}
_FIXED = {"ja": {"最初": 1, "最後": -1}, "zh": {"最后一": -1, "最後一": -1}}
_NEVER = "(?!)"


class OrdinalFinder:
    """Finds ordinals in the message's language."""

    def find(self, message: Message) -> list[SlotHit]:
        """Return ordinals in figures and in words, including overlapping ones."""
        if OrdinalFinder not in message.memo:
            language = base_language(message.language) if message.language else "en"
            if language not in _WORDS and language not in _COUNTED:
                language = "en"
            found = [*_in_figures(message, language), *_in_phrases(message, language), *_in_words(message, language)]
            message.memo[OrdinalFinder] = [SlotHit(*message.aligned.widened(*span), value) for *span, value in found]
        return message.memo[OrdinalFinder]


def _in_figures(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    for found in _figures(language).finditer(message.plain):
        yield *found.span(), int(found["n"] or found.groupdict().get("n2") or "")
    if language in _COUNTED:
        for found in _COUNTED[language].finditer(message.text):
            groups = found.groupdict()
            value = numeral(groups["n"] or groups["n2"])
            if value is not None:
                yield *found.span(), -value if groups.get("back") else value


def _in_phrases(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    pattern, values = _phrases(language)
    for found in pattern.finditer(message.plain):
        yield *found.span(), values[found[0]]


def _in_words(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    words = [message.bare[slice(*place)] for place in message.words]
    for number, word in enumerate(words):
        value = _value(language, word)
        if value is None or _is_time(message, words, number):
            continue
        first = number
        for count in range(min(_MOST_BEFORE, number), 0, -1):
            whole = _whole(language, words[number - count : number], value)
            if whole is not None and _adjacent(message, message.words[number - count : number + 1]):
                first, value = number - count, whole
                break
        span = message.aligned.span(message.words[first][0], message.words[number][1])
        if span:
            yield *span, value


def _whole(language: str, before: Sequence[str], value: int) -> int | None:
    """Return "twenty" and "first" as 21, None if the words before an ordinal are no part of it."""
    if value < 1:
        return None
    tens = _value(language, before[0]) if language in _BEFORE_UNITS and len(before) == 1 else None
    if tens is not None:
        return tens + value if tens > 0 and tens % 10 == 0 and value < 10 else None
    return with_cardinals(language, before, value)


def _adjacent(message: Message, places: Sequence[tuple[int, int]]) -> bool:
    gaps = (message.aligned.between(end, start) for (_, end), (start, _) in pairwise(places))
    return all(gap is not None and not gap.strip(" \u00a0-") for gap in gaps)


def _is_time(message: Message, words: Sequence[str], number: int) -> bool:
    """Return whether "a second" is a time: it ends the message, or a function word follows."""
    if words[number] not in _unit_of_time(message.language) or number == 0 or words[number - 1] not in _ARTICLES:
        return False
    return number + 1 == len(words) or words[number + 1] in function_words(message.language)


_ARTICLES = frozenset(["a", "one", "un", "une", "um", "uma", "una"])


@lru_cache(maxsize=64)
def _unit_of_time(language: str | None) -> frozenset[str]:
    return unit_words(base_language(language) if language else "en", ("second",))


@lru_cache(maxsize=4096)
def _value(language: str, word: str) -> int | None:
    """Return the number of an ordinal in bare form; None for other words."""
    forms = _forms(language)
    if word in forms:
        return forms[word]
    if language not in _SUFFIXES:
        masculine = (word[:end] for end in range(5, len(word) - 4) if language in _BEFORE_UNITS)
        tens = next((stem for stem in masculine if forms.get(stem, 0) % 10 == 0 and word[len(stem) :] in forms), None)
        return None if tens is None else forms[tens] + forms[word[len(tens) :]]
    suffix, instead = _SUFFIXES[language]
    found = re.search(suffix, word)
    for letters in instead if found and found.start() >= _SHORTEST_STEM else ():
        value = cardinal(language, word[: found.start()] + letters) if found else None
        if value:
            return value
    for end in range(_SHORTEST_STEM, len(word) - _SHORTEST_STEM):
        if (last := forms.get(word[end:], 0)) > 0 and (whole := with_cardinals(language, [word[:end]], last)):
            return whole
    return None


@lru_cache(maxsize=64)
def _forms(language: str) -> Mapping[str, int]:
    """Return the single words for ordinals of a language, in bare form, with their numbers."""
    endings = _ENDINGS.get(language, "").split("|")
    forms: dict[str, int] = {}
    for word, number in _listed(language):
        if "_" not in word and "-" not in word:
            forms |= {bare(word + ending): number for ending in endings}
            forms |= {bare("ال" + word): number} if language == "ar" else {}
    return forms


@lru_cache(maxsize=64)
def _phrases(language: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    texts = {plain(word.replace("_", " ")): number for word, number in _listed(language) if "_" in word or "-" in word}
    texts |= _FIXED.get(language, {})
    return re.compile(any_of(texts)), texts


def _listed(language: str) -> Iterator[tuple[str, int]]:
    number = 0
    for word in _WORDS.get(language, "").split():
        if word.lstrip("-").isdecimal():
            number = int(word)
        else:
            yield word, number


@lru_cache(maxsize=64)
def _figures(language: str) -> re.Pattern[str]:
    pattern = _FIGURES.get(language, _NEVER)
    if language in _COUNTED:
        return re.compile(f"(?<![0-9])(?:{pattern})")
    return re.compile(rf"(?<![\w.,:/-])(?:{pattern})(?![^\W_])")
