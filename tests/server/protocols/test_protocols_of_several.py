"""Protocols with several bots: which bot a request is for, and whether the key is valid for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from intentmatch.server import BotFolder, create_app
from intentmatch.server.protocols.load import PROTOCOLS

KEYS = ["shop:one", "bank:two", "*:all"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bots, each with an intent of its own name, and a broken one."""
    folder = tmp_path_factory.mktemp("several")
    for name in ("bank", "shop", "torn"):
        (folder / name).mkdir()
        text = f"settings: {{cache: off}}\nintents: {{{name}: {{utterances: [hello, hi there]}}}}\n"
        (folder / name / "bot.yaml").write_text("intents: 1" if name == "torn" else text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def open_to_all(folder: Path) -> Iterator[TestClient]:
    """A client of a server without keys."""
    with TestClient(create_app(BotFolder(folder), protocols=list(PROTOCOLS), keys=[])) as client:
        yield client


@pytest.fixture(scope="module")
def with_keys(folder: Path) -> Iterator[TestClient]:
    """A client of a server with a key for each bot."""
    with TestClient(create_app(BotFolder(folder), protocols=list(PROTOCOLS), keys=KEYS)) as client:
        yield client


def clu(client: TestClient, bot: str, key: str = "") -> Any:
    item = {"id": "1", "participantId": "1", "text": "hello"}
    body = {
        "kind": "Conversation",
        "analysisInput": {"conversationItem": item},
        "parameters": {"projectName": bot, "deploymentName": "production"},
    }
    return client.post(
        "/language/:analyze-conversations", json=body, headers={"ocp-apim-subscription-key": key} if key else {}
    )


def dialogflow(client: TestClient, bot: str, key: str = "") -> Any:
    body = {"queryInput": {"text": {"text": "hello", "languageCode": "en"}}}
    headers = {"x-goog-api-key": key} if key else {}
    return client.post(f"/v2/projects/{bot}/agent/sessions/1:detectIntent", json=body, headers=headers)


def rasa(client: TestClient, bot: str, key: str = "") -> Any:
    return client.post(f"/bots/{bot}/model/parse", json={"text": "hello", **({"token": key} if key else {})})


def openai(client: TestClient, bot: str, key: str = "") -> Any:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return client.post(f"/bots/{bot}/v1/embeddings", json={"model": "any", "input": "hello"}, headers=headers)


SAID = {
    clu: lambda body: body["result"]["prediction"]["topIntent"],
    dialogflow: lambda body: body["queryResult"]["intent"]["displayName"],
    rasa: lambda body: body["intent"]["name"],
}
CODES = {
    clu: {403: "Forbidden", 404: "NotFound", 503: "ServiceUnavailable"},
    dialogflow: {403: "PERMISSION_DENIED", 404: "NOT_FOUND", 503: "UNAVAILABLE"},
    rasa: {403: "NotAuthorized", 404: "NotFound", 503: "ServiceUnavailable"},
    openai: {403: "invalid_request_error", 404: "invalid_request_error", 503: "server_error"},
}


def code(body: dict[str, Any]) -> str:
    """The code of an error, wherever the protocol has it."""
    error = body.get("error", body)
    return str(error.get("reason") or error.get("status") or error.get("type") or error["code"])


@pytest.mark.parametrize("ask", SAID)
@pytest.mark.parametrize("bot", ["bank", "shop"])
def test_project_or_path_names_the_bot(open_to_all: TestClient, ask: Any, bot: str) -> None:
    answer = ask(open_to_all, bot)
    assert (answer.status_code, SAID[ask](answer.json())) == (200, bot)


def test_embeddings_of_bots_with_one_encoder_are_the_same(open_to_all: TestClient) -> None:
    first, second = (openai(open_to_all, bot).json()["data"][0]["embedding"] for bot in ("bank", "shop"))
    assert first == second


@pytest.mark.parametrize("ask", CODES)
@pytest.mark.parametrize(("bot", "status"), [("nobody", 404), ("torn", 503)])
def test_broken_bot_reports_in_the_shape_of_the_protocol(
    open_to_all: TestClient, ask: Any, bot: str, status: int
) -> None:
    answer = ask(open_to_all, bot)
    assert (answer.status_code, code(answer.json())) == (status, CODES[ask][status])
    assert "retry-after" in answer.headers or status == 404


@pytest.mark.parametrize("ask", CODES)
@pytest.mark.parametrize(
    ("bot", "key", "status"),
    [("shop", "one", 200), ("shop", "all", 200), ("shop", "two", 403), ("nobody", "two", 403), ("shop", "", 401),
     ("shop", "none", 401)],
)  # fmt: skip
def test_key_is_valid_for_its_bot_only(with_keys: TestClient, ask: Any, bot: str, key: str, status: int) -> None:
    """Even if only the body names the bot."""
    answer = ask(with_keys, bot, key)
    assert answer.status_code == status
    if status == 403:
        assert code(answer.json()) == CODES[ask][403]


def test_protocol_without_bot_names_has_no_path_of_its_own(open_to_all: TestClient) -> None:
    for path in ("/model/parse", "/v1/embeddings"):
        answer = open_to_all.post(path, json={"text": "hello"})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert open_to_all.get("/version").json().keys() == {"version"}
    assert re.match("Hello from Rasa", open_to_all.get("/bots/shop/").text)
