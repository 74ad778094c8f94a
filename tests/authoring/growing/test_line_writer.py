"""The chat model that writes lines: what it is sent, and every way in which it can fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from embeddings_server import HANG_UP
from line_server import LineServer, said

from intentmatch.authoring.growing.tasks import Task
from intentmatch.authoring.growing.writer import KEY_VARIABLE, LineWriter
from intentmatch.core.errors import ModelUnavailableError, SettingsError

TASK = Task("paraphrase", "cancel", "de", "Cancel an order", "The user wants to stop it.", ("storniere es", "stopp"))


def test_lines_are_returned_once_in_order(server: LineServer) -> None:
    server.lines = {"Cancel an order": ["  eins ", "zwei", "eins", "drei", "vier"]}

    assert LineWriter(server.model).write(TASK, 3) == ["eins", "zwei", "drei"]


def test_request_is_data_under_a_schema(server: LineServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "s3cret")
    LineWriter(server.model, by_operator=True).write(TASK, 4)

    (body,) = server.asked
    assert body["model"] == "tiny"
    assert server.tasks == [
        {
            "request": "Cancel an order",
            "description": "The user wants to stop it.",
            "lines": ["storniere es", "stopp"],
            "language": "de",
        }
    ]
    assert "at most 4 messages" in body["messages"][0]["content"]
    assert body["response_format"]["json_schema"]["schema"]["properties"]["lines"]["maxItems"] == 4
    assert server.headers[0]["authorization"] == "Bearer s3cret"


def test_each_kind_has_its_own_instruction(server: LineServer) -> None:
    writer = LineWriter(server.model)
    for kind in ("paraphrase", "translate", "inbox"):
        writer.write(Task(kind, "a", None, "A", None, ("x",)), 2)

    assert len({body["messages"][0]["content"] for body in server.asked}) == 3
    assert "language" not in server.tasks[0]


def refusing() -> Any:
    status, headers, body = said("")
    body["choices"][0]["message"] |= {"content": None, "refusal": "I will not"}
    return status, headers, body


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refusing(), "the model refuses to answer"),
        (said({"lines": "one"}), "did not write a list of lines"),
        (said({"lines": ["one", 2]}), "did not write a list of lines"),
        (said({"answer": "1"}), "another form"),
        (said("Sure! Here are five lines:\n- one"), "gives no answer"),
        (said(json.dumps(["one"])), "another form"),
        ((200, {}, {"choices": []}), "another form"),
        ((200, {}, b"<html>"), "gives no answer"),
        ((429, {}, {"error": {"message": "too many"}}), r"status 429 \(too many\)"),
        (HANG_UP, "cannot be reached"),
    ],
)  # fmt: skip
def test_wrong_answer_is_an_error(server: LineServer, answer: Any, message: str) -> None:
    server.script = [answer]

    with pytest.raises(ModelUnavailableError, match=message):
        LineWriter(server.model).write(TASK, 3)


def test_requests_are_limited(server: LineServer) -> None:
    writer = LineWriter(server.model, requests=1)
    writer.write(TASK, 3)

    with pytest.raises(ModelUnavailableError, match="budget of 1 requests"):
        writer.write(TASK, 4)


@pytest.mark.parametrize("model", ["gpt", "chat:", "chat:http://host/v1/chat/completions", "chat:http://host/v1#m"])
def test_invalid_model_is_an_error(model: str) -> None:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with pytest.raises(SettingsError, match="chat"):
        LineWriter(model)
