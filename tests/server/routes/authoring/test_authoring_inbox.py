"""The inbox over HTTP: groups, previews, and decisions that become revisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import ADMIN, KEY, OPTIONS, bot
from server.routes.authoring.test_authoring_edits import client as without_inbox
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

__all__ = ["bot", "without_inbox"]

MESSAGE = "quarterly revenue figures"


@pytest.fixture
def client(bot: Path, tmp_path: Path) -> Iterator[TestClient]:
    matcher = Matcher.load(bot, inbox=str(tmp_path / "misses.sqlite"))
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        for text in (MESSAGE, "zebra crossing paint"):
            assert client.post("/match", json={"text": text}).json()["verdict"] == "out_of_scope"
        yield client


def test_inbox_without_a_message_is_empty(bot: Path, tmp_path: Path) -> None:
    matcher = Matcher.load(bot, inbox=str(tmp_path / "misses.sqlite"))
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        assert client.get("/inbox").json()["clusters"] == []
        assert client.post("/inbox/1", json={"action": "ignore"}).status_code == 404


def clusters(client: TestClient) -> dict[str, dict[str, Any]]:
    return {cluster["name"]: cluster for cluster in client.get("/inbox").json()["clusters"]}


def test_groups_come_with_proposals(client: TestClient) -> None:
    found = clusters(client)

    assert set(found) == {MESSAGE, "zebra crossing paint"}
    assert found[MESSAGE]["proposal"]["action"] in ("add", "new", "ignore")


def test_accepted_group_becomes_a_revision_and_leaves_the_inbox(client: TestClient) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    body = {"action": "new", "intent": "revenue"}

    preview = client.post(f"/inbox/{number}/preview", json=body).json()
    assert f"+    utterances: [{MESSAGE}]" in preview["diff"] or f"+      - {MESSAGE}" in preview["diff"]
    assert preview["effect"]["compared"]["messages"] == {"messages": 2, "of": 2}
    assert any(change["text"] == MESSAGE for change in preview["effect"]["changes"])
    answer = client.post(f"/inbox/{number}", json=body, headers={"If-Match": preview["revision"]})

    assert answer.json()["handled"] == 1
    assert answer.json()["written"]["recorded"]["note"] == "Inbox: new revenue"
    assert set(clusters(client)) == {"zebra crossing paint"}
    assert client.post("/match", json={"text": MESSAGE}).json()["intent"] == "revenue"


def test_ignored_group_changes_no_file(client: TestClient) -> None:
    number = clusters(client)[MESSAGE]["cluster"]

    assert client.post(f"/inbox/{number}/preview", json={"action": "ignore"}).json()["diff"] == ""
    assert client.post(f"/inbox/{number}", json={"action": "ignore"}).json() == {"handled": 1, "written": None}
    (entry,) = client.get("/audit", headers=ADMIN).json()["entries"]
    assert (entry["author"], entry["what"], entry["revision"]) == ("anna", "Inbox: ignore 1 message", None)
    assert set(clusters(client)) == {"zebra crossing paint"}


def test_refused_decisions_leave_the_inbox_as_it_is(client: TestClient) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    path = f"/inbox/{number}"

    any_revision, stale = {"If-Match": "*"}, {"If-Match": "0" * 16}
    assert client.post(path, json={"action": "add", "intent": "greet"}).status_code == 428
    assert client.post(path, json={"action": "add", "intent": "greet"}, headers=stale).status_code == 409
    assert client.post(path, json={"action": "add", "intent": "gret"}, headers=any_revision).status_code == 422
    assert client.post(path, json={"action": "add"}, headers=any_revision).status_code == 422
    assert client.post(path, json={"action": "ignore", "intent": "greet"}).status_code == 422
    assert client.post("/inbox/99", json={"action": "ignore"}).status_code == 404
    assert set(clusters(client)) == {MESSAGE, "zebra crossing paint"}


def test_without_an_inbox_the_call_says_how_to_turn_it_on(without_inbox: TestClient) -> None:
    answer = without_inbox.get("/inbox")

    assert (answer.status_code, "setting `inbox`" in answer.json()["detail"]) == (503, True)
