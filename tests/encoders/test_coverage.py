"""Languages and letters covered by an encoder."""

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
def test_regions_and_scripts_do_not_matter(code):
    """The codes of Norwegian are equivalent."""
    assert covering("en", "pt", "zh-Hans", "nb").covers(code)


@pytest.mark.parametrize("code", ["xh", "yue", "ptx"])
def test_other_languages_are_not_covered(code):
    assert not covering("en", "pt", "zh").covers(code)


def test_encoder_without_languages_covers_everything():
    """The members `languages` and `unknown` are optional."""
    silent = Coverage(WordHashEncoder())
    undecided = WordHashEncoder()
    undecided.languages = None

    assert silent.covers("xh")
    assert Coverage(undecided).covers("xh")
    assert silent.gap("𐊠", "xh") == ""


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("where is it", "en", ""),
        ("where is it", None, ""),
        ("iphi le nto", "xh", "fake was not trained on xh"),
        ("a Ꭰ, b Ꮒ!", "en", "letters unknown to fake: 2 of 4 (Cherokee)"),
        ("龜Ꭰ", None, "letters unknown to fake: 2 of 2 (Cherokee, Han)"),
        ("Ꭰ", "chr", "fake was not trained on chr; letters unknown to fake: 1 of 1 (Cherokee)"),
    ],
)
def test_gap_names_language_and_unknown_letters(text, language, expected):
    assert covering("en", unknown="ᎠᏂ龜").gap(text, language) == expected


def test_gap_says_how_much_of_a_long_message_is_read():
    class Short:
        name = "short"

        def beyond(self, text: str) -> tuple[int, int] | None:
            return (len(text), 3) if len(text) > 3 else None

    assert Coverage(Short()).gap("abcde", "en") == "the message has 5 pieces, and short reads the first 3"
    assert Coverage(Short()).gap("abc", "en") == ""
