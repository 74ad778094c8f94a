"""Insights and mends over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from server.routes.authoring.test_authoring_edits import KEY, OPTIONS
from starlette.testclient import TestClient

from intentmatch.authoring.insights import Failed, Working
from intentmatch.runtime.steps import Step
from intentmatch.server import create_app
from intentmatch.server.routes.authoring import insight

TEXT = """\
version: 1
language: en
intents:
  track:
    utterances:
      - where is my parcel
      - where is my package
      - track my parcel
      - track my parcel
      - i want my money back now
  refund:
    utterances:
      - money back please
      - refund my money
      - i want my money back
      - give me a refund
"""
DUPLICATE = "duplicate-utterance:bot.yaml:9:9"


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "bot"


@pytest.fixture
def client(bot: Path) -> Iterator[TestClient]:
    with TestClient(create_app(bot, **OPTIONS), raise_server_exceptions=False) as client:
        client.headers.update(KEY)
        yield client


@pytest.mark.parametrize(
    ("view", "keys"),
    [
        ("map", {"intents", "languages", "points"}),
        ("overlaps", {"pairs"}),
        ("confusion", {"rates", "pairs", "matrix", "curve"}),
        ("growth", {"points", "intents"}),
    ],
)
def test_views_have_a_result(client: TestClient, view: str, keys: set[str]) -> None:
    found = client.get(f"/insight/{view}?wait=30").json()

    assert found["progress"] is None
    assert set(found["result"]) == keys


def test_target_says_what_changes(client: TestClient) -> None:
    found = client.get("/insight/target?precision=0.9&wait=30").json()["result"]

    assert set(found) == {"threshold", "note", "before", "after", "changes"}


def test_unfinished_result_has_its_progress(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insight, "utterance_map_of", lambda *_: Working(Step("drawing the map", 3, 10), 0.5))

    found = client.get("/insight/map").json()

    assert found["result"] is None
    assert found["progress"] == {"step": "drawing the map", "done": 3, "total": 10, "seconds": 0.5}


def test_failed_result_is_422(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insight, "overlaps_of", lambda *_: Failed("nothing to compare"))

    answer = client.get("/insight/overlaps")

    assert answer.status_code == 422
    assert answer.json()["detail"] == "Nothing to compare."


def test_mend_becomes_a_revision(client: TestClient, bot: Path) -> None:
    found = client.get("/issues?wait=30").json()
    issue = next(one for one in found["issues"] if one["id"] == DUPLICATE)
    assert issue["mend"] == {"title": "Remove the second one", "gain": 0}

    preview = client.post("/issues/preview", json={"issues": [DUPLICATE], "effect": False}).json()
    assert preview["diff"].count("\n-") == 1
    assert preview["writable"]
    body = {"issues": [DUPLICATE], "note": "Once is enough"}
    written = client.post("/issues/mend", json=body, headers={"If-Match": found["revision"]}).json()

    assert written["recorded"]["note"] == "Once is enough"
    assert written["recorded"]["author"] == "anna"
    assert (bot / "bot.yaml").read_text(encoding="utf-8").count("track my parcel") == 1
    assert DUPLICATE not in [one["id"] for one in client.get("/issues?wait=30").json()["issues"]]


def test_mends_are_refused_without_or_with_an_old_revision(client: TestClient, bot: Path) -> None:
    body = {"issues": [DUPLICATE]}

    assert client.post("/issues/mend", json=body).status_code == 428
    assert client.post("/issues/mend", json=body, headers={"If-Match": "0" * 16}).status_code == 409
    assert (
        client.post("/issues/mend", json={"issues": ["none:bot.yaml:1:1"]}, headers={"If-Match": "*"}).status_code
        == 422
    )
    assert client.post("/issues/preview", json={"issues": []}).status_code == 422
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == TEXT


def test_findings_that_are_not_there_yet_cannot_be_mended(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insight, "issues_of", lambda *_: Working(Step("comparing"), 31.0))

    answer = client.post("/issues/preview", json={"issues": [DUPLICATE]})

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"


@pytest.mark.parametrize(
    "path", ["/insight/shape", "/insight/target", "/insight/target?precision=1.5", "/insight/map?wait=99"]
)
def test_wrong_questions_are_422(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 422


def test_insights_take_an_author(client: TestClient) -> None:
    assert client.get("/insight/map", headers={"x-api-key": "k"}).status_code in (401, 403)
    assert client.get("/issues", headers={"x-api-key": "k"}).status_code in (401, 403)
