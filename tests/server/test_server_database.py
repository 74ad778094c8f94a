"""A server of bots in PostgreSQL: newest revisions, keys, inbox and conversations, also while the database is away."""

from __future__ import annotations

import threading
from datetime import datetime, timezone

import pytest
from postgres_server import make_tenant
from several_bots import until
from starlette.testclient import TestClient

from intentmatch.core.errors import DatabaseError, InputError
from intentmatch.matching.matcher import Matcher
from intentmatch.server import BotFolder, create_app
from intentmatch.server.candidates import candidate
from intentmatch.server.middleware import problems

HELLO = "intents: {greet: {utterances: {en: [hello, hi there]}}}\n"
BYE = "intents: {greet: {utterances: {en: [hello, hi there]}}, bye: {utterances: {en: [goodbye, see you later]}}}\n"


def write(address, text):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    return RegistryStore(Database(address)).write({"a.yaml": text.encode()}, author="ann", note="", expected="*")


def ask(client, text, **headers):
    return client.post("/match", json={"text": text}, headers=headers)


@pytest.fixture
def bot(postgres_address):
    write(postgres_address, HELLO)
    return postgres_address


@pytest.fixture
def keys(bot):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore

    return KeyStore(Database(bot))


def test_server_follows_the_revisions_without_being_told_to_watch(bot):
    with TestClient(create_app(bot)) as client:
        before = client.get("/readyz").json()
        write(bot, BYE)
        until(lambda: ask(client, "goodbye").json()["intent"] == "bye")
        after = client.get("/readyz").json()

    assert (before["status"], before["stale_since"]) == ("ready", None)
    assert after["fingerprint"] != before["fingerprint"]


def test_invalid_revision_is_reported_with_its_place_and_time(bot):
    begun = datetime.now(timezone.utc)
    with TestClient(create_app(bot)) as client:
        write(bot, "intents: {greet: {}}\n")
        until(lambda: client.get("/readyz").json()["stale"])
        ready = client.get("/readyz").json()
        write(bot, HELLO)
        until(lambda: not client.get("/readyz").json()["stale"])

    assert ready["reload_error"]["errors"][0]["path"].endswith("/a.yaml")
    assert begun <= datetime.fromisoformat(ready["stale_since"]) <= datetime.now(timezone.utc)


def test_damaged_revision_is_named_and_the_last_good_one_answers(bot):
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    name, files = Address.parse(bot).bot, {"a.yaml": BYE.encode()}
    with TestClient(create_app(bot, authoring=True, author_keys=["anna=a"])) as client:
        database = Database(bot)
        with database.rows() as connection:
            RegistryStore(database).write_in(connection, files, author="ann", note="", expected="*")
            connection.execute("UPDATE intentmatch.contents SET content = content || '#' WHERE bot = %s", [name])
        until(lambda: client.get("/readyz").json()["stale"])
        ready = client.get("/readyz", headers={"x-api-key": "a"}).json()
        read = client.get("/registry", headers={"x-api-key": "a"})

        assert ask(client, "hello", **{"x-api-key": "a"}).json()["intent"] == "greet"
    (problem,) = ready["reload_error"]["errors"]
    assert (problem["path"], problem["rule"]) == (f"{name}/a.yaml", "damaged")
    assert (read.status_code, read.json()["errors"][0]["path"]) == (409, f"{name}/a.yaml")


def test_database_stops_and_starts_under_load(bot, postgres):
    """No answer is wrong or missing; /readyz says since when the server is stale."""
    answers, stopped = [], threading.Event()
    with TestClient(create_app(bot)) as client:

        def load() -> None:
            while not stopped.is_set():
                found = ask(client, "hi there")
                answers.append((found.status_code, found.json().get("intent")))

        loading = threading.Thread(target=load)
        loading.start()
        begun = datetime.now(timezone.utc)
        postgres.stop()
        try:
            until(lambda: client.get("/readyz").json()["stale"])
            ready = client.get("/readyz")
            count = len(answers)
            until(lambda: len(answers) > count + 20)
        finally:
            postgres.start()
        until(lambda: not client.get("/readyz").json()["stale"])
        write(bot, BYE)
        until(lambda: ask(client, "goodbye").json()["intent"] == "bye")
        stopped.set()
        loading.join(60)

    assert set(answers) == {(200, "greet")}
    assert (ready.status_code, ready.json()["status"], ready.json()["reload_error"]) == (200, "stale", None)
    assert abs((datetime.fromisoformat(ready.json()["stale_since"]) - begun).total_seconds()) < 60


def test_reload_call_of_a_lost_database_keeps_the_registry(bot, admin, monkeypatch):
    from intentmatch.storage.postgres.registries import RegistryStore

    def lost(*_):
        raise DatabaseError("postgres://host/db: connection refused")

    with TestClient(create_app(bot)) as client:
        monkeypatch.setattr(RegistryStore, "read", lost)
        refused = client.post("/reload", headers=admin)

        assert refused.status_code in (409, 503)
        assert ask(client, "hello").json()["intent"] == "greet"


def test_lost_database_is_503_with_one_line_in_the_log(bot, postgres, caplog, monkeypatch):
    """Every call for authors, and no answer tells where the database is."""
    from intentmatch.core.rare_lines import RareLines

    monkeypatch.setattr(problems, "_lost_database_lines", RareLines())
    write(bot, BYE.replace("intents:", "settings: {inbox: database}\nintents:"))
    edit = {"edits": [{"edit": "add", "intent": "bye", "text": "so long", "language": "en"}]}
    posts = {"/edits": edit, "/edits/preview": edit, "/reload": None, "/inbox/1": {"action": "ignore"},
             "/inbox/erase": {"text": "hello"}, "/revisions/1/restore": {}, "/lint": {}}  # fmt: skip
    headers = {"x-api-key": "root", "if-match": "*"}
    with TestClient(create_app(bot, authoring=True, author_keys=["anna=a"], admin_keys=["root"])) as client:
        gets = [path for path, calls in client.app.openapi()["paths"].items() if "get" in calls and "{" not in path]
        postgres.stop()
        try:
            until(lambda: client.get("/readyz").json()["stale"])
            caplog.clear()
            found = {f"GET {path}": client.get(path, headers=headers) for path in gets}
            found |= {f"POST {path}": client.post(path, json=body, headers=headers) for path, body in posts.items()}
        finally:
            postgres.start()
    away = {call: answer for call, answer in found.items() if answer.status_code == 503}

    assert {
        call: answer.status_code for call, answer in found.items() if answer.status_code not in (200, 422, 503)
    } == {}
    assert {"GET /registry", "GET /inbox", "GET /review", "GET /revisions", "GET /audit", "POST /edits"} <= {*away}
    assert {f"POST {path}" for path in posts} <= {*away}
    for answer in away.values():
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json()["detail"] == "The database cannot be used at the moment. Try again in a minute."
    assert not [answer for answer in found.values() if "postgres" in answer.text or "Traceback" in answer.text]
    lines = [record for record in caplog.records if "database" in record.getMessage()]
    assert len([record for record in lines if "a call failed because of its database" in record.getMessage()]) == 1
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]


def test_zero_in_a_note_is_kept_as_a_replacement(bot):
    edit = {"edits": [{"edit": "add", "intent": "greet", "text": "good day", "language": "en"}], "note": "a\0b"}
    with TestClient(create_app(bot, authoring=True, author_keys=["anna=a"])) as client:
        answer = client.post("/edits", json=edit, headers={"x-api-key": "a", "if-match": "*"})

    assert (answer.status_code, answer.json()["recorded"]["note"]) == (200, "a\ufffdb")


def test_messages_and_feedback_go_to_the_database(bot):
    from intentmatch.inbox import Inbox

    app = create_app(Matcher.load(bot, inbox="database"))
    with TestClient(app) as client:
        ask(client, "quantum chromodynamics")
        assert client.post("/feedback", json={"text": "quantum chromodynamics", "intent": "greet"}).status_code == 202
        until(lambda: Inbox(bot).messages() and Inbox(bot).messages()[0].corrections)
    (message,) = Inbox(bot).messages()

    assert (message.text, message.corrections) == ("quantum chromodynamics", {"greet": 1})


def test_key_is_valid_once_made_and_refused_once_revoked(bot, keys):
    with TestClient(create_app(bot, database_keys=True)) as client:
        assert ask(client, "hello").status_code == 401
        key = keys.add("ann", "match")
        until(lambda: ask(client, "hello", **{"x-api-key": key}).status_code == 200)
        assert client.post("/reload", headers={"x-api-key": key}).status_code == 403
        keys.revoke("ann")
        until(lambda: ask(client, "hello", **{"x-api-key": key}).status_code == 401)


def test_no_call_of_authors_answers_a_revoked_key(bot, keys):
    """Whatever it reads, and also in a stream that is open while the key is revoked."""
    from intentmatch.runtime import steps
    from intentmatch.server.routes.authoring import evaluation

    write(bot, BYE.replace("intents:", "settings: {inbox: database, inbox_sample: 1}\nintents:"))
    key, begun = keys.add("ann", "author"), threading.Event()

    def endless(*_, **__):
        while not threading.Event().wait(0.01):
            steps.report("work")
            begun.set()

    told = []
    with (
        TestClient(create_app(bot, database_keys=True, authoring=True)) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        client.headers["x-api-key"] = key
        until(lambda: client.get("/inbox").status_code == 200)
        patch.setattr(evaluation, "evaluate", endless)
        listening = threading.Thread(target=lambda: told.append(client.post("/evaluate", json={}).text))
        listening.start()
        assert begun.wait(60)
        keys.revoke("ann")
        listening.join(60)
        assert not listening.is_alive()
        paths = client.app.openapi()["paths"]
        reads = [path.replace("{id}", "1") for path, calls in paths.items() if "get" in calls]
        found = {path: client.get(path).status_code for path in reads}
        assert client.post("/review/1", json={"meant": "bye"}).status_code == 401
        assert client.post("/revisions/1/replay", json={}).status_code == 401

    assert told[0].rstrip().splitlines()[-2] == "event: error"
    assert {path for path, status in found.items() if status != 401} == {"/healthz", "/readyz"}


def test_admin_key_of_the_database_reloads(bot, keys):
    key = keys.add("root", "admin")
    with TestClient(create_app(bot, database_keys=True)) as client:
        assert client.post("/reload", headers={"x-api-key": key}).status_code == 200


def test_keys_outlive_the_database(bot, keys, postgres):
    key = keys.add("ann", "match")
    with TestClient(create_app(bot, database_keys=True)) as client:
        postgres.stop()
        try:
            until(lambda: client.get("/readyz").json()["stale"])
            assert ask(client, "hello", **{"x-api-key": key}).status_code == 200
            assert ask(client, "hello", **{"x-api-key": "other"}).status_code == 401
        finally:
            postgres.start()


def test_keys_in_a_database_need_one(folder):
    with pytest.raises(InputError, match="need bots in PostgreSQL"):
        create_app(folder, database_keys=True)


def test_workers_follow_the_candidate_in_the_database(bot, monkeypatch):
    """A revision as a canary, in two servers of one bot; promoted, it is a new revision."""
    monkeypatch.setattr(candidate, "SECONDS_BETWEEN_LOOKS", 0.05)
    write(bot, BYE)
    options = {"authoring": True, "author_keys": ["anna=a"], "admin_keys": ["root"]}
    author, message = {"x-api-key": "a"}, {"text": "see you later", "conversation": "c"}

    def intent(client):
        return client.post("/match", json=message).json()["intent"]

    with TestClient(create_app(bot, **options)) as one, TestClient(create_app(bot, **options)) as other:
        body = {"revision": "1", "mode": "canary", "share": 1.0, "rollback": None}
        assert one.post("/candidate", json=body, headers=author).status_code == 200
        until(lambda: intent(other) is None)
        assert one.post("/candidate", json={"path": "next"}, headers=author).status_code == 422
        promoted = other.post("/candidate/promote", json={}, headers={**author, "if-match": "*"})
        assert promoted.json()["recorded"]["id"] == "3"
        until(lambda: one.get("/candidate", headers=author).json()["state"] == "promoted")
        one.delete("/candidate", headers=author)
        entries = one.get("/audit", headers={"x-api-key": "root"}).json()["entries"]

    whats = [entry["what"] for entry in entries]
    assert whats == ["Promote candidate revision 1", "Candidate revision 1: canary, 100.0% of the conversations"]


@pytest.fixture
def bots(postgres):
    """A database of its own with two bots."""
    import psycopg

    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE several")
    migrate(Database(postgres.url("several")))
    write(postgres.url("several", more="/bank"), HELLO)
    write(postgres.url("several", more="/shop"), BYE)
    yield Address.parse(postgres.url("several"))
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE several WITH (FORCE)")


def test_bots_of_a_database_are_added_updated_and_kept_apart(bots, monkeypatch):
    from intentmatch.server.bots import pool
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore

    monkeypatch.setattr(pool, "_SECONDS_BETWEEN_LOOKS", 0.05)
    key = KeyStore(Database(bots.of("shop"))).add("ann", "match")
    header = {"x-api-key": key}
    with TestClient(create_app(BotFolder(bots), database_keys=True)) as client:

        def intent(bot, text):
            return client.post(f"/bots/{bot}/match", json={"text": text}, headers=header)

        assert intent("shop", "see you later").json()["intent"] == "bye"
        assert intent("bank", "hello").status_code == 403
        write(bots.of("shop"), HELLO)
        until(lambda: intent("shop", "see you later").json()["intent"] is None)
        every = KeyStore(Database(bots)).add("ops", "match", all_bots=True)
        header["x-api-key"] = every
        until(lambda: intent("bank", "hello").status_code == 200)
        write(bots.of("tax"), HELLO)
        until(lambda: intent("tax", "hello").status_code == 200)
        assert {one["name"] for one in client.get("/bots", headers=header).json()["bots"]} == {"bank", "shop", "tax"}


POISON = {
    "types of the findings": 'inboxes SET drift = \'{"checked": 1, "messages": [], "findings": []}\'',
    "no findings": "inboxes SET drift = '[['",
    "record of the candidate": "candidates SET record = '['",
    "time of the candidate": "candidates SET record = replace(record, '\"started\": ', '\"started\": 1e400')",
    "answers of a sample": "candidate_samples SET answers = '['",
    "number of answers of a sample": "candidate_samples SET answers = '[1]'",
    "types of a sample": "candidate_samples SET answers = '[1, {}]'",
    "time of a sample": "candidate_samples SET time = 1e300",
    "no time of a sample": "candidate_samples SET time = 'NaN'",
    "kind of a sample": "candidate_samples SET kind = 'x'",
    "name of a count": "candidate_counts SET name = name || 'x'",
    "a count": "candidate_counts SET count = -9223372036854775807",
}


@pytest.mark.parametrize("change", POISON.values(), ids=POISON)
def test_rows_that_a_tenant_poisons_stop_no_other_bot(bots, change, monkeypatch, caplog):
    """By SQL of its own role: the numbers of all bots go on, and its own calls are no errors of the server."""
    import psycopg

    from intentmatch.inbox import Inbox
    from intentmatch.server.bots import daily_drift
    from intentmatch.storage.postgres.database import Database

    monkeypatch.setattr(daily_drift, "SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr(candidate, "SECONDS_BETWEEN_LOOKS", 0.05)
    settings = "settings: {inbox: database, inbox_sample: 1, drift: '00:00'}\n"
    write(bots.of("shop"), settings + HELLO)
    write(bots.of("shop"), settings + BYE)
    with Database(bots).transaction() as connection:
        make_tenant(connection, "shopkeeper", "shop")
    options = {"authoring": True, "author_keys": ["*:anna=a"], "admin_keys": ["*:root"], "keys": ["*:k"]}
    author, caller = {"x-api-key": "a"}, {"x-api-key": "k"}
    with TestClient(create_app(BotFolder(bots), **options), raise_server_exceptions=False) as client:

        def match(bot, text):
            return client.post(f"/bots/{bot}/match", json={"text": text}, headers=caller).status_code

        body = {"revision": "2", "mode": "shadow"}
        assert client.post("/bots/shop/candidate", json=body, headers=author).status_code == 200
        assert match("shop", "goodbye") == match("bank", "hello") == 200
        until(lambda: client.get("/bots/shop/candidate", headers=author).json()["comparison"]["samples"])
        Inbox(bots.of("shop")).claim_drift(0.0)
        with psycopg.connect(str(bots.url).replace("postgres@", "shopkeeper@")) as tenant:
            tenant.execute("SET app.bot = 'shop'")
            assert tenant.execute(f"UPDATE intentmatch.{change}".encode()).rowcount

        calls = ("inbox", "review", "candidate", "registry", "audit")
        statuses = {call: client.get(f"/bots/shop/{call}", headers={"x-api-key": "root"}).status_code for call in calls}
        numbers = client.get("/metrics", headers={"x-api-key": "root"})

        assert numbers.status_code == 200
        assert 'bot="bank"' in numbers.text
        assert [match("bank", "hello"), match("shop", "goodbye")] == [200, 200]
    assert not {status for status in statuses.values() if status == 500}, statuses
    assert "Traceback" not in caplog.text


def test_database_without_bots_is_refused(postgres_address):
    from intentmatch.core.errors import RegistryError
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database

    with Database(postgres_address).transaction() as connection:
        make_tenant(connection, "lonely", "*")
    lonely = Address.parse(postgres_address.replace("//postgres@", "//lonely@"))
    with pytest.raises(RegistryError, match="the database holds no bot"):
        BotFolder(lonely).bots()
