"""The parts of a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.pieces.unigram import normalized
from intentmatch.reading.parts import parts_of
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean


def texts(message: str, language: str | None = None) -> list[str]:
    return [part.text for part in parts_of(ReadText(clean(message)), language).parts]


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("where is my order", ["where is my order"]),
        ("Hello! Where is my order?", ["Hello!", "Where is my order?"]),
        (
            "I bought this for my daughter's birthday. Where is my order?",
            ["I bought this for my daughter's birthday.", "Where is my order?"],
        ),
        ("Guten Tag, wo ist mein Paket? Vielen Dank", ["Guten Tag,", "wo ist mein Paket?", "Vielen Dank"]),
    ],
)
def test_message_is_cut_where_a_part_begins(message, parts):
    assert texts(message) == parts


@pytest.mark.parametrize(
    ("language", "message", "parts"),
    [
        (None, "cancel my appointment and close my account", ["cancel my appointment", "close my account"]),
        ("en", "do you take paypal and also how much is shipping", ["do you take paypal", "how much is shipping"]),
        ("ru", "отмените запись и удалите мои данные", ["отмените запись", "удалите мои данные"]),
        ("de", "Wann habt ihr offen und wo finde ich euch?", ["Wann habt ihr offen", "wo finde ich euch?"]),
        ("en", "please don't lock my card and block it", ["please don't lock my card and block it"]),
        ("en", "cancel and", ["cancel and"]),
    ],
)
def test_word_that_joins_requests_belongs_to_none_of_them(language, message, parts):
    said = parts_of(ReadText(clean(message)), language)

    assert [part.text for part in said.requests or said.parts] == parts


def test_message_is_cut_at_a_joining_word_for_its_requests_alone():
    said = parts_of(ReadText("cancel my appointment and close my account"), "en")

    assert (len(said.parts), len(said.requests)) == (1, 2)


WORDS = st.sampled_from(
    [
        "Hello!",
        "where is my order?",
        "Thanks,",
        "wo ist mein Paket",
        "🙏",
        "ありがとう。",
        "ok",
        "ᚠᚢ",
        "12",
        "İ",
        "¿Qué",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=8).map(" ".join))
def test_parts_hold_the_whole_message_in_order(message):
    text = ReadText(clean(message))
    joined = "".join("".join(part.text for part in parts_of(text, None).parts).split())

    assert joined in ("".join(text.text.split()), "".join(normalized(text.text).split()))


@pytest.mark.parametrize("message", ["", " ", "🙏🙏", "?!"])
def test_message_without_words_is_one_part(message):
    assert texts(message) == [clean(message)]


def test_message_of_many_parts_is_one():
    assert len(texts("Hello! Where is my order? Thanks! " * 12)) == 1


def test_refusal_that_the_spelling_correction_took_away_still_counts():
    meant, typed = ReadText("annuler pas ma commande"), ReadText("annule pas ma commande")

    (part,) = parts_of(meant, None).refusing_as(typed).parts

    assert part.text == meant.text
    assert part.acts.refuses >= parts_of(meant, None).acts.refuses


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("what is my tax rate. I was chatting with a colleague of yours", 2),
        ("do you charge for transfers?. I was chatting with a colleague of yours", 2),
        ("送料はいくらですか？早く届きますか", 2),
        ("open example.com/a?b=c for me", 1),
    ],
)
def test_sentence_ends_a_part(message, expected):
    assert len(parts_of(ReadText(message), None).parts) == expected


@pytest.mark.parametrize("message", ["你们几点开门？另外帮我订个四人桌", "cancel my order. oh never mind"])
def test_part_behind_a_sentence_begins_whatever_the_network_says(message):
    first, second = parts_of(ReadText(message), None).parts

    assert (first.begins, second.begins) == (0.0, 0.0)
