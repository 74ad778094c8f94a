"""What authors may name: nothing but what the operator allows, through every door of a server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from embeddings_server import FakeServer, serving
from server.several_bots import match, until, write

import intentmatch
from intentmatch import Matcher

pytest.importorskip("fastapi", reason="needs the extra [server]")

from starlette.testclient import TestClient

from intentmatch.server import BotFolder, create_app

PACKAGE = Path(intentmatch.__file__).parent
KEYS = ("INTENTMATCH_REMOTE_KEY", "INTENTMATCH_RERANKER_KEY")
ROOT = {"x-api-key": "root"}
OPTIONS: dict[str, Any] = {"authoring": True, "admin_keys": ["root"], "author_keys": ["anna=anna"], "keys": ["k"]}
MANY: dict[str, Any] = {"authoring": True, "admin_keys": ["*:root"], "author_keys": ["*:anna=anna"], "keys": ["*:k"]}
INTENTS = "intents: {greet: {utterances: [hello, hi there]}, bye: {utterances: [goodbye, see you]}}\n"
ELSEWHERE = (
    "encoder: 'remote:{url}/v1/embeddings#m'",
    "encoder: 'remote:{url}/embed'",
    "encoder: 'sentence_transformer:org/model'",
    "reranker: 'remote:{url}/rerank'",
    "reranker: 'chat:{url}/v1/chat/completions#m'",
    "reranker: org/model",
    "drift_webhook: '{url}/hook'",
    "inbox: postgres://elsewhere/bots",
    "cache: /var/cache",
    "encoder: 'static:/etc'",
)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A server that no operator has named, and keys that it would like to have."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for name in KEYS:
        monkeypatch.setenv(name, "secret")
    with serving(FakeServer()) as server:
        yield server


def bot_at(folder: Path, settings: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "bot.yaml").write_text(f"settings: {{{settings}}}\n{INTENTS}", encoding="utf-8")
    return folder


def whole(settings: str = "", more: str = "") -> list[dict[str, str]]:
    return [{"edit": "replace_file", "file": "bot.yaml", "text": f"settings: {{{settings}}}\n{more}{INTENTS}"}]


def rules(answer: Any) -> list[str]:
    body = answer.json()
    return [problem["rule"] for problem in body.get("errors") or body.get("problems") or []]


@pytest.mark.parametrize(("kind", "setting"), [*(("path", one) for one in ELSEWHERE), ("matcher", ELSEWHERE[0])])
def test_edits_name_nothing_that_is_not_allowed(elsewhere: FakeServer, tmp_path: Path, setting: str, kind: str) -> None:
    folder = bot_at(tmp_path / "bot")
    edits = whole(setting.format(url=f"http://{elsewhere.host}"))
    with TestClient(create_app(folder if kind == "path" else Matcher.load(folder), **OPTIONS), headers=ROOT) as client:
        preview = client.post("/edits/preview", json={"edits": edits})
        written = client.post("/edits", json={"edits": edits}, headers={"If-Match": "*"})
        assert not preview.json()["writable"]
        assert rules(preview) == rules(written) == ["confined"]
        assert written.status_code == 422
        assert client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"
    assert elsewhere.headers == []
    assert "hello" in (folder / "bot.yaml").read_text(encoding="utf-8")


def test_allowed_server_is_asked_without_the_key_of_another(
    elsewhere: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTENTMATCH_ALLOW", f"http://{elsewhere.host}")
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY_HOSTS", "https://models.example")
    edits = whole(f"encoder: 'remote:{elsewhere.openai}#m'")
    with TestClient(create_app(bot_at(tmp_path / "bot"), **OPTIONS), headers=ROOT) as client:
        assert client.post("/edits/preview", json={"edits": edits}).json()["writable"]
    assert elsewhere.headers
    assert all("authorization" not in headers for headers in elsewhere.headers)


def test_what_stands_on_disk_at_the_start_is_the_operators(
    elsewhere: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY_HOSTS", f"http://{elsewhere.host}")
    folder = bot_at(tmp_path / "bot", f"encoder: 'remote:{elsewhere.openai}#m'")
    with TestClient(create_app(folder, **OPTIONS), headers=ROOT) as client, serving(FakeServer()) as third:
        kept = whole(f"encoder: 'remote:{elsewhere.openai}#other'")
        assert client.post("/edits/preview", json={"edits": kept, "effect": False}).json()["writable"]
        other = f"encoder: 'remote:{third.openai}#m'"
        assert rules(client.post("/edits/preview", json={"edits": whole(other)})) == ["confined"]
        bot_at(folder, other)  # as by `git pull`
        assert rules(client.post("/reload")) == ["confined"]
        # One server that is not allowed in place of another.
        again = whole(f"encoder: 'remote:http://{third.host.replace('127.0.0.1', 'localhost')}/embed'")
        assert rules(client.post("/edits/preview", json={"edits": again})) == ["confined"]
        assert third.headers == []


@pytest.fixture
def many(elsewhere: FakeServer, tmp_path: Path) -> Iterator[TestClient]:
    folder = write(tmp_path / "bots", "shop", "pizza")
    (tmp_path / "secret.yaml").write_text("root:x:0:0:the content\n", encoding="utf-8")
    with TestClient(create_app(BotFolder(folder), **MANY), raise_server_exceptions=False, headers=ROOT) as client:
        yield client


@pytest.mark.parametrize(
    "text",
    [
        "include: [/etc/passwd]\n" + INTENTS,
        "include: [../../secret.yaml]\n" + INTENTS,
        "include: [../shop/bot.yaml]\n" + INTENTS,
        "include: [../shop]\n" + INTENTS,
        "include: [/etc/passwd]\nintents: [\n",
        *(f"settings: {{{setting.format(url='http://127.0.0.1:9')}}}\n{INTENTS}" for setting in ELSEWHERE),
    ],
)
@pytest.mark.parametrize("name", ["new", "new.yaml"])
def test_created_bots_read_and_name_nothing_else(many: TestClient, text: str, name: str) -> None:
    answer = many.post("/bots", json={"name": name, "files": [{"file": "bot.yaml", "text": text}]})
    assert answer.status_code == 422
    assert not [word for word in ("root:", "the content", "hello to shop") if word in answer.text]
    assert "intents: [\n" in text or "confined" in rules(answer)
    assert many.get("/bots/new/registry").status_code == 404


@pytest.mark.parametrize("include", ["/etc/passwd", "../../secret.yaml", "../shop/bot.yaml"])
def test_edits_of_one_bot_of_several_read_no_file_elsewhere(many: TestClient, include: str) -> None:
    assert match(many, "pizza").status_code == 200
    for end in ("", "intents: [\n"):
        edits = [{"edit": "replace_file", "file": "more.yaml", "text": f"include: ['{include}']\n{end}"}]
        answer = many.post("/bots/pizza/edits/preview", json={"edits": edits})
        assert not [word for word in ("root:", "the content", "hello to shop") if word in answer.text]
        assert end or rules(answer) == ["confined"]


def test_bot_that_appears_later_names_nothing_that_is_not_allowed(
    many: TestClient, elsewhere: FakeServer, tmp_path: Path
) -> None:
    bot_at(tmp_path / "bots" / "late", f"encoder: 'remote:{elsewhere.openai}#m'")
    until(lambda: match(many, "late").status_code != 404)
    answer = match(many, "late")
    assert (answer.status_code, rules(answer)) == (503, ["confined"])
    assert elsewhere.headers == []


@pytest.mark.parametrize("kind", ["path", "matcher"])
def test_candidate_names_nothing_that_is_not_allowed(elsewhere: FakeServer, tmp_path: Path, kind: str) -> None:
    folder = bot_at(tmp_path / "bot")
    bot_at(folder / ".next", f"encoder: 'remote:{elsewhere.openai}#m'")
    with TestClient(create_app(folder if kind == "path" else Matcher.load(folder), **OPTIONS), headers=ROOT) as client:
        answer = client.post("/candidate", json={"path": ".next", "mode": "shadow"})
        until(lambda: client.get("/candidate").json().get("state") not in ("loading", "building"))
        assert "confined" in answer.text + client.get("/candidate").text
    assert elsewhere.headers == []


def test_restored_revision_names_nothing_that_is_not_allowed(elsewhere: FakeServer, tmp_path: Path) -> None:
    """It was written when the server was allowed."""
    folder = bot_at(tmp_path / "bot")
    app = create_app(Matcher.load(folder, allow=f"http://{elsewhere.host}", confine=True), **OPTIONS)
    with TestClient(app, headers=ROOT) as client:
        edits = whole(f"drift_webhook: 'http://{elsewhere.host}/hook'")
        for edit in (edits, whole()):
            assert client.post("/edits", json={"edits": edit}, headers={"If-Match": "*"}).status_code == 200
        newest = client.get("/revisions").json()["revisions"]
    with TestClient(create_app(folder, **OPTIONS), headers=ROOT) as client:
        path = f"/revisions/{newest[1]['id']}/restore"
        answer = client.post(path, json={}, headers={"If-Match": "*"})
        assert (answer.status_code, rules(answer)) == (422, ["confined"])


def trees(folder: str = "") -> Iterator[tuple[str, ast.Module]]:
    for file in sorted((PACKAGE / folder).rglob("*.py")):
        yield file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """The parameters of a function, each with its default."""
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(places) - len(arguments.defaults)), *arguments.defaults]
    return [*zip(places, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def takes_limits(function: ast.FunctionDef) -> bool:
    return any(one.annotation and "ReadLimits" in ast.unparse(one.annotation) for one, _ in parameters(function))


def limited() -> set[str]:
    """The functions and classes that take limits."""
    found = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            inner = node.body if isinstance(node, ast.ClassDef) else []
            made = [one for one in inner if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
            if isinstance(node, ast.ClassDef) and any(map(takes_limits, made)):
                found.add(node.name)
            if isinstance(node, ast.FunctionDef) and node.name != "__init__" and takes_limits(node):
                found.add(node.name)
    return found


def test_servers_read_nothing_without_limits() -> None:
    """Each call of what takes limits gives them, and they come from one door."""
    names = limited()
    assert {"examine", "plan", "yaml_files", "read_registry", "Workspace", "Bots", "DatabaseBots"} <= names
    # The door; and a command on this machine, which has the limits of its environment.
    doors = {"authoring/read_limits.py", "authoring/operations/local.py", "authoring/database_workspace.py"}
    checked = 0
    for folder in ("server", "studio", "authoring", "integrations"):
        for file, tree in trees(folder):
            for node in ast.walk(tree):
                place = f"{file}:{getattr(node, 'lineno', 0)}"
                if isinstance(node, ast.FunctionDef) and folder == "server" and takes_limits(node):
                    assert all(default is None for _, default in parameters(node)), f"{place} has a default"
                if not isinstance(node, ast.Call):
                    continue
                called = ast.unparse(node.func)
                if called == "ReadLimits.from_settings":
                    assert file in doors, f"{place} makes limits of its own"
                if called in names:  # and no method: those of a workspace have its limits
                    checked += 1
                    given = len(node.args) > 1 or any(word.arg in ("limits", None) for word in node.keywords)
                    assert given, f"{place}: {called} without limits"
    assert checked > 10
