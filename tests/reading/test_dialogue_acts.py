"""What the parts of a message do, by the network of this release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading import dialogue_acts as module
from intentmatch.reading.dialogue_acts import ACTS, NO_ACTS, acts_of, dialogue_acts
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("please don't cancel my order", "refuses"),
        ("there is no need to send me a new card", "refuses"),
        ("ihr müsst mir keine neue Karte schicken", "refuses"),
        ("ne renouvelez pas mon abonnement", "refuses"),
        ("my parcel has arrived", "settled"),
        ("hello", "courtesy"),
        ("thank you very much", "courtesy"),
        ("we moved here from Poland ten years ago", "tale"),
    ],
)
def test_text_does_what_it_says(text, act):
    found = acts_of(text)

    assert getattr(found, act) > 0.5, found


def test_settled_matters_are_told_from_problems():
    """The list is in 12 languages; the bounds are what was measured, of 144 each."""
    rows = Path(__file__).with_name("problems.tsv").read_text(encoding="utf-8").splitlines()
    listed = [row.split("\t")[1:] for row in rows if not row.startswith("#")]

    found = Counter(kind for kind, text in listed if acts_of(clean(text)).settled >= 0.8)

    assert Counter(kind for kind, _ in listed) == {"problem": 144, "settled": 144}
    assert found["problem"] <= 7
    assert found["settled"] >= 56


@pytest.mark.parametrize(
    "text",
    ["where is my order", "cancel my order", "wo ist mein paket", "quiero cambiar mi dirección", "play some jazz"],
)
def test_request_does_nothing_else(text):
    assert max(acts_of(text)) < 0.5


@pytest.mark.parametrize("text", ["", "   "])
def test_text_without_pieces_does_nothing(text):
    assert acts_of(text) == NO_ACTS


def test_acts_are_probabilities_in_the_order_of_their_names():
    network = dialogue_acts()
    hidden, begins, acts = network.read(known_pieces("no need to call me back"))

    assert NO_ACTS._fields == ACTS
    assert all(0.0 <= value <= 1.0 for value in (*acts, *network.acts(hidden)))
    assert len(begins) == len(hidden)
    assert max(begins[1:]) < 0


@pytest.mark.parametrize("content", [None, b"", b"no network"])
def test_missing_or_damaged_network_says_so(content, tmp_path, monkeypatch):
    file = tmp_path / "acts.safetensors"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(module, "FILE", file)
    dialogue_acts.cache_clear()
    try:
        with pytest.raises(ModelUnavailableError, match=r"acts.safetensors is damaged .*; reinstall intentmatch"):
            dialogue_acts()
    finally:
        dialogue_acts.cache_clear()


def test_texts_read_together_are_read_as_alone():
    texts = ["hello", "I lost my card yesterday", "don't cancel my order, please", "ok"] * 40
    pieces = [ReadText(text).known_pieces for text in texts]

    found = dialogue_acts().read_many(pieces)

    for read, some in zip(found, pieces, strict=True):
        alone = dialogue_acts().read(some)
        assert read.hidden == pytest.approx(alone.hidden, abs=1e-4)
        assert read.begins == pytest.approx(alone.begins, abs=1e-4)
        assert read.acts == pytest.approx(alone.acts, abs=1e-4)
    assert dialogue_acts().read_many([]) == []
