"""Numbers in digits of any script, with the separators of any country, and in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.message import Message
from intentmatch.slots.number_words import spoken_numbers
from intentmatch.slots.numbers import NumberFinder
from intentmatch.slots.numerals import numbers_in_numerals, numeral

NUMBERS = NumberFinder()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("7 or -5 or +3 or −2", "en", {"7": 7, "-5": -5, "+3": 3, "−2": -2}),
        ("3-5 people", "en", {"3": 3, "5": 5}),
        ("1,234.5", "de", {"1,234.5": 1234.5}),
        ("1.234,5", "en", {"1.234,5": 1234.5}),
        ("1,234", "en", {"1,234": 1234}),
        ("1,234", "de", {"1,234": 1.234}),
        ("1.234", "de", {"1.234": 1234}),
        ("1.234", "en", {"1.234": 1.234}),
        ("1.234", None, {"1.234": 1.234}),
        ("1.234", "es", {"1.234": 1234}),
        ("1.234", "es-MX", {"1.234": 1.234}),
        ("1.234", "de-CH", {"1.234": 1.234}),
        ("0,123", "en", {"0,123": 0.123}),
        ("1,5", "en", {"1,5": 1.5}),
        ("12.50", "de", {"12.50": 12.5}),
        ("1.000.000", "en", {"1.000.000": 1_000_000}),
        ("12,34,567", "hi", {"12,34,567": 1_234_567}),
        ("1'234'567.5", "de-CH", {"1'234'567.5": 1_234_567.5}),
        ("1’234", "it", {"1’234": 1234}),
        ("12 345 678,9", "fr", {"12 345 678,9": 12_345_678.9}),
        ("12\u202f345", "en", {"12\u202f345": 12_345}),
        ("2 100 watt bulbs", "en", {"2": 2, "100": 100}),
        ("call 030 123 456", "de", {"030": 30, "123 456": 123_456}),
        (".5 and 50% of €20", "en", {".5": 0.5, "50": 50, "20": 20}),
        ("٣٤٥٫٥", "ar", {"٣٤٥٫٥": 345.5}),
        ("۱٬۲۳۴", "fa", {"۱٬۲۳۴": 1234}),
        ("१२३", "hi", {"१२३": 123}),
        ("１２３人", "ja", {"１２３": 123}),
        ("买2个", "zh", {"2": 2}),
        ("10kg, 1st", "en", {"10": 10, "1": 1}),
        ("5\ufe0f\u20e3 stars", "en", {"5\ufe0f\u20e3": 5}),
        ("7.", "en", {"7": 7}),
        ("(12)", "en", {"12": 12}),
    ],
)
def test_digits_with_separators(text, language, expected):
    numbers = found(NUMBERS, text, language)

    assert numbers == expected
    assert [type(number) for number in numbers.values()] == [type(number) for number in expected.values()]


@pytest.mark.parametrize(
    "text",
    [
        "A4",
        "ab12cd",
        "AB-1234",
        "4f5e",
        "1.2.3",
        "192.168.0.1",
        "2026-11-22",
        "22/11/2026",
        "18:30",
        "1,23,4",
        "9" * 19,
    ],
)
def test_names_versions_dates_and_times_are_not_numbers(text):
    assert found(NUMBERS, text) == {}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "zero", 0),
        ("en", "twenty-one", 21),
        ("en", "two hundred and fifty", 250),
        ("en", "a hundred", 100),
        ("en", "three thousand five hundred", 3500),
        ("en", "one million two thousand and five", 1_002_005),
        ("de", "einundzwanzig", 21),
        ("de", "zweihundertfünfzig", 250),
        ("de", "dreitausendvierhundert", 3400),
        ("de", "eine Million", 1_000_000),
        ("nl", "tweeëntwintig", 22),
        ("nl", "honderd vijf", 105),
        ("fr", "vingt et un", 21),
        ("fr", "soixante et onze", 71),
        ("fr", "quatre-vingt-dix-sept", 97),
        ("fr", "deux cents", 200),
        ("fr-CH", "nonante-neuf", 99),
        ("es", "treinta y uno", 31),
        ("es", "veintiún mil doscientos", 21_200),
        ("it", "ventuno", 21),
        ("it", "duecentocinquanta", 250),
        ("it", "millecinquecento", 1500),
        ("pt", "vinte e um mil e duzentos", 21_200),
        ("tr", "yirmi bir", 21),
        ("tr", "bin beş yüz", 1500),
        ("ru", "двадцать один", 21),
        ("ru", "пять тысяч триста", 5300),
        ("pl", "dwadzieścia pięć tysięcy", 25_000),
        ("ar", "خمسة عشر", 15),
        ("ar", "واحد وعشرون", 21),
        ("ar", "ثلاثمئة", 300),
        ("fa", "بیست و یک", 21),
        ("fa", "بیست‌ویک", 21),
        ("zh", "二十五", 25),
        ("zh", "三百二十一万", 3_210_000),
        ("zh", "两千零五", 2005),
        ("zh", "二〇二六", 2026),
        ("zh", "三个", 3),
        ("ja", "二人", 2),
        ("ja", "百円", 100),
    ],
)
def test_numbers_in_words(language, text, expected):
    assert list(found(NUMBERS, text, language).values()) == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "two, three and four", [2, 3, 4]),
        ("en", "twenty, five", [20, 5]),
        ("en", "ten five", [10, 5]),
        ("en", "nineteen ninety", [19, 90]),
        ("en", "hundred and more", [100]),
        ("de", "ein Ticket und eine Karte", []),
        ("de", "Zweifel und Achtung", []),
        ("fr", "un billet", []),
        ("tr", "bir bilet, on kişi", [10]),
        ("zh", "三明治和一个问题", []),
        ("zh", "一起吃饭", []),
        ("zh", "二三十", []),
        ("tl", "dalawampu", []),
        ("sw", "elfu kumi na tano", [10_000, 5]),
        ("sw", "elfu moja mia tisa na tisini na tisa", [1000, 999]),
        ("sw", "elfu mbili mia tano", [2500]),
        ("ms", "seribu sembilan ratus sembilan puluh sembilan", [1999]),
        ("ms", "puluh belas", []),
        (None, "seven", [7]),
        ("en", "und zwanzig", []),
    ],
)
def test_adjacent_numbers_stay_apart_and_articles_are_not_numbers(language, text, expected):
    message = Message(text, language)
    numbers = sorted([*spoken_numbers(message), *numbers_in_numerals(message)])

    assert [one.value for one in numbers if not one.is_loose] == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "minus seven", -7),
        ("en", "three point one four", 3.14),
        ("en", "two and a half million", 2_500_000),
        ("en", "half a million", 500_000),
        ("en", "three fifths", 0.6),
        ("de", "drei Fünftel", 0.6),
        ("fr", "trois cinquièmes", 0.6),
        ("ru", "три пятых", 0.6),
        ("en", "two dozen and a half", 30),
        ("es", "dos docenas y media", 30),
        ("pt", "uma dúzia e meia", 18),
        ("en", "2 million five hundred thousand", 2_500_000),
        ("en", "two and three quarters", 2.75),
        ("en", "3 dozen", 36),
        ("en", "1.5M", 1_500_000),
        ("en", "2k", 2000),
        ("en", "1/2", 0.5),
        ("en", "2 1/2", 2.5),
        ("en", "2½", 2.5),
        ("en", "1 000", 1000),
        ("en", "1 234 567", 1_234_567),
        ("de", "minus fünf", -5),
        ("de", "einundzwanzig Komma fünf", 21.5),
        ("de", "anderthalb", 1.5),
        ("de", "dreieinhalb Millionen", 3_500_000),
        ("de", "2,5 Mio.", 2_500_000),
        ("fr", "un million et demi", 1_500_000),
        ("fr", "deux virgule cinq", 2.5),
        ("fr", "au moins 5", 5),
        ("es", "medio millón", 500_000),
        ("it", "tre quarti", 0.75),
        ("nl", "anderhalf", 1.5),
        ("pl", "dwa i pół", 2.5),
        ("pt", "meia dúzia", 6),
        ("ru", "минус пять тысяч", -5000),
        ("tr", "bir buçuk", 1.5),
        ("ar", "5 آلاف", 5000),
        ("zh", "3万", 30_000),
        ("zh", "1.5亿", 150_000_000),
        ("zh", "三万五", 35_000),
        ("zh", "两千三", 2300),
        ("zh", "三点五", 3.5),
        ("ja", "三百五", 305),
        ("ja", "3万5千", 35_000),
        ("ja", "一億二千万", 120_000_000),
        ("ja", "マイナス五", -5),
    ],
)
def test_signs_decimals_fractions_and_scales_belong_to_the_number(language, text, expected):
    assert next(iter(found(NUMBERS, text, language).values())) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("language", "text"), [("en", "an hour and a half"), ("en", "5/3"), ("zh", "8点 二十"), ("en", "24/7")]
)
def test_parts_of_something_else_are_no_fractions(language, text):
    assert [one for one in found(NUMBERS, text, language).values() if isinstance(one, float)] == []


@given(st.integers(0, 10**17))
def test_whole_number_round_trips_with_any_separator(number):
    for mark, language in (("", "en"), (",", "en"), (".", "de"), ("'", "it"), (" ", "fr"), ("\u00a0", "en")):
        text = f"{number:,}".replace(",", mark)
        assert found(NUMBERS, f"take {text}, please", language) == {text: number}


@given(st.floats(0, 1e9).map(lambda number: round(number, 2)))
def test_decimal_number_round_trips_in_english_and_german(number):
    text = f"{number:,.2f}"
    german = text.translate(str.maketrans(",.", ".,"))

    assert found(NUMBERS, f"pay {text}", "en") == {text: number}
    assert found(NUMBERS, f"zahle {german}", "de") == {german: number}


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_round_trip(number):
    assert numeral(chinese(number)) == number


def chinese(number: int) -> str:
    """Write a number in Chinese numerals."""
    if number >= 10_000:
        rest = number % 10_000
        zero = "零" if 0 < rest < 1000 else ""
        return chinese(number // 10_000) + "万" + (zero + chinese(rest) if rest else "")
    text = ""
    for unit, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += "零" * (text.endswith("零") is False and bool(text) and number // (unit * 10) % 10 == 0)
            text += "零一二三四五六七八九"[digit] + sign
    return text


@given(
    st.text() | st.text(st.sampled_from("0123456789.,'’ +-/:aé人٣\u00a0一百万零")),
    st.sampled_from(["en", "de", "zh", None]),
)
def test_any_text_gives_valid_hits(text, language):
    found(NUMBERS, text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "several thousand"),
        ("en", "a few hundred people"),
        ("de", "einige tausend Euro"),
        ("fr", "quelques mille"),
        ("it", "diverse mila"),
        ("ru", "несколько тысяч"),
        ("tr", "birkaç bin"),
    ],
)
def test_scale_behind_a_vague_word_is_no_number(language, text):
    assert found(NumberFinder(), text, language) == {}
