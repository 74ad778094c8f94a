"""A bot's own sections of a language: what they extend or replace, for which messages, and for which bot."""

from __future__ import annotations

import gc
import pickle
import weakref
from datetime import datetime
from typing import Any

import pytest

from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.languages import own as own_module
from intentmatch.languages.own import OwnLanguages, own_form, shipped_code, with_english
from intentmatch.languages.sections import OF_REFUSALS, OWN_SECTIONS, SECTIONS
from intentmatch.languages.tables import Table, read_section, sections_of
from intentmatch.slots import slot_readers
from intentmatch.text.clauses import pieces
from intentmatch.text.normalize import base_language
from intentmatch.text.stop_words import stop_words

NOW = datetime(2026, 11, 21, 10)
KINDS = ("money", "number", "date", "time", "duration", "ordinal", "temperature")


def bot(own: dict[str, Any], kind: Any = "money", language: str | None = "en") -> Registry:
    utterances = (Utterance("pay it now", language), Utterance("send it", language))
    return Registry((Intent("pay", utterances, slots=(Slot("what", kind),)),), own_sections=own)


def value(registry: Registry, text: str, language: str | None = "en") -> Any:
    """Return the value of the slot in a message; None without one."""
    found = slot_readers(registry)["pay"].read(text, language, NOW).entities
    return found[0].value if found else None


def pounds(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "GBP"}


def test_a_map_extends_the_shipped_one():
    registry = bot({"en": {"currencies": {"bob": "GBP"}}})

    assert value(registry, "pay 20 bob") == pounds(20)
    assert value(registry, "pay 20 quid") == pounds(20)


def test_bots_of_one_process_do_not_affect_each_other():
    """Whatever order they read in: tables and caches are asked for three forms of English in turn."""
    one, other = bot({"en": {"currencies": {"bob": "GBP"}}}), bot({"en": {"currencies": {"bob": "USD"}}})
    neither = bot({})

    for _ in range(2):
        assert value(neither, "pay 20 bob") is None
        assert value(one, "pay 20 bob") == pounds(20)
        assert value(other, "pay 20 bob") == {"amount": 20, "currency": "USD"}


def test_sections_hold_for_regions_and_for_bots_without_a_language():
    own = {"en": {"currencies": {"bob": "GBP"}}}

    assert value(bot(own, language="en-GB"), "pay 20 bob", "en-GB") == pounds(20)
    assert value(bot(own, language=None), "pay 20 bob", None) == pounds(20)
    assert value(bot(own), "zahle 20 bob", "de") is None


def test_a_region_still_chooses_the_currency_of_its_dollars_and_the_order_of_its_dates():
    own = {"en": {"currencies": {"bob": "GBP"}}}

    assert value(bot(own), "pay 20 dollars", "en-AU") == {"amount": 20, "currency": "AUD"}
    for language in ("en-US", "en-GB", "en", None):
        assert value(bot(own, "date"), "on 3/4/2026", language) == value(bot({}, "date"), "on 3/4/2026", language)


def test_a_language_without_a_file_may_be_all_a_bots_own():
    own = {"tlh": {"currencies": {"darsek": "XTS"}, "cardinals": {"words": {"2": "cha"}}}}

    assert value(bot(own, language="tlh"), "cha darsek", "tlh") == {"amount": 2, "currency": "XTS"}


def test_a_replaced_section_forgets_the_shipped_one():
    own = {"de": {"currencies": {"taler": "EUR"}, "replaces": ["currencies"]}}

    assert value(bot(own, language="de"), "zahle 20 taler", "de") == {"amount": 20, "currency": "EUR"}
    assert value(bot(own, language="de"), "zahle 20 franken", "de") is None
    assert value(bot({}, language="de"), "zahle 20 franken", "de") == {"amount": 20, "currency": "CHF"}


def test_english_words_go_too_if_english_is_replaced():
    """They are read in every other language besides its own."""
    own = {"en": {"currencies": {"bob": "GBP"}, "replaces": ["currencies"]}}

    assert value(bot(own), "pay 20 quid") is None
    assert with_english("de") == ("en", "de")
    assert with_english("en@123") == ("en@123",)


def test_words_lists_and_maps_of_maps_are_added_to():
    own = OwnLanguages(
        {
            "de": {
                "stop_words": "halt",
                "joining_words": "sodann",
                "durations": {"units": {"day": ["tagen und nächten"]}},
            }
        },
        base_language,
    )
    code = own.code("de-AT")
    assert code is not None

    assert {"halt", "und"} <= stop_words([code])
    assert "halt" not in stop_words(["de"])
    assert len(pieces("öffne es sodann schließe es", code)) == 2
    units = Table[Any]("durations")[base_language(code)]["units"]
    assert units["day"].endswith("|tagen und nächten")
    assert units["hour"] == read_section("de", "durations")["units"]["hour"]


def test_only_the_base_language_has_the_sections_and_regions_fall_back_to_it():
    own = OwnLanguages({"zh": {"degrees": "摄"}}, base_language)
    code = own.code("zh-Hant-TW")
    assert code is not None

    assert shipped_code(code) == "zh-Hant-TW"
    assert own_form(code) is None
    assert "degrees" in sections_of(base_language(code))


def test_another_process_reads_the_words_too(monkeypatch):
    """It gets the registry pickled, and has no forms of its own."""
    registry = bot({"en": {"currencies": {"groat": "GBP"}}})
    assert registry.languages_as_read
    sent = pickle.dumps(registry)
    monkeypatch.setattr(own_module, "_FORMS", {})

    assert value(pickle.loads(sent), "pay 20 groat") == pounds(20)


@pytest.mark.parametrize(
    ("kind", "own"),
    [("number", {"cardinals": {"and": "nax"}}), ("duration", {"durations": {"joints": ["nax"]}})],
)
def test_no_field_of_a_section_needs_another_one(kind, own):
    assert value(bot({"tlh": own}, kind, "tlh"), "nax", "tlh") is None


def test_own_words_leave_the_memory_with_their_bot():
    """Each preview of an edit reads a bot with other words."""
    registry = bot({"en": {"currencies": {"florin": "GBP"}}})
    assert value(registry, "pay 20 florin") == pounds(20)
    (form,) = registry.own_languages._forms
    gone = weakref.ref(form)
    del registry, form
    gc.collect()

    assert gone() is None


def test_sections_are_part_of_the_fingerprint():
    assert bot({}).fingerprint != bot({"en": {"currencies": {"bob": "GBP"}}}).fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_any_valid_value_can_be_read(kind):
    """A valid section never fails a message: words with signs of regular expressions, and numbers at their bounds."""
    odd = "(a+)+$ [b *c \\d | -5"
    own: dict[str, Any] = {
        "cardinals": {"words": {"1000000000000000": "zillion", "-999": "minusmost"}, "and": "(and", "times_ten": "*"},
        "number_forms": {"minus": ["(-"], "point": ["~.*"], "fixed": {"a[": "-1e15"}, "scales": {"z+": "1e15"}},
        "ordinals": {"words": {"999999": "lastest("}, "fixed": {"(x": "-1e15"}},
        "currencies": {odd: "EUR"},
        "currency_signs": {"$^": "EUR"},
        "cents": {"c(": "USD"},
        "degrees": "de(gree *",
        "durations": {"units": {"day": ["d+("]}, "more": {"(": "1e15"}, "joints": ["+"], "whole": {"w(": "P9999Y"}},
        "days": {"d(ay": "999", "other": "-999"},
        "weekdays": ["( [ * + ? \\ ^"],
        "months": "( [ * + ? \\ ^ a b c d )",
        "weekday_moves": {"m(": "999"},
        "day_parts": {"p(": "-999 evening"},
        "weekday_parts": {"w[": "night"},
        "anchors": {"after": ["(a"], "before": ["~[b"]},
        "moments": {"next": ["n("], "at": ["*"], "ago": ["~(ago"], "between": ["["], "both": ["&("]},
        "clock": {
            "before": ["b("], "hours": {"h(": "12"}, "halves": {"h[": "1"}, "minutes_before": {"m(": "-59"},
            "past": {"p(": "59"}, "spoken": {"s+": "59"}, "named": {"n(": "23:59"}, "elided": ["(e"],
        },
    }  # fmt: skip
    said = " ".join(
        (
            odd,
            "2 w( z+ 3 zillion minusmost 5 z+ d(ay monday w[ 22 ( 8 h( m( 4 p( s+ n( a[ lastest( (x d+( *c 9999999999",
        ),
    )

    for texts in ({}, {"replaces": list(own)}):
        value(bot({"en": {**own, **texts}}, kind), said)


def test_a_bot_may_set_every_section_of_patterns_but_no_regular_expression():
    not_own = {"names", "shorthand", "exclusions", "samples", "examples", *OF_REFUSALS}

    assert set(SECTIONS) - set(OWN_SECTIONS) == not_own
    with pytest.raises(ValueError, match="a bot cannot set regular expressions"):
        OwnLanguages({"en": {"ordinals": {"suffix": "(a+)+$"}}}, base_language)
