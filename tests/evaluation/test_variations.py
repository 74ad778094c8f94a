"""Variations of a message: typing mistakes and missing accents."""

from __future__ import annotations

import pytest

from intentmatch.evaluation.variations import in_shorthand, with_typos, without_accents

MISTYPED = [
    "where is my order, please?",
    "wo bleibt Größe 42?",
    "где мой заказ?",
    "أين طلبي؟",
    "我的包裹在哪里？",
    "aaaa",
]


@pytest.mark.parametrize("text", MISTYPED)
@pytest.mark.parametrize("seed", range(8))
def test_typos_are_deterministic_and_change_only_letters(text, seed):
    typed = with_typos(text, 1, seed)
    assert typed == with_typos(text, 1, seed)
    assert [c for c in typed if not c.isalpha()] == [c for c in text if not c.isalpha()]
    assert set(typed) <= set(text), "no letter that the text does not have"
    assert typed != text
    assert abs(len(typed) - len(text)) <= 1


def test_typos_are_of_every_kind_and_as_many_as_requested():
    once = {with_typos("abcd", 1, seed) for seed in range(500)}
    dropped, doubled = {"bcd", "acd", "abd", "abc"}, {"aabcd", "abbcd", "abccd", "abcdd"}
    assert {"bacd", "acbd", "abdc"} | dropped | doubled <= once, "swapped, dropped and doubled, the first letter too"
    replaced = {"abcd"[:place] + other + "abcd"[place + 1 :] for place in range(4) for other in "abcd"} - {"abcd"}
    assert replaced <= once
    assert min(len(with_typos("abcd", 4, seed)) for seed in range(500)) == 0
    assert with_typos("abcd", 0) == "abcd"


def test_text_with_a_lone_surrogate_can_be_mistyped():
    assert len(with_typos("where is \ud800 my order", 1)) > 0


@pytest.mark.parametrize("text", ["", "yes", "12:30 ok?", "no 1234567"])
def test_message_with_few_letters_gets_no_typos(text):
    assert with_typos(text, 3) == text


def test_typos_of_the_published_benchmarks_stay_the_same():
    """The numbers in the README of the benchmarks were measured with these mistakes."""
    assert [with_typos("where is my order", 1, seed) for seed in range(4)] == [
        "where is my orde",
        "where is my oredr",
        "where i my order",
        "where s my order",
    ]
    assert with_typos("where is my order", 2, 0) == "mhere is my orde"


@pytest.mark.parametrize(
    ("letter", "near"), [("s", "adwezx"), ("п", "аернми"), ("σ", "αδερζχ"), ("ש", "דז"), ("ش", "سضصئ")]
)
def test_keyboard_typos_use_neighbours_of_the_same_script(letter, near):
    """A replaced letter of "ssss" is the only one that is new."""
    typed = {other for seed in range(400) for other in with_typos(4 * letter, 1, seed, keyboard=True)} - {letter}

    assert typed == set(near)


def test_keyboard_typos_keep_the_case():
    typed = {other for seed in range(100) for other in with_typos("SSSS", 1, seed, keyboard=True)}

    assert typed == set("SADWEZX")


def test_letters_without_a_known_keyboard_are_replaced_by_letters_of_the_text():
    typed = {with_typos("我的包裹", 1, seed, keyboard=True) for seed in range(200)}

    assert "的的包裹" in typed
    assert set("".join(typed)) == set("我的包裹")


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("até logo, João!", "ate logo, Joao!"),
        ("Größe ändern", "Große andern"),
        ("Łódź", "Lodz"),
        ("siparişimi iptal etmek ısrarlı", "siparisimi iptal etmek israrli"),
        ("đổi địa chỉ", "doi dia chi"),
        ("ещё один чай", "еще один чай"),
        ("πού είναι", "που ειναι"),
        ("cafe\u0301", "cafe"),
    ],
)
def test_accents_are_left_out(text, typed):
    assert without_accents(text) == typed
    assert without_accents(typed) == typed


@pytest.mark.parametrize("text", ["where is my order?", "नमस्ते", "ガイドが欲しい", "반품하고 싶어요", "我的包裹"])
def test_scripts_without_accents_stay_as_they_are(text):
    assert without_accents(text) == text


@pytest.mark.parametrize(
    ("text", "language", "typed"),
    [
        ("Please tell me when you are back, thank you!", "en", "pls tell me whn u r back, ty!"),
        ("por favor, quiero pagar", "es-MX", "pls, qro pagar"),
        ("pourquoi s'il vous plaît ?", "fr", "pk pls ?"),
        ("vielleicht später", "de", "vlt später"),
    ],
)
def test_words_become_their_shorthand(text, language, typed):
    assert in_shorthand(text, language) == typed


@pytest.mark.parametrize(("text", "language"), [("thankful youth", "en"), ("请帮我", "zh"), ("thank you", "fr")])
def test_text_without_shorthand_stays_as_it_is(text, language):
    """Parts of words, languages without a table, and words of another language."""
    assert in_shorthand(text, language) == text
