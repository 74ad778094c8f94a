"""Lengths of time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.durations import find_durations, to_iso


def test_fractions_become_smaller_units():
    assert to_iso({"day": 1.5}) == "P1DT12H"
    assert to_iso({"year": 0.5}) == "P6M"
    assert to_iso({"week": 1.5}) == "P10DT12H"
    assert to_iso({"second": 1.5}) == "PT1.5S"
    assert to_iso({"hour": 0}) is None
    assert to_iso({"hour": 1e12}) is None


@given(st.text(st.sampled_from("0123456789.,- hminutesad½一半小时")), st.sampled_from(["en", "de", "zh", "ar", None]))
def test_any_text_gives_valid_spans(text, language):
    for said in found(find_durations, text, language):
        assert said in text
