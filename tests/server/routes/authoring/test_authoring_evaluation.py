"""`POST /evaluate` and replays: progress as events, then the report, and one at a time."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import bot, client
from starlette.testclient import TestClient

from intentmatch.core.errors import InputError
from intentmatch.server.routes.authoring import evaluation

__all__ = ["bot", "client"]


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if not block.startswith(":")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


def test_progress_comes_first_and_the_report_last(client: TestClient) -> None:
    answer = client.post("/evaluate", json={"folds": 2})

    found = events(answer.text)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert {name for name, _ in found[:-1]} == {"progress"}
    assert set(found[0][1]) == {"step", "done", "total", "seconds_left", "detail"}
    assert found[-1][0] == "result"
    assert {part["name"] for part in found[-1][1]["parts"]} >= {"tests"}
    assert client.post("/evaluate", json={}).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "words"), [(InputError("no good"), 422, "no good"), (ValueError("secret"), 500, "see the log")]
)
def test_failure_is_an_event(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(evaluation, "evaluate", fail)

    ((name, problem),) = events(client.post("/evaluate", json={}).text)

    assert (name, problem["status"], words in problem["detail"]) == ("error", status, True)


def test_second_evaluation_is_told_to_wait(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(*arguments: object, **options: object) -> None:
        begun.set()
        go.wait(60)
        raise InputError("enough")

    monkeypatch.setattr(evaluation, "evaluate", slow)
    first: list[int] = []
    thread = threading.Thread(target=lambda: first.append(client.post("/evaluate", json={}).status_code))
    thread.start()
    try:
        assert begun.wait(60)
        answer = client.post("/evaluate", json={})
    finally:
        go.set()
        thread.join()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert first == [200]


LOG = "".join(json.dumps({"text": text}) + "\n" for text in ("I have to run", "I have to run", "hello"))


def saved(client: TestClient) -> str:
    """Save a revision that changes an answer; return its id."""
    edit = {"edit": "add", "intent": "bye", "text": "I have to run"}
    answer = client.post("/edits", json={"edits": [edit]}, headers={"if-match": "*"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["recorded"]["id"])


def test_replay_says_what_a_revision_answers_otherwise(client: TestClient) -> None:
    identity = saved(client)
    for against, old in (("before", f"before revision {identity}"), ("current", "in use")):
        answer = client.post(f"/revisions/{identity}/replay", json={"log": LOG + "no message", "against": against})

        *progress, (name, result) = events(answer.text)
        assert {one for one, _ in progress} == {"progress"}
        assert (name, result["old"], result["candidate"]) == ("result", old, f"revision {identity}")
        assert (result["messages"], result["distinct"], result["skipped_lines"]) == (3, 2, 1)
        assert result["otherwise"] == sum(cause["messages"] for cause in result["causes"])
        assert against == "before" or result["otherwise"] == 0


@pytest.mark.parametrize(
    ("identity", "body", "status", "words"),
    [
        ("99", {"log": LOG}, 404, "99"),
        ("2", {}, 422, "inbox_sample"),
        ("2", {"log": "nothing"}, 422, "there are no messages in the log: "),
        ("2", {"days": 0}, 422, "greater than or equal to 1"),
        ("2", {"against": "tomorrow"}, 422, "before"),
    ],
)
def test_replay_of_nothing_is_refused(
    client: TestClient, identity: str, body: dict[str, Any], status: int, words: str
) -> None:
    saved(client)
    answer = client.post(f"/revisions/{identity}/replay", json=body)

    assert answer.status_code == status
    assert words in answer.text
