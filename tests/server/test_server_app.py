"""The routes, with valid files and with invalid ones."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from flaky import FlakyEncoder, answers_meanwhile
from sent import as_sent
from starlette.testclient import TestClient

from intentmatch import Matcher, RegistryError
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.server import create_app

BROKEN = """\
intents:
  greet:
    titel: Say hello
    utterances: {en: [hello, hi there]}
  bye:
    utterances: {en: [hello]}
"""


def test_match_returns_the_result_of_the_matcher(client: TestClient, matcher: Matcher) -> None:
    for text in ("hello", "helo there", "tschüss", "the price of tea", "", "¿?", "a\0b"):
        answer = client.post("/match", json={"text": text})
        assert answer.status_code == 200
        assert without_times(answer.json()) == without_times(as_sent(matcher.match(text), matcher))


def test_match_passes_the_options(client: TestClient) -> None:
    """Null is the same as leaving an option out."""
    answer = client.post("/match", json={"text": "hello", "language": "de", "top_k": 1, "allowed": ["greet", "bye"]})
    assert answer.json()["response"] == "Hallo!"
    assert len(answer.json()["candidates"]) == 1
    assert client.post("/match", json={"text": "hello", "allowed": ["bye"]}).json()["intent"] is None
    nulls = {"text": "hello", "language": None, "top_k": None, "allowed": None}
    assert client.post("/match", json=nulls).json()["intent"] == "greet"


def test_batch_is_answered_in_order(client: TestClient, matcher: Matcher) -> None:
    texts = ["tschüss", "hello", "the price of tea", "hello"]
    answer = client.post("/match/batch", json={"texts": texts, "top_k": 2})
    expected = [as_sent(matcher.match(text, top_k=2), matcher) for text in texts]
    assert list(map(without_times, answer.json()["results"])) == list(map(without_times, expected))


def test_entities_are_found_and_filled() -> None:
    slots = (
        Slot("day", "date", required=True, questions={"": "When?"}),
        Slot("city", "list", (SlotValue("Berlin"), SlotValue("Rome"))),
    )
    intents = (
        Intent("fly", (Utterance("fly to Berlin", "en"),), slots=slots),
        Intent("bye", (Utterance("bye", "en"),)),
    )
    bot = Matcher.load(Registry(intents), cache="off", threshold=0.2)
    with TestClient(create_app(bot)) as client:
        today = client.post("/match", json={"text": "fly to Berlin"}).json()
        tomorrow = client.post("/match", json={"text": "fly to Rome tomorrow", "now": "2026-11-21T23:00:00Z"}).json()
        day = {"slot": "day", "value": "2026-11-22", "text": "tomorrow", "start": 0, "end": 8}
        for more in ({"slots": ["day"]}, {"slots": None}, {"language": "en"}):
            body = {"text": "tomorrow", "intent": "fly", "now": "2026-11-21T10:00", **more}
            assert client.post("/fill", json=body).json() == {"entities": [day]}

        body = {"text": "tomorrow to Rome", "intent": "fly", "slots": ["day"], "now": "2026-11-21T10:00"}
        asked, more = (client.post("/fill", json={**body, **others}).json() for others in ({}, {"others": ["city"]}))
        unknown = client.post("/fill", json={**body, "others": ["seat"]})

    assert asked == {"entities": [day]}
    assert [entity["value"] for entity in more["entities"]] == ["2026-11-22", "Rome"]
    assert unknown.status_code == 422
    assert today["entities"] == [{"slot": "city", "value": "Berlin", "text": "Berlin", "start": 7, "end": 13}]
    assert today["missing"] == [{"slot": "day", "question": "When?"}]
    assert [entity["value"] for entity in tomorrow["entities"]] == ["Rome", "2026-11-22"]
    assert tomorrow["missing"] == []


def test_intents_are_described(client: TestClient, matcher: Matcher) -> None:
    answer = client.get("/intents").json()
    assert answer["fingerprint"] == matcher.registry.fingerprint
    assert answer["intents"] == [
        {
            "name": "greet",
            "title": "Say hello",
            "description": "The user says hello.",
            "languages": ["de", "en"],
            "utterances": 3,
            "threshold": None,
            "metadata": {"queue": 3, "tags": ["small", "talk"]},
        },
        {
            "name": "bye",
            "title": "Say goodbye",
            "description": None,
            "languages": ["de", "en"],
            "utterances": 3,
            "threshold": 0.6,
            "metadata": {},
        },
    ]


def test_path_is_loaded_when_the_server_starts(folder: Path, admin: dict[str, str]) -> None:
    """Until then the process is alive but not ready."""
    app = create_app(folder)
    early = TestClient(app)
    assert early.get("/healthz").json() == {"status": "alive"}
    for answer in (
        early.get("/readyz"),
        early.post("/match", json={"text": "hello"}),
        early.post("/reload", headers=admin),
    ):
        assert answer.status_code == answer.json()["status"] == 503
        assert answer.headers["content-type"] == "application/problem+json"
    with TestClient(app) as client:
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["intents"], ready.json()["stale"]) == (200, 2, False)
        assert client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"


def test_server_with_invalid_files_does_not_start(folder: Path) -> None:
    (folder / "bot.yaml").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(RegistryError, match="titel"), TestClient(create_app(str(folder))):
        pass


def test_reload_takes_up_an_edit(folder: Path, admin: dict[str, str]) -> None:
    with TestClient(create_app(folder)) as client:
        before = client.get("/readyz").json()["fingerprint"]
        (folder / "thanks.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
        answer = client.post("/reload", headers=admin)
        assert (answer.status_code, answer.json()["intents"], answer.json()["utterances"]) == (200, 3, 7)
        assert answer.json()["fingerprint"] == client.get("/readyz").json()["fingerprint"] != before
        assert client.post("/match", json={"text": "thank you"}).json()["intent"] == "thanks"


def test_failed_reload_keeps_the_last_valid_registry(folder: Path, admin: dict[str, str]) -> None:
    """It lists every problem, and `/readyz` reports it."""
    file = folder / "bot.yaml"
    with TestClient(create_app(folder)) as client:
        before = client.get("/readyz").json()
        good = file.read_text(encoding="utf-8")
        file.write_text(BROKEN, encoding="utf-8")

        answer = client.post("/reload", headers=admin)
        problem = answer.json()
        assert answer.status_code == problem["status"] == 409
        assert answer.headers["content-type"] == "application/problem+json"
        unknown_key, conflict = problem["errors"]
        assert (unknown_key["path"], unknown_key["line"], unknown_key["column"]) == ("bot.yaml", 3, 5)
        assert (unknown_key["location"], unknown_key["rule"]) == ("bot.yaml:3:5", "unknown-key")
        assert unknown_key["hint"] == "did you mean `title`?"
        assert (conflict["line"], conflict["rule"]) == (6, "conflicting-utterance")

        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["fingerprint"]) == (200, before["fingerprint"])
        assert (ready.json()["stale"], ready.json()["reload_error"]) == (True, problem)
        assert client.post("/match", json={"text": "tschüss"}).json()["intent"] == "bye"

        file.write_text(good, encoding="utf-8")
        assert client.post("/reload", headers=admin).status_code == 200
        assert client.get("/readyz").json() == before


def test_unexpected_reload_failure_gets_500_and_keeps_the_registry(
    matcher: Matcher, monkeypatch: pytest.MonkeyPatch, admin: dict[str, str]
) -> None:
    def fail() -> None:
        raise MemoryError("secret")

    app = create_app(matcher)
    monkeypatch.setattr(matcher, "reload", fail)
    with TestClient(app) as client:
        answer = client.post("/reload", headers=admin)
        assert (answer.status_code, answer.json()["status"]) == (500, 500)
        assert "secret" not in answer.text
        assert client.get("/readyz").json()["stale"] is True
        assert client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"


@pytest.mark.parametrize(
    ("path", "body"),
    [("/match", {"text": "the price of tea"}), ("/match/batch", {"texts": ["the price of tea"]}), ("/reload", None)],
)
def test_slow_encoder_does_not_block_the_event_loop(folder: Path, admin: dict[str, str], path: str, body) -> None:
    encoder = FlakyEncoder()
    app = create_app(Matcher.load(folder, encoder=encoder, cache="off"))
    answers_meanwhile(app, encoder, ["/healthz", "/readyz"], path, json=body, headers=admin)


def test_waiting_reloads_do_not_delay_messages(
    matcher: Matcher, monkeypatch: pytest.MonkeyPatch, admin: dict[str, str]
) -> None:
    running: list[int] = []
    answered = threading.Event()

    def slow_reload() -> None:
        running.append(1)
        assert len(running) == 1
        assert answered.wait(60)
        running.pop()

    monkeypatch.setattr(matcher, "reload", slow_reload)
    app = create_app(matcher)

    async def race() -> list[str]:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bot") as client:
            done = []

            async def post(path: str, body: object = None) -> None:
                assert (await client.post(path, json=body, headers=admin)).status_code == 200
                done.append(path)
                if path == "/match":
                    answered.set()

            await asyncio.gather(*(post("/reload") for _ in range(40)), post("/match", {"text": "hello"}))
            return done

    assert asyncio.run(race())[0] == "/match"


def test_import_without_fastapi_names_the_extra() -> None:
    program = """
import importlib
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("fastapi", "pydantic", "starlette"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from intentmatch.core.errors import MissingExtraError
for module in ("auth.signatures", "bots.pool", "middleware.limits", "process.logs", "protocols.load", "routes.chat"):
    try:
        importlib.import_module(f"intentmatch.server.{module}")
    except MissingExtraError as error:
        print(error)
try:
    from intentmatch.server import create_app
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    message = 'The webhook needs an extra that is not installed. Run: pip install "intentmatch[server]"'
    assert done.stdout.splitlines() == [message] * 7


def without_times(result: dict) -> dict:
    """A result without its times."""
    stages = [{**stage, "microseconds": 0} for stage in result["trace"]["stages"]]
    return {**result, "trace": {**result["trace"], "stages": stages}}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_monitors_may_ask_with_head(client: TestClient, path: str) -> None:
    """The OpenAPI document has each call once."""
    asked = client.head(path)
    assert asked.status_code == 200
    assert asked.headers["content-type"] == client.get(path).headers["content-type"]
    assert client.get("/openapi.json").json()["paths"][path].keys() == {"get"}


def test_head_needs_the_key_that_get_needs(matcher: Matcher) -> None:
    guarded = TestClient(create_app(matcher, keys=["the right key"]))
    assert [guarded.head(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 401]
