"""The examples of the document are real: each request is accepted, and each response has the shape that is shown.

`python tests/server/routes/authoring/test_authoring_examples.py` writes the responses of the file of examples anew.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.evaluation.reports.report import Report
from intentmatch.server import BotFolder, create_app
from intentmatch.server.routes.authoring.examples import FILE, examples

SHOP = """\
version: 1
language: en
intents:
  order_status:
    title: Where is my order
    utterances:
    - where is my order
    - track my parcel
    - where is my parcel
    - when will my order arrive
  order_cancel:
    utterances:
    - cancel my order
    - cancel my order
    - please cancel the order
    - i want to cancel
    - where is my refund
tests:
  - {text: where is the parcel, intent: order_status}
"""
KEYS: dict[str, Any] = {"authoring": True, "admin_keys": ["*:root"], "keys": ["*:k"]}
PATHS = {
    "show_intent": "/intents/order_status",
    "preview_edits": "/edits/preview",
    "write_edits": "/edits",
    "revisions": "/revisions",
    "show_revision": "/revisions/2",
    "restore_revision": "/revisions/1/restore",
    "audit": "/audit",
    "registry": "/registry",
    "try_message": "/try",
    "lint_files": "/lint",
    "show_inbox": "/inbox",
    "show_review": "/review",
    "judge_answer": "/review/1",
    "preview_cluster": "/inbox/1/preview",
    "handle_cluster": "/inbox/1",
    "erase_messages": "/inbox/erase",
    "insight": "/insight/overlaps",
    "insight_target": "/insight/target?precision=0.9",
    "issues": "/issues",
    "preview_mends": "/issues/preview",
    "mend_issues": "/issues/mend",
    "begin_candidate": "/candidate",
    "show_candidate": "/candidate",
    "promote_candidate": "/candidate/promote",
    "roll_back_candidate": "/candidate",
}
EVENTS = ("run_evaluation", "replay_revision")
"""Calls that answer with events; other tests are about them."""
ORDER = [
    "registry",
    "show_intent",
    "show_inbox",
    "show_review",
    "judge_answer",
    "preview_cluster",
    "handle_cluster",
    "erase_messages",
    "preview_edits",
    "write_edits",
    "lint_files",
    "try_message",
    "revisions",
    "show_revision",
    "audit",
    "insight",
    "insight_target",
    "issues",
    "preview_mends",
    "mend_issues",
    "restore_revision",
    "begin_candidate",
    "show_candidate",
    "promote_candidate",
    "roll_back_candidate",
]
"""Reading comes before what changes the files."""


@contextmanager
def server(folder: Path) -> Iterator[TestClient]:
    """A folder of bots whose bot `shop` has a message in its inbox."""
    for name in ("shop", "pizza"):
        (folder / "bots" / name).mkdir(parents=True)
        (folder / "bots" / name / f"{name}.yaml").write_text(SHOP, encoding="utf-8")
    bots = BotFolder(folder / "bots", settings={"inbox": str(folder / "{}.sqlite"), "cache": "off"})
    with TestClient(create_app(bots, **KEYS), headers={"x-api-key": "root", "if-match": "*"}) as client:
        yield client


@contextmanager
def authored(folder: Path) -> Iterator[TestClient]:
    """One bot, with a message in its inbox."""
    (folder / "shop").mkdir()
    (folder / "shop" / "shop.yaml").write_text(SHOP, encoding="utf-8")
    matcher = Matcher.load(folder / "shop", cache="off", inbox=str(folder / "misses.sqlite"), inbox_sample="1.0")
    options = {"authoring": True, "author_keys": ["anna=a"], "admin_keys": ["root"], "keys": ["k"]}
    with TestClient(create_app(matcher, **options), headers={"x-api-key": "a", "if-match": "*"}) as client:
        client.post("/match", json={"text": "do you ship to norway"})
        yield client


def called(client: TestClient, name: str, path: str, body: Any = None) -> Any:
    headers = {"x-api-key": "root"} if name == "audit" else {}
    verb = "POST" if body is not None or name in ("lint_files", "restore_bot") else "GET"
    verb = "DELETE" if name in ("remove_bot", "roll_back_candidate") else verb
    answer = client.request(verb, path, json=body, headers=headers)
    assert answer.is_success, (name, body, answer.text)
    return answer.json()


def responses(folder: Path) -> dict[str, Any]:
    """Call everything once, with the first example of each request."""
    found: dict[str, Any] = {}
    with authored(folder) as client:
        for name in ORDER:
            bodies = list(examples()[name].get("requests", {}).values())
            if name == "show_candidate":
                compare(client)
            elif name == "roll_back_candidate":  # the one before is promoted
                called(client, "begin_candidate", "/candidate", {"revision": "1"})
            found[name] = called(client, name, PATHS[name], bodies[0] if bodies else None)
            if name == "show_revision":
                end = time.monotonic() + 60
                while found[name]["evaluation"]["state"] == "pending" and time.monotonic() < end:
                    time.sleep(0.02)
                    found[name] = called(client, name, PATHS[name])
    with server(folder) as client:
        (body, *_) = examples()["create_bot"]["requests"].values()
        found["create_bot"] = called(client, "create_bot", "/bots", body)
        found["remove_bot"] = called(client, "remove_bot", f"/bots/{body['name']}")
        found["list_removed_bots"] = called(client, "list_removed_bots", "/removed-bots")
        identity = found["remove_bot"]["id"]
        found["restore_bot"] = called(client, "restore_bot", f"/removed-bots/{identity}/restore")
        found["audit_of_bots"] = called(client, "audit_of_bots", "/audit")
    text = json.dumps(found, ensure_ascii=False).replace(f"{folder}/", "")
    return dict(json.loads(text))


def compare(client: TestClient) -> None:
    """Have the candidate answer a message differently."""
    client.post("/match", json={"text": "any news of my order", "conversation": "c"})
    end = time.monotonic() + 30
    while not client.get("/candidate").json()["comparison"]["compared"] and time.monotonic() < end:
        time.sleep(0.02)


def same_shape(shown: Any, real: Any, place: str = "") -> None:
    """Check that keys and types are alike; of lists the first elements, and null is like any type."""
    if isinstance(shown, dict) and isinstance(real, dict):
        assert set(shown) == set(real) or not place or not shown or not real or place.endswith(FREE), place
        for key in shown.keys() & real.keys():
            same_shape(shown[key], real[key], f"{place}.{key}")
    elif isinstance(shown, list) and isinstance(real, list):
        if shown and real:
            same_shape(shown[0], real[0], f"{place}[]")
    elif shown is not None and real is not None:
        kinds = [float if isinstance(value, int | float) else type(value) for value in (shown, real)]
        assert kinds[0] == kinds[1], place


FREE = (".coverage", ".kinds", ".metadata", ".responses")
"""Objects whose keys are names of the author."""


@pytest.fixture(autouse=True)
def outside_of_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def test_examples_are_real_answers(tmp_path: Path) -> None:
    real = responses(tmp_path)

    assert {name for name, one in examples().items() if "response" in one} == {*real, *EVENTS}
    for name, answer in real.items():
        same_shape(examples()[name]["response"], answer, name)


def test_each_request_is_accepted(tmp_path: Path) -> None:
    """Edits as a preview, so that one server is enough."""
    previewed = {"write_edits": "/edits/preview", "handle_cluster": "/inbox/1/preview"}
    with authored(tmp_path) as client:
        for name in (
            "write_edits",
            "preview_edits",
            "try_message",
            "preview_cluster",
            "handle_cluster",
            "judge_answer",
            "erase_messages",
        ):
            for title, body in examples()[name]["requests"].items():
                without = {} if name in ("try_message", "judge_answer", "erase_messages") else {"effect": False}
                answer = called(client, title, previewed.get(name, PATHS[name]), {**body, **without})
                assert answer.get("writable", True), (title, answer["problems"])


@pytest.mark.parametrize("title", examples()["create_bot"]["requests"])
def test_each_new_bot_is_created(tmp_path: Path, title: str) -> None:
    with server(tmp_path) as client:
        called(client, "create_bot", "/bots", examples()["create_bot"]["requests"][title])


def last_event(answer: str) -> Any:
    *_, last = answer.strip().splitlines()
    return json.loads(last.removeprefix("data: "))


def test_events_of_an_evaluation_end_with_a_report() -> None:
    shown = last_event(examples()["run_evaluation"]["response"])

    assert Report.from_dict(shown).to_dict() == shown


def test_events_of_a_replay_end_with_the_differences(tmp_path: Path) -> None:
    example = examples()["replay_revision"]
    with authored(tmp_path) as client:
        for request in examples()["write_edits"]["requests"].values():
            called(client, "write_edits", "/edits", request)
            break
        for body in example["requests"].values():
            answer = client.post("/revisions/2/replay", json=body)
            assert answer.is_success
            same_shape(last_event(example["response"]), last_event(answer.text))


def test_document_has_an_example_of_every_call(tmp_path: Path) -> None:
    with server(tmp_path) as client:
        document = client.get("/openapi.json").json()
    calls = [call for verbs in document["paths"].values() for call in verbs.values() if call["tags"] == ["authoring"]]
    assert {call["operationId"] for call in calls} == set(examples())
    for call in calls:
        name = call["operationId"]
        if "requestBody" in call:
            shown = call["requestBody"]["content"]["application/json"]["examples"]
            assert {title: one["value"] for title, one in shown.items()} == examples()[name]["requests"]
        (status,) = (status for status in call["responses"] if status.startswith("2"))
        (content,) = call["responses"][status]["content"].values()
        assert content["example"] == examples()[name].get("response") or name in EVENTS
        assert content["example"]


if __name__ == "__main__":
    os.environ["INTENTMATCH_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as place:
        os.environ["GIT_CEILING_DIRECTORIES"] = place
        made = responses(Path(place))
    written = {name: {**one, "response": made[name]} if name in made else one for name, one in examples().items()}
    FILE.write_text(json.dumps(written, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    sys.exit()
