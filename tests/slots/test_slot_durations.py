"""Lengths of time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.durations import DurationFinder, to_iso


@pytest.mark.parametrize(
    ("language", "text", "said", "value"),
    [
        ("en", "for 25 minutes", "25 minutes", "PT25M"),
        ("en", "an hour and a half", "an hour and a half", "PT1H30M"),
        ("en", "half an hour", "half an hour", "PT30M"),
        ("en", "two and a half hours", "two and a half hours", "PT2H30M"),
        ("en", "2.5 hours", "2.5 hours", "PT2H30M"),
        ("en", "1h30", "1h30", "PT1H30M"),
        ("en", "2h 15m 10s", "2h 15m 10s", "PT2H15M10S"),
        ("en", "15m 10s", "15m 10s", "PT15M10S"),
        ("en", "2 hours, 15 minutes and 5 seconds", "2 hours, 15 minutes and 5 seconds", "PT2H15M5S"),
        ("en", "three weeks", "three weeks", "P3W"),
        ("en", "a week and 2 days", "a week and 2 days", "P9D"),
        ("en", "1 year and 6 months", "1 year and 6 months", "P1Y6M"),
        ("en", "90 sec", "90 sec", "PT90S"),
        ("en", "a fortnight", "a fortnight", "P2W"),
        ("en", "a 10-minute break", "10-minute", "PT10M"),
        ("de", "anderthalb Stunden", "anderthalb Stunden", "PT1H30M"),
        ("de", "eine halbe Stunde", "eine halbe Stunde", "PT30M"),
        ("de", "eine Viertelstunde", "eine Viertelstunde", "PT15M"),
        ("de", "2 Std. 15 Min", "2 Std. 15 Min", "PT2H15M"),
        ("fr", "une heure et demie", "une heure et demie", "PT1H30M"),
        ("fr", "une demi-heure", "une demi-heure", "PT30M"),
        ("fr", "un quart d'heure", "un quart d'heure", "PT15M"),
        ("fr", "1h20", "1h20", "PT1H20M"),
        ("es", "hora y media", "hora y media", "PT1H30M"),
        ("es", "tres cuartos de hora", "tres cuartos de hora", "PT45M"),
        ("it", "mezz'ora", "mezz'ora", "PT30M"),
        ("it", "due ore e mezza", "due ore e mezza", "PT2H30M"),
        ("pt", "meia hora", "meia hora", "PT30M"),
        ("pt", "uma hora e 10 minutos", "uma hora e 10 minutos", "PT1H10M"),
        ("nl", "anderhalf uur", "anderhalf uur", "PT1H30M"),
        ("nl", "een kwartier", "een kwartier", "PT15M"),
        ("pl", "półtorej godziny", "półtorej godziny", "PT1H30M"),
        ("pl", "pół godziny", "pół godziny", "PT30M"),
        ("ru", "полтора часа", "полтора часа", "PT1H30M"),
        ("ru", "2 часа и 5 минут", "2 часа и 5 минут", "PT2H5M"),
        ("ru", "два с половиной часа", "два с половиной часа", "PT2H30M"),
        ("tr", "bir buçuk saat", "bir buçuk saat", "PT1H30M"),
        ("tr", "yarım saat", "yarım saat", "PT30M"),
        ("ar", "نصف ساعة", "نصف ساعة", "PT30M"),
        ("ar", "10 دقائق", "10 دقائق", "PT10M"),
        ("fa", "یک ساعت و نیم", "یک ساعت و نیم", "PT1H30M"),
        ("zh", "一个半小时", "一个半小时", "PT1H30M"),
        ("zh", "三天", "三天", "P3D"),
        ("zh", "两个小时", "两个小时", "PT2H"),
        ("ja", "1時間30分", "1時間30分", "PT1H30M"),
        ("ja", "2時間半", "2時間半", "PT2H30M"),
        ("tlh", "5 min", "5 min", "PT5M"),
    ],
)
def test_length_is_found_with_all_its_parts(language, text, said, value):
    assert found(DurationFinder(), text, language) == {said: value}


@pytest.mark.parametrize(("language", "text"), [("en", "25 people"), ("en", "minutes"), ("ja", "2026年"), ("en", "")])
def test_other_numbers_are_no_lengths(language, text):
    assert found(DurationFinder(), text, language) == ({} if language == "en" else {"2026年": "P2026Y"})


def test_rising_units_are_two_lengths():
    assert found(DurationFinder(), "5 minutes 2 hours") == {"5 minutes": "PT5M", "2 hours": "PT2H"}


def test_fractions_become_smaller_units():
    assert to_iso({"day": 1.5}) == "P1DT12H"
    assert to_iso({"year": 0.5}) == "P6M"
    assert to_iso({"week": 1.5}) == "P10DT12H"
    assert to_iso({"second": 1.5}) == "PT1.5S"
    assert to_iso({"hour": 0}) is None
    assert to_iso({"hour": 1e12}) is None


@given(st.text(st.sampled_from("0123456789.,- hminutesad½一半小时")), st.sampled_from(["en", "de", "zh", "ar", None]))
def test_any_text_gives_valid_spans(text, language):
    for said in found(DurationFinder(), text, language):
        assert said in text


def test_m_alone_is_no_minute():
    assert found(DurationFinder(), "a 50 m swim", "en") == {}
