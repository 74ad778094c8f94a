"""The states of a bot: warming, ready, stale, broken."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from flaky import FlakyEncoder
from starlette.testclient import TestClient

import intentmatch
from intentmatch import Matcher
from intentmatch.core.errors import UnavailableError
from intentmatch.server import create_app


def test_server_is_warm_before_it_is_ready(folder: Path) -> None:
    """The encoder has seen every language before the first caller."""
    encoder = FlakyEncoder()
    matcher = Matcher.load(folder, encoder=encoder, cache="off")
    encoder.asked.clear()

    with TestClient(create_app(matcher)):
        assert len(encoder.asked) >= 2


def test_server_is_not_ready_while_it_warms_up(folder: Path) -> None:
    encoder = FlakyEncoder()
    app = create_app(Matcher.load(folder, encoder=encoder, cache="off"))
    encoder.go_on.clear()
    early = TestClient(app)
    started = threading.Event()

    def serve() -> None:
        with TestClient(app):
            started.set()

    server = threading.Thread(target=serve)
    server.start()
    try:
        while (answer := early.get("/readyz")).status_code == 200:  # until the server has started to
            assert not started.is_set()
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:intentmatch:warming")
        assert early.get("/healthz").status_code == early.get("/version").status_code == 200
    finally:
        encoder.go_on.set()
        server.join(60)
    assert encoder.was_let
    assert early.get("/readyz").json()["status"] == "ready"


def test_server_that_is_not_started_is_warming(folder: Path) -> None:
    assert TestClient(create_app(folder)).get("/readyz").json()["type"] == "urn:intentmatch:warming"


@pytest.mark.parametrize("error", [UnavailableError("the model is away"), MemoryError("secret")])
def test_failed_answer_means_broken_until_one_succeeds(folder: Path, error: Exception) -> None:
    """The probe itself tries a message."""
    encoder = FlakyEncoder()
    app = create_app(Matcher.load(folder, encoder=encoder, cache="off"))
    with TestClient(app, raise_server_exceptions=False) as client:
        encoder.error = error
        assert client.get("/readyz").json()["status"] == "ready"
        assert client.post("/match", json={"text": "the price of tea"}).status_code >= 500
        broken = client.get("/readyz")
        assert (broken.status_code, broken.json()["type"]) == (503, "urn:intentmatch:broken")
        assert ("the model is away" in broken.text, "secret" in broken.text) == (type(error) is UnavailableError, False)
        assert client.get("/healthz").status_code == 200

        encoder.error = None
        assert client.get("/readyz").json()["status"] == "ready"


def test_invalid_request_does_not_mean_broken(folder: Path) -> None:
    with TestClient(create_app(folder)) as client:
        assert client.post("/match", json={"text": "hello", "allowed": ["nobody"]}).status_code == 422
        assert client.get("/readyz").json()["status"] == "ready"


def test_invalid_new_files_mean_stale_but_ready(folder: Path, admin: dict[str, str]) -> None:
    with TestClient(create_app(folder)) as client:
        (folder / "bot.yaml").write_text("intents: 3", encoding="utf-8")
        client.post("/reload", headers=admin)
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "stale")


def test_version_is_that_of_the_package(client: TestClient) -> None:
    assert client.get("/version").json() == {"version": intentmatch.__version__}


def test_failure_while_warming_up_stops_the_start(folder: Path) -> None:
    encoder = FlakyEncoder()
    app = create_app(Matcher.load(folder, encoder=encoder, cache="off"))
    encoder.error = UnavailableError("the model is away")

    with pytest.raises(UnavailableError, match="the model is away"), TestClient(app):
        pass


def test_reasons_are_shown_to_callers_with_a_key_only(folder: Path) -> None:
    encoder = FlakyEncoder()
    matcher = Matcher.load(folder, encoder=encoder, cache="off")
    with TestClient(create_app(matcher, keys=["one"], admin_keys=["boss"]), raise_server_exceptions=False) as client:
        (folder / "bot.yaml").write_text("intents: 1", encoding="utf-8")
        assert client.post("/reload", headers={"x-api-key": "boss"}).status_code == 409
        for key, telling in ((None, False), ("two", False), ("one", True), ("boss", True)):
            headers = {"x-api-key": key} if key else {}
            ready = client.get("/readyz", headers=headers)
            assert (ready.json()["stale"], "bot.yaml:1" in ready.text) == (True, telling)
            assert str(folder) not in ready.text

        encoder.error = UnavailableError("the model at /secret is away")
        assert client.post("/match", json={"text": "so what"}, headers={"x-api-key": "one"}).status_code == 503
        assert "/secret" not in client.get("/readyz").text
        assert "/secret" in client.get("/readyz", headers={"x-api-key": "one"}).text


def test_broken_bot_stays_broken_while_the_next_trial_goes_on(folder: Path) -> None:
    encoder = FlakyEncoder()
    with TestClient(
        create_app(Matcher.load(folder, encoder=encoder, cache="off")), raise_server_exceptions=False
    ) as bot:
        encoder.error = MemoryError("secret")
        assert bot.post("/match", json={"text": "something else"}).status_code == 500
        encoder.error = None
        encoder.go_on.clear()
        waiting = bot.get("/readyz")
        encoder.go_on.set()

        assert (waiting.status_code, waiting.json()["type"]) == (503, "urn:intentmatch:broken")
