"""A small bot that speaks every protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from speaking import KEY, REGISTRY, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.result import MatchResult
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server.auth import wrong_keys


@pytest.fixture(scope="session")
def bot() -> Matcher:
    """One matcher for all protocols."""
    return Matcher.load(REGISTRY, cache="off")


@pytest.fixture(scope="session")
def protocol_client(bot: Matcher) -> Iterator[TestClient]:
    """A client of a server that speaks every protocol and has no keys."""
    with client(bot) as caller:
        yield caller


@pytest.fixture(scope="session")
def guarded(bot: Matcher) -> Iterator[TestClient]:
    """A client of a server with keys that speaks every protocol, and that may present any number of wrong keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrong_keys, "LIMIT", "100000/minute")
        app = client(bot, keys=["another", KEY])
    with app as caller:
        yield caller


@pytest.fixture
def answers(bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add entities or missing slots to every result of the bot."""

    def change(**changes: Any) -> None:
        def match_each(snapshot: Snapshot, asked: Sequence[tuple[str, MatchOptions]]) -> list[MatchResult]:
            return [replace(snapshot.match(message, **asdict(options)), **changes) for message, options in asked]

        monkeypatch.setattr(Snapshot, "match_each", match_each)

    return change
