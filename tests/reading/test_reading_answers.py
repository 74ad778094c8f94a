"""What a message says to a yes-or-no question, by the network of this release."""

from __future__ import annotations

from collections import Counter

import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.distill.messages import read_answers
from intentmatch.reading import answers as module
from intentmatch.reading.answers import ANSWERS, NO_ANSWER, answer_of, answer_reader


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("go for it then", "yes"),
        ("that's exactly what I want", "yes"),
        ("I'd rather you didn't", "no"),
        ("lass mal lieber", "no"),
        ("I have to think about it", "unsure"),
        ("only if it doesn't cost anything", "conditional"),
        ("where is my parcel", "neither"),
    ],
)
def test_text_says_what_it_says(text, answer):
    chances = answer_of(text)

    assert max(ANSWERS, key=lambda one: getattr(chances, one)) == answer, chances


def test_chances_add_up_to_one():
    assert sum(answer_of("yes, go ahead")) == pytest.approx(1.0)
    assert NO_ANSWER._fields == ANSWERS


@pytest.mark.parametrize("text", ["", "   "])
def test_text_without_pieces_is_no_answer(text):
    assert answer_of(text) == NO_ANSWER


def test_answers_that_no_training_saw():
    """A third of the answers of each language, and five languages, were kept aside; the card has the figures."""
    said = Counter()
    for one in read_answers("measure"):
        if one.source == "answers":
            chances = answer_of(one.text)
            said[one.answer, "yes" if chances.yes >= 0.9 else "no" if chances.no >= 0.9 else ""] += 1
    number = Counter()
    for (answer, _), count in said.items():
        number[answer] += count

    assert said["yes", "yes"] > 0.22 * number["yes"]
    assert said["no", "no"] > 0.28 * number["no"]
    assert sum(said[one, "yes"] for one in ANSWERS if one != "yes") < 0.01 * (number.total() - number["yes"])


@pytest.mark.parametrize("content", [None, b"", b"no network"])
def test_missing_or_damaged_network_says_so(content, tmp_path, monkeypatch):
    file = tmp_path / "answers.safetensors"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(module, "FILE", file)
    answer_reader.cache_clear()

    with pytest.raises(ModelUnavailableError, match=r"answers\.safetensors is damaged"):
        answer_reader()
    answer_reader.cache_clear()
