"""The inbox over HTTP: groups, previews, and decisions that become revisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import ADMIN, KEY, OPTIONS, bot
from server.routes.authoring.test_authoring_edits import client as without_inbox
from server.several_bots import served, write
from starlette.testclient import TestClient

from intentmatch import Matcher, MemoryStore
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
    assert {found[MESSAGE]["proposal"]["sure"], found["zebra crossing paint"]["proposal"]["sure"]} == {False}
    assert found["zebra crossing paint"]["kind"] == "asks"


def test_accepted_group_becomes_a_revision_and_leaves_the_inbox(client: TestClient) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    body = {"action": "new", "intent": "revenue"}

    preview = client.post(f"/inbox/{number}/preview", json=body).json()
    assert f"+    utterances: [{MESSAGE}]" in preview["diff"] or f"+      - {MESSAGE}" in preview["diff"]
    assert preview["effect"]["compared"]["messages"] == {"messages": 2, "of": 2}
    assert any(change["text"] == MESSAGE for change in preview["effect"]["changes"])
    answer = client.post(f"/inbox/{number}", json=body, headers={"If-Match": preview["revision"]})

    assert answer.json()["handled"] == 1
    assert answer.json()["written"]["recorded"]["note"] == "Inbox: Add the intent revenue"
    assert set(clusters(client)) == {"zebra crossing paint"}
    assert client.post("/match", json={"text": MESSAGE}).json()["intent"] == "revenue"


@pytest.mark.parametrize(
    "decision",
    [{"action": "new", "intent": "revenue"}, {"action": "not", "intent": "greet"}, {"action": "test"}],
    ids=["new", "not", "test"],
)
def test_restore_gives_the_messages_back(client: TestClient, decision: dict[str, str]) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    client.post(f"/inbox/{number}", json=decision, headers={"If-Match": "*"})
    first = client.get("/revisions").json()["revisions"][-1]["id"]
    assert set(clusters(client)) == {"zebra crossing paint"}

    restored = client.post(f"/revisions/{first}/restore", json={}, headers={"If-Match": "*"}).json()

    assert restored["warnings"] == []
    assert set(clusters(client)) == {MESSAGE, "zebra crossing paint"}


def test_message_that_came_after_the_group_was_read_stays_in_the_inbox(client: TestClient) -> None:
    cluster = clusters(client)[MESSAGE]
    seen = [message["id"] for message in cluster["messages"]]
    later = "the quarterly revenue figures"
    assert client.post("/match", json={"text": later}).json()["verdict"] == "out_of_scope"
    both = client.get("/inbox").json()["clusters"]
    assert [len(one["messages"]) for one in both if one["cluster"] == cluster["cluster"]] == [2]
    path, body = f"/inbox/{cluster['cluster']}", {"action": "new", "intent": "revenue", "messages": seen}

    assert later not in client.post(f"{path}/preview", json=body).json()["diff"]
    answer = client.post(path, json=body, headers={"If-Match": "*"}).json()

    assert answer["handled"] == 1
    assert later not in client.get("/registry").text


@pytest.mark.parametrize("numbers", [[99], []], ids=["gone", "none"])
def test_message_that_the_group_no_longer_has_writes_nothing(client: TestClient, numbers: list[int]) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    body = {"action": "new", "intent": "revenue", "messages": numbers}

    answer = client.post(f"/inbox/{number}", json=body, headers={"If-Match": "*"})

    assert (answer.status_code, "GET /inbox" in answer.json()["detail"]) == (409, True)
    assert MESSAGE in clusters(client)


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
    assert client.post(path, json={"action": "test", "intent": "greet"}, headers=any_revision).status_code == 422
    assert client.post(path, json={"action": "not"}, headers=any_revision).status_code == 422
    assert client.post("/inbox/99", json={"action": "ignore"}).status_code == 404
    assert set(clusters(client)) == {MESSAGE, "zebra crossing paint"}


def test_without_an_inbox_the_call_says_how_to_turn_it_on(without_inbox: TestClient) -> None:
    answer = without_inbox.get("/inbox")

    assert (answer.status_code, "setting `inbox`" in answer.json()["detail"]) == (503, True)


def test_messages_are_erased_everywhere_and_the_erasure_is_noted(client: TestClient, tmp_path: Path) -> None:
    number = clusters(client)[MESSAGE]["cluster"]
    body = {"action": "ignore", "note": f"Inbox: ignore {MESSAGE}"}
    assert client.post(f"/inbox/{number}", json=body).status_code == 200

    erased = client.post("/inbox/erase", json={"text": MESSAGE})

    assert erased.json() == {"inbox": 1, "sample": 0, "candidate": 0, "conversations": 0, "audit": 1, "left": []}
    newest, before = client.get("/audit", headers=ADMIN).json()["entries"][:2]
    assert newest["what"] == "Erase messages: 1 of the inbox, 0 sampled"
    assert (newest["author"], before["what"]) == ("anna", "Inbox: ignore ‹erased›")
    assert MESSAGE.encode() not in (tmp_path / "misses.sqlite").read_bytes()
    assert set(clusters(client)) == {"zebra crossing paint"}


def test_open_question_of_a_conversation_is_erased(bot: Path) -> None:
    store = MemoryStore()
    store.put("/chat ann", "{}", 60)
    with TestClient(create_app(Matcher.load(bot), store=store, **OPTIONS), headers=dict(KEY)) as client:
        assert client.post("/inbox/erase", json={"conversation": "ann"}).json()["conversations"] == 1
    assert store.pop("/chat ann") is None


OPEN = ["/bots/shop/chat ann", "dialogflow projects/shop/agent/sessions/ann"]
OPEN_OF_ANOTHER = ["/bots/mall/chat ann", "dialogflow projects/mall/agent/sessions/ann", "/bots/shopping/chat ann"]


@pytest.mark.parametrize("body", [{"contains": "blue paint"}, *({"conversation": key} for key in OPEN_OF_ANOTHER)])
def test_author_of_a_bot_neither_erases_nor_counts_questions_of_another(tmp_path: Path, body: dict[str, str]) -> None:
    store = MemoryStore()
    for key in (*OPEN, *OPEN_OF_ANOTHER):
        store.put(key, '{"message": "some blue paint"}', 60)
    with served(write(tmp_path, "shop", "mall"), store=store, author_keys=["shop:anna=hers"], authoring=True) as client:
        erased = client.post("/bots/shop/inbox/erase", json=body, headers={"x-api-key": "hers"})

    assert erased.json()["conversations"] == (2 if "contains" in body else 0)
    assert [store.pop(key) is not None for key in OPEN_OF_ANOTHER] == [True] * 3


def test_own_conversations_of_one_of_several_bots_are_erased(tmp_path: Path) -> None:
    store = MemoryStore()
    for key in OPEN:
        store.put(key, "{}", 60)
    with served(write(tmp_path, "shop", "mall"), store=store, author_keys=["shop:anna=hers"], authoring=True) as client:
        for conversation in ("ann", "projects/shop/agent/sessions/ann"):
            body = {"conversation": conversation}
            erased = client.post("/bots/shop/inbox/erase", json=body, headers={"x-api-key": "hers"})
            assert erased.json()["conversations"] == 1


@pytest.mark.parametrize("body", [{}, {"text": "a", "conversation": "b"}, {"contains": "ab"}, {"text": "?!"}])
def test_erasing_needs_words(client: TestClient, body: dict[str, str]) -> None:
    assert client.post("/inbox/erase", json=body).status_code == 422


def test_only_authors_erase(client: TestClient) -> None:
    body = {"text": MESSAGE}
    assert client.post("/inbox/erase", json=body, headers={"x-api-key": "k"}).status_code == 403
    assert client.post("/inbox/erase", json=body, headers={"x-api-key": ""}).status_code == 401
    assert MESSAGE in clusters(client)
