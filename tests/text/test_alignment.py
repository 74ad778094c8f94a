"""The bare form of a text, and the way back from it to the text."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.text.alignment import Aligned
from intentmatch.text.normalize import bare

ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(
    st.sampled_from(
        "aAßİıΣσς'’´`.,¿؟。\u0300\u0301\u0316\u0345\u200b\u200c\u200d\ufeff\u00ad \t\r\n\0\ud800ﬁ①％#é¨ﾞｶか\u3099゛"
        "ㅋㅠㄱㅏ\u1100\u1161\u11a8각ﾡￂمٌـ🇩🇪👩🚀🏽\ufe0f\ue000ကြိုกำ\u0e33क्षि\u093c㍿ﷺª\u0378"
    )
)


@given(ANYTHING | TRICKY)
def test_the_form_is_that_of_the_text(text):
    """What is put together of units is what the whole text gives."""
    assert Aligned(text).bare == bare(text)


@given(ANYTHING | TRICKY, st.data())
def test_what_stands_at_a_span_reads_like_what_was_looked_for(text, data):
    """A span of the bare form leads to the very characters of the text that have this form, and cuts none apart."""
    aligned = Aligned(text)
    start = data.draw(st.integers(0, len(aligned.bare)))
    end = data.draw(st.integers(start, len(aligned.bare)))

    span = aligned.span(start, end)

    if span is None:
        assert start == end or not (aligned.divides(start) and aligned.divides(end))
        return
    assert 0 <= span[0] < span[1] <= len(text)
    assert bare(text[slice(*span)]) == aligned.bare[start:end].strip()
    assert {*span} <= {0, *(found.end() for found in regex.finditer(r"\X", text))}


@given(ANYTHING | TRICKY, st.data())
def test_a_widened_span_cuts_no_character_apart(text, data):
    """It holds the span, ends where characters end, and is no wider than that."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ends = [0, *(found.end() for found in regex.finditer(r"\X", text))]

    assert Aligned(text).widened(start, end) == (max(e for e in ends if e <= start), min(e for e in ends if e >= end))


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
def test_names_are_found_as_they_are_written(text, name, expected):
    """Accents, case, width, joiners and dropped signs make no difference; a part of a character is no place."""
    aligned = Aligned(text)
    # The last of them: what is part of an emoji comes before what stands alone.
    start = aligned.bare.rfind(bare(name))

    span = aligned.span(start, start + len(bare(name)))

    assert (None if span is None else text[slice(*span)]) == expected


def test_a_dropped_sign_is_a_place():
    """An apostrophe is not in the form, and still parts a name from its ending."""
    aligned = Aligned("l'Italia")

    assert aligned.bare == "litalia"
    assert [place for place in range(9) if aligned.dropped(place)] == [1]


@given(ANYTHING | TRICKY)
def test_bare_is_idempotent_and_sees_no_more_than_canonical_forms(text):
    """What is bare stays as it is, and is the same whether letters are composed or not."""
    assert bare(bare(text)) == bare(text)
    assert bare(unicodedata.normalize("NFD", text)) == bare(text)
