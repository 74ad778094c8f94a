"""Fixtures: a chat model, and a matcher for a library in English and German."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from line_server import LineServer, line_server

from intentmatch import Matcher


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LineServer]:
    with line_server(monkeypatch) as running:
        yield running


@pytest.fixture(scope="package")
def library() -> Matcher:
    return Matcher.load(Path(__file__).parent / "library.yaml", cache="off")
