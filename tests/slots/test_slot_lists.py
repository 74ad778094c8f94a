"""List values: as declared, without accents, with an ending, or mistyped."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found, list_slot

from intentmatch.pieces.embedded import is_common_word
from intentmatch.slots.lists import ListFinder, names_of
from intentmatch.slots.message import AS_DECLARED, BUT_FOR_ACCENTS, MISTYPED, WITH_AN_ENDING, Find, Message
from intentmatch.text.normalize import bare

CITIES = (
    "Berlin|de:Spree-Athen",
    "New York|the big apple|NYC",
    "München|en:Munich",
    "İstanbul",
    "Iğdır",
    "Москва",
    "Нижний Новгород",
    "서울",
    "北京",
    "東京",
    "กรุงเทพ",
    "القاهرة",
    "دبي",
    "תל אביב",
    "Warszawa",
    "Málaga",
    "L'Aquila",
    "दिल्ली",
    "Rome",
)


def finder(*values: str, known: tuple[str, ...] | None = ()) -> Find:
    return ListFinder(names_of(list_slot("slot", *values)), known).find


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("to Berlin, please", "en", {"Berlin": "Berlin"}),
        ("BERLIN or ｂｅｒｌｉｎ", "en", {"BERLIN": "Berlin", "ｂｅｒｌｉｎ": "Berlin"}),
        ("from nyc to the Big Apple!", "en", {"nyc": "New York", "the Big Apple": "New York"}),
        ("new  york", "en", {"new  york": "New York"}),
        ("nach Spree Athen", "de", {"Spree Athen": "Berlin"}),
        ("Munich", "de", {"Munich": "München"}),
        ("mu\u0308nchen und MUNCHEN", "de", {"mu\u0308nchen": "München", "MUNCHEN": "München"}),
        ("Malaga o Ma\u0301laga", "es", {"Malaga": "Málaga", "Ma\u0301laga": "Málaga"}),
        ("à l’Aquila, d'Aquila et d'Berlin", "fr", {"l’Aquila": "L'Aquila", "Berlin": "Berlin"}),
        ("İSTANBUL istanbul ISTANBUL", "tr", {"İSTANBUL": "İstanbul", "istanbul": "İstanbul", "ISTANBUL": "İstanbul"}),
        ("IĞDIR'a", "tr", {"IĞDIR": "Iğdır"}),
        ("我要去北京的机票", "zh", {"北京": "北京"}),
        ("東京へ行きたい", "ja", {"東京": "東京"}),
        ("ไปกรุงเทพพรุ่งนี้", "th", {"กรุงเทพ": "กรุงเทพ"}),
        ("إلى القاهرة", "ar", {"القاهرة": "القاهرة"}),
        ("إلى القاهره", "ar", {"القاهره": "القاهرة"}),
        ("दिल्ली जाना है", "hi", {"दिल्ली": "दिल्ली"}),
        ("👩\u200d🚀Berlin👩\u200d🚀", "en", {"Berlin": "Berlin"}),
        ("in 10Berlin", "en", {"Berlin": "Berlin"}),
    ],
)
def test_value_is_found_despite_case_accents_and_width(text, language, expected):
    assert found(finder(*CITIES), text, language) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("İstanbul'dan", "tr", {"İstanbul": "İstanbul"}),
        ("istanbuldan", "tr", {"istanbul": "İstanbul"}),
        ("из Москвы в Нижнем Новгороде", "ru", {"Москвы": "Москва", "Нижнем Новгороде": "Нижний Новгород"}),
        ("w Warszawie", "pl", {"Warszawie": "Warszawa"}),
        ("서울에서 부산까지", "ko", {"서울": "서울"}),
        ("بالقاهرة ولدبي وبدبي", "ar", {"القاهرة": "القاهرة", "دبي": "دبي"}),
        ("בתל אביב", "he", {"תל אביב": "תל אביב"}),
        ("Berlins Bars", "de", {"Berlin": "Berlin"}),
        ("Berlin's bars", "en", {"Berlin": "Berlin"}),
    ],
)
def test_value_is_found_with_endings_and_prefixes_of_the_language(text, language, expected):
    assert found(finder(*CITIES), text, language) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("new yrok", "en", {"new yrok": "New York"}),
        ("newyork", "en", {"newyork": "New York"}),
        ("Muenchen", "de", {"Muenchen": "München"}),
        ("Brelin und Berrlin", "de", {"Brelin": "Berlin", "Berrlin": "Berlin"}),
        ("Rom", "de", {}),
        ("Roma", "it", {"Roma": "Rome"}),
        ("to Perlin", "en", {}),
        ("berlitz berliozian", "en", {}),
    ],
)
def test_value_is_found_with_typing_mistakes(text, language, expected):
    """One mistake in four letters, two in eight, never in the first letter or in short words."""
    assert found(finder(*CITIES), text, language) == expected


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (("on", "off"), "turn it of or no"),
        (("on",), "once only"),
        (("red",), "I am bored and reread it"),
        (("port",), "an airport report"),
        (("card",), "I need cardboard and a cardigan"),
        (("12",), "room 123 or 312"),
        (("4",), "A4 paper"),
        (("order 7",), "order 77"),
        (("バス",), "バスケット"),
        (("👩",), "👩\u200d🚀"),
        (("会",), "㍿"),
        (("",), "anything"),
        (("?!",), "what?!"),
        ((), "nothing to find"),
    ],
)
def test_parts_of_words_and_numbers_are_not_values(values, text):
    assert {value for text, value in found(finder(*values), text).items() if text not in values} == set()


def test_known_word_is_never_read_as_mistyped_value():
    assert found(finder("from"), "the forms") == {}
    assert found(finder("worm"), "a worn coat") == {"worn": "worm"}
    assert found(finder("worm", known=("worn",)), "a worn coat") == {}
    assert found(finder("abmelden"), "anmelden") == {"anmelden": "abmelden"}
    assert found(finder("abmelden", "anmelden"), "anmelden") == {"anmelden": "anmelden"}


def test_no_typing_mistakes_without_known_words():
    assert found(finder("Berlin", known=None), "Brelin") == {}
    assert found(finder("Berlin", known=None), "berlins") == {"berlin": "Berlin"}


def test_shared_name_is_resolved_by_language_then_spelling_then_order():
    ambiguous = finder("bread|fr:pain", "ache|en:pain", "pâte", "pate")

    assert found(ambiguous, "pain", "en") == {"pain": "ache"}
    assert found(ambiguous, "pain", "fr-CA") == {"pain": "bread"}
    assert found(ambiguous, "pain", "de") == {"pain": "bread"}
    assert found(ambiguous, "pain", None) == {"pain": "bread"}
    assert found(ambiguous, "pate pâte", "fr") == {"pate": "pate", "pâte": "pâte"}


@pytest.mark.parametrize(
    ("text", "distance"),
    [("Málaga", AS_DECLARED), ("malaga", BUT_FOR_ACCENTS), ("málagas", WITH_AN_ENDING), ("Malagga", MISTYPED)],
)
def test_distance_of_a_hit(text, distance):
    hits = finder("Málaga")(Message(text, "es"))

    assert min(hit.distance for hit in hits) == distance


TEXT = st.text(st.sampled_from("abcdeé ıİß-'北京ンか서울กำदि\u0301\u200d👩🚀1.")) | st.text()
VALUES = st.lists(TEXT.map(lambda text: text.replace("|", "")), max_size=5)


@given(VALUES, TEXT, st.sampled_from(["en", "tr", "ko", "ar", None]))
def test_hit_that_is_not_mistyped_reads_like_its_name(values, text, language):
    for hit in finder(*values)(Message(text, language)):
        assert 0 <= hit.start < hit.end <= len(text)
        assert hit.value in values
        if hit.distance < MISTYPED:
            assert bare(text[hit.start : hit.end]) == bare(str(hit.value))


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=3), st.text("xyz ", max_size=9))
def test_value_between_spaces_is_always_found(words, around):
    value = " ".join(words)
    for form in ("NFC", "NFD", "NFKC"):
        text = f"{around} {unicodedata.normalize(form, value).upper()} {around}"
        assert any(text[h.start : h.end] == value.upper() for h in finder(value)(Message(text, "en")))


@pytest.mark.parametrize(
    ("language", "message", "values", "expected"),
    [
        ("en", "can you speak to the manager", ("steak",), {}),
        ("en", "please turn it on", ("Turin",), {}),
        ("en", "please break it", ("bread",), {}),
        ("es", "la blanca", ("blanco",), {"blanca": "blanco"}),
        ("es", "he perdido mi tarjeta", ("pedido",), {}),
        ("tr", "iptal etmek istiyorum", ("ekmek",), {}),
        ("fi", "näytä valo", ("näyttö",), {}),
        ("en", "one staek please", ("steak",), {"staek": "steak"}),
        ("cs", "kde jsou faktury", ("faktura",), {"faktury": "faktura"}),
        ("it", "dove sono le fatture", ("fattura",), {"fatture": "fattura"}),
    ],
)
def test_common_words_are_no_mistyped_values(language, message, values, expected):
    names = ListFinder(names_of(list_slot("slot", *values)), (), is_common_word).find

    assert found(names, message, language) == expected


@pytest.mark.parametrize(
    ("language", "messages"),
    [
        ("de", ("ein großes Bier", "mit einem kleinen Kaffee", "rote Schuhe", "rosa Schuhe")),
        ("es", ("una grande", "dos pequeñas", "las rojas", "una rosa")),
        ("fr", ("des grandes", "les petites", "une rouge", "des roses")),
        ("it", ("le grandi", "una piccola", "i rossi", "una rosa")),
        ("nl", ("een grote", "de kleine", "een rode", "een roze")),
        ("pt", ("duas grandes", "as pequenas", "vermelha", "uma rosa")),
    ],
)
def test_value_in_lower_case_may_have_the_endings_of_an_adjective(language, messages):
    sizes = (
        "large|de:groß|es:grande|fr:grand|it:grande|nl:groot|nl:grot|pt:grande",
        "small|de:klein|es:pequeño|fr:petit|it:piccolo|nl:klein|pt:pequeno",
        "red|de:rot|es:rojo|fr:rouge|it:rosso|nl:rood|nl:rod|pt:vermelho",
        "pink|de:rosa|es:rosa|fr:rose|it:rosa|nl:roze|pt:rosa",
    )

    values = [value for text in messages for value in found(finder(*sizes), text, language).values()]
    assert sorted(values) == ["large", "pink", "red", "small"]


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("de", "ich will reden"),
        ("de", "eine Rotation"),
        ("de", "nach Hause reisen"),
        ("fr", "une portee"),
        ("en", "redes"),
    ],
)
def test_other_words_have_no_endings_of_adjectives(language, message):
    assert found(finder("red|de:rot|fr:rouge", "Reis", "port"), message, language) == {}


def test_words_of_the_utterances_are_no_declined_values():
    names = ListFinder(names_of(list_slot("slot", "lasku", "näyttö")), ("nayta", "lahto")).find

    assert found(names, "näytä lähtö", "fi") == {}


@pytest.mark.parametrize(
    ("language", "value", "messages"),
    [
        ("fi", "Helsinki|fi:Helsingi", ("hotelli Helsingissä", "lento Helsingistä", "Helsingin sää")),
        ("cs", "Praha|cs:Praze", ("hotel v Praze", "let do Prahy")),
        ("tr", "renk|tr:reng", ("rengi kırmızı", "rengini değiştir")),
        ("de", "Haus|de:Häuser", ("die Häuser",)),
    ],
)
def test_a_changed_stem_is_written_as_a_synonym(language, value, messages):
    names = finder(value)

    assert [list(found(names, message, language).values()) for message in messages] == [[value.split("|")[0]]] * len(
        messages
    )


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("it's for my son", []),
        ("I’m buying two", []),
        ("c'est pour l'école", []),
        ("size S please", ["small"]),
        ("size 'L' please", ["large"]),
        ("M", ["medium"]),
    ],
)
def test_letter_of_a_contraction_is_no_value(text, sizes):
    sized = finder("small|S", "medium|M", "large|L")

    assert [*found(sized, text, "en").values()] == sizes
