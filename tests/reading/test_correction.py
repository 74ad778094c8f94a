from __future__ import annotations

import pytest
from typo_pairs import OPPOSITES

from intentmatch.reading.correction import Corrector
from intentmatch.reading.text import ReadText
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.normalize import clean, fold

LINES = {
    "en": [
        "Cancel my order",
        "I want to cancel the order please",
        "where is my order",
        "I want my money back",
        "I don't want it",
        "please send me a new card",
        "thanks for the help",
    ],
    "de": ["Wo ist mein Konto", "bitte das Konto schließen", "ich möchte kündigen"],
}


def corrector(languages=("en",), own=None, named=True) -> Corrector:
    lines = [line for language in languages for line in LINES[language]]
    return Corrector(Vocabulary([fold(line) for line in lines]), lines.__getitem__, languages if named else (), own)


def read(text: str, language: str | None = "en", using: Corrector | None = None) -> str:
    cleaned = clean(text)
    correction = (using or corrector()).read(ReadText(cleaned), language)
    return cleaned if correction is None else correction.text


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        ("cancle my ordr", "cancel my order"),
        ("Cancle my order!", "Cancel my order!"),
        ("CANCLE MY ORDR", "CANCEL MY ORDER"),
        ("where is my (oder)?", "where is my (order)?"),
        ("i dontt want it", "i don't want it"),
        ("i dno't want it please", "i don't want it please"),
        ("whre is my order", "where is my order"),
        ("plz send me a new crad", "please send me a new card"),
        ("thx", "thanks"),
        ("THX", "thanks"),
        ("wnat", "want"),
        ("WNAT", "WANT"),
        ("i want my moneyyyyy back", "i want my money back"),
    ],
)
def test_mistakes_and_shorthand_are_corrected(written, corrected):
    """Punctuation and capitals of the message stay."""
    assert read(written) == corrected


@pytest.mark.parametrize(
    "message",
    [
        "cancel my order",
        "where is my order ordr-17",
        "where is order DL123",
        "send me a new card to cancle@order.example",
        "see https://order.example/cancle",
        "send me a new card, Ordel said",
        "send me a ORDR card",
        "FDR",
        "(ICT)",
        "send me a new iCradle",
        "l'ordel",
        "order 12345",
        "取消我的订单吧",
        "ยกเลิกคำสั่งซื้อ",
        "주문을 취소해줘",
        "wo ist mein Paket heute",
        "quiero cancelar el pedido",
        "🎉",
    ],
)
def test_clean_text_names_codes_and_addresses_are_read_as_written(message):
    """So are other languages, and scripts without letters."""
    assert read(message) == clean(message)


def test_capitals_within_a_sentence_are_names_unless_the_registry_has_such_a_word():
    german = corrector(("de",))

    assert read("bitte das Knoto schließen", "de", german) == "bitte das Konto schließen"
    assert read("bitte das Schleißen Konto schließen", "de", german) == "bitte das Schleißen Konto schließen"


def test_missing_accents_are_restored():
    assert read("ich mochte kundigen", "de", corrector(("de",))) == "ich möchte kündigen"


@pytest.mark.parametrize(
    ("message", "corrected"),
    [
        ("i an't find the order", "i an't find the order"),
        ("i an’t find the order", "i an’t find the order"),
        ("i dno't want it please", "i don't want it please"),
        ("where is my ordar's card", "where is my order card"),
    ],
)
def test_contraction_is_only_read_as_a_contraction(message, corrected):
    """ "an't" is not "want"; the "'s" of an owner may be left out."""
    assert read(message) == corrected


def test_word_in_a_script_that_the_registry_does_not_have_is_read_as_written():
    """Its words are unknown without being mistyped."""
    lines = [*LINES["en"], "где мой заказ"]
    both = Corrector(Vocabulary([fold(line) for line in lines]), lines.__getitem__, ("en", "ru"))

    assert read("where is my спасибоо", using=both) == "where is my спасибо"
    assert read("where is my спасибоо") == "where is my спасибоо"


def test_correction_says_what_was_read_as_what():
    correction = corrector().read(ReadText("plz cancle my order, plz"), "en")

    assert correction is not None
    assert correction.says == 'read "plz" as "please", "cancle" as "cancel"'


@pytest.mark.parametrize(
    ("message", "corrected"),
    [
        ("send u a new card", "send you a new card"),
        ("send U a new card", "send U a new card"),
        ("u want my order", "you want my order"),
        ("send 5 u a new card", "send 5 u a new card"),
        ("send u. a new card", "send u. a new card"),
        ("send u.k. a new card", "send u.k. a new card"),
    ],
)
def test_short_shorthand_is_not_taken_from_initials_and_units(message, corrected):
    assert read(message) == corrected


def test_mistakes_are_kept_where_only_shorthand_is_written_out():
    correction = corrector().read(ReadText("plz cancle my order"), "en")

    assert (correction.text, correction.written_out) == ("please cancel my order", "please cancle my order")


def test_shorthand_is_of_the_language_of_the_message():
    both = corrector(("en", "de"))

    assert read("vllt möchte ich kündigen", "de", both) == "vielleicht möchte ich kündigen"
    assert read("u möchte ich", "de", both) == "u möchte ich"


def test_shorthand_of_an_unknown_language_is_of_the_registry():
    assert read("thx", None) == "thanks"
    assert read("vllt", None) == "vllt"


def test_languages_are_guessed_if_the_author_named_none():
    """By the frequent words of the lines."""
    assert read("thx", None, corrector(named=False)) == "thanks"
    assert read("q", None, corrector(named=False)) == "q"


def test_words_of_the_registry_are_never_shorthand():
    lines = ["thx", "hello"]
    known = Corrector(Vocabulary(lines), lines.__getitem__, ("en",))

    assert known.read(ReadText("thx"), "en") is None
    assert known.read(ReadText("plz thx"), "en").text == "please thx"


def test_own_shorthand_is_read_too():
    own = {"en": {"cust": "customer", "u": "u"}, "default": {"gr8": "great"}}
    mine = corrector(own=own)

    assert read("gr8 cust", using=mine) == "great customer"
    assert read("send u a new card", using=mine) == "send u a new card"


@pytest.mark.parametrize(("message", "opposite"), OPPOSITES)
def test_a_word_with_another_prefix_is_not_corrected_to_its_opposite(message, opposite):
    lines = [opposite, "hello there"]
    one = Corrector(Vocabulary([fold(line) for line in lines]), lines.__getitem__)

    assert one.read(ReadText(message), None) is None
