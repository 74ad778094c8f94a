"""Alignment of a text with its bare form."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.alignment import Alignment
from intentmatch.text.normalize import bare

ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(
    st.sampled_from(
        "aAßİıΣσς'’´`.,¿؟。\u0300\u0301\u0316\u0345\u200b\u200c\u200d\ufeff\u00ad \t\r\n\0\ud800ﬁ①％#é¨ﾞｶか\u3099゛"
        "ㅋㅠㄱㅏ\u1100\u1161\u11a8각ﾡￂمٌـ🇩🇪👩🚀🏽\ufe0f\ue000ကြိုกำ\u0e33क्षि\u093c㍿ﷺª\u0378"
    )
)


@given(ANYTHING | TRICKY)
def test_alignment_has_the_bare_form_of_the_text(text):
    assert Alignment(text).bare == bare(text)


@given(ANYTHING | TRICKY, st.data())
def test_span_of_the_text_has_the_bare_form_that_was_asked_for(text, data):
    """Spans begin and end between grapheme clusters."""
    alignment = Alignment(text)
    start = data.draw(st.integers(0, len(alignment.bare)))
    end = data.draw(st.integers(start, len(alignment.bare)))

    span = alignment.span(start, end)

    if span is None:
        assert start == end or not (alignment.divides(start) and alignment.divides(end))
        return
    assert 0 <= span[0] < span[1] <= len(text)
    assert bare(text[slice(*span)]) == alignment.bare[start:end].strip()
    assert {*span} <= {0, *(found.end() for found in regex.finditer(r"\X", text))}


@given(ANYTHING | TRICKY, st.data())
def test_widened_span_is_the_smallest_of_whole_clusters(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ends = [0, *(found.end() for found in regex.finditer(r"\X", text))]

    assert Alignment(text).widened(start, end) == (max(e for e in ends if e <= start), min(e for e in ends if e >= end))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("to Berlin!", "Berlin", "Berlin"),
        ("to ＢＥＲＬＩＮ!", "Berlin", "ＢＥＲＬＩＮ"),
        ("in Ma\u0301laga\u0301, please", "Málagá", "Ma\u0301laga\u0301"),
        ("in Malaga", "Málaga", "Malaga"),
        ("İstanbul'a", "istanbul", "İstanbul"),
        ("ISPARTA", "Isparta", "ISPARTA"),
        ("Iğdır", "ığdir", "Iğdır"),
        ("die Straße", "STRASSE", "Straße"),
        ("ﬁnd it", "find", "ﬁnd"),
        ("new  york", "New York", "new  york"),
        ("soft\u00adware", "software", "soft\u00adware"),
        ("مُحَمَّد هنا", "محمد", "مُحَمَّد"),
        ("إلى القاهرة", "القاهره", "القاهرة"),
        ("👩\u200d🚀 and 👩", "👩", "👩"),
        ("the ❤\ufe0f one", "❤\ufe0f", "❤\ufe0f"),
        ("パン", "バン", None),
        ("👩\u200d🚀", "👩", None),
        ("🇩🇪", "🇩", None),
        ("㍿", "会", None),
        ("cafe\u0301s", "cafés", "cafe\u0301s"),
    ],
)
def test_name_is_found_in_any_spelling(text, name, expected):
    """Accents, case, width, joiners and dropped characters do not matter. A part of a cluster is not found."""
    alignment = Alignment(text)
    # The last of them: what is part of an emoji comes before what stands alone.
    start = alignment.bare.rfind(bare(name))

    span = alignment.span(start, start + len(bare(name)))

    assert (None if span is None else text[slice(*span)]) == expected


def test_dropped_apostrophe_is_detected():
    alignment = Alignment("l'Italia")

    assert alignment.bare == "litalia"
    assert [place for place in range(9) if alignment.dropped(place)] == [1]


@given(ANYTHING | TRICKY)
def test_bare_is_idempotent_and_ignores_canonical_composition(text):
    assert bare(bare(text)) == bare(text)
    assert bare(unicodedata.normalize("NFD", text)) == bare(text)
