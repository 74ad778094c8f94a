"""Edits whose settings cannot be loaded are refused before they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from several_bots import write
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import BotFolder, create_app

KEY = {"X-API-Key": "hers", "If-Match": "*"}
YAML = (
    "slots: {size: {type: list, values: [small, large]}}\n"
    "intents:\n  greet: {utterances: [hello, hi there]}\n  order: {utterances: ['a {size} one', 'one please']}\n"
)


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bots") / "bot"
    folder.mkdir()
    (folder / "bot.yaml").write_text(YAML, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(bot: Path) -> Iterator[TestClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTMATCH_CACHE", "off")
        app = create_app(Matcher.load(bot), author_keys=("anna=hers",), admin_keys=("root",), authoring=True)
        with TestClient(app, raise_server_exceptions=False, headers=KEY) as client:
            yield client


def with_settings(settings: str, yaml: str = YAML) -> dict[str, Any]:
    text = f"settings: {{{settings}}}\n{yaml}" if settings else yaml
    return {"edits": [{"edit": "replace_file", "file": "bot.yaml", "text": text}]}


@pytest.mark.parametrize(
    "settings",
    ["inbox: database", "encoder: 'static:./none'", "encoder: 'onnx:./none'", "reranker: 'onnx:./none'"],
)
def test_settings_that_cannot_be_loaded_are_refused(client: TestClient, bot: Path, settings: str) -> None:
    edits = with_settings(settings)

    preview = client.post("/edits/preview", json={**edits, "effect": False})
    written = client.post("/edits", json=edits)

    assert (preview.status_code, preview.json()["writable"]) == (200, False)
    assert (written.status_code, written.json()["errors"][0]["location"]) == (422, "bot.yaml:1:12")
    assert "cannot be loaded with these settings" in written.json()["errors"][0]["message"]
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == YAML


@pytest.mark.parametrize(
    "settings",
    [
        "scorer: cosine", "reranker: words", "target: {precision: '0.9', confidence: '0.9'}", "inbox: misses.sqlite",
        "cache: vectors",
    ],
)  # fmt: skip
def test_settings_that_can_be_loaded_are_written(client: TestClient, bot: Path, settings: str) -> None:
    before = sorted(bot.iterdir())
    preview = client.post("/edits/preview", json={**with_settings(settings), "effect": False})
    after = sorted(bot.iterdir())
    written = client.post("/edits", json=with_settings(settings))
    back = client.post("/edits", json=with_settings(""))

    assert preview.json()["writable"], preview.text
    assert before == after
    assert (written.status_code, written.json()["active"]) == (200, True)
    assert back.status_code == 200


def test_broken_settings_of_others_do_not_hinder_edits(client: TestClient, bot: Path) -> None:
    broken = f"settings: {{inbox: database}}\n{YAML}"
    (bot / "bot.yaml").write_text(broken, encoding="utf-8")

    added = client.post("/edits", json={"edits": [{"edit": "add", "intent": "greet", "text": "good day"}]})
    mended = client.post("/edits", json=with_settings(""))

    assert (added.status_code, added.json()["active"]) == (200, False)
    assert (mended.status_code, mended.json()["active"]) == (200, True)


@pytest.mark.parametrize(
    ("settings", "created"),
    [("inbox: database", False), ("encoder: 'onnx:./none'", False), ("reranker: words", True), ("", True)],
)
def test_new_bot_that_cannot_be_loaded_is_not_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, created: bool
) -> None:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    folder = write(tmp_path / "bots", "bank")
    body = {"name": "shop", "files": [{"file": "bot.yaml", "text": with_settings(settings)["edits"][0]["text"]}]}
    app = create_app(BotFolder(folder), admin_keys=("*:root",), authoring=True)
    with TestClient(app, raise_server_exceptions=False, headers={"X-API-Key": "root"}) as client:
        answer = client.post("/bots", json=body)
        matched = client.post("/bots/shop/match", json={"text": "hello"})

    assert (answer.status_code, matched.status_code) == ((201, 200) if created else (422, 404)), answer.text
    assert (folder / "shop").exists() is created
