"""Try a message, and lint the files, over HTTP."""

from __future__ import annotations

from pathlib import Path

from server.routes.authoring.test_authoring_edits import KEY, OPTIONS, TEXT, bot, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

__all__ = ["bot", "client"]


def test_tried_message_comes_with_trace_and_explanation(client: TestClient) -> None:
    answer = client.post("/try", json={"text": "hello you", "top_k": 1}).json()

    assert (answer["result"]["intent"], len(answer["result"]["candidates"])) == ("greet", 1)
    assert answer["result"]["candidates"][0]["location"].endswith("bot.yaml:5")
    assert answer["result"]["trace"]["stages"]
    assert "greet" in answer["explanation"]
    assert client.post("/try", json={"text": "hello", "language": "not a code"}).status_code == 422


def test_tried_message_may_follow_an_intent(client: TestClient) -> None:
    answer = client.post("/try", json={"text": "hello", "previous": "gret"})

    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (422, "body.previous")
    assert client.post("/try", json={"text": "hello", "previous": "greet"}).status_code == 200


def test_lint_looks_at_the_files_as_they_are_now(client: TestClient, bot: Path) -> None:
    repeated = TEXT.replace("    utterances: [hello, hi there]   # short", "    utterances:\n    - hello\n    - hello")
    (bot / "bot.yaml").write_text(repeated, encoding="utf-8")

    answer = client.post("/lint").json()

    assert "duplicate-utterance" in [problem["rule"] for problem in answer["problems"]]
    assert "-    - hello" in answer["fix"]
    assert answer["coverage"]["bye"] == {"en": 2}
    (bot / "bot.yaml").write_text("intents: [\n", encoding="utf-8")
    assert client.post("/lint").json()["problems"][0]["severity"] == "error"


def test_lint_follows_the_settings_of_the_server(bot: Path) -> None:
    matcher = Matcher.load(bot, lint={"few-utterances": "error"})
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        found = {problem["severity"] for problem in client.post("/lint").json()["problems"]}
        assert "error" in found
    matcher = Matcher.load(bot, lint={"few-utterances": "off"})
    with TestClient(create_app(matcher, **OPTIONS), headers=dict(KEY)) as client:
        rules = {problem["rule"] for problem in client.post("/lint").json()["problems"]}
        assert "few-utterances" not in rules
