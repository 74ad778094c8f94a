"""A setting is refused when it is loaded, or the bot answers: none is accepted and stops every answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.settings import OPERATORS, PARSERS, Settings
from intentmatch.server import create_app
from intentmatch.server.bots import bot as bots

INTENTS = "intents: {greet: {utterances: [hello, hi there]}, bye: {utterances: [goodbye, see you]}}\n"
ADMIN = {"x-api-key": "root"}
ODD: list[Any] = [
    "", "0", "-1", "1", "0.0", "1.0", "0.999999", "1e-300", "1e300", "nan", "inf", "999999999999", "auto", "off",
    "none", "null", "true", "tests", "database", "words", "cosine", "float16", "torch", "usearch", "pgvector", "max",
    "cpu", "cuda:99", "static", "onnx", "remote", "remote:", "chat:", "static:./none", "onnx:./none",
    "cross_encoder:./none", ".", "./x", "x.sqlite", "bot.yaml", "new.yml", "a/b/c", "x" * 300, "06:30", "24:00",
    "\u0000", "\u202e", "{}", "é", [], ["", "a"], ["a", "b"], {}, {"": ""}, {"default": "0"}, {"default": "1.0"},
    {"de": "100%"}, {"xx-yy-zz": "1"}, {"precision": "0"}, {"precision": "1"}, {"precision": "1", "give_up": "1"},
    {"precision": "0.9", "confidence": "0.9"}, {"false_accept": "0"}, {"balance": "true"}, {"share": "1"},
    {"share": "1", "messages": "1"}, {"messages": "1", "days": "1"}, {"minute": "1", "day": "1"},
    {"utterance": "a: ", "query": "b: "}, {"utterance": "x" * 5000}, {"en": {"gr8": "great"}},
    {"en": {"hello": "goodbye"}}, {"default": {"hi": "hi hi hi"}}, {"few-utterances": "off"}, {"zzz": "error"},
    {"default": ["Sorry?"]}, {"de": "Wie?"},
]  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    folder = tmp_path_factory.mktemp("odd") / "bot"
    folder.mkdir()
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        patch.setenv("INTENTMATCH_CACHE", "off")
        patch.setattr(bots, "SECONDS_BETWEEN_PROBES", -1.0)
        app = create_app(folder, admin_keys=["root"])
        with TestClient(app, raise_server_exceptions=False, headers=ADMIN) as client:
            yield client, folder


def check_answers(client: TestClient) -> None:
    for text in ("hello", "the price of tea in china", "see you hello"):
        answer = client.post("/match", json={"text": text})
        assert answer.status_code == 200, answer.text
    assert client.post("/match/batch", json={"texts": ["hi", "goodbye now"]}).status_code == 200
    assert client.get("/readyz").status_code == 200


@example(name="inbox", value="database")
@example(name="inbox", value="new.yml")
@example(name="index", value="pgvector")
@given(name=st.sampled_from(sorted(set(PARSERS) - OPERATORS)), value=st.sampled_from(ODD))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_setting_is_refused_or_the_bot_answers(served: tuple[TestClient, Path], name: str, value: Any) -> None:
    client, folder = served
    (folder / "bot.yaml").write_text(f"settings: {json.dumps({name: value})}\n{INTENTS}", encoding="utf-8")
    reloaded = client.post("/reload")
    assert reloaded.status_code in (200, 409, 503), reloaded.text
    check_answers(client)
    # What the settings have left on the disk harms no later load.
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    again = client.post("/reload")
    assert again.status_code == 200, again.text


@pytest.mark.parametrize("kind", ["path", "matcher"])
def test_inbox_that_cannot_be_is_an_error_at_the_start(tmp_path: Path, kind: str) -> None:
    (tmp_path / "bot.yaml").write_text(f"settings: {{inbox: database}}\n{INTENTS}", encoding="utf-8")
    app = create_app(tmp_path if kind == "path" else Matcher.load(tmp_path, cache="off"))
    with pytest.raises(InputError, match="`inbox: database` needs a bot in PostgreSQL"), TestClient(app):
        pass


def test_edit_to_an_inbox_that_cannot_be_keeps_the_last_registry(served: tuple[TestClient, Path]) -> None:
    client, folder = served
    (folder / "bot.yaml").write_text(f"settings: {{inbox: database}}\n{INTENTS}", encoding="utf-8")
    answer = client.post("/reload")
    assert (answer.status_code, "needs a bot in PostgreSQL" in answer.text) == (409, True)
    check_answers(client)
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    assert client.post("/reload").status_code == 200


def test_readyz_tries_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anybody else sends one that fails."""
    monkeypatch.setattr(bots, "SECONDS_BETWEEN_PROBES", -1.0)
    (tmp_path / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    matcher = Matcher.load(tmp_path, cache="off")
    with TestClient(create_app(matcher), raise_server_exceptions=False) as client:
        assert client.get("/readyz").json()["status"] == "ready"
        broken = Settings(inbox="database")
        monkeypatch.setattr(type(matcher.snapshot()), "settings", property(lambda _: broken))
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:intentmatch:broken")
        monkeypatch.undo()
        assert client.get("/readyz").status_code == 200
