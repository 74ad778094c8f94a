"""Metrics for Prometheus."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import several_bots
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import create_app


@pytest.fixture
def client(matcher: Matcher) -> Iterator[TestClient]:
    """A client of a new app, whose counts start at zero."""
    with TestClient(create_app(matcher), raise_server_exceptions=False) as client:
        yield client


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(client: TestClient, name: str, **labels: str) -> float | None:
    return samples(client.get("/metrics").text).get((name, frozenset(labels.items())))


def test_messages_are_counted_by_verdict_and_intent(client: TestClient) -> None:
    client.post("/match", json={"text": "hello"})
    client.post("/match/batch", json={"texts": ["hello", "tschüss", "¿?"]})

    assert value(client, "intentmatch_verdicts_total", verdict="matched", intent="greet") == 2
    assert value(client, "intentmatch_verdicts_total", verdict="matched", intent="bye") == 1
    assert value(client, "intentmatch_verdicts_total", verdict="out_of_scope", intent="") == 1


def test_messages_of_protocols_are_counted(matcher: Matcher) -> None:
    with TestClient(create_app(matcher, protocols=["rasa"])) as client:
        assert client.post("/model/parse", json={"text": "hello"}).status_code == 200
        assert value(client, "intentmatch_verdicts_total", verdict="matched", intent="greet") == 1
        assert value(client, "intentmatch_requests_total", path="/model/parse", status="200") == 1


def test_metrics_need_a_key(matcher: Matcher) -> None:
    """They name the intents."""
    with TestClient(create_app(matcher, keys=["0123456789abcdef0123456789abcdef"])) as client:
        assert client.get("/metrics").status_code == 401
        key = {"Authorization": "Bearer 0123456789abcdef0123456789abcdef"}
        assert client.get("/metrics", headers=key).status_code == 200
        assert client.get("/readyz").status_code == 200


def test_stages_are_timed(client: TestClient) -> None:
    """Warming up does not count."""
    assert value(client, "intentmatch_stage_seconds_count", stage="exact") is None
    stages = client.post("/match", json={"text": "the price of tea"}).json()["trace"]["stages"]

    for stage in stages:
        assert value(client, "intentmatch_stage_seconds_count", stage=stage["name"]) >= 1
    spent = sum(stage["microseconds"] for stage in stages) / 1e6
    metrics = samples(client.get("/metrics").text).items()
    assert sum(seconds for (name, _), seconds in metrics if name == "intentmatch_stage_seconds_sum") == pytest.approx(
        spent, abs=1e-5
    )


def test_requests_are_counted_by_route_and_status(client: TestClient) -> None:
    """Unknown paths count as one, so that callers cannot create series."""
    client.post("/match", json={"text": "hello"})
    client.post("/match", json={"words": "hello"})
    for path in ("/admin", "/wp-login.php"):
        client.get(path)

    assert value(client, "intentmatch_requests_total", path="/match", status="200") == 1
    assert value(client, "intentmatch_requests_total", path="/match", status="422") == 1
    assert value(client, "intentmatch_requests_total", path="none", status="404") == 2
    assert value(client, "intentmatch_request_seconds_count", path="/match") == 2


def test_unexpected_error_is_counted(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    with TestClient(create_app(matcher), raise_server_exceptions=False) as client:
        monkeypatch.setattr(Snapshot, "match_each", fail)
        assert client.post("/match", json={"text": "hello"}).status_code == 500

        assert value(client, "intentmatch_requests_total", path="/match", status="500") == 1
        assert value(client, "intentmatch_ready") == 0


def test_registry_is_reported_with_age_and_state(folder: Path, admin: dict[str, str]) -> None:
    app = create_app(folder)
    assert value(TestClient(app), "intentmatch_ready") == 0
    with TestClient(app) as client:
        loaded = value(client, "intentmatch_registry_loaded_timestamp_seconds")
        fingerprint = client.get("/readyz").json()["fingerprint"]
        (info,) = [dict(labels) for name, labels in samples(client.get("/metrics").text) if name.endswith("_info")]
        assert info["fingerprint"] == fingerprint
        assert value(client, "intentmatch_registry_intents") == 2
        (folder / "more.yaml").write_text("intents: {thanks: {utterances: [thank you]}}", encoding="utf-8")
        client.post("/reload", headers=admin)
        assert value(client, "intentmatch_registry_intents") == 3
        assert value(client, "intentmatch_registry_loaded_timestamp_seconds") > loaded
        (folder / "more.yaml").write_text("intents: 3", encoding="utf-8")
        client.post("/reload", headers=admin)
        assert (value(client, "intentmatch_registry_stale"), value(client, "intentmatch_ready")) == (1, 1)


def test_reloads_are_counted_by_result(folder: Path, admin: dict[str, str]) -> None:
    """From 0, so that Prometheus sees the first one."""

    def reloads(client: TestClient) -> tuple[float | None, ...]:
        return tuple(value(client, "intentmatch_reloads_total", result=result) for result in ("ok", "failed"))

    with TestClient(create_app(folder)) as client:
        assert reloads(client) == (0, 0)
        client.post("/reload", headers=admin)
        assert reloads(client) == (1, 0)
        (folder / "more.yaml").write_text("intents: 3", encoding="utf-8")
        for _ in range(2):
            client.post("/reload", headers=admin)
        assert reloads(client) == (1, 2)


def test_confidence_is_counted_by_verdict(client: TestClient) -> None:
    confidences = [client.post("/match", json={"text": text}).json()["confidence"] for text in ("hello", "tschüss")]

    assert value(client, "intentmatch_confidence_count", verdict="matched") == 2
    assert value(client, "intentmatch_confidence_sum", verdict="matched") == pytest.approx(sum(confidences))
    assert value(client, "intentmatch_confidence_count", verdict="out_of_scope") is None


def test_messages_given_to_the_inbox_are_counted(folder: Path, tmp_path: Path) -> None:
    matcher = Matcher.load(folder, inbox=str(tmp_path / "inbox.sqlite"))
    with TestClient(create_app(matcher)) as client:
        client.post("/match/batch", json={"texts": ["hello", "the price of tea", "the price of tea"]})
        assert value(client, "intentmatch_inbox_messages_total") == 2


def test_nothing_is_counted_without_an_inbox(client: TestClient) -> None:
    client.post("/match", json={"text": "the price of tea"})
    assert value(client, "intentmatch_inbox_messages_total") == 0


def test_bots_are_counted_apart(several: Path) -> None:
    with several_bots.served(several, preload=["shop", "pizza"]) as client:
        several_bots.match(client, "shop")
        assert value(client, "intentmatch_confidence_count", bot="shop", verdict="matched") == 1
        assert value(client, "intentmatch_confidence_count", bot="pizza", verdict="matched") is None
        assert value(client, "intentmatch_reloads_total", bot="pizza", result="failed") == 0
        assert value(client, "intentmatch_inbox_messages_total", bot="shop") == 0


def test_cache_size_is_reported(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with TestClient(create_app(Matcher.load(folder, cache=str(cache)))) as client:
        size = sum(file.stat().st_size for file in cache.glob("*.sqlite"))
        assert value(client, "intentmatch_cache_bytes") == size > 0


def test_cache_hits_and_misses_are_counted(folder: Path, tmp_path: Path) -> None:
    def lookups() -> tuple[float, float]:
        with TestClient(create_app(Matcher.load(folder, cache=str(tmp_path / "cache")))) as client:
            hits, misses = (value(client, "intentmatch_cache_lookups_total", result=r) for r in ("hit", "miss"))
        return hits, misses

    first, second = lookups(), lookups()
    assert second[0] - first[0] > 0
    assert second[1] == first[1] > 0


def test_each_app_has_its_own_metrics(matcher: Matcher, client: TestClient) -> None:
    client.post("/match", json={"text": "hello"})
    with TestClient(create_app(matcher)) as other:
        assert value(other, "intentmatch_verdicts_total", verdict="matched", intent="greet") is None


def test_counts_of_several_workers_are_added_up(folder: Path, tmp_path: Path) -> None:
    program = """
import json, sys
from starlette.testclient import TestClient
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import create_app
with TestClient(create_app(sys.argv[1])) as client:
    client.post("/match", json={"text": "hello"})
    print(json.dumps(client.get("/metrics").text))
"""
    shared = tmp_path / "shared"
    shared.mkdir()
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(shared)}
    for workers in (1, 2):
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            env=environment, capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        metrics = samples(json.loads(done.stdout))
        greeted = frozenset({"verdict": "matched", "intent": "greet"}.items())
        assert metrics["intentmatch_verdicts_total", greeted] == workers
        assert metrics["intentmatch_ready", frozenset()] == 1
