"""The inbox of a server: missed messages, and users' corrections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.inbox import Inbox
from intentmatch.server import create_app


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "inbox.sqlite"


@pytest.fixture
def keeping(folder: Path, file: Path) -> Iterator[TestClient]:
    """A client of a server with an inbox."""
    with TestClient(create_app(Matcher.load(folder, inbox=file)), raise_server_exceptions=False) as client:
        yield client


def test_missed_messages_are_kept(keeping: TestClient, file: Path) -> None:
    """Of single messages and of batches."""
    assert keeping.post("/match", json={"text": "the price of tea"}).json()["verdict"] == "out_of_scope"
    assert keeping.post("/match", json={"text": "hello"}).json()["verdict"] == "matched"
    keeping.post("/match/batch", json={"texts": ["tschüss", "the price of tea", "mail bob@example.org my tea"]})

    kept = {message.text: message.count for message in Inbox(file).messages()} if flushed(keeping) else {}
    assert kept == {"the price of tea": 2, "mail ‹email› my tea": 1}


def flushed(client: TestClient) -> bool:
    """Stop the server, which flushes the inbox."""
    client.__exit__()
    return True


def test_corrections_are_kept(keeping: TestClient, file: Path) -> None:
    for body in (
        {"text": "the price of tea", "intent": "bye", "language": "en"},
        {"text": "the price of tea", "intent": None},
    ):
        answer = keeping.post("/feedback", json=body)
        assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})

    assert flushed(keeping)
    (message,) = Inbox(file).messages()
    assert (message.text, message.language, message.corrections) == ("the price of tea", "en", {"bye": 1, None: 1})


@pytest.mark.parametrize(
    ("body", "location", "text"),
    [
        ({"text": "a", "intent": "gret"}, "body.intent", "Did you mean 'greet'?"),
        ({"text": "a"}, "body.intent", "Field required"),
        ({"intent": "greet"}, "body.text", "Field required"),
        ({"text": "?!", "intent": "greet"}, "body", "must contain words"),
        ({"text": "a", "intent": "greet", "language": "no code"}, "body", "is not a language code"),
        ({"text": "a" * 2001, "intent": "greet"}, "body.text", "at most 2000"),
        ({"text": "a", "intent": "greet", "extra": 1}, "body.extra", "This key is unknown"),
    ],
)
def test_invalid_correction_is_refused(keeping: TestClient, body: dict, location: str, text: str) -> None:
    answer = keeping.post("/feedback", json=body)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["errors"][0]["location"] == location
    assert text in answer.json()["errors"][0]["message"]


def test_feedback_without_an_inbox_says_how_to_turn_it_on(client: TestClient) -> None:
    answer = client.post("/feedback", json={"text": "hello", "intent": "bye"})

    assert (answer.status_code, "setting `inbox`" in answer.json()["detail"]) == (503, True)


def test_unwritable_inbox_does_not_affect_answers(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with TestClient(create_app(Matcher.load(folder, inbox=tmp_path / "file" / "inbox.sqlite"))) as client:
        for _ in range(3):
            assert client.post("/match", json={"text": "the price of tea"}).status_code == 200
            assert client.post("/feedback", json={"text": "the price of tea", "intent": None}).status_code == 202


def test_inbox_is_turned_on_by_a_reload(folder: Path, file: Path, admin: dict[str, str]) -> None:
    with TestClient(create_app(Matcher.load(folder))) as client:
        client.post("/match", json={"text": "the price of tea"})
        (folder / "settings.yaml").write_text(f"settings: {{inbox: {file}, inbox_mode: plain}}", encoding="utf-8")
        assert client.post("/reload", headers=admin).status_code == 200
        client.post("/match", json={"text": "mail bob@example.org my tea"})

    assert [message.text for message in Inbox(file).messages()] == ["mail bob@example.org my tea"]
