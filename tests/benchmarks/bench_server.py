"""Measure how many requests the webhook answers and how fast, beside a FastAPI endpoint that returns a constant.

    python tests/benchmarks/bench_server.py --registry intents
    python tests/benchmarks/bench_server.py --encoder sentence_transformer:FOLDER --clients 1 8 64

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench_latency import ONE_THREAD, distinct, made_up
from entry import add_json_option, option_parser, run_benchmark
from metrics import percentiles, plain_table, provenance

from intentmatch import IntentMatchError, Matcher, Registry, read_registry, save_artefact
from intentmatch.core.errors import InputError
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import EMBEDDED

_SEED = 20240501
_MESSAGES = 2000
_TIMEOUT = 120.0
_MEASURED = ("per_second", "p50", "p99", "work", "memory", "client")
_OURS, _UNBATCHED, _CEILING = "intentmatch", "one by one", "constant"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    if options.serve:
        _serve(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return run_benchmark(lambda: _measure(options, folder), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--registry", default="intents", metavar="PATH", help="YAML or an artefact (intents)")
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument("--language", help="use only utterances, and so messages, in this language")
    parser.add_argument(
        "--call-seconds", type=float, help="replace the encoder by a stand-in whose calls take this long"
    )
    parser.add_argument("--workers", type=int, default=1, help="worker processes of each server (1)")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=[1, 8, 64, 256], help="numbers of connections (1 8 64 256)"
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="seconds per measurement (3)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all measurements, in turns (3)")
    add_json_option(parser)
    parser.add_argument("--serve", choices=["constant", "standin"], help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--answer", default="", help=argparse.SUPPRESS)
    parser.add_argument("--max-together", type=int, default=32, help=argparse.SUPPRESS)
    return parser


class StandIn(StaticEncoder):
    """The embedded encoder, except that each call takes a fixed time, like a model on a GPU."""

    batches = True

    def __init__(self, seconds: float) -> None:
        super().__init__(EMBEDDED)
        self.seconds = seconds

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Encode as the embedded encoder does, after the fixed time."""
        if kind == "query":
            time.sleep(self.seconds)
        return super().encode(texts, kind=kind)


def _serve(options: argparse.Namespace) -> None:
    """Serve a constant, or the stand-in, with uvicorn configured as in `intentmatch serve`."""
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    from intentmatch.server import create_app
    from intentmatch.server.process.logs import log_config

    if options.serve == "standin":
        matcher = Matcher.load(options.registry, encoder=StandIn(options.call_seconds))
        app = create_app(matcher, max_together=options.max_together)
    else:
        app, constant = FastAPI(), json.loads(options.answer)

        class Message(BaseModel):
            text: str

        # Set as a value, because FastAPI resolves annotations in the module's namespace.
        async def match(body):  # type: ignore[no-untyped-def]
            return constant

        match.__annotations__ = {"body": Message}
        app.post("/match")(match)
    config = log_config(uvicorn.config.LOGGING_CONFIG, "text", messages=False)
    uvicorn.run(app, host="127.0.0.1", port=options.port, server_header=False, proxy_headers=False, log_config=config)


def _measure(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    settings = {"encoder": options.encoder} if options.encoder else {}
    if options.call_seconds:
        settings = {"encoder": StandIn(options.call_seconds)}
    if options.language:
        matcher = Matcher.load(_in_language(read_registry(options.registry), options.language), **settings)
        options.registry = str(Path(folder, "bot.intentmatch"))
        save_artefact(matcher.artefact, options.registry)
    else:
        matcher = Matcher.load(options.registry, **settings)
    messages = distinct(matcher, made_up(matcher, random.Random(_SEED)), _MESSAGES)
    answer = json.dumps(matcher.match(messages[0]).to_dict(), ensure_ascii=False)
    subjects = {_CEILING: _script(options, "--serve", "constant", "--answer", answer), _OURS: _ours(options, 32)}
    if matcher.batches:
        subjects[_UNBATCHED] = _ours(options, 1)
    rows: list[dict[str, Any]] = []
    with ExitStack() as servers:
        ports = {name: servers.enter_context(_running(command)) for name, command in subjects.items()}
        for _ in range(options.rounds):
            for clients in options.clients:
                for name, (port, process) in ports.items():
                    row = asyncio.run(_drive(port, process, messages, clients, options.seconds))
                    rows.append({"server": name, "clients": clients, **row})
    return provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | {
        "threads": ONE_THREAD,
        "intents": len(matcher.registry),
        "utterances": len(matcher.registry.utterances),
        "measurements": rows,
    }


def _in_language(registry: Registry, language: str) -> Registry:
    """Return the intents that have utterances in one language, with those utterances only."""
    spoken = [(intent, tuple(u for u in intent.utterances if u.language == language)) for intent in registry]
    found = tuple(replace(intent, utterances=utterances) for intent, utterances in spoken if utterances)
    if not found:
        raise InputError(f"no utterance of the registry is in {language!r}")
    return Registry(found)


def _ours(options: argparse.Namespace, together: int) -> list[str]:
    words = ["--max-together", str(together)]
    if options.call_seconds:
        seconds = str(options.call_seconds)
        return _script(options, "--serve", "standin", "--registry", options.registry, "--call-seconds", seconds, *words)
    words += ["--workers", str(options.workers)]
    words += ["--set", f"encoder={options.encoder}"] if options.encoder else []
    return [sys.executable, "-m", "intentmatch", "serve", options.registry, *words]


def _script(options: argparse.Namespace, *words: str) -> list[str]:
    return [sys.executable, __file__, *words]


@contextmanager
def _running(command: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Run a server inside a `with` block; gives its port and process once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as it:
        try:
            deadline = time.monotonic() + _TIMEOUT
            while it.poll() is None and time.monotonic() < deadline:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.05)
            else:
                raise IntentMatchError(f"this does not serve: {' '.join(command)}")
            yield port, it.pid
        finally:
            it.terminate()


class _Client(asyncio.Protocol):
    """A client that sends the next request as soon as it is answered, with as little work of its own as possible."""

    def __init__(self, requests: Iterator[bytes], end: float, taken: list[float]) -> None:
        self._requests, self._end, self._taken = requests, end, taken
        self._received = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < int(head.lower().partition(b"content-length:")[2].split(None, 1)[0]):
            return
        now = time.perf_counter()
        self._taken.append(now - self._asked)
        self._received = b""
        if not head.startswith(b"HTTP/1.1 200"):
            self._transport.close()
            self.done.set_exception(IntentMatchError(f"not an answer: {head.decode()}"))
        elif now > self._end:
            self._transport.close()
            self.done.set_result(None)
        else:
            self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(IntentMatchError(f"the server hung up: {error}"))

    def _ask(self) -> None:
        self._asked = time.perf_counter()
        self._transport.write(next(self._requests))


async def _drive(port: int, process: int, messages: Sequence[str], clients: int, seconds: float) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    requests = _requests(messages)
    taken: list[float] = []
    began, worked, before = time.perf_counter(), time.process_time(), _worked(process)
    asked = [
        await loop.create_connection(lambda: _Client(requests, began + seconds, taken), "127.0.0.1", port)
        for _ in range(clients)
    ]
    await asyncio.gather(*(client.done for _, client in asked))
    lasted = time.perf_counter() - began
    p50, p99 = (value * 1000 for value in percentiles(taken, 50, 99))
    client = (time.process_time() - worked) / lasted
    work = (_worked(process) - before) / len(taken) * 1e6
    memory = _mebibytes(process)
    return {"per_second": len(taken) / lasted, "p50": p50, "p99": p99, "work": work, "memory": memory, "client": client}


def _requests(messages: Sequence[str]) -> Iterator[bytes]:
    bodies = [json.dumps({"text": message}, ensure_ascii=False).encode() for message in messages]
    head = b"POST /match HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
    whole = [head % (len(body), body) for body in bodies]
    while True:
        yield from whole


def _family(process: int) -> list[int]:
    """Return a process and its descendants, as far as /proc shows them."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()
    except OSError:
        children = []
    return [process, *(one for child in children for one in _family(int(child)))]


def _mebibytes(process: int) -> float:
    """Return the peak memory of a server in MiB; 0 without /proc."""
    peaks = (_proc_file(one, "status").partition("VmHWM:")[2].split() for one in _family(process))
    return sum(int(peak[0]) / 1024 for peak in peaks if peak)


def _worked(process: int) -> float:
    """Return the processor seconds of a server; 0 without /proc."""
    fields = (_proc_file(one, "stat").rpartition(")")[2].split() for one in _family(process))
    return sum((int(each[11]) + int(each[12])) / os.sysconf("SC_CLK_TCK") for each in fields if each)


def _proc_file(process: int, name: str) -> str:
    try:
        return Path(f"/proc/{process}/{name}").read_text(encoding="utf-8")
    except OSError:
        return ""


def _print(numbers: dict[str, Any]) -> None:
    rows = numbers["measurements"]
    sys.stdout.write(
        f"{numbers['intents']} intents, {numbers['utterances']} utterances, {numbers['encoder']['name']}\n"
    )
    table = []
    for clients in sorted({row["clients"] for row in rows}):
        ceiling = _medians(rows, _CEILING, clients)["per_second"]
        for name in dict.fromkeys(row["server"] for row in rows):
            m = _medians(rows, name, clients)
            figures = [f"{m['per_second']:.0f}", f"{m['per_second'] / ceiling:.0%}"]
            figures += [f"{m[name]:.1f}" for name in ("p50", "p99")] + [f"{m[name]:.0f}" for name in ("work", "memory")]
            table.append([str(clients), name, *figures, f"{m['client']:.0%}"])
    header = ["clients", "server", "requests/s", "of constant", "p50, ms", "p99, ms", "work, µs", "MiB", "client busy"]
    sys.stdout.write(plain_table(header, table, left=2) + "\n")


def _medians(rows: Sequence[dict[str, Any]], server: str, clients: int) -> dict[str, float]:
    found = [row for row in rows if (row["server"], row["clients"]) == (server, clients)]
    return {name: median(row[name] for row in found) for name in _MEASURED}


if __name__ == "__main__":
    sys.exit(main())
