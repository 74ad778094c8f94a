"""Numbers in words of twelve languages.

The table of a language lists numbers with their words. The words after `&` join two parts ("and"). The words after
`~` are articles if they are alone ("un"). Behind `+` are numbers with parts that occur only inside longer words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from intentmatch.slots.message import Message, NumberAt
from intentmatch.text.normalize import bare, base_language

_WORDS = {
    "en": """
        0 zero 1 one 2 two 3 three 4 four 5 five 6 six 7 seven 8 eight 9 nine 10 ten 11 eleven 12 twelve 13 thirteen
        14 fourteen 15 fifteen 16 sixteen 17 seventeen 18 eighteen 19 nineteen 20 twenty 30 thirty 40 forty 50 fifty
        60 sixty 70 seventy 80 eighty 90 ninety 100 hundred 1000 thousand 1000000 million 1000000000 billion & and
    """,
    "de": """
        0 null 1 eins ein eine einen einem einer 2 zwei zwo 3 drei 4 vier 5 fünf 6 sechs 7 sieben 8 acht 9 neun 10 zehn
        11 elf 12 zwölf 13 dreizehn 14 vierzehn 15 fünfzehn 16 sechzehn 17 siebzehn 18 achtzehn 19 neunzehn 20 zwanzig
        30 dreißig dreissig 40 vierzig 50 fünfzig 60 sechzig 70 siebzig 80 achtzig 90 neunzig 100 hundert 1000 tausend
        1000000 million millionen 1000000000 milliarde milliarden & und ~ ein eine einen einem einer
    """,
    "nl": """
        0 nul 1 een 2 twee 3 drie 4 vier 5 vijf 6 zes 7 zeven 8 acht 9 negen 10 tien 11 elf 12 twaalf 13 dertien 14
        veertien 15 vijftien 16 zestien 17 zeventien 18 achttien 19 negentien 20 twintig 30 dertig 40 veertig 50
        vijftig 60 zestig 70 zeventig 80 tachtig 90 negentig 100 honderd 1000 duizend 1000000 miljoen & en ~ een
    """,
    "fr": """
        0 zéro 1 un une 2 deux 3 trois 4 quatre 5 cinq 6 six 7 sept 8 huit 9 neuf 10 dix 11 onze 12 douze 13 treize
        14 quatorze 15 quinze 16 seize 20 vingt vingts 30 trente 40 quarante 50 cinquante 60 soixante 70 septante 80
        huitante octante 90 nonante 100 cent cents 1000 mille 1000000 million millions & et ~ un une
    """,
    "es": """
        0 cero 1 uno un una 2 dos 3 tres 4 cuatro 5 cinco 6 seis 7 siete 8 ocho 9 nueve 10 diez 11 once 12 doce 13
        trece 14 catorce 15 quince 16 dieciséis 17 diecisiete 18 dieciocho 19 diecinueve 20 veinte 21 veintiuno
        veintiún veintiuna 22 veintidós 23 veintitrés 24 veinticuatro 25 veinticinco 26 veintiséis 27 veintisiete 28
        veintiocho 29 veintinueve 30 treinta 40 cuarenta 50 cincuenta 60 sesenta 70 setenta 80 ochenta 90 noventa
        100 cien ciento 200 doscientos doscientas 300 trescientos trescientas 400 cuatrocientos cuatrocientas 500
        quinientos quinientas 600 seiscientos seiscientas 700 setecientos setecientas 800 ochocientos ochocientas
        900 novecientos novecientas 1000 mil 1000000 millón millones & y ~ un una uno
    """,
    "it": """
        0 zero 1 uno un una 2 due 3 tre 4 quattro 5 cinque 6 sei 7 sette 8 otto 9 nove 10 dieci 11 undici 12 dodici
        13 tredici 14 quattordici 15 quindici 16 sedici 17 diciassette 18 diciotto 19 diciannove 20 venti 30 trenta
        40 quaranta 50 cinquanta 60 sessanta 70 settanta 80 ottanta 90 novanta 100 cento 1000 mille mila 1000000
        milione milioni & e ~ un una uno + 20 vent 30 trent 40 quarant 50 cinquant 60 sessant 70 settant 80 ottant
        90 novant 100 cent
    """,
    "pt": """
        0 zero 1 um uma 2 dois duas 3 três 4 quatro 5 cinco 6 seis 7 sete 8 oito 9 nove 10 dez 11 onze 12 doze 13
        treze 14 catorze quatorze 15 quinze 16 dezesseis dezasseis 17 dezessete dezassete 18 dezoito 19 dezenove
        dezanove 20 vinte 30 trinta 40 quarenta 50 cinquenta 60 sessenta 70 setenta 80 oitenta 90 noventa 100 cem
        cento 200 duzentos duzentas 300 trezentos trezentas 400 quatrocentos quatrocentas 500 quinhentos quinhentas
        600 seiscentos seiscentas 700 setecentos setecentas 800 oitocentos oitocentas 900 novecentos novecentas 1000
        mil 1000000 milhão milhões & e ~ um uma
    """,
    "tr": """
        0 sıfır 1 bir 2 iki 3 üç 4 dört 5 beş 6 altı 7 yedi 8 sekiz 9 dokuz 10 on 20 yirmi 30 otuz 40 kırk 50 elli
        60 altmış 70 yetmiş 80 seksen 90 doksan 100 yüz 1000 bin 1000000 milyon ~ bir
    """,
    "ru": """
        0 ноль нуль 1 один одна одно одну одного одной 2 два две двух двум двумя двое двоих 3 три трёх трём трое троих
        4 четыре четырёх четырём четверо четверых 5 пять пяти пятеро пятерых 6 шесть шести шестеро шестерых 7 семь семи
        8 восемь восьми 9 девять девяти 10 десять десяти 11 одиннадцать 12 двенадцать 13 тринадцать 14 четырнадцать 15
        пятнадцать 16 шестнадцать 17 семнадцать 18 восемнадцать 19 девятнадцать 20 двадцать двадцати 30 тридцать
        тридцати 40 сорок сорока 50 пятьдесят 60 шестьдесят 70 семьдесят 80 восемьдесят 90 девяносто 100 сто 200 двести
        300 триста 400 четыреста 500 пятьсот пятисот 600 шестьсот шестисот 700 семьсот семисот 800 восемьсот восьмисот
        900 девятьсот 1000 тысяча тысячи тысяч тысячу 1000000 миллион миллиона миллионов
    """,
    "pl": """
        0 zero 1 jeden jedna jedno jedną jednego 2 dwa dwie dwóch 3 trzy trzech 4 cztery czterech 5 pięć pięciu 6
        sześć sześciu 7 siedem siedmiu 8 osiem ośmiu 9 dziewięć dziewięciu 10 dziesięć dziesięciu 11 jedenaście 12
        dwanaście 13 trzynaście 14 czternaście 15 piętnaście 16 szesnaście 17 siedemnaście 18 osiemnaście 19
        dziewiętnaście 20 dwadzieścia 30 trzydzieści 40 czterdzieści 50 pięćdziesiąt 60 sześćdziesiąt 70
        siedemdziesiąt 80 osiemdziesiąt 90 dziewięćdziesiąt 100 sto 200 dwieście 300 trzysta 400 czterysta 500
        pięćset 600 sześćset 700 siedemset 800 osiemset 900 dziewięćset 1000 tysiąc tysiące tysięcy 1000000 milion
        miliony milionów
    """,
    "ar": """
        0 صفر 1 واحد واحدة احد احدى 2 اثنان اثنين اثنتان اثنتين 3 ثلاثة ثلاث 4 أربعة أربع 5 خمسة خمس 6 ستة ست 7 سبعة
        سبع 8 ثمانية ثماني ثمان 9 تسعة تسع 10 عشرة عشر 20 عشرون عشرين 30 ثلاثون ثلاثين 40 أربعون أربعين 50 خمسون خمسين
        60 ستون ستين 70 سبعون سبعين 80 ثمانون ثمانين 90 تسعون تسعين 100 مئة مائة 200 مئتان مئتين مائتان مائتين 1000 ألف
        ألفا آلاف 2000 ألفان ألفين 1000000 مليون ملايين & و ~ احد احدى + 2 اثنا اثني
    """,
    "fa": """
        0 صفر 1 یک 2 دو 3 سه 4 چهار 5 پنج 6 شش 7 هفت 8 هشت 9 نه 10 ده 11 یازده 12 دوازده 13 سیزده 14 چهارده 15
        پانزده 16 شانزده 17 هفده 18 هجده 19 نوزده 20 بیست 30 سی 40 چهل 50 پنجاه 60 شصت 70 هفتاد 80 هشتاد 90 نود 100
        صد 200 دویست 300 سیصد 400 چهارصد 500 پانصد 600 ششصد 700 هفتصد 800 هشتصد 900 نهصد 1000 هزار 1000000 میلیون &
        و ~ یک نه
    """,
}

_COMPOUNDING = frozenset(["ar", "de", "fa", "it", "nl", "tr"])
"""Languages that write compound numbers as one word ("einundzwanzig")."""
_UNITS_FIRST = frozenset(["ar", "de", "nl"])
"""Languages that say "one and twenty"."""
_MULTIPLIERS = (1000, 1_000_000, 1_000_000_000)
_AND = -1
_LONGEST_WORD = 60
_MOST_DIGITS = 18
_HYPHENS = " \t\u00a0\u202f-\u2010\u2011\u200c"


class _Table(NamedTuple):
    language: str
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
    table = _table(base_language(message.language) if message.language else "en")
    if table is None:
        return
    for run in _runs(message, table):
        is_article = run.words == 1 and message.bare[run.start : run.end] in table.articles
        span = message.aligned.span(run.start, run.end)
        if span is not None:
            yield NumberAt(*span, run.sum.total + run.sum.group, run.scale, is_article)


def _runs(message: Message, table: _Table) -> Iterator[_Run]:
    run: _Run | None = None
    for start, end in message.words:
        parts = _parts(table.language, message.bare[start:end])
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
        so_far = _plus(table.language, so_far, part)
        if so_far is None:
            return None
    return so_far


def _plus(language: str, so_far: _Sum | None, part: int) -> _Sum | None:
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
    if language == "fr" and part == 20 and group % 100 == 4:
        return _Sum(total, group - 4 + 80)
    return _Sum(total, group + part) if _fits(language, so_far, part) else None


def _fits(language: str, so_far: _Sum, part: int) -> bool:
    """Return whether a part below a thousand can follow a partly read number."""
    tens = so_far.group % 100
    if part == 0 or part >= 1000 or so_far == (0, 0, so_far.joined):
        return False
    if part >= 100:
        return so_far.group == 0
    if language == "ar" and part == 10:
        return tens < 10
    if language in _UNITS_FIRST and 0 < tens < 10:
        return part >= 20 and so_far.joined
    if language == "fr" and tens in (60, 80):
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
    split = _split(table.parts, word) if language in _COMPOUNDING and len(word) <= _LONGEST_WORD else None
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
    if language not in _WORDS:
        return None
    tables: dict[str, dict[str, int]] = {"": {}, "&": {}, "~": {}, "+": {}}
    section, number = "", _AND
    for word in _WORDS[language].split():
        if word in tables:
            section, number = word, _AND
        elif word.isdecimal():
            number = int(word)
        else:
            tables[section][bare(word)] = number
    values = tables[""] | tables["&"]
    return _Table(language, values, values | tables["+"], frozenset(tables["~"]))


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
    total = _plus(language, so_far, last)
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
