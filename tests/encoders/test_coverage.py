"""Which languages and letters an encoder covers."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder

from intentmatch.encoders.coverage import Coverage


def covering(*languages, unknown=None):
    encoder = WordHashEncoder()
    encoder.languages = frozenset(languages)
    if unknown is not None:
        encoder.unknown = lambda text: "".join(char for char in text if char in unknown)
    return Coverage(encoder)


@pytest.mark.parametrize("code", ["en", "en-GB", "pt-BR", "zh", "zh-Hant-TW", "no", "nn"])
def test_regions_and_scripts_of_a_covered_language_are_covered(code):
    """So is Norwegian under any of its codes."""
    assert covering("en", "pt", "zh-Hans", "nb").covers(code)


@pytest.mark.parametrize("code", ["xh", "yue", "ptx"])
def test_another_language_is_not_covered(code):
    """Codes count whole."""
    assert not covering("en", "pt", "zh").covers(code)


def test_an_encoder_that_says_nothing_covers_everything():
    """Third-party encoders need not know of any of this."""
    silent = Coverage(WordHashEncoder())
    undecided = WordHashEncoder()
    undecided.languages = None

    assert silent.covers("xh")
    assert Coverage(undecided).covers("xh")
    assert silent.gap("𐊠", "xh") == ""


@pytest.mark.parametrize(
    ("text", "language", "says"),
    [
        ("where is it", "en", ""),
        ("where is it", None, ""),
        ("iphi le nto", "xh", "fake was not trained on xh"),
        ("a Ꭰ, b Ꮒ!", "en", "letters unknown to fake: 2 of 4 (Cherokee)"),
        ("龜Ꭰ", None, "letters unknown to fake: 2 of 2 (Cherokee, Han)"),
        ("Ꭰ", "chr", "fake was not trained on chr; letters unknown to fake: 1 of 1 (Cherokee)"),
    ],
)
def test_a_gap_is_said_in_words(text, language, says):
    """The language, and how many letters of which scripts."""
    assert covering("en", unknown="ᎠᏂ龜").gap(text, language) == says
