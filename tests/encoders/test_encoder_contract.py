"""Every encoder obeys every law."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from contracts.encoder import LAWS
from fakes import WordHashEncoder

from intentmatch.encoders.static import EMBEDDED, StaticEncoder
from intentmatch.types import Encoder


@pytest.fixture(scope="module", params=["fake", "static", "sentence_transformer", "onnx float32", "onnx int8"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    """Each encoder in turn, loaded once."""
    if request.param == "fake":
        return WordHashEncoder()
    if request.param == "static":
        return StaticEncoder(EMBEDDED)
    if request.param.startswith("onnx "):
        exported: Encoder = request.getfixturevalue("onnx_minilm")(request.param.removeprefix("onnx "))
        return exported
    encoder: Encoder = request.getfixturevalue("minilm")
    return encoder


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_obeys(law: Callable[[Encoder], None], encoder: Encoder) -> None:
    """The law holds for the encoder."""
    law(encoder)
