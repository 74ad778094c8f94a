"""The candidate over HTTP: shadow, canary, promotion, rollback by a call and by rule, and every refusal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from logging import Handler, LogRecord
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from server.routes.authoring.test_authoring_edits import ADMIN, KEY, OPTIONS, TEXT, add, bot, write
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.artefact.store import save_artefact
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.matching.snapshot import Snapshot
from intentmatch.registry.editing.whole_files import ReplaceFile
from intentmatch.server import BotFolder, create_app
from intentmatch.server.candidates import candidate, running, shadow_queue
from intentmatch.server.candidates.file_store import FileCandidateStore
from intentmatch.server.process.logs import JsonLines

__all__ = ["bot"]

ANY = {"If-Match": "*"}
PATIENCE = 60.0
SWAPPED = TEXT.replace("[hello, hi there]", "[goodbye]").replace("[goodbye, see you later]", "[hello, hi there]")
"""Greetings mean goodbye; whatever else means nothing."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare and follow without rests."""
    monkeypatch.setattr(shadow_queue, "_SECONDS_BETWEEN_LOOKS", 0.005)
    monkeypatch.setattr(shadow_queue.ShadowQueue.__init__, "__defaults__", (1.0, 256, time.sleep))
    monkeypatch.setattr(running, "_SECONDS_BETWEEN_WRITES", 0.0)
    monkeypatch.setattr(candidate, "SECONDS_BETWEEN_LOOKS", 0.02)


def app(bot: Path, **options: Any) -> Any:
    return create_app(
        Matcher.load(bot, **{"inbox": str(bot.parent / "inbox.sqlite"), "confine": False, **options}), **OPTIONS
    )


@pytest.fixture
def client(bot: Path) -> Iterator[TestClient]:
    """A client of a bot with an inbox, and with the revisions 1 (as the fixture wrote it) and 2 (greetings swapped)."""
    keep_revisions(bot)
    with TestClient(app(bot), raise_server_exceptions=False) as client:
        client.headers.update(KEY)
        yield client


def keep_revisions(bot: Path) -> None:
    """Write the revisions that the tests try, without a server, which would evaluate them."""
    files = Workspace(bot)
    for text in (SWAPPED, TEXT):
        files.write([ReplaceFile(bot / "bot.yaml", text)], author="anna", note="", expected="*")


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)


def begin(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/candidate", json={"revision": "2", **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def match(client: TestClient, text: str, conversation: str | None = None) -> str | None:
    body = {"text": text} if conversation is None else {"text": text, "conversation": conversation}
    answer = client.post("/match", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["intent"]  # type: ignore[no-any-return]


def shown(client: TestClient, messages: int = 0) -> dict[str, Any]:
    """The candidate, once so many messages are compared."""
    until(lambda: seen(client) >= messages)
    return dict(client.get("/candidate").json())


def seen(client: TestClient) -> int:
    comparison = client.get("/candidate").json()["comparison"]
    return int(comparison["compared"] + comparison["skipped"]) if comparison else 0


def test_shadow_answers_unheard_and_differences_are_counted(client: TestClient) -> None:
    assert client.get("/candidate").json() == {
        "revision": client.get("/registry").json()["revision"],
        "state": "none",
        "candidate": None,
        "comparison": None,
    }
    begun = begin(client)

    assert (begun["state"], begun["candidate"]["mode"], begun["candidate"]["loaded"]) == ("running", "shadow", True)
    assert (begun["candidate"]["bytes"] > 1000, begun["candidate"]["shares_encoder"]) == (True, True)
    assert [match(client, text) for text in ("hello", "hello", "what do penguins eat")] == ["greet", "greet", None]
    found = shown(client, 3)["comparison"]
    assert found["kinds"] == {"same": 1, "other_intent": 2}
    assert (found["present"]["matched"], found["candidate"]["out_of_scope"]) == (2, 1)
    assert (found["present"]["heard"], found["candidate"]["heard"]) == (0, 0)
    sample = found["samples"][0]
    assert (sample["kind"], sample["text"], sample["present"]["intent"], sample["candidate"]["intent"]) == (
        "other_intent", "hello", "greet", "bye"
    )  # fmt: skip
    metrics = client.get("/metrics").text
    assert 'intentmatch_candidate_messages_total{kind="other_intent"} 2.0' in metrics
    assert "intentmatch_candidate 1.0" in metrics


def test_candidate_that_equals_the_registry_in_use_is_said_to(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    told = "the candidate revision {} is the same as the registry in use: no answer can differ"

    assert begin(client)["candidate"]["equals_present"] is False
    assert told.format(2) not in caplog.text
    assert begin(client, revision="3")["candidate"]["equals_present"] is True
    assert told.format(3) in caplog.text


def test_candidate_of_an_artefact_is_not_promoted_by_the_server(tmp_path: Path) -> None:
    artefact = tmp_path / "shop.intentmatch"
    save_artefact(Matcher.load(_written(tmp_path / "shop", TEXT), cache="off").artefact, artefact)
    with TestClient(app(artefact)) as client:
        client.headers.update(KEY)
        begin(client, revision=None, path=str(_written(tmp_path / "next", SWAPPED)))
        refused = client.post("/candidate/promote", json={}, headers=ANY)

        assert refused.status_code == 409
        assert refused.json()["detail"].startswith("shop.intentmatch is an artefact: only a folder of YAML")
        assert refused.json()["detail"].endswith(
            "put the candidate where the server reads its registry, and call /reload."
        )
        assert client.get("/candidate").json()["state"] == "running"


def test_batches_and_chats_are_compared_too(client: TestClient) -> None:
    begin(client)

    client.post("/match/batch", json={"texts": ["hello", "penguins"]})
    turn = client.post("/chat", json={"conversation": "c", "text": "hello"}).json()

    assert turn["intent"] == "greet"
    assert shown(client, 3)["comparison"]["kinds"] == {"other_intent": 2, "same": 1}


def test_candidate_knows_which_turn_a_chat_follows(client: TestClient) -> None:
    begin(client, revision="3")  # the same files again

    for text in ("hello", "the other one"):
        turn = client.post("/chat", json={"conversation": "c", "text": text}).json()

    assert turn["intent"] == "greet"
    assert shown(client, 2)["comparison"]["kinds"] == {"same": 2}


@pytest.mark.parametrize("path", ["/match", "/match/batch"])
def test_candidate_hears_what_was_said_and_not_the_chosen_hypothesis_alone(client: TestClient, path: str) -> None:
    begin(client, revision="3")  # the same files again
    heard = [{"text": "what do penguins eat", "weight": 0.8}, {"text": "hello", "weight": 0.2}]

    answer = client.post(path, json={"hypotheses": [heard] if path == "/match/batch" else heard}).json()

    result = answer["results"][0] if path == "/match/batch" else answer
    assert (result["message"], result["verdict"]) == ("hello", "out_of_scope")
    assert shown(client, 1)["comparison"]["kinds"] == {"same": 1}


def test_sample_of_hypotheses_is_the_one_that_says_most(client: TestClient) -> None:
    begin(client)
    client.post("/match", json={"hypotheses": [{"text": "helo", "weight": 0.1}, {"text": "hello", "weight": 0.9}]})

    (sample,) = shown(client, 1)["comparison"]["samples"]
    assert (sample["kind"], sample["text"]) == ("other_intent", "hello")


@pytest.mark.parametrize(
    ("mode", "text"), [("redacted", "hello ‹email› hello"), ("hashed", None), ("plain", "hello me@x.org hello")]
)
def test_samples_follow_the_rules_of_the_inbox(bot: Path, mode: str, text: str | None) -> None:
    keep_revisions(bot)
    with TestClient(app(bot, inbox_mode=mode)) as client:
        client.headers.update(KEY)
        begin(client)
        match(client, "hello me@x.org hello")

        (sample,) = shown(client, 1)["comparison"]["samples"]

    assert sample["text"] == text


def test_without_an_inbox_no_message_is_kept(bot: Path) -> None:
    keep_revisions(bot)
    with TestClient(create_app(bot, **OPTIONS)) as client:
        client.headers.update(KEY)
        begin(client)
        match(client, "hello")

        found = shown(client, 1)["comparison"]

    assert (found["kinds"], found["samples"]) == ({"other_intent": 1}, [])


def test_canary_answers_its_share_of_the_conversations(client: TestClient) -> None:
    begin(client, mode="canary", share=0.3, rollback=None)
    names = [f"user {number}" for number in range(40)]

    first = [match(client, "hello", name) for name in names]
    again = [match(client, "hello", name) for name in names]

    assert first == again
    assert 2 < first.count("bye") < 25
    assert match(client, "hello") == "greet"
    begin(client, mode="canary", share=0.6, rollback=None)
    more = [match(client, "hello", name) for name in names]
    assert more.count("bye") > first.count("bye")
    assert all(now == "bye" for now, before in zip(more, first, strict=True) if before == "bye")
    found = shown(client)["comparison"]
    assert found["candidate"]["heard"] == 2 * first.count("bye") + more.count("bye")
    assert found["present"]["heard"] == 120 - found["candidate"]["heard"]


def test_a_canary_holds_for_chats_slots_and_feedback(client: TestClient) -> None:
    begin(client, mode="canary", share=1.0, rollback=None)

    assert client.post("/chat", json={"conversation": "c", "text": "hello"}).json()["intent"] == "bye"
    fill = {"text": "hello", "intent": "greet", "conversation": "c"}
    assert client.post("/fill", json=fill).status_code == 200
    right, wrong = ({"text": "hello", "intent": intent, "conversation": "c"} for intent in ("bye", "greet"))
    assert {client.post("/feedback", json=body).status_code for body in (right, wrong)} == {202}
    until(lambda: client.get("/candidate").json()["comparison"]["candidate"]["corrected"] == 1)


def test_roll_back_by_one_call(client: TestClient) -> None:
    begin(client, mode="canary", share=1.0, rollback=None)
    assert match(client, "hello", "c") == "bye"

    last = client.delete("/candidate").json()

    assert (last["state"], last["candidate"]["reason"]) == ("rolled_back", "by anna")
    assert match(client, "hello", "c") == "greet"
    assert client.get("/candidate").json()["state"] == "none"
    assert client.delete("/candidate").json()["state"] == "none"
    whats = [entry["what"] for entry in client.get("/audit", headers=ADMIN).json()["entries"]]
    assert whats[:2] == ["Roll back candidate revision 2", "Candidate revision 2: canary, 100.0% of the conversations"]


def test_canary_is_rolled_back_by_rule(client: TestClient) -> None:
    begin(client, mode="canary", share=0.5)
    text = "see you later"  # that line is gone from the candidate

    deadline = time.monotonic() + PATIENCE
    while client.get("/candidate").json()["state"] == "running" and time.monotonic() < deadline:
        match(client, text, "c")
    found = client.get("/candidate").json()

    assert found["state"] == "rolled_back"
    assert found["candidate"]["reason"].startswith("refused 100.0%")
    assert found["comparison"]["kinds"]["matched_to_out_of_scope"] < 60
    assert {match(client, text, f"user {number}") for number in range(10)} == {"bye"}
    entry = client.get("/audit", headers=ADMIN).json()["entries"][0]
    assert (entry["author"], "refused 100.0%" in entry["what"]) == ("intentmatch", True)
    assert "intentmatch_candidate_rollbacks_total 1.0" in client.get("/metrics").text
    write(client, add("good day"))
    assert client.get("/candidate").json()["comparison"] == found["comparison"]


def test_revision_is_promoted_as_a_new_revision(client: TestClient, bot: Path) -> None:
    digest = begin(client)["revision"]
    match(client, "hello")
    assert shown(client, 1)["comparison"]["kinds"] == {"other_intent": 1}

    written = client.post("/candidate/promote", json={}, headers={"If-Match": digest}).json()

    assert (written["recorded"]["note"], written["active"]) == ("Promote candidate revision 2", True)
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == SWAPPED
    assert match(client, "hello") == "bye"
    found = client.get("/candidate").json()
    assert (found["state"], found["comparison"]["kinds"]) == ("promoted", {"other_intent": 1})
    again = client.post("/candidate/promote", json={}, headers=ANY)
    assert (again.status_code, again.json()["detail"][:19]) == (409, "No candidate runs: ")


def test_candidate_that_cannot_be_ended_is_a_warning(
    client: TestClient, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InputError("the disk is full")

    begin(client)
    monkeypatch.setattr(FileCandidateStore, "end", refuse)

    written = client.post("/candidate/promote", json={}, headers=ANY).json()

    assert written["warnings"] == ["The files are written, but the candidate goes on: the disk is full"]
    assert (bot / "bot.yaml").read_text(encoding="utf-8") == SWAPPED


def test_promotion_does_not_overwrite_an_edit_of_the_meantime(client: TestClient, bot: Path) -> None:
    digest = begin(client)["revision"]
    write(client, add("good day"))

    stale = client.post("/candidate/promote", json={}, headers={"If-Match": digest})

    assert (stale.status_code, "good day" in stale.json()["theirs"]) == (409, True)
    assert "good day" in (bot / "bot.yaml").read_text(encoding="utf-8")
    assert client.get("/candidate").json()["state"] == "running"
    assert client.post("/candidate/promote", json={}).status_code == 428


def test_folder_and_artefact_are_confined(client: TestClient, bot: Path) -> None:
    (bot.parent / "next").mkdir()
    (bot.parent / "next" / "bot.yaml").write_text(SWAPPED, encoding="utf-8")
    with TestClient(app(bot, confine=True)) as confined:
        confined.headers.update(KEY)
        refused = confined.post("/candidate", json={"path": "../next"})
        error = refused.json()["errors"][0]
        assert (refused.status_code, error["rule"]) == (422, "confined")
        assert (error["location"], error["path"], error["line"]) == ("body.path", None, None)
        save_artefact(Matcher.load(bot.parent / "next").artefact, bot / "next.intentmatch")
        begin(confined, revision=None, path="next.intentmatch")
        match(confined, "hello")
        assert shown(confined, 1)["comparison"]["kinds"] == {"other_intent": 1}
        refused = confined.post("/candidate/promote", json={}, headers=ANY)
        assert (refused.status_code, "call /reload" in refused.json()["detail"]) == (422, True)


def test_folder_of_a_confined_bot_may_name_an_inbox(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a candidate are those of the bot as a rule."""
    monkeypatch.chdir(bot.parent)
    settings = "settings: {inbox: misses.sqlite}\n"
    (bot / "settings.yaml").write_text(settings, encoding="utf-8")
    (bot / ".next").mkdir()
    (bot / ".next" / "bot.yaml").write_text(settings + SWAPPED, encoding="utf-8")
    with TestClient(create_app(Matcher.load(bot, confine=True), **OPTIONS)) as client:
        client.headers.update(KEY)
        answer = client.post("/candidate", json={"path": ".next"})
        (bot / ".next" / "bot.yaml").write_text(SWAPPED + "include: [../../more.yaml]\n", encoding="utf-8")
        outside = client.post("/candidate", json={"path": ".next"})

    assert answer.json()["state"] == "running", answer.text
    assert outside.json()["errors"][0]["rule"] == "confined", outside.text


def test_folder_is_promoted_unless_it_has_changed(client: TestClient, bot: Path) -> None:
    file = bot.parent / "next" / "bot.yaml"
    file.parent.mkdir()
    file.write_text(SWAPPED, encoding="utf-8")
    assert begin(client, revision=None, path="../next")["candidate"]["path"] == "../next"

    file.write_text(SWAPPED + "# changed\n", encoding="utf-8")
    changed = client.post("/candidate/promote", json={}, headers=ANY)
    assert (changed.status_code, "have changed" in changed.json()["detail"]) == (422, True)
    file.write_text(SWAPPED, encoding="utf-8")
    file.parent.rename(bot.parent / "away")
    gone = client.post("/candidate/promote", json={}, headers=ANY)
    assert (gone.status_code, gone.json()["detail"][:31]) == (422, "there is no file or folder ../n")
    (bot.parent / "away").rename(file.parent)
    assert client.post("/candidate/promote", json={}, headers=ANY).status_code == 200

    assert (bot / "bot.yaml").read_text(encoding="utf-8") == SWAPPED
    assert match(client, "hello") == "bye"


def test_bad_candidate_changes_nothing(client: TestClient, bot: Path) -> None:
    begin(client, mode="canary", share=1.0, rollback=None)
    (bot.parent / "bad").mkdir()
    (bot.parent / "bad" / "bot.yaml").write_text("intents:\n  greet: {utterence: [hello]}\n", encoding="utf-8")
    (bot.parent / "bad.intentmatch").write_bytes(b"nothing")

    invalid = client.post("/candidate", json={"path": "../bad"})
    answers = [client.post("/candidate", json=body) for body in ({"path": "../bad.intentmatch"}, {"path": "../none"})]
    unknown = client.post("/candidate", json={"revision": "9"})

    assert (invalid.status_code, unknown.status_code) == (422, 404)
    assert [answer.status_code for answer in answers] == [422, 422]
    item = invalid.json()["errors"][0]
    assert (Path(item["path"]).name, item["line"], "stay as they are" in invalid.json()["detail"]) == (
        "bot.yaml",
        2,
        True,
    )
    assert match(client, "hello", "c") == "bye"
    assert match(client, "hello") == "greet"
    assert client.get("/candidate").json()["candidate"]["revision"] == "2"


def test_invalid_request_is_refused(client: TestClient) -> None:
    for body in (
        {},
        {"revision": "1", "path": "x"},
        {"revision": "1", "mode": "canary"},
        {"revision": "1", "share": 0.5},
        {"revision": "1", "mode": "canary", "share": 0.0},
        {"revision": "1", "rollback": {"asked": 2.0}},
        {"revision": "1", "rollback": {"error": 0.0}},
    ):
        assert client.post("/candidate", json=body).status_code == 422, body
    assert client.get("/candidate").json()["state"] == "none"


def test_path_without_a_candidate_is_told(client: TestClient, bot: Path) -> None:
    (bot / "empty").mkdir()

    missing, empty = (client.post("/candidate", json={"path": path}) for path in ("nowhere", "empty"))

    says = f"there is no file or folder nowhere: relative paths count from {bot.name}, the bot's folder"
    assert (missing.status_code, missing.json()["detail"]) == (422, says)
    assert (empty.status_code, empty.json()["detail"]) == (422, "there is no .yaml or .yml file in the folder empty")


@pytest.mark.parametrize("path", ["\0", "~\0", "more/a\0b.yaml"])
@pytest.mark.parametrize("confine", [True, False])
def test_path_with_the_character_0_is_refused(bot: Path, path: str, confine: bool) -> None:
    with TestClient(app(bot, confine=confine), raise_server_exceptions=False) as client:
        answer = client.post("/candidate", json={"path": path}, headers=ADMIN)

    assert (answer.status_code, answer.json()["detail"]) == (422, "a path cannot contain the character 0")


def test_answers_of_a_canary_name_its_fingerprint(client: TestClient) -> None:
    found = begin(client, mode="canary", share=1.0, rollback=None)["candidate"]

    answer = client.post("/match", json={"text": "hello", "conversation": "c"})

    assert answer.headers["X-Registry-Fingerprint"] == found["fingerprint"]


def test_lines_of_a_follower_name_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The request that loads a bot is not that in which another worker begins a candidate."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    (tmp_path / "bots").mkdir()
    _written(tmp_path / "bots" / "shop", TEXT)
    keep_revisions(tmp_path / "bots" / "shop")
    options = {**OPTIONS, "author_keys": ["*:anna=anna-key"], "admin_keys": ["*:the-admin"], "keys": ["*:k"]}
    lines: list[dict[str, Any]] = []

    class Kept(Handler):
        def emit(self, record: LogRecord) -> None:
            lines.append(json.loads(JsonLines().format(record)))

    caplog.set_level("INFO", candidate.__name__)
    monkeypatch.setattr(candidate._log, "handlers", [Kept()])
    apps = [create_app(BotFolder(tmp_path / "bots"), **options) for _ in range(2)]
    with TestClient(apps[0]) as client, TestClient(apps[1]) as worker:
        for each in (client, worker):
            each.headers.update(KEY)
            assert each.get("/bots/shop/candidate", headers={"X-Request-ID": "loads"}).status_code == 200
        asked = {"X-Request-ID": "begins"}
        assert client.post("/bots/shop/candidate", json={"revision": "2"}, headers=asked).status_code == 200
        until(lambda: len(lines) > 1)
    # Either worker may be the first to have loaded it.
    assert sorted((line["request_id"] for line in lines), key=str) == [None, "begins"]


def test_calls_are_for_authors(client: TestClient, bot: Path) -> None:
    for call in (client.get, client.delete):
        assert call("/candidate", headers={"x-api-key": "k"}).status_code == 403
    assert client.post("/candidate", json={"revision": "1"}, headers={"x-api-key": "k"}).status_code == 403
    with TestClient(create_app(bot)) as plain:
        assert plain.get("/candidate").status_code == 404


def test_candidate_that_fails_is_not_heard(client: TestClient) -> None:
    """An intent that only the present registry has, in `allowed`, makes the candidate fail."""
    write(client, {"edits": [{"edit": "add_intent", "intent": "thanks", "text": "thank you"}]})
    begin(client, mode="canary", share=1.0, rollback=None)

    body = {"text": "thank you", "conversation": "c", "allowed": ["thanks"]}
    assert client.post("/match", json=body).json()["intent"] == "thanks"

    assert shown(client, 1)["comparison"]["kinds"] == {"failed": 1}
    assert client.get("/readyz").json()["status"] == "ready"


def test_slow_candidate_delays_no_answer(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_revisions(bot)
    monkeypatch.setattr(shadow_queue.ShadowQueue.__init__, "__defaults__", (1.0, 8, time.sleep))
    with TestClient(app(bot)) as client:
        client.headers.update(KEY)
        slow, begun = Event(), begin(client)["candidate"]["fingerprint"]
        real = Snapshot.match_each

        def wait(self: Snapshot, asked: Any) -> Any:
            if asked and self.registry.fingerprint == begun:
                slow.wait(PATIENCE)
            return real(self, asked)

        monkeypatch.setattr(Snapshot, "match_each", wait)
        assert [match(client, "see you later") for _ in range(40)] == ["bye"] * 40
        slow.set()
        found = shown(client, 40)["comparison"]

    assert found["compared"] + found["skipped"] == 40
    assert 8 <= found["compared"] < 40


def test_reload_of_the_first_keeps_the_candidate_and_counts_anew(client: TestClient) -> None:
    begin(client)
    match(client, "hello")
    assert shown(client, 1)["comparison"]["compared"] == 1

    write(client, add("good day"))

    assert client.get("/candidate").json()["comparison"]["compared"] == 0
    assert match(client, "good day") == "greet"
    assert shown(client, 1)["comparison"]["compared"] == 1


def test_other_workers_follow(client: TestClient, bot: Path) -> None:
    """Two apps share the files as two workers do; one that starts later loads what runs."""
    begin(client, mode="canary", share=1.0, rollback=None)
    with TestClient(app(bot)) as worker:
        worker.headers.update(KEY)
        until(lambda: match(worker, "hello", "c") == "bye")
        until(lambda: seen(worker) >= 1)
        assert seen(client) >= 1
        begin(client)
        until(lambda: match(worker, "hello", "c") == "greet")
        assert worker.get("/candidate").json()["candidate"]["mode"] == "shadow"
        begin(worker, mode="canary", share=1.0, rollback=None)
        until(lambda: match(client, "hello", "c") == "bye")
        worker.delete("/candidate")
        until(lambda: match(client, "hello", "c") == "greet")


def test_a_worker_takes_no_part_with_other_files(client: TestClient, bot: Path) -> None:
    file = bot.parent / "next" / "bot.yaml"
    file.parent.mkdir()
    file.write_text(SWAPPED, encoding="utf-8")
    begin(client, revision=None, path="../next", mode="canary", share=1.0, rollback=None)
    file.write_text(TEXT, encoding="utf-8")

    with TestClient(app(bot)) as worker:
        worker.headers.update(KEY)
        until(lambda: worker.get("/candidate").json()["candidate"]["problem"])
        assert worker.get("/candidate").json()["candidate"]["loaded"] is False
        assert match(worker, "hello", "c") == "greet"
    assert match(client, "hello", "c") == "bye"


def test_each_of_several_bots_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    caplog.set_level("INFO")
    for name in ("bank", "shop"):
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        (folder / "bot.yaml").write_text(TEXT, encoding="utf-8")
    save_artefact(Matcher.load(_written(tmp_path / "next", SWAPPED)).artefact, tmp_path / "bots/shop/next.intentmatch")
    options = {**OPTIONS, "author_keys": ["shop:anna=anna-key"], "admin_keys": ["*:the-admin"], "keys": ["*:k"]}
    with TestClient(create_app(BotFolder(tmp_path / "bots", settings={"confine": True}), **options)) as client:
        client.headers.update(KEY)
        body = {"path": "next.intentmatch", "mode": "canary", "share": 1.0}
        assert client.post("/bots/shop/candidate", json=body).status_code == 200
        assert client.post("/bots/bank/candidate", json=body).status_code == 403
        message = {"text": "hello", "conversation": "c"}
        found = [
            client.post(f"/bots/{name}/match", json=message, headers={"x-api-key": "k"}) for name in ("shop", "bank")
        ]
        assert [answer.json()["intent"] for answer in found] == ["bye", "greet"]
        assert "shop: the candidate next.intentmatch is loaded: canary" in caplog.text
        assert 'intentmatch_candidate{bot="shop"} 1.0' in client.get("/metrics", headers=ADMIN).text


def test_candidate_of_an_artefact_among_bots_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the artefact is that of all bots."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    bots = tmp_path / "bots"
    bots.mkdir()
    _written(bots / "bank", TEXT)
    save_artefact(Matcher.load(bots / "bank").artefact, bots / "shop.intentmatch")
    _written(bots / ".shop" / "next", SWAPPED)
    options = {**OPTIONS, "author_keys": ["shop:anna=anna-key"], "admin_keys": ["*:the-admin"], "keys": ["*:k"]}
    with TestClient(create_app(BotFolder(bots, settings={"confine": True}), **options)) as client:
        client.headers.update(KEY)
        for path in ("bank", "bank/bot.yaml", "shop.intentmatch", ".shop/../bank", "../bots/bank"):
            refused = client.post("/bots/shop/candidate", json={"path": path})
            assert refused.status_code == 422, path
            (error,) = refused.json()["errors"]
            assert (error["rule"], error["location"]) == ("confined", "body.path")
            assert error["hint"].startswith("put the candidate of this artefact into the folder .shop, ")
            assert str(tmp_path) not in refused.text
        found = client.post("/bots/shop/candidate", json={"path": ".shop/next"})
    assert (found.status_code, found.json()["state"]) == (200, "running")


def _written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("between_writes", [0.0, 1e9])
def test_erased_message_leaves_the_samples(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, between_writes: float
) -> None:
    """Also a message that is compared, and waits to be written."""
    compared = Event()
    compare = running.RunningCandidate._compare

    def noted(*arguments: Any, **options: Any) -> None:
        compare(*arguments, **options)
        compared.set()

    monkeypatch.setattr(running.RunningCandidate, "_compare", noted)
    begin(client)
    monkeypatch.setattr(running, "_SECONDS_BETWEEN_WRITES", between_writes)
    match(client, "hello Anna hello")
    assert compared.wait(PATIENCE)

    assert client.post("/inbox/erase", json={"contains": "hello anna"}).json()["candidate"] == 1
    assert shown(client, 1)["comparison"]["samples"] == []


def test_canary_answers_its_share_of_many_conversations() -> None:
    canary: Any = SimpleNamespace(record=SimpleNamespace(id="a", mode="canary", share=0.3), stopped=False)

    answered = sum(running.RunningCandidate.answers(canary, f"user {number}") for number in range(2000))

    assert 0.27 < answered / 2000 < 0.33
