"""What the parts of a message do, by the network of this release."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading import dialogue_acts as module
from intentmatch.reading.dialogue_acts import ACTS, NO_ACTS, acts_of, dialogue_acts


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("please don't cancel my order", "refuses"),
        ("there is no need to send me a new card", "refuses"),
        ("ich möchte die Karte nicht sperren", "refuses"),
        ("ne renouvelez pas mon abonnement", "refuses"),
        ("my parcel has arrived", "settled"),
        ("hello", "courtesy"),
        ("thank you very much", "courtesy"),
        ("my old phone broke last week", "tale"),
    ],
)
def test_text_does_what_it_says(text, act):
    found = acts_of(text)

    assert getattr(found, act) > 0.5, found


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
    hidden = network.read(known_pieces("no need to call me back"))
    begins = network.begins(hidden)

    assert NO_ACTS._fields == ACTS
    assert all(0.0 <= value <= 1.0 for value in network.acts(hidden))
    assert begins.shape == (len(hidden),)
    assert np.all((begins >= 0) & (begins <= 1))


@pytest.mark.parametrize("content", [None, b"", b"no network"])
def test_missing_or_damaged_network_says_so(content, tmp_path, monkeypatch):
    file = tmp_path / "acts.safetensors"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(module, "FILE", file)
    dialogue_acts.cache_clear()
    try:
        with pytest.raises(ModelUnavailableError, match="acts.safetensors is damaged .*; reinstall intentmatch"):
            dialogue_acts()
    finally:
        dialogue_acts.cache_clear()
