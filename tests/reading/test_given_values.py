"""Whether an answer gives a value that is in it, by the weights of this release."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.distill.messages import read_values
from intentmatch.reading import given_values as module
from intentmatch.reading.given_values import given_values, gives_value


def chance(marked: str) -> float:
    before, value, behind = marked.replace("]", "[").split("[")
    return gives_value(before + value + behind, len(before), len(before + value))


@pytest.mark.parametrize(
    ("given", "not_given"),
    [
        ("[Friday] suits us best", "[Friday] doesn't suit us"),
        ("I work till six, so [7 pm]", "I'll tell you at [7 pm]"),
        ("dann lieber [10 Minuten]", "[10 Minuten] warte ich schon"),
        ("mettons [50 euros]", "[50 euros], c'est trop cher"),
    ],
)
def test_value_is_given_or_not(given, not_given):
    assert chance(not_given) < 0.5 < chance(given), (chance(given), chance(not_given))


@pytest.mark.parametrize("text", ["", "  ", "\U0001f600"])
def test_text_without_pieces_has_a_chance(text):
    assert 0.0 < gives_value(text, 0, len(text)) < 1.0


def test_damaged_weights_are_an_error(tmp_path, monkeypatch):
    file = tmp_path / "given_values.safetensors"
    file.write_bytes(module.FILE.read_bytes()[:-100])
    monkeypatch.setattr(module, "FILE", file)
    given_values.cache_clear()

    with pytest.raises(ModelUnavailableError, match="is damaged"):
        given_values()
    given_values.cache_clear()


def test_answers_that_no_training_saw():
    """A third of the lines of each language, and five languages, were kept aside; the card has the figures."""
    kept = read_values("measure")
    denied = {gives: [] for gives in (True, False)}
    for one in kept:
        denied[one.gives].append(gives_value(one.text, one.start, one.end) < 0.2)

    assert sum(denied[True]) / len(denied[True]) < 0.06
    assert sum(denied[False]) / len(denied[False]) > 0.33
