"""Slots of kind "ordinal": "third" is 3, "last" is -1, in figures ("3rd", "3º", "第3") and in words up to twelve."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.number_words import NUMERALS, numeral
from intentmatch.text.language_id import base_language

_WORDS = {
    "ar": "أول اولى|ثاني ثانية|ثالث ثالثة|رابع رابعة|خامس خامسة|سادس سادسة|سابع سابعة|ثامن ثامنة|تاسع تاسعة|عاشر "
    "عاشرة ||~أخير أخيرة آخر",
    "de": "erst|zweit|dritt|viert|fünft|sechst|siebt siebent|acht|neunt|zehnt|elft|zwölft~letzt",
    "en": "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth~last",
    "es": "primer primero primera|segundo segunda|tercer tercero tercera|cuarto cuarta|quinto quinta|sexto sexta| "
    "séptimo séptima|octavo octava|noveno novena|décimo décima|undécimo undécima|duodécimo duodécima~último "
    "última",
    "fa": "اول یکم|دوم|سوم|چهارم|پنجم|ششم|هفتم|هشتم|نهم|دهم|یازدهم|دوازدهم~آخر آخرین",
    "fr": "premier première|deuxième second "
    "seconde|troisième|quatrième|cinquième|sixième|septième|huitième|neuvième| "
    "dixième|onzième|douzième~dernier dernière",
    "it": "primo prima|secondo seconda|terzo terza|quarto quarta|quinto quinta|sesto sesta|settimo settima| ottavo "
    "ottava|nono nona|decimo decima|undicesimo undicesima|dodicesimo dodicesima~ultimo ultima",
    "ja": "最初 一番目 一つ目|二番目 二つ目|三番目 三つ目|四番目 四つ目|"
    "五番目 五つ目|六番目|七番目|八番目|九番目|十番目||~最後",
    "nl": "eerste|tweede|derde|vierde|vijfde|zesde|zevende|achtste|negende|tiende|elfde|twaalfde~laatste",
    "pl": "pierwsz|drug|trzec|czwart|piąt|szóst|siódm|ósm|dziewiąt|dziesiąt|jedenast|dwunast~ostatn",
    "pt": "primeiro primeira|segundo segunda|terceiro terceira|quarto quarta|quinto quinta|sexto sexta|sétimo "
    "sétima| oitavo oitava|nono nona|décimo décima|décimo_primeiro|décimo_segundo~último última",
    "ru": "перв|втор|трет|четверт|пят|шест|седьм|восьм|девят|десят|одиннадцат|двенадцат~последн",
    "tr": "birinci "
    "ilk|ikinci|üçüncü|dördüncü|beşinci|altıncı|yedinci|sekizinci|dokuzuncu|onuncu|on_birinci|on_ikinci ~son "
    "sonuncu",
    "zh": "~最后一 最後一",
}
"""Words for 1 to 12, separated by bars, with their forms ("_" for a space); those behind `~` mean the last one."""
_ENDINGS = {
    "ar": "",
    "de": "e|er|en|em|es",
    "pl": "y|a|e|ego|ej|ym|ą|i|ia|ie|iego|iej|im|ią",
    "ru": "ый|ий|ой|ая|яя|ое|ее|ого|его|ому|ему|ую|юю|ым|им|ом|ем|ей|ые|ие|ых|их|ий|ья|ье|ьего|ьей|ью",
    "tr": "|yi|yı|yu|yü|si|sı|su|sü|sini|sını|sunu|sünü",
}
"""Endings of the words, by language; no word stands without one, except in Turkish."""
_FIGURES = {
    "de": r"(?<=[denrsm] )(?P<n>[0-9]{1,3})\.(?![0-9])|(?P<n2>[0-9]{1,3})\.(?= [^\W\d_])",
    "en": r"(?P<n>[0-9]{1,3})(?:st|nd|rd|th)",
    "es": r"(?P<n>[0-9]{1,3})\.?(?:º|ª|o|a|er|ro|ra|do|da|to|ta)",
    "fa": r"(?P<n>[0-9]{1,3}) ?م(?:ین)?",
    "fr": r"(?P<n>[0-9]{1,3})(?:ers?|eres?|e|emes?|nde?|ieme)",
    "it": r"(?P<n>[0-9]{1,3})(?:º|ª|°|o|a)",
    "ja": r"第(?P<n>[0-9]{1,3})|(?P<n2>[0-9]{1,3})(?:番目|つ目)",
    "nl": r"(?P<n>[0-9]{1,3})(?:e|de|ste)",
    "pl": r"(?P<n>[0-9]{1,3})(?:-(?:szy|gi|ci|ty|my)|\.(?= [^\W\d_]))",
    "pt": r"(?P<n>[0-9]{1,3})\.?(?:º|ª|o|a)",
    "ru": r"(?P<n>[0-9]{1,3})-?(?:ого|его|ому|ему|ый|ий|ой|ая|ое|ую|го|му|и|я|е|ю|м)",
    "tr": r"(?P<n>[0-9]{1,3})(?:\.(?= [^\W\d_])|'?(?:inci|nci|uncu|ncu|uncu))",
    "zh": r"第(?P<n>[0-9]{1,3})",
}
"""Ordinals in figures by language, in plain form ("й" is "и")."""
_COUNTED = re.compile(f"第([{NUMERALS}]{{1,4}})")
_UNSPACED = frozenset(["ja", "zh"])
_NEVER = "(?!)"


class OrdinalFinder:
    """Finds ordinals in the message's language."""

    def find(self, message: Message) -> list[SlotHit]:
        """Return ordinals in figures and in words."""
        language = base_language(message.language) if message.language else "en"
        figures, words = _figures(language), _words(language)
        hits = []
        for found in figures.finditer(message.plain):
            number = found["n"] or found.groupdict().get("n2") or ""
            hits.append(SlotHit(*message.aligned.widened(*found.span()), int(number)))
        for found in words.pattern.finditer(message.plain):
            hits.append(SlotHit(*message.aligned.widened(*found.span()), words.numbers[found["stem"]]))
        if language in _UNSPACED:
            for found in _COUNTED.finditer(message.text):
                value = numeral(found[1])
                hits += [SlotHit(*message.aligned.widened(*found.span()), value)] if value is not None else []
        return hits


class _Words(NamedTuple):
    pattern: re.Pattern[str]
    """The group `stem` is in `numbers`."""
    numbers: Mapping[str, int]


@lru_cache(maxsize=64)
def _figures(language: str) -> re.Pattern[str]:
    pattern = _FIGURES.get(language, _NEVER)
    if language in _UNSPACED:
        return re.compile(f"(?<![0-9])(?:{pattern})")
    return re.compile(rf"(?<![\w.,:/-])(?:{pattern})(?![^\W_])")


@lru_cache(maxsize=64)
def _words(language: str) -> _Words:
    ordered, _, last = _WORDS.get(language, _WORDS["en"]).partition("~")
    numbers = {plain(word.replace("_", " ")): -1 for word in last.split()}
    for number, words in enumerate(ordered.split("|"), 1):
        numbers |= {plain(word.replace("_", " ")): number for word in words.split()}
    stems = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True))) or _NEVER
    endings = plain(_ENDINGS.get(language, ""))
    prefix = "(?:ال)?" if language == "ar" else ""
    if language in _UNSPACED:
        return _Words(re.compile(f"(?P<stem>{stems})"), numbers)
    return _Words(re.compile(rf"(?<![^\W_]){prefix}(?P<stem>{stems})(?:{endings})(?![^\W_])"), numbers)
