"""The batch queue."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from fakes import WordHashEncoder
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient
from starlette.types import Message

from intentmatch import Matcher
from intentmatch.core.errors import InputError, UnavailableError
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders.static import StaticEncoder
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.snapshot import Snapshot
from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.pieces.unigram import read_unigram
from intentmatch.server import app, create_app
from intentmatch.server.bots import batching
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.config import Batching
from intentmatch.server.middleware.limits import client_receive
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.metrics import Metrics

PATIENCE = 60.0
_NO_OPTIONS = MatchOptions()


class Gate(WordHashEncoder):
    """An encoder that gains from batches, and that a test can block."""

    batches = True

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        if kind == "query":
            self.calls.append(list(texts))
            self.entered.set()
            assert self.go_on.wait(PATIENCE)
        if any("unlucky" in text for text in texts):
            raise ValueError("it does not like this text")
        if any("away" in text for text in texts):
            raise UnavailableError("the model is away")
        return super().encode(texts, kind=kind)

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Block the encoder until the end of the context."""
        self.entered.clear()
        self.go_on.clear()
        try:
            yield
        finally:
            self.go_on.set()

    async def busy(self) -> None:
        """Wait until a batch is being encoded."""
        assert await asyncio.to_thread(self.entered.wait, PATIENCE)


@pytest.fixture
def encoder() -> Gate:
    """An encoder that has encoded nothing yet."""
    return Gate()


@pytest.fixture
def bot(folder: Path, encoder: Gate) -> Matcher:
    """A matcher whose encoder gains from batches."""
    matcher = Matcher.load(folder, encoder=encoder, cache="off")
    encoder.calls.clear()
    return matcher


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(scenario(), PATIENCE)

    asyncio.run(bounded())


async def result(queue: BatchQueue, bot: Matcher, text: str, options: MatchOptions = _NO_OPTIONS) -> MatchResult:
    """The result of one message in the queue."""
    return (await queue.match(bot, text, options)).result


@pytest.fixture
def on_match(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[list[str]], None]], None]:
    """Calls a function with the texts of each batch, in the thread that matches them."""

    def observe(note: Callable[[list[str]], None]) -> None:
        match_each = Snapshot.match_each

        def noting(snapshot: Snapshot, asked: Sequence[tuple[str, MatchOptions]]) -> list[MatchResult | Exception]:
            note([text for text, _ in asked])
            return match_each(snapshot, asked)

        monkeypatch.setattr(Snapshot, "match_each", noting)

    return observe


def new_queue(bounds: Batching | None = None) -> BatchQueue:
    return BatchQueue(bounds or Batching(), Metrics())


async def settled() -> None:
    """Let the event loop run everything that is ready."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_messages_that_arrive_during_a_batch_make_the_next(bot: Matcher, encoder: Gate) -> None:
    """The first message does not wait; later ones are encoded together, up to the limit."""

    async def scenario() -> None:
        queue = new_queue(Batching(max_together=3))
        with encoder.shut():
            tasks = [asyncio.create_task(result(queue, bot, "number zero"))]
            await encoder.busy()
            tasks += [asyncio.create_task(result(queue, bot, f"number {n}")) for n in range(1, 6)]
            await settled()
        answers = await asyncio.gather(*tasks)
        assert [answer.message for answer in answers] == ["number zero", *(f"number {n}" for n in range(1, 6))]

    run(scenario)
    assert [len(call) for call in encoder.calls] == [1, 3, 2]


def test_messages_of_a_batch_keep_their_own_options(bot: Matcher) -> None:
    async def scenario() -> None:
        queue = new_queue()
        few, german, narrow, wrong = await asyncio.gather(
            result(queue, bot, "hello there you", MatchOptions(top_k=1)),
            result(queue, bot, "hello", MatchOptions(language="de")),
            result(queue, bot, "hello there you", MatchOptions(allowed=["bye"])),
            result(queue, bot, "hello", MatchOptions(allowed=["nobody"])),
            return_exceptions=True,
        )
        assert few == bot.match("hello there you", top_k=1)
        assert german == bot.match("hello", language="de")
        assert narrow == bot.match("hello there you", allowed=["bye"])
        assert isinstance(wrong, InputError)

    run(scenario)


def test_several_requests_in_a_message_are_divided_in_a_batch_too(tmp_path: Path, encoder: Gate) -> None:
    (tmp_path / "bot.yaml").write_text(
        "intents:\n  cancel: {utterances: [cancel my order, stop it]}\n"
        "  refund: {utterances: [refund me, money back]}\n",
        encoding="utf-8",
    )
    bot = Matcher.load(tmp_path, encoder=encoder, cache="off", several_intents=True, threshold=0.1)
    texts = ["cancel my order and refund me", "cancel my order", "money back and stop it", "refund"]

    alone = [bot.match(text) for text in texts]

    assert any(answer.parts for answer in alone)
    assert bot.match_each([(text, MatchOptions()) for text in texts]) == alone


def test_error_of_one_message_does_not_affect_others(bot: Matcher) -> None:
    texts = ["number one", "an unlucky one", "number two", "hello"]

    one, unlucky, two, exact = bot.match_each([(text, MatchOptions()) for text in texts])

    assert str(unlucky) == "it does not like this text"
    assert [one, two, exact] == [bot.match(text) for text in ("number one", "number two", "hello")]


def test_unavailable_encoder_is_called_once_per_batch(bot: Matcher, encoder: Gate) -> None:
    """It may take long to fail; exact matches are answered without it."""
    answers = bot.match_each([(text, MatchOptions()) for text in ["gone away", "number two", "hello"]])

    assert [type(answer) for answer in answers[:2]] == [UnavailableError] * 2
    assert answers[2] == bot.match("hello")
    assert len(encoder.calls) == 1


def test_full_queue_refuses_with_retry_after(bot: Matcher, encoder: Gate) -> None:
    """Estimated from the mean time of recent messages."""

    async def scenario() -> None:
        queue = new_queue(Batching(max_queue=3))
        with encoder.shut():
            tasks = [asyncio.create_task(result(queue, bot, "number zero"))]
            await encoder.busy()
            tasks += [asyncio.create_task(result(queue, bot, f"number {n}")) for n in range(3)]
            await settled()
            queue._queues[bot].mean_seconds = 0.5
            with pytest.raises(ProblemError) as refused:
                await result(queue, bot, "one too many")
        assert (refused.value.status_code, refused.value.headers) == (503, {"Retry-After": "2"})
        assert refused.value.details.type == "urn:intentmatch:busy"
        await asyncio.gather(*tasks)
        assert (await result(queue, bot, "now there is room")).message == "now there is room"

    run(scenario)


def test_message_that_waits_too_long_is_refused(bot: Matcher, encoder: Gate) -> None:
    """It is never encoded; a batch that has begun is finished."""

    async def scenario() -> None:
        queue = new_queue(Batching(max_wait=0.1))
        with encoder.shut():
            begun = asyncio.create_task(result(queue, bot, "number zero"))
            await encoder.busy()
            with pytest.raises(ProblemError, match="has waited for"):
                await result(queue, bot, "number one")
        assert (await begun).message == "number zero"

    run(scenario)
    assert encoder.calls == [["number zero"]]


@pytest.mark.parametrize("leaves", ["is cancelled", "hangs up"])
def test_message_of_a_disconnected_client_is_not_encoded(
    bot: Matcher, encoder: Gate, leaves: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server cancels the request, or the client disconnects."""
    monkeypatch.setattr(batching, "_UNWATCHED_SECONDS", 0.0)

    async def scenario() -> None:
        queue = new_queue()
        hung_up = asyncio.Event()

        async def receive() -> Message:
            await hung_up.wait()
            return {"type": "http.disconnect"}

        with encoder.shut():
            first = asyncio.create_task(result(queue, bot, "number zero"))
            await encoder.busy()
            client_receive.set(receive)
            leaving = asyncio.create_task(result(queue, bot, "number one"))
            await settled()
            if leaves == "hangs up":
                hung_up.set()
                with pytest.raises(ClientDisconnect):
                    await leaving
            else:
                leaving.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await leaving
            assert queue._length == 0
        await first

    run(scenario)
    assert encoder.calls == [["number zero"]]


def test_batch_sees_one_registry(bot: Matcher, encoder: Gate, folder: Path) -> None:
    """A reload during a batch changes none of its answers."""

    async def scenario() -> None:
        queue = new_queue()
        with encoder.shut():
            first = asyncio.create_task(result(queue, bot, "number zero"))
            await encoder.busy()
            (folder / "thanks.yaml").write_text("intents: {thanks: {utterances: [number zero]}}", encoding="utf-8")
            await asyncio.to_thread(bot.reload)
        second = await result(queue, bot, "number zero")
        assert ((await first).intent, second.intent) == (None, "thanks")

    run(scenario)


def test_slow_bot_does_not_delay_others(bot: Matcher, encoder: Gate, folder: Path) -> None:
    async def scenario() -> None:
        queue = new_queue()
        other = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
        with encoder.shut():
            slow = asyncio.create_task(result(queue, bot, "number zero"))
            await encoder.busy()
            assert (await result(queue, other, "number one")).message == "number one"
        await slow

    run(scenario)


def test_batches_are_short_if_the_encoder_does_not_batch(folder: Path) -> None:
    """The first message must not wait for the last."""

    class Slow(StaticEncoder):
        def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
            time.sleep(0.02 if kind == "query" else 0)
            return super().encode(texts, kind=kind)

    metrics = Metrics()
    bot = Matcher.load(folder, encoder=Slow(EMBEDDED), cache="off")

    async def scenario() -> None:
        queue = BatchQueue(Batching(), metrics)
        await asyncio.gather(*(result(queue, bot, f"number {n}") for n in range(5)))

    run(scenario)
    assert b"intentmatch_batch_messages_count 5.0" in metrics.exposition([])


@pytest.mark.parametrize(
    ("pace", "text", "slots", "here"),
    [
        (0.0, "hello", "", False),
        (0.0005, "hello", "", True),
        (0.01, "hello", "", False),
        (0.0005, "hello " * 200, "", False),
        (0.0005, "hello", "slots: {day: {type: number}}", False),
    ],
)
def test_quick_messages_are_matched_inline(tmp_path: Path, on_match, pace, text, slots, here) -> None:
    """Not documents, not registries with slots, and only after quick messages."""
    extra = f", {slots}" if slots else ""
    (tmp_path / "bot.yaml").write_text(
        f"intents: {{greet: {{utterances: [hello there, 'hi for {{day}}']{extra}}}, leave: {{utterances: [goodbye]}}}}"
        if slots
        else "intents: {greet: {utterances: [hello there]}, leave: {utterances: [goodbye]}}"
    )
    bot = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off")
    asked_in: list[threading.Thread] = []
    on_match(lambda texts: asked_in.append(threading.current_thread()))

    async def scenario() -> None:
        queue = new_queue()
        queue._queues[bot] = batching._MatcherQueue(mean_seconds=pace, fastest_seconds=pace)
        assert (await result(queue, bot, text)).message == text
        assert (asked_in == [threading.main_thread()]) is here

    run(scenario)


def test_inline_messages_are_matched_in_rows(folder: Path, on_match) -> None:
    """Each row as long as delays nobody; messages of disconnected clients are dropped."""
    bot = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    rows: list[list[str]] = []

    def note(texts: list[str]) -> None:
        rows.append(texts)
        if len(rows) > 1:
            assert others.done()

    on_match(note)

    async def scenario() -> None:
        nonlocal others
        queue = new_queue()
        queue._queues[bot] = batching._MatcherQueue(mean_seconds=0.0019, fastest_seconds=0.0019)
        tasks = [asyncio.create_task(result(queue, bot, f"number {n}")) for n in range(14)]
        others = asyncio.create_task(asyncio.sleep(0))
        await asyncio.sleep(0)
        tasks[1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(answers.pop(1), asyncio.CancelledError)
        assert [answer.message for answer in answers] == [f"number {n}" for n in (0, *range(2, 14))]

    others: asyncio.Task[None]
    run(scenario)
    assert rows[0] == ["number 0", *(f"number {n}" for n in range(2, 10))]
    assert [text for row in rows for text in row] == [f"number {n}" for n in (0, *range(2, 14))]


def test_error_of_an_inline_message_reaches_its_caller(folder: Path) -> None:
    bot = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")

    async def scenario() -> None:
        queue = new_queue()
        queue._queues[bot] = batching._MatcherQueue(mean_seconds=0.0005)
        with pytest.raises(InputError):
            await result(queue, bot, "hello", MatchOptions(language="no code at all"))
        assert (await result(queue, bot, "hello")).message == "hello"

    run(scenario)


def test_event_loop_answers_probes_while_a_batch_runs(bot: Matcher, encoder: Gate) -> None:
    """The metrics show the queue."""

    async def scenario() -> None:
        app = create_app(bot)
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://bot") as caller:
            with encoder.shut():
                tasks = [asyncio.create_task(caller.post("/match", json={"text": "number zero"}))]
                await encoder.busy()
                tasks.append(asyncio.create_task(caller.post("/match", json={"text": "number one"})))
                while "intentmatch_queue_messages 1.0" not in (await caller.get("/metrics")).text:
                    await asyncio.sleep(0.01)
                assert (await caller.get("/healthz")).status_code == 200
                assert not any(task.done() for task in tasks)
            assert [answer.status_code for answer in await asyncio.gather(*tasks)] == [200, 200]

    run(scenario)


def test_refusals_are_problem_details_with_retry_after(bot: Matcher, encoder: Gate) -> None:
    """The metrics count each kind."""

    async def scenario() -> None:
        transport = httpx2.ASGITransport(app=create_app(bot, max_queue=1, max_wait=0.2))
        async with httpx2.AsyncClient(transport=transport, base_url="http://bot") as caller:
            with encoder.shut():
                first = asyncio.create_task(caller.post("/match", json={"text": "number zero"}))
                await encoder.busy()
                late = asyncio.create_task(caller.post("/match", json={"text": "number one"}))
                while "intentmatch_queue_messages 1.0" not in (await caller.get("/metrics")).text:
                    await asyncio.sleep(0.01)
                full = await caller.post("/match", json={"text": "number two"})
                for refused in (full, await late):
                    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
                    assert refused.headers["content-type"] == "application/problem+json"
                    assert refused.json()["type"] == "urn:intentmatch:busy"
            assert (await first).status_code == 200
            metrics_text = (await caller.get("/metrics")).text
            assert 'intentmatch_refused_total{why="full"} 1.0' in metrics_text
            assert 'intentmatch_refused_total{why="late"} 1.0' in metrics_text

    run(scenario)


def test_server_under_constant_load_switches_to_inline(folder: Path, on_match) -> None:
    bot = Matcher.load(folder, encoder=WordHashEncoder(), cache="off")
    loop_thread, where = threading.get_ident(), []
    on_match(lambda texts: where.append(threading.get_ident()))

    async def scenario() -> None:
        queue = new_queue()

        async def client(number: int) -> None:
            for n in range(20):
                await result(queue, bot, f"number {n} of {number}")

        await asyncio.gather(*map(client, range(8)))

    run(scenario)
    assert where[0] != loop_thread
    assert where[-1] == loop_thread


def test_tokenizer_is_read_whole_before_the_first_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = read_unigram(EMBEDDED / "tokenizer.json")
    assert tokenizer is not None
    monkeypatch.setattr(app, "embedded_tokenizer", lambda: tokenizer)

    with TestClient(create_app(Matcher.load(folder, encoder=WordHashEncoder(), cache="off"))):
        assert tokenizer._unread is None


def texts_of(count: int) -> list[str]:
    return [f"number {n}" for n in range(count)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However quick the messages are."""
    monkeypatch.setattr(batching, "_PART_SECONDS", 0.0)


@pytest.mark.parametrize("count", [0, 1, 4, 11])
@pytest.mark.usefixtures("small_parts")
def test_batch_of_a_caller_is_worked_on_in_parts(count: int) -> None:
    """The results are those of all messages, in order."""
    parts: list[int] = []

    def work(part: Sequence[str]) -> list[str]:
        parts.append(len(part))
        return [text.upper() for text in part]

    async def scenario() -> None:
        queue = new_queue(Batching(max_together=4))
        assert await queue.in_parts(texts_of(count), work) == [text.upper() for text in texts_of(count)]
        assert queue._length == 0

    run(scenario)
    assert parts == {0: [0], 1: [1], 4: [4], 11: [4, 4, 3]}[count]


def test_quick_batch_has_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one tells how quick it is."""
    monkeypatch.setattr(batching, "_PART_SECONDS", PATIENCE)  # however busy the computer is
    parts: list[int] = []

    async def scenario() -> None:
        await new_queue().in_parts(range(256), lambda part: parts.append(len(part)) or list(part))

    run(scenario)
    assert parts == [32, 224]


@pytest.mark.usefixtures("small_parts")
def test_batch_counts_against_the_queue_with_all_its_messages(bot: Matcher, encoder: Gate) -> None:
    """A message after it is refused, and so is another batch; one by one, its parts make room."""

    async def scenario() -> None:
        queue = new_queue(Batching(max_queue=10, max_together=4))
        begun, go_on = threading.Semaphore(0), threading.Semaphore(0)

        def work(part: Sequence[str]) -> Sequence[str]:
            begun.release()
            assert go_on.acquire(timeout=PATIENCE)
            return part

        batch = asyncio.create_task(queue.in_parts(texts_of(10), work))
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        with pytest.raises(ProblemError, match="10 messages are waiting already"):
            await result(queue, bot, "one too many")
        with pytest.raises(ProblemError, match="10 messages are waiting already, and 2 more are too many") as refused:
            await queue.in_parts(texts_of(2), work)
        assert refused.value.status_code == 503
        assert "Retry-After" in refused.value.headers
        go_on.release()
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        assert queue._length == 6
        assert (await result(queue, bot, "now there is room")).message == "now there is room"
        go_on.release(2)
        assert await batch == texts_of(10)
        assert queue._length == 0

    run(scenario)


def test_batch_larger_than_the_queue_is_accepted_alone() -> None:
    async def scenario() -> None:
        queue = new_queue(Batching(max_queue=3))
        assert await queue.in_parts(texts_of(9), list) == texts_of(9)

    run(scenario)


@pytest.mark.parametrize("leaves", ["is cancelled", "hangs up", "was gone before"])
@pytest.mark.usefixtures("small_parts")
def test_batch_of_a_disconnected_client_stops(leaves: str) -> None:
    """The part that has begun is finished, and the others are not."""
    done: list[int] = []

    async def scenario() -> None:
        queue = new_queue(Batching(max_together=4))
        hung_up = asyncio.Event()
        begun, go_on = threading.Event(), threading.Event()

        async def receive() -> Message:
            await hung_up.wait()
            return {"type": "http.disconnect"}

        def work(part: Sequence[str]) -> Sequence[str]:
            done.append(len(part))
            if leaves == "was gone before" or len(done) == 2:
                begun.set()
                assert go_on.wait(PATIENCE)
            return part

        client_receive.set(receive)
        if leaves == "was gone before":
            hung_up.set()
        batch = asyncio.create_task(queue.in_parts(texts_of(100), work))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        if leaves == "is cancelled":
            batch.cancel()
        hung_up.set()
        await settled()
        go_on.set()
        with pytest.raises(asyncio.CancelledError if leaves == "is cancelled" else ClientDisconnect):
            await batch
        assert queue._length == 0

    run(scenario)
    assert done == ([4] if leaves == "was gone before" else [4, 4])


def test_failed_batch_leaves_the_queue() -> None:
    async def scenario() -> None:
        queue = new_queue()
        with pytest.raises(ZeroDivisionError):
            await queue.in_parts(texts_of(5), lambda part: 1 // 0)
        assert queue._length == 0

    run(scenario)


@pytest.mark.parametrize("path", ["/match/batch", "/v1/embeddings"])
def test_batches_over_http_are_refused_while_the_queue_is_full(bot: Matcher, encoder: Gate, path: str) -> None:
    async def scenario() -> None:
        app = create_app(bot, max_queue=4, protocols=["openai"])
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bot") as caller:
            body = {"texts": texts_of(3)} if path == "/match/batch" else {"model": "m", "input": texts_of(3)}
            with encoder.shut():
                first = asyncio.create_task(caller.post("/match/batch", json={"texts": texts_of(3)}))
                await encoder.busy()
                refused = await caller.post(path, json=body)
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "1"
            assert (await first).status_code == 200
            assert (await caller.post(path, json=body)).status_code == 200

    run(scenario)
