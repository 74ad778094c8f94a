"""Redis that is slow, silent or gone in the middle of a dialogue: bounded time, no question misread, recovery."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Dialogue, Intent, Matcher, Registry, Utterance

pytest.importorskip("redis", reason="needs the extra `redis`")
fakeredis = pytest.importorskip("fakeredis", reason="needs fakeredis")

from intentmatch.integrations import redis as integration  # noqa: E402 - the extra comes first
from intentmatch.integrations.redis import RedisStore  # noqa: E402

SEED = 21
MOST_SECONDS = 8.0
"""For a message while Redis is silent: one call waits for a second, and the machine may be busy."""
ASKED, ORDER = "my order", "track my order"


class Line:
    """A TCP proxy in front of a server, which can fall silent or hang up."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._passing = threading.Event()
        self._passing.set()
        self._refusing = False
        self._ended = False
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        self._passing.clear()

    def cut(self) -> None:
        self._refusing = True
        while self._open:
            one = self._open.pop()
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def mend(self) -> None:
        """What was held back by the silence is lost: nobody waits for it any more."""
        self.cut()
        self._refusing = False
        self._passing.set()

    def end(self) -> None:
        self._ended = True
        self.cut()
        self._passing.set()
        self._listening.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self._refusing:
                near.close()
                continue
            far = socket.create_connection(self._server)
            self._open += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._passing.wait()
                target.sendall(data)
            target.close()


@pytest.fixture(scope="module", params=["fakeredis", "redis-server"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """An imitation in Python, and a real server where one is installed."""
    if request.param == "redis-server":
        yield from real_server(tmp_path_factory.mktemp("redis"))
        return
    running = fakeredis.TcpFakeServer(("127.0.0.1", 0))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running.server_address
    running.shutdown()
    running.server_close()


def real_server(folder: Path) -> Iterator[tuple[str, int]]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("needs `redis-server`")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    words = ["--port", str(address[1]), "--bind", address[0], "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30.0
        while True:
            try:
                socket.create_connection(address).close()
                break
            except OSError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(30.0)


@pytest.fixture
def line(server: tuple[str, int]) -> Iterator[Line]:
    found = Line(server)
    yield found
    found.end()


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    intents = (
        Intent("order_status", (Utterance("where is my order"), Utterance(ORDER))),
        Intent("cancel_order", (Utterance("cancel my order"), Utterance("stop my order"))),
    )
    return Matcher.load(Registry(intents), encoder=WordHashEncoder(), threshold=0.4, margin=0.15, cache="off")


@pytest.fixture
def store(line: Line, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(integration, "_SECONDS_AWAY", 0.3)
    return RedisStore.at(f"redis://127.0.0.1:{line.port}/0", prefix=f"{request.node.name}:")


def timed_take(bot: Dialogue, message: str) -> Any:
    began = time.monotonic()
    turn = bot.take(message, "anna")
    assert time.monotonic() - began < MOST_SECONDS
    return turn


@pytest.mark.parametrize("how", ["silence", "cut"])
def test_question_asked_while_redis_is_away_is_answered(matcher: Matcher, store: Any, line: Line, how: str) -> None:
    bot = Dialogue(matcher, store=store)
    getattr(line, how)()

    asked = timed_take(bot, ASKED)
    assert timed_take(bot, "2").intent == asked.choices[1].intent


@pytest.mark.parametrize("how", ["silence", "cut"])
def test_question_asked_while_redis_is_away_is_answered_when_it_is_back(
    matcher: Matcher, store: Any, line: Line, how: str
) -> None:
    bot = Dialogue(matcher, store=store)
    getattr(line, how)()
    asked = timed_take(bot, ASKED)
    line.mend()
    time.sleep(0.4)

    assert timed_take(bot, "2").intent == asked.choices[1].intent
    assert bot.take(ASKED, "anna").choices
    assert Dialogue(matcher, store=store).take("1", "anna").intent == asked.choices[0].intent


def test_question_that_was_not_read_in_time_is_not_answered_later(matcher: Matcher, store: Any, line: Line) -> None:
    bot = Dialogue(matcher, store=store)
    assert bot.take(ASKED, "anna").choices
    line.silence()
    assert timed_take(bot, ORDER).intent == "order_status"
    line.mend()
    time.sleep(0.4)

    assert timed_take(bot, "2").intent is None


def test_closed_connection_is_opened_again(matcher: Matcher, store: Any, line: Line) -> None:
    """As when Redis restarts between two messages; it kept its data."""
    bot = Dialogue(matcher, store=store)
    asked = bot.take(ASKED, "anna")
    line.mend()

    assert timed_take(bot, "2").intent == asked.choices[1].intent


@pytest.mark.rounds(12, 600)
def test_no_answer_is_read_for_another_question(matcher: Matcher, store: Any, line: Line, rounds: int) -> None:
    """Redis fails at random moments; each "2" is the second choice of the question before it, or no answer."""
    bot = Dialogue(matcher, store=store)
    chosen = random.Random(SEED)
    second = bot.take(ASKED, "probe").choices[1].intent
    open_question = False
    for _ in range(rounds):
        if chosen.random() < 0.5:
            getattr(line, chosen.choice(["cut", "mend", "mend"]))()
        if chosen.random() < 0.5:
            open_question = bool(timed_take(bot, ASKED).choices)
            assert open_question
        else:
            found = timed_take(bot, "2").intent
            assert found in ((second, None) if open_question else (None,))
            open_question = False
