"""The review over HTTP: questions, judgements and numbers, for authors only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import KEY, OPTIONS, bot
from server.routes.authoring.test_authoring_edits import client as without_inbox
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

__all__ = ["bot", "without_inbox"]


@pytest.fixture
def client(bot: Path, tmp_path: Path) -> Iterator[TestClient]:
    matcher = Matcher.load(bot, inbox=str(tmp_path / "misses.sqlite"), inbox_sample="1.0")
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        for text in ("hello", "zebra crossing paint"):
            client.post("/match", json={"text": text})
        yield client


def test_sample_without_an_answer_is_empty(bot: Path, tmp_path: Path) -> None:
    matcher = Matcher.load(bot, inbox=str(tmp_path / "misses.sqlite"), inbox_sample="1.0")
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        found = client.get("/review").json()

    assert (found["questions"], found["open"]) == ([], 0)


def questions(client: TestClient) -> dict[str, dict[str, Any]]:
    return {question["text"]: question for question in client.get("/review").json()["questions"]}


def test_understood_and_missed_messages_are_asked_about(client: TestClient) -> None:
    found = questions(client)

    assert (found["hello"]["verdict"], found["hello"]["intent"], found["hello"]["count"]) == ("matched", "greet", 1)
    assert found["zebra crossing paint"]["intent"] is None
    assert len(client.get("/review?most=1").json()["questions"]) == 1
    assert client.get("/review?most=1").json()["open"] == 2


def test_judgements_are_kept_and_taken_back(client: TestClient) -> None:
    found = questions(client)
    hello, zebra = found["hello"]["question"], found["zebra crossing paint"]["question"]

    answer = client.post(f"/review/{hello}", json={"judgement": "right"}).json()
    assert (answer["open"], answer["quality"]["judged"], answer["quality"]["more"]) == (1, 1, 29)
    assert client.post(f"/review/{zebra}", json={"judgement": "skip"}).json()["skipped"] == 1
    assert (
        client.post(f"/review/{zebra}", json={"judgement": "intent", "intent": "bye"}).json()["quality"]["judged"] == 2
    )
    assert client.post(f"/review/{hello}", json={"judgement": "out_of_scope"}).json()["open"] == 0
    assert client.post(f"/review/{hello}", json={"judgement": "undo"}).json()["questions"][0]["text"] == "hello"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"judgement": "intent"}, 422),
        ({"judgement": "intent", "intent": "gret"}, 422),
        ({"judgement": "right", "intent": "greet"}, 422),
        ({"judgement": "perhaps"}, 422),
    ],
)
def test_refused_judgements_change_nothing(client: TestClient, body: dict[str, str], status: int) -> None:
    number = questions(client)["hello"]["question"]

    assert client.post(f"/review/{number}", json=body).status_code == status
    assert client.get("/review").json()["open"] == 2


def test_unknown_question_is_not_found(client: TestClient) -> None:
    assert client.post("/review/99", json={"judgement": "skip"}).status_code == 404
    assert client.post(f"/review/{2**63}", json={"judgement": "skip"}).status_code == 422


def test_a_key_that_only_matches_may_not_review(client: TestClient) -> None:
    headers = {"x-api-key": "k"}

    assert client.get("/review", headers=headers).status_code == 403
    assert client.post("/review/1", json={"judgement": "skip"}, headers=headers).status_code == 403


def test_without_an_inbox_the_call_says_how_to_turn_it_on(without_inbox: TestClient) -> None:
    answer = without_inbox.get("/review")

    assert (answer.status_code, "setting `inbox`" in answer.json()["detail"]) == (503, True)
