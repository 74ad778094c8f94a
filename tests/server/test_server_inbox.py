"""What the webhook keeps of messages that it did not understand, and what users say to put it right."""

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
    """A client of a webhook with an inbox."""
    with TestClient(create_app(Matcher.load(folder, inbox=file)), raise_server_exceptions=False) as client:
        yield client


def test_what_was_not_understood_is_kept(keeping: TestClient, file: Path) -> None:
    """Of single messages and of batches; what was understood is nobody's business."""
    assert keeping.post("/match", json={"text": "the price of tea"}).json()["verdict"] == "out_of_scope"
    assert keeping.post("/match", json={"text": "hello"}).json()["verdict"] == "matched"
    keeping.post("/match/batch", json={"texts": ["tschüss", "the price of tea", "mail bob@example.org my tea"]})

    kept = {message.text: message.count for message in Inbox(file).messages()} if flushed(keeping) else {}
    assert kept == {"the price of tea": 2, "mail ‹email› my tea": 1}


def flushed(client: TestClient) -> bool:
    """What was left with the webhook is written."""
    client.__exit__()
    return True


def test_corrections_are_kept(keeping: TestClient, file: Path) -> None:
    """An intent, or none of them, with the language if it is known."""
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
    ("body", "location", "said"),
    [
        ({"text": "a", "intent": "gret"}, "body.intent", "Did you mean 'greet'?"),
        ({"text": "a"}, "body.intent", "Field required"),
        ({"intent": "greet"}, "body.text", "Field required"),
        ({"text": "?!", "intent": "greet"}, "body", "needs words"),
        ({"text": "a", "intent": "greet", "language": "no code"}, "body", "is not a language code"),
        ({"text": "a" * 2001, "intent": "greet"}, "body.text", "at most 2000"),
        ({"text": "a", "intent": "greet", "extra": 1}, "body.extra", "This key is unknown"),
    ],
)
def test_a_correction_of_nothing_is_refused(keeping: TestClient, body: dict, location: str, said: str) -> None:
    """Each mistake is named with its place."""
    answer = keeping.post("/feedback", json=body)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["errors"][0]["location"] == location
    assert said in answer.json()["errors"][0]["message"]


def test_without_an_inbox_nothing_is_kept(client: TestClient) -> None:
    """And a correction is told how to turn one on."""
    answer = client.post("/feedback", json={"text": "hello", "intent": "bye"})

    assert (answer.status_code, "setting `inbox`" in answer.json()["detail"]) == (503, True)


def test_an_inbox_that_cannot_be_written_breaks_no_answer(folder: Path, tmp_path: Path) -> None:
    """Messages are answered, and corrections taken, as if nothing was."""
    (tmp_path / "file").write_text("not a folder")
    with TestClient(create_app(Matcher.load(folder, inbox=tmp_path / "file" / "inbox.sqlite"))) as client:
        for _ in range(3):
            assert client.post("/match", json={"text": "the price of tea"}).status_code == 200
            assert client.post("/feedback", json={"text": "the price of tea", "intent": None}).status_code == 202


def test_an_edit_of_the_settings_turns_it_on(folder: Path, file: Path, admin: dict[str, str]) -> None:
    """Settings in the YAML are taken up by a reload, this one too."""
    with TestClient(create_app(Matcher.load(folder))) as client:
        client.post("/match", json={"text": "the price of tea"})
        (folder / "settings.yaml").write_text(f"settings: {{inbox: {file}, inbox_mode: plain}}", encoding="utf-8")
        assert client.post("/reload", headers=admin).status_code == 200
        client.post("/match", json={"text": "mail bob@example.org my tea"})

    assert [message.text for message in Inbox(file).messages()] == ["mail bob@example.org my tea"]
