"""Authors see the files of their registry, not the folders of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from several_bots import write
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.relative_paths import folders, relative
from intentmatch.server import BotFolder, create_app

KEY = {"X-API-Key": "hers", "If-Match": "*"}
YAML = "intents:\n  greet: {utterances: [hello, hi there]}\n  bye: {utterances: [goodbye]}\n"


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    folder = tmp_path / "srv" / "bot"
    folder.mkdir(parents=True)
    (folder / "bot.yaml").write_text(YAML, encoding="utf-8")
    return folder


@pytest.fixture
def client(bot: Path) -> Iterator[TestClient]:
    app = create_app(Matcher.load(bot), author_keys=("anna=hers",), admin_keys=("root",), authoring=True)
    with TestClient(app, raise_server_exceptions=False, headers=KEY) as client:
        yield client


def replace(text: str, file: str = "bot.yaml") -> dict[str, Any]:
    return {"edits": [{"edit": "replace_file", "file": file, "text": text}]}


ADD = {"edits": [{"edit": "add", "intent": "greet", "text": "good day"}]}
CALLS = [
    ("GET", "/registry", None),
    ("POST", "/edits/preview", ADD),
    ("POST", "/edits", ADD),
    ("POST", "/edits/preview", replace("intents: 3\n")),
    ("POST", "/edits/preview", replace(YAML + "include: [/etc/passwd, nowhere, ../other]\n")),
    ("POST", "/edits", replace(YAML + "settings: {encoder: 'onnx:/nowhere', inbox: /nowhere/x.sqlite}\n")),
    ("POST", "/edits", replace(YAML, "../outside.yaml")),
    ("POST", "/edits", {"edits": [{"edit": "add", "intent": "nobody", "text": "x"}]}),
    ("GET", "/revisions", None),
    ("GET", "/revisions/12345678", None),
    ("GET", "/inbox", None),
    ("GET", "/review", None),
    ("POST", "/lint", {}),
    ("POST", "/evaluate", {}),
    ("GET", "/insight/map", None),
    ("GET", "/insight/overlaps", None),
    ("GET", "/issues", None),
    ("GET", "/audit", None),
    ("POST", "/try", {"text": "hello you"}),
    ("POST", "/match", {"text": "hello you"}),
    ("POST", "/match/batch", {"texts": ["hello you", "?"]}),
    ("POST", "/chat", {"text": "hello you", "conversation": "c"}),
    ("GET", "/intents", None),
    ("GET", "/candidate", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_answers_to_authors_name_no_folder_of_the_server(
    client: TestClient, tmp_path: Path, method: str, path: str, body: Any
) -> None:
    answer = client.request(method, path, json=body)

    assert answer.status_code != 500
    assert str(tmp_path) not in answer.text


def test_places_and_diffs_begin_at_the_registry(client: TestClient, bot: Path) -> None:
    (bot / "bot.yaml").write_text(YAML + "extra: 1\n", encoding="utf-8")
    found = client.get("/registry").json()
    previewed = client.post("/edits/preview", json=ADD).json()

    assert {problem["location"] for problem in found["problems"]} == {"bot.yaml:4:1"}
    assert {problem["path"] for problem in found["problems"]} == {"bot.yaml"}
    assert previewed["diff"].splitlines()[:2] == ["--- bot.yaml", "+++ bot.yaml"]


def test_places_of_a_relative_folder_begin_at_the_registry_too(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bot.parent)
    app = create_app("bot", author_keys=("anna=hers",), authoring=True)
    says_and_or = replace(YAML.replace("goodbye", "bot/or"))
    with TestClient(app, headers=KEY) as client:
        (bot / "bot.yaml").write_text(YAML + "extra: 1\n", encoding="utf-8")
        found = client.get("/registry").json()
        previewed = client.post("/edits/preview", json=says_and_or).json()

    assert {problem["location"] for problem in found["problems"]} == {"bot.yaml:4:1"}
    assert {intent["place"]["path"] for intent in found["intents"]} == {"bot.yaml"}
    assert "bot/or" in previewed["diff"]


def test_results_name_the_line_of_the_nearest_utterance(client: TestClient, bot: Path) -> None:
    with_threshold = YAML.replace("{utterances: [hello", "{threshold: 0.3, utterances: [hello")
    (bot / "more").mkdir()
    (bot / "bot.yaml").rename(bot / "more" / "bot.yaml")
    (bot / "more" / "bot.yaml").write_text(with_threshold, encoding="utf-8")
    assert client.post("/reload", headers={"X-API-Key": "root"}).status_code == 200
    result = client.post("/match", json={"text": "hello you"}).json()
    many = client.post("/match/batch", json={"texts": ["hello you"]}).json()["results"][0]
    turn = client.post("/chat", json={"text": "hello you", "conversation": "c"}).json()["result"]
    tried = client.post("/try", json={"text": "hello you"}).json()

    for found in (result, many, turn, tried["result"]):
        assert {one["location"] for one in found["candidates"]} <= {"more/bot.yaml:2", "more/bot.yaml:3"}
        assert found["trace"]["threshold_origin"] == "the author's, more/bot.yaml:2"
    assert "(more/bot.yaml:2)" in tried["explanation"]


def test_failed_reload_names_files_from_the_registry(client: TestClient, bot: Path) -> None:
    (bot / "bot.yaml").write_text("intents: 3\n", encoding="utf-8")
    answers = [client.post("/reload", headers={"X-API-Key": "root"}), client.get("/readyz")]

    assert ["bot.yaml:1:" in answer.text for answer in answers] == [True, True]
    assert [str(bot.parent) in answer.text for answer in answers] == [False, False]


@pytest.mark.parametrize("key", ["plain", "root"])
def test_servers_without_authors_name_files_from_the_registry_too(bot: Path, key: str) -> None:
    app = create_app(Matcher.load(bot), keys=("plain",), admin_keys=("root",))
    with TestClient(app, raise_server_exceptions=False) as client:
        (bot / "bot.yaml").write_text("intents: 3\n", encoding="utf-8")
        reloaded = client.post("/reload", headers={"X-API-Key": "root"})
        ready = client.get("/readyz", headers={"X-API-Key": key})

    assert ["bot.yaml:1:" in answer.text for answer in (reloaded, ready)] == [True, True]
    assert [str(bot.parent) in answer.text for answer in (reloaded, ready)] == [False, False]


def test_bots_of_a_folder_are_named_from_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    folder = write(tmp_path / "bots", "shop", "bank")
    app = create_app(BotFolder(folder), author_keys=("*:anna=hers",), admin_keys=("*:root",), authoring=True)
    with TestClient(app, raise_server_exceptions=False, headers=KEY) as client:
        edited = client.post("/bots/shop/edits/preview", json=replace("intents: 3\n"))
        body = {"name": "pizza", "files": [{"file": "bot.yaml", "text": "intents: 3\n"}]}
        created = client.post("/bots", json=body, headers={"X-API-Key": "root"})

    assert "bot.yaml:1:" in edited.text
    assert "shop/bot.yaml" not in edited.text
    with TestClient(app, headers=KEY) as client:
        matched = client.post("/bots/shop/match", json={"text": "hello you"})
    assert matched.json()["candidates"][0]["location"].startswith("bot.yaml:")
    assert created.status_code == 422
    assert [str(tmp_path) in answer.text for answer in (edited, created)] == [False, False]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/srv/bots/shop/a/b.yaml:3:1: wrong", "a/b.yaml:3:1: wrong"),
        ("the files of /srv/bots/shop kept changing", "the files of shop kept changing"),
        ("'/srv/bots/bank/c.yaml' is outside of '/srv/bots/shop'", "'bank/c.yaml' is outside of 'shop'"),
        ("/srv/bots/shopping/x", "shopping/x"),
        ("GET /bots/shop/edits", "GET /bots/shop/edits"),
        ("https://host/srv/bots/shop/x", "https://host/srv/bots/shop/x"),
        ("and/or", "and/or"),
    ],
)
def test_folders_are_left_out_of_texts(text: str, shown: str) -> None:
    token = folders.set(lambda: ["/srv/bots/shop", "/srv/bots"])
    try:
        assert relative(text) == shown
    finally:
        folders.reset(token)


def test_text_outside_of_a_server_stays() -> None:
    assert relative(f"{Path.cwd()}/a.yaml") == f"{Path.cwd()}/a.yaml"


def test_folders_of_the_process_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without HOME and without an entry in passwd, in a folder that was removed, where nothing is writable."""

    def missing(kind: type[Exception]) -> Any:
        def raising(*_: object) -> None:
            raise kind

        return raising

    monkeypatch.setattr(Path, "home", missing(RuntimeError))
    monkeypatch.setattr(Path, "cwd", missing(FileNotFoundError))
    monkeypatch.setattr("tempfile.gettempdir", missing(FileNotFoundError))
    token = folders.set(lambda: ["/srv/bots/of_nobody"])
    try:
        assert relative("/srv/bots/of_nobody/bot.yaml:3: wrong") == "bot.yaml:3: wrong"
    finally:
        folders.reset(token)
