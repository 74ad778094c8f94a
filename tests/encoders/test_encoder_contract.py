"""The rules of the `Encoder` protocol, run for every encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from contracts.encoder import LAWS
from embeddings_server import FakeServer, serving, serving_ours
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.types import Encoder
from intentmatch.encoders.remote import RemoteEncoder
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import EMBEDDED


@pytest.fixture(scope="module")
def remote() -> Iterator[Callable[[str], RemoteEncoder]]:
    """Create the remote encoder for a server of the given dialect."""
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with ExitStack() as servers:

        def made(dialect: str) -> RemoteEncoder:
            if dialect == "ours":
                pytest.importorskip("uvicorn", reason="needs the extra [server]")
                registry = Registry((Intent("greet", (Utterance("hello"),)), Intent("leave", (Utterance("goodbye"),))))
                return RemoteEncoder(
                    servers.enter_context(serving_ours(Matcher.load(registry))) + "/v1/embeddings", "embedded"
                )
            server = servers.enter_context(serving(FakeServer()))
            return RemoteEncoder(server.openai, "m") if dialect == "openai" else RemoteEncoder(server.tei)

        yield made


@pytest.fixture(
    scope="module",
    params=[
        "fake",
        "static",
        "sentence_transformer",
        pytest.param("onnx float32", marks=pytest.mark.end_to_end),
        pytest.param("onnx int8", marks=pytest.mark.end_to_end),
        "remote openai",
        "remote tei",
        "remote ours",
    ],
)
def encoder(request: pytest.FixtureRequest) -> Encoder:
    """Each encoder in turn, loaded once."""
    if request.param == "fake":
        return WordHashEncoder()
    if request.param == "static":
        return StaticEncoder(EMBEDDED)
    if request.param.startswith("onnx "):
        exported: Encoder = request.getfixturevalue("onnx_minilm")(request.param.removeprefix("onnx "))
        return exported
    if request.param.startswith("remote "):
        served: Encoder = request.getfixturevalue("remote")(request.param.removeprefix("remote "))
        return served
    encoder: Encoder = request.getfixturevalue("minilm")
    return encoder


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_encoder_obeys_the_rules(law: Callable[[Encoder], None], encoder: Encoder) -> None:
    law(encoder)
