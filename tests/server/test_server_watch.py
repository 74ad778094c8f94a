"""A server that watches its files."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch.server import create_app

PATIENCE = 60.0


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)


def test_edit_is_taken_up_without_a_reload_call(folder: Path) -> None:
    with TestClient(create_app(folder, watch=True)) as client:
        (folder / "thanks.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
        until(lambda: client.post("/match", json={"text": "thank you"}).json()["intent"] == "thanks")
        ready = client.get("/readyz").json()
        assert (ready["stale"], ready["intents"]) == (False, 3)
    (folder / "thanks.yaml").unlink()
    time.sleep(0.5)
    with TestClient(client.app) as client:
        until(lambda: client.get("/readyz").json()["intents"] == 2)


def test_invalid_edit_is_reported_by_readyz_and_the_log(
    folder: Path, caplog: pytest.LogCaptureFixture, admin: dict[str, str]
) -> None:
    caplog.set_level(logging.INFO, "intentmatch")
    file = folder / "bot.yaml"
    good = file.read_text(encoding="utf-8")
    with TestClient(create_app(folder, watch=True)) as client:
        file.write_text(good.replace("title: Say hello", "titel: Say hello"), encoding="utf-8")
        until(lambda: client.get("/readyz").json()["stale"])

        error = client.get("/readyz").json()["reload_error"]
        assert error["status"] == 409
        assert [(item["path"], item["line"], item["rule"]) for item in error["errors"]] == [
            ("bot.yaml", 3, "unknown-key")
        ]
        assert error == client.post("/reload", headers=admin).json()
        assert f"{file}:3:5: error [unknown-key]" in caplog.text
        assert client.post("/match", json={"text": "tschüss"}).json()["intent"] == "bye"

        file.write_text(good, encoding="utf-8")
        until(lambda: not client.get("/readyz").json()["stale"])


def test_watching_is_off_by_default(folder: Path) -> None:
    with TestClient(create_app(folder)) as client:
        (folder / "thanks.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
        time.sleep(0.5)
        assert client.get("/readyz").json()["intents"] == 2
