from __future__ import annotations

import pytest

from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.reading.word_index import END, WordIndex, familiarity

LINES = [
    "cancel my order",
    "cancel the subscription",
    "where is my order",
    "i want my money back",
    "till next time",
    "order a pizza",
]


def likeliest(index: WordIndex, word: str) -> str | None:
    found = index.candidates(word, None)
    return max(found, key=lambda candidate: candidate.score).word if found else None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cancle", "cancel"),
        ("ordr", "order"),
        ("orderr", "order"),
        ("oeder", "order"),
        ("rder", "order"),
        ("subsription", "subscription"),
        ("subcriptoin", "subscription"),
        ("monyyyy", "mony"),
        ("moneyyyyy", "money"),
    ],
)
def test_likeliest_candidate_is_a_near_word_of_the_registry(typed, meant):
    """Swapped, left out, doubled and wrong letters; two mistakes in longer words; letters repeated for emphasis."""
    assert likeliest(WordIndex(Vocabulary([*LINES, "mony"])), typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ulgaage", {"luggage"}),
        ("reseervatiions", {"reservations"}),
        ("reservtion", {"reservation", "reservations"}),
        ("ugage", {"usage", "luggage"}),
        ("luxggages", {"luggages"}),
    ],
)
def test_long_words_may_have_two_mistakes_anywhere(typed, meant):
    """Two letters more or less, another first letter; not in short words, nor where the registry has a nearer word."""
    index = WordIndex(Vocabulary(["my luggage", "reservations", "luggages"][: 3 if "x" in typed else 2]))

    assert {candidate.word for candidate in index.candidates(typed, None)} == meant


def test_common_words_are_candidates_where_the_registry_has_none():
    assert likeliest(WordIndex(Vocabulary(LINES)), "becuase") == "because"


def test_only_words_of_the_languages_of_registry_and_message_are_candidates():
    index = WordIndex(Vocabulary(LINES), lambda _, language: language == "en")

    assert likeliest(index, "becuase") is None
    assert likeliest(index, "ordr") == "order"
    assert {candidate.word for candidate in index.candidates("becuase", "en")} == {"because"}


def test_word_one_mistake_away_is_likelier_than_one_two_away():
    index = WordIndex(Vocabulary(["meeting", *["what is the meaning"] * 50]))

    assert likeliest(index, "meeoing") == "meeting"


def test_common_word_one_mistake_away_rivals_a_word_of_the_registry_two_away():
    found = WordIndex(Vocabulary(["a restaurant"])).candidates("restadrants", None)

    assert {candidate.word for candidate in found} == {"restaurant", "restaurants"}


@pytest.mark.parametrize("word", ["x", "12", "dl123", "c#", "订单", "ขอบคณ", "주문", "a" * 30, ""])
def test_no_candidates_for_codes_and_scripts_without_letters(word):
    assert WordIndex(Vocabulary(LINES)).candidates(word, None) == ()


@pytest.mark.parametrize(
    ("lines", "typed", "meant"),
    [
        (["где мой заказ", "отменить заказ"], "закза", "заказ"),
        (["πού είναι η παραγγελία μου"], "παραγελία", "παραγγελία"),
        (["أين طلبي الآن", "إلغاء الاشتراك"], "الاشتراكك", "الاشتراك"),
        (["לבטל את ההזמנה שלי"], "הזהמנה", "ההזמנה"),
        (["मेरा ऑर्डर कहाँ है"], "ऑर्डरर", "ऑर्डर"),
        (["siparişimi iptal et"], "siparisimi", "siparişimi"),
        (["quero a devolução"], "devolucao", "devolução"),
    ],
)
def test_alphabetic_scripts_have_candidates(lines, typed, meant):
    assert meant in {candidate.word for candidate in WordIndex(Vocabulary(lines)).candidates(typed, None)}


def test_frequent_words_score_higher():
    index = WordIndex(Vocabulary(["my cart", *["my card"] * 50]))

    assert likeliest(index, "carr") == "card"


def test_a_word_of_some_language_scores_lower_than_garbled_letters():
    """ "alarma" is a Spanish word, "alarmq" is none."""
    index = WordIndex(Vocabulary(["set the alarm"]))
    spanish, garbled = (
        candidate.score
        for word in ("alarma", "alarmq")
        for candidate in index.candidates(word, None)
        if candidate.word == "alarm"
    )

    assert index.is_common("alarma")
    assert not index.is_common("alarmq")
    assert spanish < garbled


def test_neighbours_raise_words_that_stand_beside_them():
    index = WordIndex(Vocabulary(LINES))

    assert index.fits("my", "order", END) > 0 > index.fits("next", "order", "is")
    assert index.fits("my", "because", END) == 0.0


def test_familiarity_rises_with_known_words_and_falls_with_words_of_languages():
    assert familiarity(5, 0, 0) > familiarity(3, 0, 2) > familiarity(3, 2, 0) > familiarity(0, 5, 0)


def test_an_empty_index_has_only_common_words():
    assert likeliest(WordIndex(Vocabulary([])), "becuase") in (None, "because")


def test_only_words_that_may_be_meant_are_kept():
    index = WordIndex(Vocabulary(LINES))

    assert index.candidates("x" * 5000, None) == ()
    assert index._cache == {}
