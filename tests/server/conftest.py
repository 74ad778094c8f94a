"""A small bot, and clients of its webhook."""

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
    """One matcher for a module; its files are not to be edited."""
    return Matcher.load(write(tmp_path_factory.mktemp("bot")), cache="off")


@pytest.fixture(scope="module")
def client(matcher: Matcher) -> Iterator[TestClient]:
    """A client that sees a 500 as an answer, as real ones do."""
    with TestClient(create_app(matcher), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of intents to be edited."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    return write(tmp_path / "intents")


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three bots in a folder that is called so."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setattr(pool, "_SECONDS_BETWEEN_LOOKS", 0.05)
    return several_bots.write(tmp_path / "bots", "bank", "pizza", "shop")


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The headers of admin calls, to apps that are made hereafter."""
    monkeypatch.setenv("INTENTMATCH_ADMIN_KEYS", "the-admin-key")
    return {"x-api-key": "the-admin-key"}


def write(folder: Path) -> Path:
    """The small bot in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    return folder
