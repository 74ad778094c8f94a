"""An encoder that tests can block or break, and a request that is made meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import httpx2

from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import EMBEDDED

SECONDS = 60.0
"""After which a blocked message goes on, and a request that nobody answered fails the test."""


class FlakyEncoder(StaticEncoder):
    """The default encoder, which tests can block or break. It notes its texts, and whether it was blocked too long."""

    def __init__(self) -> None:
        super().__init__(EMBEDDED)
        self.error: Exception | None = None
        self.asked: list[str] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.was_let = True

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        self.asked += texts
        # Not asserted here: the server would turn the error into a response.
        self.was_let &= self.go_on.wait(SECONDS)
        if self.error is not None:
            raise self.error
        return super().encode(texts, kind=kind)


def answers_meanwhile(app: Any, encoder: FlakyEncoder, others: Sequence[str], path: str, **request: Any) -> None:
    """Assert that the app answers at other paths while a request to `path` waits for the encoder."""
    encoder.asked.clear()
    encoder.go_on.clear()
    try:
        asyncio.run(asyncio.wait_for(_race(app, encoder, others, path, **request), 2 * SECONDS))
    finally:
        encoder.go_on.set()
    assert encoder.was_let


async def _race(app: Any, encoder: FlakyEncoder, others: Sequence[str], path: str, **request: Any) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bot") as client:
        slow = asyncio.create_task(client.post(path, **request))
        while not (encoder.asked or slow.done()):
            await asyncio.sleep(0.01)
        for other in others:
            assert (await client.get(other)).status_code == 200
        assert not slow.done()
        encoder.go_on.set()
        assert (await slow).status_code == 200
