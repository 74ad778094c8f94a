"""The language of a message, and whether the registry has it."""

from __future__ import annotations

import pytest

from intentmatch import Intent, Registry, Utterance
from intentmatch.reading.message_language import MessageLanguage, Spoken
from intentmatch.reading.text import ReadText
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.normalize import clean, fold

ENGLISH = ("where is my order", "please cancel my order", "hello there", "track the parcel", "is the hotel open today")
GERMAN = ("wo ist meine Bestellung", "bitte storniere die Bestellung", "guten Tag", "ist das Hotel heute offen")
RUSSIAN = ("где мой заказ", "отмените мой заказ, пожалуйста", "добрый день", "открыт ли отель сегодня")


def registry(**lines: tuple[str, ...]) -> Registry:
    """One intent with lines by language; `none` for lines without one."""
    utterances = [
        Utterance(text, None if language == "none" else language) for language, texts in lines.items() for text in texts
    ]
    return Registry((Intent("everything", tuple(utterances)),))


def spoken(bot: Registry, message: str, given: str | None = None) -> Spoken:
    key = fold(message)
    rows = [row for row, folded in enumerate(bot.folded) if folded == key]
    return MessageLanguage(bot, Vocabulary(bot.folded)).find(ReadText(clean(message)), rows, given)


@pytest.mark.parametrize(
    ("bot", "message", "language"),
    [
        (registry(en=ENGLISH), "var är mitt paket?", "sv"),
        (registry(de=GERMAN), "jag vill avbryta min beställning", "sv"),
        (registry(de=GERMAN), "ik wil mijn bestelling annuleren", "nl"),
        (registry(ru=RUSSIAN), "де моє замовлення і коли його доставлять?", "uk"),
        (registry(en=ENGLISH, de=GERMAN), "¿dónde está mi pedido?", "es"),
        (registry(none=ENGLISH), "wo ist denn bitte mein Paket?", "de"),
        (registry(en=ENGLISH), "荷物はどこにありますか", "ja"),
    ],
)
def test_message_in_another_language_is_foreign(bot: Registry, message: str, language: str) -> None:
    found = spoken(bot, message)

    assert found == Spoken(language, True, f"guessed {language}, which the registry does not have")


@pytest.mark.parametrize(
    ("bot", "message", "language"),
    [
        (registry(en=ENGLISH), "can you tell me where my parcel is?", "en"),
        (registry(de=GERMAN), "wo bleibt denn mein Paket?", "de"),
        (registry(ru=RUSSIAN), "когда привезут мой заказ?", "ru"),
        (registry(en=ENGLISH, de=GERMAN), "wo bleibt denn mein Paket?", "de"),
        (registry(none=ENGLISH), "can you tell me where my parcel is?", "en"),
        (registry(none=(*ENGLISH, *GERMAN)), "wo bleibt denn mein Paket?", "de"),
        (registry(**{"pt-BR": ("onde está o meu pedido", "bom dia")}), "cancelar o meu pedido por favor", "pt-BR"),
    ],
)
def test_message_in_a_language_of_the_registry_is_not_foreign(bot: Registry, message: str, language: str) -> None:
    assert spoken(bot, message) == Spoken(language, False, f"guessed {language}")


@pytest.mark.parametrize(
    ("language", "message"),
    [("zh", "呢個酒店喺邊度呀"), ("hr", "gde je moja porudžbina"), ("pt", "meu namorado terminou comigo")],
)
def test_near_relative_of_a_language_of_the_registry_is_not_foreign(language: str, message: str) -> None:
    """Cantonese and Chinese; Serbian, Bosnian and Croatian; Galician and Portuguese, which this line reads like."""
    lines = {
        "zh": ("我的订单在哪里", "取消我的订单"),
        "hr": ("gdje je moja narudžba", "otkaži moju narudžbu"),
        "pt": ("onde está o pedido", "cancelar o pedido"),
    }

    assert spoken(registry(**{language: lines[language]}), message) == Spoken(language, False, f"guessed {language}")


@pytest.mark.parametrize("message", ["hotel", "ok", "danke", "wher is my ordr", "play despacito by luis fonsi please"])
def test_short_and_ambiguous_messages_are_taken_for_the_registry(message: str) -> None:
    assert spoken(registry(en=ENGLISH), message) == Spoken("en", False, "guessed en")


@pytest.mark.parametrize("message", ["12345", "😭", "50 % ...", "11/12"])
@pytest.mark.parametrize("bot", [registry(en=ENGLISH), registry(none=ENGLISH), registry(en=ENGLISH, de=GERMAN)])
def test_message_without_letters_has_no_language(bot: Registry, message: str) -> None:
    assert spoken(bot, message) == Spoken(None, False, "nothing to tell the language by")


def test_author_names_the_language_of_an_equal_utterance() -> None:
    """Even if it reads like another language; without a tag, it is at least not foreign."""
    assert spoken(registry(de=(*GERMAN, "where is my order please")), "Where is my order, please?").language == "de"
    assert not spoken(registry(none=(*ENGLISH, "wo ist denn bitte mein Paket")), "wo ist denn bitte mein Paket").foreign


def test_language_that_the_caller_names_is_kept() -> None:
    """A message is foreign if the registry does not have that language and the message does not read like it."""
    bot = registry(en=ENGLISH)

    assert spoken(bot, "wo ist mein Paket?", "en") == Spoken("en", False, "")
    assert spoken(bot, "where is my order now?", "en-GB") == Spoken("en-GB", False, "")
    assert spoken(bot, "paket?", "de") == Spoken("de", True, "de is not a language of the registry")
    assert spoken(bot, "where is the parcel", "de") == Spoken("de", False, "")
    assert spoken(bot, "12345", "de") == Spoken("de", False, "")


def test_registry_without_letters_has_no_language() -> None:
    """Nothing is foreign to it."""
    found = spoken(registry(none=("123", "456")), "wo ist denn bitte mein Paket?")

    assert found == Spoken(None, False, "nothing to tell the language by")


def test_words_of_utterances_count_for_the_registry() -> None:
    """English words in a German bot; the more often its other words recur, the more an unknown one says."""
    places = ("neuen", "alten", "anderen", "letzten", "ersten", "nächsten")
    with_words = tuple(f"wo ist die {place} home delivery" for place in places)
    without = tuple(f"wo ist die {place} Bestellung" for place in places)

    assert not spoken(registry(de=(*GERMAN, *with_words)), "home delivery").foreign
    assert spoken(registry(de=(*GERMAN, *without)), "home delivery").foreign


@pytest.mark.parametrize("message", ["i'll take bob miller", "where was john denver born"])
def test_message_about_something_else_is_not_foreign(message: str) -> None:
    """A registry that has nearly all words of its own users lacks the words of other subjects."""
    begun = [f"{words} {line}" for line in ENGLISH for words in ("where was", "i'll take", "what year", "some of")]

    assert not spoken(registry(en=(*begun, *ENGLISH)), message).foreign


def test_title_in_a_language_of_the_registry_does_not_hide_the_language_around_it() -> None:
    bot = registry(
        en=(*(f"play {song} now" for song in ENGLISH * 3), "find the film", "show the film to me", "find me")
    )

    found = spoken(bot, "find filmen med titlen louder than bombs for mig")

    assert (found.language, found.foreign) == ("da", True)


@pytest.mark.parametrize("message", ["play some david bowie", "do you know a good thai takeaway around grassmarket"])
def test_words_that_a_small_registry_lacks_are_not_foreign(message: str) -> None:
    """Names and other subjects: no other language speaks for them."""
    bot = registry(en=(*ENGLISH * 2, "is it open", "where is it"))

    assert spoken(bot, message) == Spoken("en", False, "guessed en")


@pytest.mark.parametrize("message", ["ja", "ja ja", "si si", "haha haha", "ok ok ok"])
def test_repeated_word_counts_once(message: str) -> None:
    assert not spoken(registry(en=ENGLISH), message).foreign


@pytest.mark.parametrize(
    ("message", "language"),
    [("ja bitte", "de"), ("nice", "en"), ("merci", "fr"), ("danke sehr", "de"), ("later", "en")],
)
def test_languages_of_the_registry_are_told_apart_by_their_pieces(message: str, language: str) -> None:
    """The utterances share hardly a bigram with these messages."""
    bot = registry(en=ENGLISH, de=GERMAN, fr=("où est ma commande", "annulez ma commande", "bonjour"))

    assert spoken(bot, message).language == language


def test_language_that_the_tokenizer_does_not_know_is_found_by_its_bigrams() -> None:
    """Lower Sorbian, beside a word that the tokenizer knows."""
    bot = registry(en=ENGLISH, dsb=("źo jo mója skazanka", "dobry źeń", "kak se maš"))

    assert spoken(bot, "źo jo mój hotel").language == "dsb"
    assert spoken(bot, "where is it").language == "en"


def test_equal_utterance_in_several_languages_has_the_likeliest() -> None:
    bot = registry(en=(*ENGLISH, "hotel"), de=(*GERMAN, "hotel"), fr=("bonjour", "où est ma commande"))

    assert spoken(bot, "hotel").language in {"en", "de"}


@pytest.mark.parametrize(
    "bot",
    [
        registry(en=ENGLISH),
        registry(en=ENGLISH, de=GERMAN),
        registry(ru=RUSSIAN, zh=("我的订单在哪里",)),
        registry(none=ENGLISH),
    ],
)
def test_clear_messages_have_the_language_that_a_closer_look_gives(bot, monkeypatch) -> None:
    messages = [
        *ENGLISH, *GERMAN, *RUSSIAN, "cancel it", "var är mitt paket", "dónde está mi pedido", "order 12", "12", "ok",
        "the hotel is open", "Bestellung stornieren", "我想取消订单", "荷物はどこですか",
    ]  # fmt: skip
    quick = [spoken(bot, message) for message in messages]
    monkeypatch.setattr(MessageLanguage, "_cannot_be_foreign", lambda *_: False)

    assert quick == [spoken(bot, message) for message in messages]


@pytest.mark.parametrize(("words", "language"), [(700, "bs"), (100, "en")])
def test_registry_with_many_words_needs_less_evidence(words: int, language: str) -> None:
    """A small registry lacks many words of its own language as well."""
    filler = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)} again" for number in range(words)]
    bot = registry(en=(*ENGLISH, *filler))

    assert spoken(bot, "odloži alarm").language == language


@pytest.mark.parametrize("message", ["gemlanjossta boutlir satse", "chunrik candoulplet"])
def test_random_syllables_are_in_no_other_language(message: str) -> None:
    assert not spoken(registry(en=ENGLISH), message).foreign


@pytest.mark.parametrize("message", ["agent", "question", "konto"])
def test_shorthand_of_several_languages_does_not_tell_the_language(message: str) -> None:
    bot = registry(
        en=ENGLISH,
        de=GERMAN,
        es=("dónde está mi pedido", "por favor cancela mi pedido", "buenos días"),
        pt=("onde está o meu pedido", "cancele meu pedido", "bom dia"),
    )

    assert spoken(bot, f"plz {message}") == spoken(bot, f"{message} pls") == spoken(bot, message)


def test_message_of_nothing_but_shared_shorthand_has_a_language() -> None:
    assert spoken(registry(en=ENGLISH, pt=("bom dia", "por favor")), "plz thx").language in {"en", "pt"}
