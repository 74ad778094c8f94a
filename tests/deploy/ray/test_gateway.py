"""The gateway: which bot a request is for, what it may repeat, and how much of a body it keeps."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from intentmatch.deploy.ray import gateway
from intentmatch.deploy.ray.asgi import AsgiRequest, Response
from intentmatch.deploy.ray.gateway import Gateway, bot_of, may_repeat


class LostError(Exception):
    """A replica has died."""


class FullError(Exception):
    """Too many calls wait."""


class Handle:
    """A handle of Serve that raises and returns what it is told, one after the other.

    It answers requests without their bodies with `early`, and all replicas of a broadcast answer alike.
    """

    def __init__(self, *outcomes, early=None):
        self.outcomes, self.asked, self.models, self.broadcasts = list(outcomes), [], [], []
        self._early = early

    @property
    def early_answer(self):
        return SimpleNamespace(remote=self._answer_early)

    async def _answer_early(self, request, bot):
        assert request.body == b""
        return self._early

    def broadcast(self, method, request, bot):
        self.broadcasts.append(request)
        return SimpleNamespace(results_async=self._results)

    async def _results(self):
        return [Response(200, [], b"x 1\n", "a"), Response(200, [], b"x 2\n", "b")]

    def options(self, *, multiplexed_model_id):
        self.models.append(multiplexed_model_id)
        return self

    @property
    def forward(self):
        return self

    async def remote(self, request, bot):
        self.asked.append((request, bot))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture(autouse=True)
def _without_ray(monkeypatch):
    monkeypatch.setattr(gateway, "is_lost", lambda error: isinstance(error, LostError))
    monkeypatch.setattr(gateway, "is_full", lambda error: isinstance(error, FullError))
    monkeypatch.setattr(gateway, "SECONDS_BETWEEN_TRIES", 0.0)


def scope(path, method="POST"):
    return {"type": "http", "method": method, "path": path, "headers": []}


def ask(handle, path, *parts, method="POST", seconds=5.0):
    """Return the status and the body of the response to a request whose body comes in parts."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    waiting.append({"type": "http.request", "body": b""})
    sent = []

    async def receive():
        if not waiting[0].get("more_body", False) and seconds < 1.0:
            await asyncio.sleep(60)
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Gateway(handle, 10, seconds).__serve_build_asgi_app__()(scope(path, method), receive, send))
    return sent[0]["status"], sent[1]["body"]


@pytest.mark.parametrize(
    ("path", "bot"),
    [
        ("/bots/shop/match", "shop"),
        ("/bots/shop/match/batch", "shop"),
        ("/bots", None),
        ("/readyz", None),
        ("/bots/", None),
    ],
)
def test_path_names_the_bot(path, bot):
    assert bot_of(AsgiRequest({"path": path}, b"")) == bot
    assert bot_of(AsgiRequest({"path": f"/chat{path}", "root_path": "/chat"}, b"")) == bot


@pytest.mark.parametrize(
    ("method", "path", "repeatable"),
    [
        ("POST", "/bots/shop/match", True),
        ("POST", "/bots/shop/match/batch", True),
        ("POST", "/bots/shop/fill", True),
        ("GET", "/bots/shop/intents", True),
        ("POST", "/bots/shop/chat", False),
        ("POST", "/bots/shop/feedback", False),
        ("POST", "/bots/rematch", False),
    ],
)
def test_requests_that_change_nothing_may_be_repeated(method, path, repeatable):
    assert may_repeat(AsgiRequest({"method": method, "path": path}, b"")) is repeatable


def test_request_goes_to_the_bot_of_its_path():
    handle = Handle(Response(200, [], b"{}"))

    assert ask(handle, "/bots/shop/match", b"ab", b"cd") == (200, b"{}")
    assert handle.models == ["shop"]
    ((request, bot),) = handle.asked
    assert (request.body, bot) == (b"abcd", "shop")


def test_request_that_lost_its_replica_is_repeated():
    handle = Handle(LostError(), LostError(), Response(200, [], b"{}"))

    assert ask(handle, "/bots/shop/match") == (200, b"{}")


def test_request_that_changes_something_is_not_repeated():
    handle = Handle(LostError(), Response(200, [], b"{}"))

    status, body = ask(handle, "/bots/shop/chat")

    assert (status, len(handle.asked)) == (503, 1)
    assert b"The replica that had begun to answer is gone." in body


@pytest.mark.parametrize(("status", "headers"), [(503, {b"content-type", b"retry-after"}), (413, {b"content-type"})])
def test_problem_that_passes_says_when_to_try_again(status, headers):
    answer = gateway._problem(status, "Why.")

    assert {name for name, _ in answer.headers} == headers


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        ask(Handle(ZeroDivisionError()), "/bots/shop/match")


def test_too_large_body_is_cut_after_the_limit():
    """The matchers refuse it; the gateway keeps no more of it than they need for that."""
    handle = Handle(Response(413, [], b"{}"))

    ask(handle, "/bots/shop/match", b"x" * 8, b"x" * 8, b"x" * 8)

    assert len(handle.asked[0][0].body) == 11


def test_slow_body_without_a_key_is_refused_at_once():
    """Such requests held all places of a gateway for ten seconds."""
    status, body = ask(Handle(early=Response(401, [], b"no key")), "/bots/shop/match", b"x", seconds=0.05)

    assert (status, body) == (401, b"no key")


def test_full_queue_of_the_replicas_is_503():
    status, body = ask(Handle(FullError()), "/bots/shop/match")

    assert (status, b"Too many requests wait" in body) == (503, True)


@pytest.mark.parametrize(("method", "path"), [("GET", "/metrics"), ("POST", "/reload"), ("POST", "/bots/shop/reload")])
def test_refused_caller_costs_one_replica_alone(method, path):
    refused, let_in = Handle(Response(401, [], b"no key")), Handle(Response(200, [], b"x 1\n"))

    assert ask(refused, path, method=method)[0] == 401
    assert ask(let_in, path, method=method)[0] == 200
    assert (len(refused.broadcasts), len(let_in.broadcasts)) == (0, 1)


def test_slow_body_is_refused():
    status, body = ask(Handle(), "/bots/shop/match", b"x", seconds=0.05)

    assert (status, b"not complete after 0.05 seconds" in body) == (408, True)
