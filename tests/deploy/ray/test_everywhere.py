"""Requests that concern every replica, and metrics of several replicas in one text."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.deploy.ray.asgi import AsgiRequest, Response
from intentmatch.deploy.ray.everywhere import ask_all, concerns_all, together
from intentmatch.server import create_app


class Handle:
    """A handle of Serve whose replicas answer what they are told."""

    def __init__(self, responses):
        self._responses = responses

    def broadcast(self, method, request, bot):
        assert (method, bot) == ("forward", None)
        return self

    async def results_async(self):
        return self._responses


def request(method, path, root=""):
    return AsgiRequest({"method": method, "path": root + path, "root_path": root}, b"")


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("GET", "/metrics", True),
        ("POST", "/reload", True),
        ("POST", "/bots/shop/reload", True),
        ("POST", "/match", False),
        ("POST", "/metrics", False),
        ("GET", "/bots/shop/metrics", False),
    ],
)
def test_requests_for_all_replicas_are_told_by_path(method, path, found):
    assert concerns_all(request(method, path)) is found
    assert concerns_all(request(method, path, "/chat")) is found


def test_metrics_of_replicas_are_joined():
    registry = Registry((Intent("greet", (Utterance("hello", "en"),)),))
    client = TestClient(create_app(Matcher.load(registry, cache="off")))
    client.post("/match", json={"text": "hello"})
    text = client.get("/metrics").text

    found = {family.name: family for family in text_string_to_metric_families(together([("a", text), ("b", text)]))}

    counts = {family.name: len(family.samples) for family in text_string_to_metric_families(text)}
    one = {name: count for name, count in counts.items() if count}
    assert {name: len(family.samples) for name, family in found.items()} == {name: 2 * n for name, n in one.items()}
    samples = found["intentmatch_verdicts"].samples
    assert {sample.labels["replica"] for sample in samples} == {"a", "b"}
    assert {sample.labels["intent"] for sample in samples} == {"greet"}
    assert [sample.labels["replica"] for sample in found["intentmatch_ready"].samples] == ["a", "b"]


def test_metrics_name_the_replica_that_they_are_from():
    texts = [Response(200, [(b"Content-Length", b"5")], f"x {n}\n".encode(), f"r{n}") for n in (1, 2)]

    response = asyncio.run(ask_all(Handle(texts), request("GET", "/metrics")))

    assert response.body == b'x{replica="r1"} 1\nx{replica="r2"} 2\n'
    assert response.headers == []


def test_worst_response_counts():
    responses = [Response(200, [], b"good"), Response(409, [], b"bad"), Response(200, [], b"good")]

    assert asyncio.run(ask_all(Handle(responses), request("POST", "/reload"))).body == b"bad"
    assert asyncio.run(ask_all(Handle(responses[:1]), request("POST", "/reload"))).body == b"good"
