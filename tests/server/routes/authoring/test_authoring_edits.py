"""Authoring over HTTP: read, preview, write, and every way in which that can be refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.artefact.store import save_artefact
from intentmatch.core.errors import InputError, ModelUnavailableError
from intentmatch.server import BotFolder, create_app
from intentmatch.server.routes.authoring import common

KEY = {"x-api-key": "anna-key"}
ADMIN = {"x-api-key": "the-admin"}
TEXT = """\
version: 1
language: en
intents:
  greet:
    utterances: [hello, hi there]   # short
  bye:
    title: "Go"
    utterances: [goodbye, see you later]
tests:
  - {text: hello you, intent: greet}
"""
OPTIONS: dict[str, Any] = {
    "authoring": True,
    "author_keys": ["anna=anna-key"],
    "admin_keys": ["the-admin"],
    "keys": ["k"],
}


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture
def client(bot: Path) -> Iterator[TestClient]:
    with TestClient(create_app(bot, **OPTIONS), raise_server_exceptions=False) as client:
        client.headers.update(KEY)
        yield client


def revision(client: TestClient) -> str:
    return str(client.get("/registry").json()["revision"])


def add(text: str, intent: str = "greet", **more: Any) -> dict[str, Any]:
    return {"edits": [{"edit": "add", "intent": intent, "text": text, **more}]}


def write(client: TestClient, body: dict[str, Any], expected: str = "*") -> Any:
    return client.post("/edits", json=body, headers={"If-Match": expected})


def test_registry_has_files_intents_places_and_problems(client: TestClient, bot: Path) -> None:
    (bot / "bot.yaml").write_text(TEXT + "extra: 1\n", encoding="utf-8")

    found = client.get("/registry").json()

    assert found["files"] == [{"file": "bot.yaml", "text": TEXT + "extra: 1\n"}]
    greet = found["intents"][0]
    assert (greet["name"], [line["text"] for line in greet["utterances"]]) == ("greet", ["hello", "hi there"])
    assert greet["utterances"][0]["place"] == {"path": "bot.yaml", "line": 5, "column": 18}
    assert [problem["rule"] for problem in found["problems"]] == ["unknown-key"]


def test_intent_is_shown_or_unknown(client: TestClient) -> None:
    assert client.get("/intents/bye").json()["title"] == "Go"
    answer = client.get("/intents/by")
    assert (answer.status_code, "Did you mean 'bye'" in answer.json()["detail"]) == (404, True)


def test_preview_shows_diff_and_effect_and_writes_nothing(client: TestClient, bot: Path) -> None:
    answer = client.post("/edits/preview", json={"edits": [{"edit": "move", "text": "hello", "to": "bye"}]}).json()

    assert "-    utterances: [hello, hi there]   # short" in answer["diff"]
    assert answer["writable"]
    assert answer["effect"]["compared"]["tests"] == {"messages": 1, "of": 1}
    (test,) = [change for change in answer["effect"]["changes"] if change["source"] == "tests"]
    assert (test["effect"], test["new"]["intent"]) == ("worse", "bye")
    assert test["reasons"]
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT
    assert client.post("/edits/preview", json={**add("x y"), "effect": False}).json()["effect"] is None


def test_preview_whose_encoder_does_not_answer_says_so_and_shows_the_diff(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ModelUnavailableError("the remote encoder at http://vectors/embed gives no vectors: connection refused")

    monkeypatch.setattr(common, "comparison", broken)
    answer = client.post("/edits/preview", json=add("any news"))

    assert answer.status_code == 200
    assert (answer.json()["effect"], answer.json()["writable"]) == (None, True)
    assert "+    utterances: [hello, hi there, any news]" in answer.json()["diff"]
    (problem,) = answer.json()["problems"]
    assert (problem["rule"], problem["severity"]) == ("effect", "warning")
    assert problem["message"].startswith("the effect cannot be worked out: the remote encoder at http://vectors/embed")


def test_preview_of_errors_lists_them(client: TestClient) -> None:
    edit = {"edit": "set", "intent": "bye", "field": "threshold", "value": 7}

    answer = client.post("/edits/preview", json={"edits": [edit]}).json()

    assert (answer["writable"], answer["effect"]) == (False, None)
    assert answer["problems"][0]["rule"] == "threshold"
    refused = write(client, {"edits": [edit]})
    assert (refused.status_code, refused.json()["errors"][0]["rule"]) == (422, "threshold")


def test_written_edit_answers_at_once_and_keeps_comments(client: TestClient, bot: Path) -> None:
    before = revision(client)

    answer = write(client, {**add("moin moin"), "note": "North"}, f'"{before}"').json()

    assert (answer["active"], answer["warnings"]) == (True, [])
    assert (answer["recorded"]["author"], answer["recorded"]["note"]) == ("anna", "North")
    assert answer["revision"] == revision(client) != before
    assert "[hello, hi there, moin moin]   # short" in (bot / "bot.yaml").read_text(encoding="utf-8")
    assert client.post("/match", json={"text": "moin moin"}).json()["intent"] == "greet"


def test_every_kind_of_edit_is_written(client: TestClient, bot: Path) -> None:
    edits = [
        {"edit": "add", "intent": "greet", "text": "not now", "negative": True},
        {"edit": "add_intent", "intent": "thanks", "text": "thank you"},
        {"edit": "add_intent", "intent": "hours", "description": "when the shop opens"},
        {"edit": "add_test", "text": "thanks a lot", "intent": "thanks"},
        {"edit": "move", "text": "hi there", "to": "thanks", "source": "greet"},
        {"edit": "remove", "text": "see you later", "intent": "bye"},
        {"edit": "rename", "intent": "thanks", "to": "thank"},
        {"edit": "set", "intent": "thank", "field": "response", "value": {"en": "Welcome!"}},
        {"edit": "replace_file", "file": "more/x.yaml", "text": "intents: {x: {utterances: {en: [some x]}}}\n"},
        {"edit": "replace_file", "file": "y.yaml", "text": "intents: {y: {utterances: {en: [some y]}}}\n"},
        {"edit": "remove_file", "file": "y.yaml"},
        {"edit": "remove_intent", "intent": "bye"},
    ]

    answer = write(client, {"edits": edits})

    assert answer.status_code == 200, answer.text
    found = {intent["name"]: intent for intent in client.get("/registry").json()["intents"]}
    assert list(found) == ["greet", "thank", "hours", "x"]
    assert (found["hours"]["description"], found["hours"]["utterances"]) == ("when the shop opens", [])
    assert [line["text"] for line in found["thank"]["utterances"]] == ["thank you", "hi there"]
    assert found["thank"]["responses"] == {"en": ["Welcome!"]}
    assert [line["text"] for line in found["greet"]["negatives"]] == ["not now"]


def test_stale_revision_gives_both_sides_and_loses_nothing(client: TestClient, bot: Path) -> None:
    old = revision(client)
    write(client, add("mine"), old)

    answer = write(client, add("yours"), old)

    conflict = answer.json()
    assert (answer.status_code, conflict["revision"]) == (409, revision(client))
    assert "+    utterances: [hello, hi there, mine]" in conflict["theirs"]
    assert "+    utterances: [hello, hi there, mine, yours]" in conflict["yours"]
    assert "yours" not in (bot / "bot.yaml").read_text(encoding="utf-8")
    assert write(client, add("yours"), conflict["revision"]).status_code == 200


def test_change_by_hand_is_not_overwritten(client: TestClient, bot: Path) -> None:
    old = revision(client)
    (bot / "bot.yaml").write_text(TEXT.replace("hi there", "hi you"), encoding="utf-8")

    assert write(client, add("yours"), old).status_code == 409
    assert "hi you" in (bot / "bot.yaml").read_text(encoding="utf-8")


def test_of_two_writers_at_once_one_wins(client: TestClient) -> None:
    old, statuses = revision(client), []

    def one(number: int) -> None:
        statuses.append(write(client, add(f"word number {number}"), old).status_code)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 409, 409]


def test_write_without_if_match_is_refused(client: TestClient) -> None:
    answer = client.post("/edits", json=add("x y"))

    assert (answer.status_code, "If-Match" in answer.json()["detail"]) == (428, True)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"edit": "add", "intent": "gret", "text": "x"}, "Did you mean 'greet'"),
        ({"edit": "remove", "text": "nothing of that"}, "is not among the utterances"),
        ({"edit": "replace_file", "file": "../x.yaml", "text": "version: 1\n"}, "not part of the registry"),
        ({"edit": "replace_file", "file": "bot.yaml", "text": "intents: [\n"}, "1 error"),
        ({"edit": "replace_file", "file": f"{'x' * 300}.yaml", "text": "version: 1\n"}, "not a valid file name"),
        ({"edit": "replace_file", "file": "bot.yaml/y.yaml", "text": "version: 1\n"}, "one of its folders is a file"),
        ({"edit": "add_intent", "intent": "z", "text": "x", "file": "bot.yaml/y.yaml"}, "one of its folders is a file"),
        ({"edit": "add_test", "text": "x", "intent": None, "file": "bot.yaml/y.yaml"}, "one of its folders is a file"),
        ({"edit": "remove_file", "file": "other.yaml"}, "unknown file"),
        ({"edit": "burn", "intent": "greet"}, "1 mistake"),
        ({"edit": "add", "intent": "greet", "text": "x", "wrong": 1}, "This key is unknown"),
    ],
)
def test_impossible_edits_say_why(client: TestClient, edit: dict[str, Any], words: str) -> None:
    for path in ("/edits/preview", "/edits"):
        answer = client.post(path, json={"edits": [edit]}, headers={"If-Match": "*"})
        assert answer.status_code == 422
        assert words in answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_invalid_text_of_a_file_names_the_line(client: TestClient) -> None:
    edit = {"edit": "replace_file", "file": "bot.yaml", "text": "version: 1\nintents: [\n"}

    errors = client.post("/edits/preview", json={"edits": [edit]}).json()["errors"]

    assert errors[0]["path"].endswith("bot.yaml")
    assert errors[0]["line"] >= 2


def test_broken_file_on_disk_can_be_mended(client: TestClient, bot: Path) -> None:
    (bot / "bot.yaml").write_text("intents: [\n", encoding="utf-8")

    assert client.get("/registry").json()["problems"][0]["severity"] == "error"
    assert write(client, add("x y")).status_code == 422
    mended = write(client, {"edits": [{"edit": "replace_file", "file": "bot.yaml", "text": TEXT}]})
    assert (mended.status_code, mended.json()["active"]) == (200, True)


def test_folder_that_cannot_be_written_is_503(client: TestClient, bot: Path) -> None:
    """A file in the place of the history's folder stands for a file system that is mounted read-only."""
    (bot / ".intentmatch-history").write_text("in the way", encoding="utf-8")

    answer = write(client, add("x y"))

    assert (answer.status_code, "cannot be written" in answer.json()["detail"]) == (503, True)
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT


def test_artefact_and_registry_made_in_code_cannot_be_edited(bot: Path, tmp_path: Path) -> None:
    save_artefact(Matcher.load(bot).artefact, tmp_path / "bot.intentmatch")
    for source in (tmp_path / "bot.intentmatch", Matcher.load(Matcher.load(bot).registry)):
        with TestClient(create_app(source, **OPTIONS), headers=dict(KEY)) as client:
            for answer in (client.get("/registry"), client.get("/revisions"), write(client, add("x y"))):
                assert answer.status_code == 409
            assert client.post("/try", json={"text": "hello"}).status_code == 200


@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"x-api-key": "k"}, 403), (KEY, 200), (ADMIN, 200)])
def test_calls_take_an_author_key_or_an_admin_key(bot: Path, headers: dict[str, str], status: int) -> None:
    admins = {401: 401, 403: 403, 200: 200 if headers == ADMIN else 403}
    with TestClient(create_app(bot, **OPTIONS), headers=dict(headers)) as client:
        assert client.get("/registry").status_code == status
        assert client.post("/edits/preview", json={**add("x y"), "effect": False}).status_code == status
        assert client.post("/match", json={"text": "hello"}).status_code == (401 if status == 401 else 200)
        assert client.post("/reload").status_code == admins[status]
        assert write(client, add("x y")).status_code == status


def test_authoring_is_off_unless_asked_for_and_needs_keys(bot: Path) -> None:
    with TestClient(create_app(bot, author_keys=["anna=anna-key"]), headers=dict(KEY)) as client:
        assert client.get("/registry").status_code == 404
        assert "/edits" not in client.get("/openapi.json").json()["paths"]
    with pytest.raises(InputError, match="authoring needs keys"):
        create_app(bot, authoring=True)


def test_author_writes_only_the_bots_of_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    for name in ("bank", "pizza", "shop"):
        (tmp_path / "bots" / name).mkdir(parents=True)
        (tmp_path / "bots" / name / "bot.yaml").write_text(TEXT, encoding="utf-8")
    keys = ["shop:anna=a", "bank:Anna B=a", "*:bob=b"]
    app = create_app(BotFolder(tmp_path / "bots"), authoring=True, author_keys=keys, keys=["*:k"])
    with TestClient(app) as client:

        def statuses(key: str) -> list[int]:
            headers = {"x-api-key": key, "If-Match": "*"}
            paths = [f"/bots/{name}/edits" for name in ("bank", "pizza", "shop")]
            return [client.post(path, json=add(f"word {key}"), headers=headers).status_code for path in paths]

        assert statuses("a") == [200, 403, 200]
        assert statuses("b") == [200, 200, 200]
        assert statuses("k") == [403, 403, 403]
        found = client.get("/bots/bank/revisions", headers={"x-api-key": "a"}).json()["revisions"]
        assert [one["author"] for one in found] == ["bob", "Anna B", None]


@pytest.mark.parametrize("keys", [["KEY"], ["=KEY"], ["anna="], ["anna=the-admin"], ["anna=k"]])
def test_author_key_needs_a_name_and_must_differ(bot: Path, keys: list[str]) -> None:
    with pytest.raises(InputError, match=r"name of its owner|must differ"):
        create_app(bot, authoring=True, author_keys=keys, admin_keys=["the-admin"], keys=["k"])


def test_openapi_and_docs_describe_each_call(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    calls = {
        f"{verb.upper()} {path}": call
        for path, verbs in document["paths"].items()
        for verb, call in verbs.items()
        if call["tags"] == ["authoring"]
    }

    assert set(calls) == {
        "GET /registry",
        "GET /intents/{name}",
        "POST /edits/preview",
        "POST /edits",
        "GET /revisions",
        "GET /revisions/{id}",
        "POST /revisions/{id}/restore",
        "GET /audit",
        "POST /try",
        "POST /lint",
        "GET /inbox",
        "POST /inbox/{cluster}/preview",
        "POST /inbox/{cluster}",
        "POST /inbox/erase",
        "POST /evaluate",
        "POST /revisions/{id}/replay",
        "GET /insight/target",
        "GET /insight/{view}",
        "GET /issues",
        "POST /issues/preview",
        "POST /issues/mend",
        "GET /review",
        "POST /review/{question}",
        "GET /candidate",
        "POST /candidate",
        "DELETE /candidate",
        "POST /candidate/promote",
    }
    schemes = set(document["components"]["securitySchemes"])
    for name, call in calls.items():
        assert call["description"], name
        assert {scheme for each in call["security"] for scheme in each} <= schemes
        assert "401" in call["responses"], name
    assert "ConflictDetails" in str(calls["POST /edits"]["responses"]["409"])
    page = client.get("/docs").text
    assert "Needs an author key or an admin key." in page
    assert "If-Match" in page
