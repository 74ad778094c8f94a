"""A small bot, and clients of its server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import several_bots
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.bots import pool

INTENTS = """\
intents:
  greet:
    title: Say hello
    description: The user says hello.
    metadata: {queue: 3, tags: [small, talk]}
    response: {en: Hello!, de: Hallo!}
    utterances: {en: [hello, hi there], de: [hallo]}
  bye:
    title: Say goodbye
    threshold: 0.6
    utterances: {en: [goodbye, see you later], de: [tschüss]}
"""


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    """One matcher per module; tests must not edit its files."""
    return Matcher.load(write(tmp_path_factory.mktemp("bot")), cache="off")


@pytest.fixture(scope="module")
def client(matcher: Matcher) -> Iterator[TestClient]:
    """A client that gets a 500 as a response, as real clients do."""
    with TestClient(create_app(matcher), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of intents that a test may edit."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    return write(tmp_path / "intents")


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three bots in a folder called `bots`."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setattr(pool, "_SECONDS_BETWEEN_LOOKS", 0.05)
    return several_bots.write(tmp_path / "bots", "bank", "pizza", "shop")


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The headers of admin calls, for apps made after this fixture."""
    monkeypatch.setenv("INTENTMATCH_ADMIN_KEYS", "the-admin-key")
    return {"x-api-key": "the-admin-key"}


def write(folder: Path) -> Path:
    """Write the small bot into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    return folder
