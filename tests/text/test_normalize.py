"""`clean`, `fold`, `in_words` and language codes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text import normalize
from intentmatch.text.normalize import base_language, clean, fold, in_words, language_code, language_range

# Every code point there is, lone surrogates included.
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(
    st.sampled_from("aAßİıΣσς'’´`.,¿؟。\u0300\u0301\u0345\u200b\u200c\u200d\ufeff\u00ad \t\n\0\ud800ﬁ①％#é")
)


@given(ANYTHING | TRICKY)
def test_clean_is_idempotent(text):
    assert clean(clean(text)) == clean(text)


@given(ANYTHING | TRICKY)
def test_fold_is_idempotent(text):
    assert fold(fold(text)) == fold(text)


@given(ANYTHING | TRICKY)
def test_fold_of_clean_text_equals_fold(text):
    assert fold(clean(text)) == fold(text)


@given(ANYTHING | TRICKY)
def test_clean_and_fold_can_be_encoded_as_utf8(text):
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)
    assert fold(text).encode("utf-8").decode("utf-8") == fold(text)


@given(ANYTHING | TRICKY)
def test_clean_and_fold_have_single_inner_spaces_only(text):
    for form in (clean(text), fold(text)):
        assert form == " ".join(form.split())


@given(ANYTHING | TRICKY)
def test_fold_ignores_canonical_composition(text):
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text)) == fold(text)


@given(ANYTHING)
def test_fold_ignores_case(text):
    assert fold(clean(text).lower()) == fold(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two \t spaces \r\n", "two spaces"),
        ("Case Stays", "Case Stays"),
        ("Wie bitte?!", "Wie bitte?!"),
        ("e\u0301te\u0301", "été"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\ufeffbom", "bom"),
        ("zero\u200bwidth", "zerowidth"),
        ("\u202eright\u202c to left", "right to left"),
        ("bell\x07 and nul\0", "bell and nul"),
        ("no\u00a0break", "no break"),
        ("全角\u3000空白", "全角 空白"),
        ("line\u2028separator", "line separator"),
        ("lone \ud83d surrogate", "lone \ufffd surrogate"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_clean_drops_invisible_characters_only(text, expected):
    """Case, punctuation and joiners stay; white space becomes single spaces."""
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ["Where is my order?", "where is my order", "WHERE IS MY ORDER!!", "where  is, my order…"],
            "where is my order",
        ),
        (["don't", "don’t", "don‘t", "don`t", "don´t", "donʼt", "don＇t", "dont"], "dont"),
        (["Straße", "STRASSE", "strasse", "STRAẞE"], "strasse"),
        (["ﬁnd", "find", "ＦＩＮＤ", "𝓯𝓲𝓷𝓭"], "find"),
        (["¿Dónde está?", "dónde está", "DÓNDE ESTÁ", "do\u0301nde esta\u0301"], "dónde está"),
        (["أين طلبي؟", "أين طلبي"], "أين طلبي"),
        (["注文はどこですか。", "注文はどこですか？", "注文はどこですか"], "注文はどこですか"),
        (["ｶﾀｶﾅ", "カタカナ"], "カタカナ"),
        (["Где мой заказ?", "где мой заказ", "ГДЕ МОЙ ЗАКАЗ"], "где мой заказ"),
        (["ΟΔΥΣΣΕΥΣ", "Οδυσσεύς".replace("ύ", "υ"), "οδυσσευσ"], "οδυσσευσ"),
        (["मेरा ऑर्डर कहाँ है?", "मेरा ऑर्डर कहाँ है।"], "मेरा ऑर्डर कहाँ है"),
        (["한국어!", "한국어"], "한국어"),
        (["e-mail", "e mail", "e–mail"], "e mail"),
        (["C#", "c#"], "c#"),
        (["50%", "50％"], "50%"),
        (["@home", "＠home"], "@home"),
        (["№ 5", "No 5"], "no 5"),
        (["می\u200cخواهم", "می\u200cخواهم!"], "می\u200cخواهم"),
        (["👩\u200d🚀!", "👩\u200d🚀"], "👩\u200d🚀"),
        (["???", "…", "¡!", "。", "", " ", "'’´`"], ""),
    ],
)
def test_fold_unifies_case_compatibility_forms_and_punctuation(texts, expected):
    assert {fold(text) for text in texts} == {expected}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("c", "c#"),
        ("50", "50%"),
        ("at home", "@home"),
        ("مى", "مي"),
        ("pâte", "pate"),
        ("می\u200cخواهم", "میخواهم"),
        ("買う", "賣う"),
    ],
)
def test_fold_keeps_accents_letters_joiners_and_meaningful_marks(text, other):
    assert fold(text) != fold(other)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en", "en"),
        ("EN", "en"),
        ("pt_br", "pt-BR"),
        ("PT-br", "pt-BR"),
        ("ZH-hant", "zh-Hant"),
        ("zh-HANT-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("yue", "yue"),
        ("iw_il", "he-IL"),
        ("in", "id"),
        ("sl-IT-nedis", "sl-IT-nedis"),
        ("", None),
        ("e", None),
        ("english", None),
        ("en-", None),
        ("en us", None),
        ("en\n", None),
        ("дe", None),
    ],
)
def test_language_code_gives_canonical_case_or_none(code, expected):
    assert language_code(code) == expected


@given(st.from_regex(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?", fullmatch=True))
def test_language_code_is_idempotent(code):
    assert language_code(language_code(code)) == language_code(code) is not None


def test_language_range_drops_one_subtag_at_a_time():
    assert language_range("zh-Hant-TW") == ("zh-Hant-TW", "zh-Hant", "zh")
    assert language_range("zh-TW") == ("zh-TW", "zh-Hant", "zh")
    assert language_range("de") == ("de",)


@pytest.mark.parametrize("code", ["no", "nb", "nn", "nb-NO", "no-NO"])
def test_codes_of_norwegian_fall_back_to_each_other(code):
    assert language_range(code)[0] == code
    assert {"no", "nb"}.issubset(language_range(code))
    assert base_language(code) == "no"


@pytest.mark.parametrize("name", ["order_status", "OrderStatus", "order/status", "order-status", " order.Status "])
def test_in_words_splits_every_naming_style(name):
    assert in_words(name) == "order status"


def test_in_words_without_letters_is_empty():
    assert (in_words("__"), in_words("注文_状況"), in_words("FAQ12")) == ("", "注文 状況", "faq12")


@pytest.mark.parametrize("text", ["kept as one string", "  Kept as one string? ", "kept wo ist meine größe"])
def test_equal_forms_are_one_string(text):
    """The cache keeps them, of each line and of many messages. No other test has these texts."""
    cleaned, folded = clean(text), fold(text)

    assert cleaned is text or cleaned != text
    assert folded is cleaned or folded != cleaned


def test_texts_longer_than_lines_are_not_kept():
    before = normalize._cached_fold.cache_info().currsize
    fold("Ünlike " * 20)
    clean("Ünlike " * 20)

    assert normalize._cached_fold.cache_info().currsize == before
    assert normalize._CACHED_TEXTS * normalize._LONGEST_CACHED <= 8_000_000
