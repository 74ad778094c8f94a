"""Revisions and the audit log over HTTP."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from authoring.conftest import git
from server.routes.authoring.test_authoring_edits import ADMIN, KEY, OPTIONS, TEXT, add, bot, client, write
from starlette.testclient import TestClient

from intentmatch.server import create_app

__all__ = ["bot", "client"]

ANY = {"If-Match": "*"}


def test_revisions_are_listed_shown_and_restored(client: TestClient, bot: Path) -> None:
    write(client, {**add("good day"), "note": "More"})
    listed = client.get("/revisions").json()

    assert [(one["id"], one["author"], one["note"]) for one in listed["revisions"]] == [
        ("2", "anna", "More"),
        ("1", None, "Before the first edit"),
    ]
    shown = client.get("/revisions/2").json()
    assert shown["time"].endswith("Z")
    assert "+    utterances: [hello, hi there, good day]   # short" in shown["files"][0]["diff"]
    restored = client.post("/revisions/1/restore", json={}, headers={"If-Match": listed["revision"]})
    assert restored.json()["recorded"]["note"] == "Restore revision 1"
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT
    assert len(client.get("/revisions", params={"most": 1}).json()["revisions"]) == 1


def evaluated(client: TestClient, revision: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    while (found := client.get(f"/revisions/{revision}").json()["evaluation"])["state"] == "pending":
        assert time.monotonic() < end
        time.sleep(0.02)
    return dict(found)


def test_revision_is_evaluated_in_the_background(client: TestClient) -> None:
    client.post("/edits", json={"edits": [{"edit": "move", "text": "hello", "to": "bye"}]}, headers={"If-Match": "*"})

    found = evaluated(client, "2")

    assert found["state"] == "done"
    assert (found["fixed"], found["broken"], found["sampled"]) == (0, 1, False)
    tests = {"source": "tests", "messages": 1, "of": 1, "right_before": 1, "right_after": 0}
    assert tests in found["sources"]
    listed = client.get("/revisions").json()["revisions"]
    assert (listed[0]["evaluation"], listed[1]["evaluation"]) == (found, None)


def test_revision_of_another_program_is_evaluated_once_asked_for(client: TestClient, bot: Path) -> None:
    (bot / "bot.yaml").write_text("intents: [", encoding="utf-8")
    client.post("/edits", json={"edits": [{"edit": "replace_file", "file": "bot.yaml", "text": TEXT}]}, headers=ANY)

    assert evaluated(client, "1")["state"] == "failed"
    assert "bot.yaml" in evaluated(client, "1")["reason"]
    assert evaluated(client, "2")["sources"][0]["right_before"] is None


def test_unknown_and_stale_revisions_are_refused(client: TestClient) -> None:
    old = client.get("/revisions").json()["revision"]
    write(client, add("good day"))

    assert client.get("/revisions/9").status_code == 404
    assert client.post("/revisions/9/restore", json={}, headers={"If-Match": "*"}).status_code == 404
    stale = client.post("/revisions/1/restore", json={}, headers={"If-Match": old})
    assert (stale.status_code, "good day" in stale.json()["theirs"]) == (409, True)
    assert client.post("/revisions/1/restore", json={}).status_code == 428


def test_audit_log_is_for_admins(client: TestClient) -> None:
    write(client, {**add("good day"), "note": "More"})
    write(client, add("gret", intent="gret"))

    assert client.get("/audit").status_code == 403
    (entry,) = client.get("/audit", headers=ADMIN).json()["entries"]
    assert (entry["author"], entry["what"], entry["revision"]) == ("anna", "More", "2")


def test_without_a_note_the_edits_are_named(client: TestClient) -> None:
    edits: list[dict[str, Any]] = [
        {"edit": "add_intent", "intent": "thanks", "text": "thank you"},
        {"edit": "add", "intent": "thanks", "text": "thanks"},
        {"edit": "add", "intent": "thanks", "text": "many thanks"},
    ]
    write(client, {"edits": edits})

    assert client.get("/revisions").json()["revisions"][0]["note"] == "Add the intent thanks, add to thanks"


def test_admin_is_named_admin(client: TestClient) -> None:
    client.post("/edits", json=add("good day"), headers={"If-Match": "*", **ADMIN})

    assert client.get("/revisions").json()["revisions"][0]["author"] == "admin"


def test_repository_keeps_revisions_as_commits(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(bot, "init", "--quiet", "--initial-branch=main")
    git(bot, "add", ".")
    git(bot, "commit", "--quiet", "-m", "Begin")
    with TestClient(create_app(bot, **OPTIONS), headers=dict(KEY)) as client:
        written = write(client, {**add("good day"), "note": "More"}).json()
        sha = written["recorded"]["id"]

        assert git(bot, "log", "--format=%H %an %s", "-1").strip() == f"{sha} anna More"
        assert client.get(f"/revisions/{sha}").json()["note"] == "More"
        first = client.get("/revisions").json()["revisions"][-1]["id"]
        assert client.post(f"/revisions/{first}/restore", json={}, headers={"If-Match": "*"}).status_code == 200
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT
    assert git(bot, "status", "--porcelain") == ""
