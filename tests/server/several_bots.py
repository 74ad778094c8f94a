"""Shared by the tests of several bots: folders of bots, and clients."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from intentmatch.server import BotFolder, create_app

PATIENCE = 60.0


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)


def write(folder: Path, *names: str, text: str = "hello", settings: str = "") -> Path:
    """Write bots with one intent each, of the name of the bot."""
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)
        yaml = f"{settings}intents: {{{name}: {{utterances: [{text}, {text} to {name}]}}}}\n"
        (folder / name / "bot.yaml").write_text(yaml, encoding="utf-8")
    return folder


@contextmanager
def served(folder: Path, *, preload: Any = (), megabytes: int | None = None, **options: Any) -> Iterator[TestClient]:
    app = create_app(BotFolder(folder, preload, megabytes), **options)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def match(client: TestClient, bot: str, **headers: str) -> Any:
    return client.post(f"/bots/{bot}/match", json={"text": "hello"}, headers=headers)


def states(client: TestClient, **headers: str) -> dict[str, str]:
    return {bot["name"]: bot["state"] for bot in client.get("/bots", headers=headers).json()["bots"]}
