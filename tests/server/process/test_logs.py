"""Request ids and the log."""

from __future__ import annotations

import json
import logging
import logging.config
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import create_app
from intentmatch.server.process.logs import log_config


@pytest.fixture
def configured() -> Iterator[Callable[..., None]]:
    """Configures logging as `serve` does, until the end of the test."""
    loggers = [
        logging.getLogger(name)
        for name in ("", *log_config(uvicorn.config.LOGGING_CONFIG, "json", messages=False)["loggers"])
    ]
    before = [(log, log.level, log.propagate, log.handlers[:], log.filters[:]) for log in loggers]
    yield lambda form, messages=False: logging.config.dictConfig(
        log_config(uvicorn.config.LOGGING_CONFIG, form, messages=messages)
    )
    for log, level, propagate, handlers, filters in before:
        log.level, log.propagate, log.handlers, log.filters = level, propagate, handlers, filters
        log.manager._clear_cache()  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", ["4711", "0af7651916cd43dd8448eb211c80319c", "a-b_c.d:e/f+g="])
def test_request_id_of_the_caller_is_kept(client: TestClient, given: str) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"] == given


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/match", {"text": "hello"}),
        ("/match/batch", {"texts": ["hello", "goodbye"]}),
        ("/chat", {"text": "hello", "conversation": "1"}),
    ],
)
def test_answers_name_their_registry(matcher: Matcher, client: TestClient, path: str, body: object) -> None:
    answer = client.post(path, json=body)

    assert answer.status_code == 200
    assert answer.headers["X-Registry-Fingerprint"] == matcher.registry.fingerprint


def test_other_responses_name_no_registry(client: TestClient) -> None:
    client.post("/match", json={"text": "hello"})

    for response in (client.get("/healthz"), client.post("/match", json={"text": 5})):
        assert "X-Registry-Fingerprint" not in response.headers


@pytest.mark.parametrize("given", [None, "", " ", "a b", "a\tb", "<script>", "ü", "a" * 129, '"'])
def test_missing_or_unsafe_request_id_is_replaced(client: TestClient, given: str | None) -> None:
    headers = {} if given is None else {"X-Request-ID": given.encode()}
    made = {client.get("/healthz", headers=headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(made) == 2
    assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in made)


def test_every_response_has_a_request_id(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals and server errors too."""

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    with TestClient(create_app(matcher, max_body=100), raise_server_exceptions=False) as client:
        monkeypatch.setattr(Snapshot, "match_each", fail)
        for status, answer in {
            404: client.get("/nothing", headers={"X-Request-ID": "mine"}),
            413: client.post("/match", content=b"a" * 101, headers={"X-Request-ID": "mine"}),
            422: client.post("/match", json={}, headers={"X-Request-ID": "mine"}),
            500: client.post("/match", json={"text": "hello"}, headers={"X-Request-ID": "mine"}),
        }.items():
            assert (answer.status_code, answer.headers["X-Request-ID"]) == (status, "mine")


def test_json_log_has_requests_without_messages(
    client: TestClient, configured: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    configured("json")
    client.post("/match", json={"text": "hello"}, headers={"X-Request-ID": "mine"})

    (line,) = capfd.readouterr().err.splitlines()
    record = json.loads(line)
    assert 0 < record.pop("milliseconds") < 60_000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00", record.pop("time"))
    assert record == {
        "level": "info",
        "logger": "intentmatch.server.observed",
        "message": "POST /match 200",
        "request_id": "mine",
        "method": "POST",
        "path": "/match",
        "status": 200,
    }


def test_log_lines_cannot_be_injected(
    client: TestClient, configured: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    configured("json", messages=True)
    client.post("/match", json={"text": "hello\n{}\u2028"})
    client.get("/a%0Ab")

    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line.get("text") for line in lines] == ["hello\n{}\u2028", None, None]
    assert lines[2]["path"] == "/a\nb"


def test_programs_that_log_as_they_like_get_no_control_characters(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    """A server of its own program, without the log of `serve`."""
    with caplog.at_level(logging.INFO):
        client.get("/intents/%1b%5b31m%0aforged%e2%80%ae")

    assert "GET /intents/\\x1b[31m\\nforged\\u202e 404" in caplog.messages


@pytest.mark.parametrize("form", ["text", "json"])
def test_messages_are_logged_only_if_turned_on(
    client: TestClient, configured: Callable[..., None], capfd: pytest.CaptureFixture[str], form: str
) -> None:
    for turned_on in (False, True):
        configured(form, messages=turned_on)
        client.post("/match", json={"text": "hello"})
        client.post("/match/batch", json={"texts": ["hello"]})
        assert capfd.readouterr().err.count("matched greet: 'hello'") == (2 if turned_on else 0)


def test_log_records_carry_the_request_id(
    folder: Path, configured: Callable[..., None], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In worker threads too, and with a traceback."""
    matcher = Matcher.load(folder, cache="off")
    app = create_app(matcher)
    with TestClient(app, raise_server_exceptions=False) as client:
        configured("json")

        def fail(*_: object, **__: object) -> None:
            log = logging.getLogger("intentmatch.test")
            try:
                raise MemoryError
            except MemoryError:
                log.exception("it failed")
                raise

        monkeypatch.setattr(Snapshot, "match_many", fail)
        client.post("/match/batch", json={"texts": ["hello"]}, headers={"X-Request-ID": "mine"})
    failed, request = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert failed["request_id"] == request["request_id"] == "mine"
    assert "MemoryError" in failed["exception"]
    assert (failed["level"], request["status"]) == ("error", 500)


def test_missing_file_descriptors_are_logged_once_a_minute_without_traceback() -> None:
    config = log_config(uvicorn.config.LOGGING_CONFIG, "text", messages=False)
    make = config["filters"]["accept_errors"]["()"]
    assert config["loggers"]["asyncio"]["filters"] == ["accept_errors"]
    only = make()

    def record(message: str) -> logging.LogRecord:
        error = OSError(24, "Too many open files")
        return logging.LogRecord("asyncio", logging.ERROR, "", 0, message, (), (OSError, error, None))

    records = [record("socket.accept() out of system resource\nsocket: <...>") for _ in range(500)]
    kept = [each for each in records if only.filter(each)]
    assert [each.exc_info for each in kept] == [None]
    assert kept[0].getMessage().endswith("no free file descriptors (seen 1 times)")
    assert not only.filter(record("Exception in callback BaseSelectorEventLoop._start_serving(<...>)\nhandle: <...>"))
    other = record("Task exception was never retrieved")
    assert only.filter(other)
    assert other.exc_info


FORGED = "a\nINFO:     forged\r\x1b[2J\u202e\x9b"


@pytest.mark.parametrize(
    "logger", ["uvicorn.error", "intentmatch.server.bots.bot", "asyncio", "nicegui", "engineio.server"]
)
@pytest.mark.parametrize(
    "write",
    [
        lambda log: log.warning("the bot %s cannot be loaded: %s", FORGED, InputError(FORGED)),
        lambda log: log.warning("the file is %(path)s", {"path": Path(FORGED)}),
        lambda log: log.warning(FORGED),
        lambda log: log.warning(
            "problems:\n%s", RegistryError([Problem(Location(FORGED), "error", "x", FORGED, FORGED)])
        ),
        lambda log: log.error("failed", exc_info=ValueError(FORGED)),
        lambda log: log.warning("names: %s", [FORGED]),
    ],
)
def test_text_of_others_forges_no_line(
    configured: Callable[..., None],
    capfd: pytest.CaptureFixture[str],
    logger: str,
    write: Callable[[logging.Logger], None],
) -> None:
    configured("text")

    write(logging.getLogger(logger))

    told = "".join(capfd.readouterr())
    assert "forged" in told
    assert not [sign for sign in "\x1b\r\u202e\x9b" if sign in told]
    assert [line for line in told.splitlines()[1:] if not line.startswith("  | ")] == []


@pytest.mark.parametrize("logger", ["engineio.server", "socketio.server"])
@pytest.mark.parametrize("first", ["log", "sockets"])
def test_sockets_of_the_studio_write_nothing_past_the_log(
    configured: Callable[..., None], capfd: pytest.CaptureFixture[str], first: str, logger: str
) -> None:
    """A server of sockets gives its logger a handler, unless the logger has a level."""
    socketio = pytest.importorskip("socketio", reason="the extra studio is not installed")
    log = logging.getLogger(logger)
    log.level, log.handlers = logging.NOTSET, []
    steps = [lambda: configured("text"), lambda: socketio.AsyncServer(async_mode="asgi")]
    for step in steps if first == "log" else reversed(steps):
        step()
    log.error(FORGED)

    told = "".join(capfd.readouterr())
    assert told.count("forged") == 1
    assert [line for line in told.splitlines()[1:] if not line.startswith("  | ")] == []


def test_access_log_forges_no_line(
    client: TestClient, configured: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    configured("text")

    logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', FORGED, "GET", f"/{FORGED}", "1.1", 200)

    told = capfd.readouterr().out
    assert len(told.splitlines()) == 1
    assert not [sign for sign in "\x1b\r\u202e\x9b" if sign in told]


def test_json_log_escapes_all_signs(configured: Callable[..., None], capfd: pytest.CaptureFixture[str]) -> None:
    configured("json")

    logging.getLogger("intentmatch.x").warning("%s", FORGED + "\x7f")

    (line,) = capfd.readouterr().err.splitlines()
    assert line.isprintable()
    assert json.loads(line)["message"] == FORGED + "\x7f"
