"""The example for semantic-router, in the framework's chain and evaluation."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance, formats

pytest.importorskip("semantic_router", reason="needs the package `semantic-router`")

from contracts.format import bare
from contracts.order_bot import load_example, talk_to_example
from semantic_router import Chain, DecisionRouter, IndexedRouter, Merge, Route
from semantic_router.decision_models import TypeSafeDecisionModel
from semantic_router.encoders import DenseEncoder
from semantic_router.routers.base import BaseRouter


@pytest.fixture
def router() -> Any:
    intents = (
        Intent("status", (Utterance("where is my order"),), description="Where an order is."),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
    )
    matcher = Matcher.load(Registry(intents), encoder=WordHashEncoder(), cache="off", margin=0.4)
    return load_example("semantic_router/bot.py").IntentRouter(matcher)


def test_routes_are_the_intents(router):
    """With the description and utterances of their author."""
    assert [route.name for route in router.routes] == ["status", "mute", "unmute"]
    assert router.routes[0] == Route(name="status", description="Where an order is.", utterances=["where is my order"])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("where is my order", {"status"}),
        ("sound now", {"mute", "unmute"}),
        ("penguins", set()),
        ("", set()),
    ],
)
def test_router_decides_as_the_matcher_does(router, message, expected):
    """One route, several, or none; the same sync and async."""
    assert {choice.name for choice in router(message, limit=None)} == expected
    assert {choice.name for choice in asyncio.run(router.acall(message, limit=None))} == expected
    assert (router(message).name is None) == (not expected)


def test_evaluation_of_router_matches_messages_together(router):
    sizes = []
    match_many = router.matcher.match_many
    router.matcher.match_many = lambda messages: (sizes.append(len(messages)), match_many(messages))[1]

    assert router.evaluate(["where is my order", "penguins"], ["status", None]) == 1.0
    assert sizes == [2]


def test_chain_asks_next_router_only_if_no_route_is_accepted(router):
    asked = []

    class Model(BaseRouter):
        async def _scores(self, query: str) -> dict[str, float]:
            asked.append(query)
            return {"mute": 1.0}

    chain = Chain([router, Model([Route(name="mute")])])

    assert [chain("where is my order").name, chain("penguins").name] == ["status", "mute"]
    assert asked == ["penguins"]


def test_example_holds_its_conversation(tmp_path):
    """In two languages."""
    messages = "wo ist meine Bestellung", "cancel my order", "my order", "what do penguins eat"
    printed = talk_to_example("semantic_router/bot.py", *messages, folder=tmp_path)

    first, second, third, fourth = (line.removeprefix("> ") for line in printed.splitlines()[:-1])
    assert (first, second, fourth) == ("order_status", "order_cancel", "none of them")
    assert set(third.split(" or ")) == {"order_status", "order_cancel"}


class Words(DenseEncoder):
    """An encoder without a model."""

    name: str = "words"

    def __call__(self, docs: list[Any]) -> list[list[float]]:
        return [[float(len(str(doc))), 1.0] for doc in docs]


ROUTES = [
    Route(
        name="status",
        utterances=["where is my order", "track it: now"],
        description="Where an order is.",
        confidence_threshold=0.4,
        metadata={"team": "one", "count": 2},
    ),
    Route(name="greet", utterances=["hello"]),
]


@pytest.mark.parametrize("kind", ["indexed", "decision", "chain", "merge", "routes"])
def test_live_router_is_read_as_its_file(tmp_path, kind):
    """With the routers of a chain; a list of routes is a router too."""
    decision = DecisionRouter(TypeSafeDecisionModel(api_key="x"), ROUTES, confidence_threshold=0.2)
    indexed = IndexedRouter(Words(), ROUTES, confidence_threshold=0.2)
    other = DecisionRouter(TypeSafeDecisionModel(api_key="x"), [Route(name="other", utterances=["x y"])])
    router = {
        "indexed": indexed,
        "decision": decision,
        "chain": Chain([decision, other]),
        "merge": Merge([decision, other]),
        "routes": ROUTES,
    }[kind]
    saved = router if kind in ("chain", "merge", "decision") else decision
    saved.to_yaml(tmp_path / "router.yaml")
    found = formats.read_object(router, "shop:router").registry
    expected = formats.read(tmp_path / "router.yaml").registry

    assert [u.text for u in found["status"].utterances] == ["where is my order", "track it: now"]
    if kind == "routes":
        assert [intent.threshold for intent in found] == [0.4, None]
    else:
        assert bare(found) == bare(expected)


def test_command_imports_live_router(tmp_path):
    """The module lies in the current folder."""
    (tmp_path / "shop_routes.py").write_text(
        "from semantic_router import Route\n"
        "routes = [Route(name='status', utterances=['where is my order', b'an image'])]\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "intentmatch", "import", "shop_routes:routes", "-o", "intents"],
        env={**os.environ, "PYTHONUTF8": "1"}, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "shop_routes:routes[0].utterances[1]:1:1: warning [wrong-type]" in done.stdout
    assert "where is my order" in (tmp_path / "intents" / "intents.yaml").read_text(encoding="utf-8")
