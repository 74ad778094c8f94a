"""Fixtures: a server with second opinions, and a bot whose message `DOUBTFUL` needs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from embeddings_server import serving
from fakes import WordHashEncoder
from opinion_server import OpinionServer

from intentmatch import Matcher
from intentmatch.core.types import Intent, Registry, Utterance


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpinionServer]:
    """A server that scores by shared words, reached without a proxy and without a key."""
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("INTENTMATCH_RERANKER_KEY", "INTENTMATCH_RERANKER_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(OpinionServer()) as running:
        yield running


@pytest.fixture
def bot() -> Callable[..., Matcher]:
    """Load a bot that is in doubt about `my order now please`."""
    registry = Registry(
        (
            Intent(
                "status",
                (Utterance("where is my order"), Utterance("track my order now please")),
                title="Where is my order?",
                description="The user wants to know where a parcel is.",
            ),
            Intent("cancel", (Utterance("cancel my order"), Utterance("stop my order now please"))),
            Intent("greet", (Utterance("hello there"), Utterance("good morning to you"))),
        )
    )

    def load(**settings: Any) -> Matcher:
        chosen = {"threshold": 0.3, "band": 0.05, "reranker_seconds": 5.0, **settings}
        return Matcher.load(registry, encoder=WordHashEncoder(), cache="off", **chosen)

    return load
