"""Routers of RedisVL and intents of the Redis Intent Router, as the libraries themselves write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from contracts.format import bare

from intentmatch import formats

pytest.importorskip("redisvl", reason="needs the package `redisvl`")
pytest.importorskip("redis_intent_router", reason="needs the package `redis-intent-router`")

from redis_intent_router import models
from redisvl.extensions.router import Route, RoutingConfig, SemanticRouter
from redisvl.utils.vectorize import CustomVectorizer

ROUTES = [
    Route(
        name="status",
        references=["where is my order", "track it: now"],
        metadata={"team": "one", "count": 2},
        distance_threshold=0.3,
    ),
    Route(name="greet", references=["hello"]),
]


@pytest.fixture
def router() -> Any:
    """A router that was never stored: its constructor needs a server."""
    vectorizer = CustomVectorizer(embed=lambda text: [0.1, 0.2, 0.3])
    return SemanticRouter.model_construct(
        name="shop", routes=ROUTES, vectorizer=vectorizer, routing_config=RoutingConfig(max_k=2)
    )


def test_file_of_semantic_router_is_read(router: Any, tmp_path: Path) -> None:
    router.to_yaml(str(tmp_path / "router.yaml"))
    found = formats.read(tmp_path / "router.yaml")

    assert found.format == "redisvl"
    assert [(i.name, [u.text for u in i.utterances], i.threshold, i.metadata) for i in found.registry] == [
        ("status", ["where is my order", "track it: now"], 0.7, {"team": "one", "count": 2}),
        ("greet", ["hello"], None, {}),
    ]


@pytest.mark.parametrize("what", ["router", "dict", "routes"])
def test_live_router_is_read_as_its_file(router: Any, tmp_path: Path, what: str) -> None:
    """The router, the dict of `to_dict`, or the routes alone."""
    router.to_yaml(str(tmp_path / "router.yaml"))
    value = {"router": router, "dict": router.to_dict(), "routes": ROUTES}[what]
    found = formats.read_object(value, "shop:router")

    assert bare(found.registry) == bare(formats.read(tmp_path / "router.yaml").registry)
    places = {"shop:router[0].references[1]"} if what == "routes" else {"shop:router.routes[0].references[1]"}
    assert {found.registry["status"].utterances[1].location.path} == places


def test_request_and_responses_of_intent_router_are_read(tmp_path: Path) -> None:
    """The definitions, and the lists that the API returns for them."""
    target = models.Target(type="tool", ref="orders.track", args={"region": "eu"})
    definition = models.IntentDefinition(
        name="status", description="Where an order is.", target=target, min_score=0.75, metadata={"team": "one"},
        examples=["where is my order", "track it"],
    )  # fmt: skip
    request = models.AddIntentsRequestContent(intents=[definition])
    times = {"createdAt": "2026-11-03T15:26:57Z", "updatedAt": "2026-11-03T15:26:57Z", "revision": "r"}
    intents = models.ListIntentsResponseContent(
        items=[models.Intent(**{**definition.model_dump(exclude={"examples"}), "exampleCount": 2, **times})]
    )
    examples = models.ListExamplesResponseContent(
        items=[models.Example(exampleId="ex_1", intentName="status", text=text) for text in definition.examples]
    )
    (tmp_path / "request.json").write_text(request.model_dump_json())
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "intents.json").write_text(intents.model_dump_json())
    (tmp_path / "lists" / "examples.json").write_text(examples.model_dump_json())
    defined, listed = formats.read(tmp_path / "request.json"), formats.read(tmp_path / "lists")

    assert (defined.format, listed.format) == ("redis-intent-router", "redis-intent-router")
    assert bare(defined.registry) == bare(listed.registry)
    (intent,) = defined.registry.intents
    assert [line.text for line in intent.utterances] == ["where is my order", "track it"]
    assert (intent.threshold, intent.description) == (0.75, "Where an order is.")
    assert intent.metadata["target"] == {"type": "tool", "ref": "orders.track", "args": {"region": "eu"}}
