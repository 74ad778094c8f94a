"""Bots are created, removed and restored over HTTP, in all worker processes, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from server.several_bots import match, states, until, write
from starlette.testclient import TestClient

from intentmatch.server import BotFolder, create_app
from intentmatch.server.bots import pool
from intentmatch.server.routes.schemas.authoring.bots import CreateBotRequest
from intentmatch.storage.postgres.address import Address

YAML = "language: en\nintents: {bread: {utterances: [a loaf of bread, hello baker]}}\n"
NEW: dict[str, Any] = {"name": "bakery", "files": [{"file": "bakery.yaml", "text": YAML}]}
ROOT = {"x-api-key": "root"}
OPTIONS: dict[str, Any] = {
    "authoring": True,
    "admin_keys": ["*:root", "shop:shop-root", "bakery:bakery-root"],
    "author_keys": ["*:anna=anna"],
    "keys": ["*:k"],
}


Place: TypeAlias = "Path | Address"


@pytest.fixture(params=["folder", "database"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A folder or a database with two bots."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bots = write(tmp_path / "bots", "shop", "pizza")
    if request.param == "folder":
        return bots
    address = Address.parse(request.getfixturevalue("new_database")())  # or skips
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import RegistryStore

    database = Database(address)
    migrate(database)
    for name in ("shop", "pizza"):
        files = {"bot.yaml": (bots / name / "bot.yaml").read_bytes()}
        RegistryStore(database, name).write(files, author=None, note="", expected=None)
    return address


@pytest.fixture
def client(folder: Place) -> Iterator[TestClient]:
    with TestClient(create_app(BotFolder(folder), **OPTIONS), raise_server_exceptions=False, headers=ROOT) as client:
        yield client


def test_created_bot_answers_and_is_authored(client: TestClient) -> None:
    answer = client.post("/bots", json=NEW)

    made = answer.json()
    assert (answer.status_code, made["name"], made["recorded"]["author"]) == (201, "bakery", "admin")
    assert client.get(answer.headers["location"]).json()["revision"] == made["revision"]
    assert client.post("/bots/bakery/match", json={"text": "a loaf of bread"}).json()["intent"] == "bread"
    edit = {"edits": [{"edit": "add", "intent": "bread", "text": "some rolls"}]}
    headers = {"If-Match": made["revision"], "x-api-key": "anna"}
    assert client.post("/bots/bakery/edits", json=edit, headers=headers).json()["active"]
    notes = [one["note"] for one in client.get("/bots/bakery/revisions").json()["revisions"]]
    assert notes == ["Add to bread", "Create the bot bakery"]


def test_starting_set_makes_a_bot(client: TestClient) -> None:
    assert client.post("/bots", json={"name": "money", "starter": "bank"}).status_code == 201
    assert client.get("/bots/money/intents").json()["intents"]
    unknown = client.post("/bots", json={"name": "money2", "starter": "bnk"})
    assert (unknown.status_code, "bank" in unknown.json()["detail"]) == (422, True)


def test_bot_that_cannot_be_created_is_refused(client: TestClient) -> None:
    refused: list[tuple[dict[str, Any], int]] = [
        ({**NEW, "name": "shop"}, 409),
        ({**NEW, "name": "../x"}, 422),
        ({**NEW, "name": "x\n"}, 422),
        ({"name": "bakery"}, 422),
        ({**NEW, "starter": "shop"}, 422),
        ({"name": "bakery", "files": NEW["files"] * 2}, 422),
        ({"name": "bakery", "files": [{"file": "../x.yaml", "text": YAML}]}, 422),
        ({"name": "bakery", "files": [{"file": "x.yaml", "text": "intents: [\n"}]}, 422),
        ({"name": "bakery", "files": [{"file": "x.yaml", "text": "intents: {a: {utterances: 7}}\n"}]}, 422),
    ]
    for body, status in refused:
        answer = client.post("/bots", json=body)

        assert answer.status_code == status, body
        assert answer.headers["content-type"] == "application/problem+json", body
        assert list(states(client)) == ["pizza", "shop"], body


def test_removed_bot_is_gone_and_comes_back(client: TestClient, folder: Place) -> None:
    revision = client.get("/bots/pizza/registry").json()["revision"]
    assert client.delete("/bots/pizza").status_code == 428
    stale = client.delete("/bots/pizza", headers={"If-Match": "0" * 16})
    assert (stale.status_code, stale.json()["revision"]) == (409, revision)

    gone = client.delete("/bots/pizza", headers={"If-Match": revision})

    assert gone.json()["warnings"] == []
    assert match(client, "pizza").status_code == 404
    assert list(states(client)) == ["shop"]
    assert [bot["id"] for bot in client.get("/removed-bots").json()["bots"]] == [gone.json()["id"]]
    back = client.post(f"/removed-bots/{gone.json()['id']}/restore")
    assert (back.status_code, back.json()["revision"]) == (200, revision)
    assert match(client, "pizza").json()["intent"] == "pizza"
    assert client.post(f"/removed-bots/{gone.json()['id']}/restore").status_code == 404
    whats = [entry["what"] for entry in client.get("/audit").json()["entries"]]
    assert whats == ["Restore the bot pizza", "Remove the bot pizza"]


def test_last_and_unknown_bots_stay(client: TestClient) -> None:
    assert client.delete("/bots/nobody", headers={"If-Match": "*"}).status_code == 404
    client.delete("/bots/pizza", headers={"If-Match": "*"})
    last = client.delete("/bots/shop", headers={"If-Match": "*"})
    assert (last.status_code, "last bot" in last.json()["detail"]) == (409, True)
    assert match(client, "shop").status_code == 200


def test_each_call_takes_an_admin_key_for_its_bot(client: TestClient) -> None:
    for key in ("k", "anna"):
        assert client.post("/bots", json=NEW, headers={"x-api-key": key}).status_code == 403
        assert client.delete("/bots/shop", headers={"x-api-key": key, "If-Match": "*"}).status_code == 403
        assert client.get("/removed-bots", headers={"x-api-key": key}).status_code == 403
    shop = {"x-api-key": "shop-root"}
    assert client.post("/bots", json=NEW, headers=shop).status_code == 403
    assert client.delete("/bots/pizza", headers={**shop, "If-Match": "*"}).status_code == 403
    assert client.get("/audit", headers=shop).status_code == 403
    assert client.post("/bots", json=NEW, headers={"x-api-key": "bakery-root"}).status_code == 201
    gone = client.delete("/bots/bakery", headers={"x-api-key": "bakery-root", "If-Match": "*"}).json()["id"]
    assert client.get("/removed-bots", headers=shop).json()["bots"] == []
    assert client.post(f"/removed-bots/{gone}/restore", headers=shop).status_code == 404


def test_other_worker_processes_follow(client: TestClient, folder: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two apps of one folder, as two workers are."""
    monkeypatch.setattr(pool, "_SECONDS_BETWEEN_LOOKS", 0.05)
    with TestClient(create_app(BotFolder(folder), **OPTIONS), headers=ROOT) as other:
        client.post("/bots", json=NEW)
        until(lambda: match(other, "bakery").status_code == 200)
        client.delete("/bots/bakery", headers={"If-Match": "*"})
        until(lambda: match(other, "bakery").status_code == 404)


def test_all_methods_of_a_path_are_allowed(client: TestClient) -> None:
    answer = client.put("/bots", json={})

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["detail"] == "This path does not support PUT, only GET, POST."


def test_single_bot_is_neither_created_nor_removed(folder: Place) -> None:
    options = {**OPTIONS, "admin_keys": ["root"], "author_keys": ["anna=anna"], "keys": ["k"]}
    shop = f"{folder.url}&bot=shop" if isinstance(folder, Address) else folder / "shop"
    with TestClient(create_app(shop, **options), headers=ROOT) as client:
        assert client.post("/bots", json=NEW).status_code == 404
        assert client.delete("/bots/shop", headers={"If-Match": "*"}).status_code == 404
    with TestClient(create_app(BotFolder(folder), **{**OPTIONS, "authoring": False}), headers=ROOT) as client:
        assert client.post("/bots", json=NEW).status_code == 405


def test_two_files_of_one_name_are_refused() -> None:
    files = [{"file": "a.yaml", "text": "intents: {}"}] * 2

    with pytest.raises(ValueError, match="two files have the same name"):
        CreateBotRequest.model_validate({"name": "shop", "files": files})
