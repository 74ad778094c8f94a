"""Tests for live Python objects: each kind by its attributes, places, and objects that are no source of intents.

The classes of the libraries themselves are in tests/integrations.
"""

from __future__ import annotations

import datetime
import enum
from types import SimpleNamespace as Thing
from typing import Any

import pytest

from intentmatch import formats
from intentmatch.core.errors import InputError

EXAMPLES = [
    {"input": "where is my order", "output": "status"},
    {"input": "track it", "output": "status"},
    {"input": "hi", "output": "greet"},
]
EXPECTED = [("status", "where is my order"), ("status", "track it"), ("greet", "hi")]


def read(value: Any, **more: Any) -> formats.Imported:
    return formats.read_object(value, "shop:thing", **more)


def in_short(found: formats.Imported) -> list[tuple[str, str]]:
    return [(intent.name, line.text) for intent in found.registry for line in intent.utterances]


def aurelio(name: str, *utterances: Any, **more: Any) -> Thing:
    return Thing(name=name, utterances=list(utterances), description=None, metadata={}, **more)


def redisvl(name: str, *references: str, **more: Any) -> Thing:
    return Thing(name=name, references=list(references), metadata={}, **more)


AURELIO = [aurelio("status", "where is my order", "track it"), aurelio("greet", "hi")]
REDISVL = [redisvl("status", "where is my order", "track it"), redisvl("greet", "hi")]


def document(text: str, **metadata: Any) -> Thing:
    """A node of LlamaIndex."""
    return Thing(text=text, metadata=metadata, get_content=lambda: text)


NODES = [
    document("where is my order", intent="status"),
    document("track it", intent="status"),
    document("hi", intent="greet"),
]
STORE = Thing(docs={str(number): node for number, node in enumerate(NODES)})


class Stored:
    """A vector store of LangChain, which keeps examples as metadata."""

    in_memory = Thing(store={str(n): {"text": "x", "metadata": one} for n, one in enumerate(EXAMPLES)})
    faiss = Thing(
        docstore=Thing(_dict={str(n): Thing(page_content="x", metadata=one) for n, one in enumerate(EXAMPLES)})
    )
    chroma = Thing(get=lambda: {"ids": ["1"], "metadatas": EXAMPLES})


KINDS: dict[str, tuple[Any, str]] = {
    "semantic-router": (Thing(routes=AURELIO, confidence_threshold=None), "semantic-router"),
    "its routes": (AURELIO, "semantic-router"),
    "its routes as dicts": ([vars(route) for route in AURELIO], "semantic-router"),
    "a chain": (Thing(routers=[Thing(routes=AURELIO[:1]), Thing(routes=AURELIO[1:])], routes=[]), "semantic-router"),
    "redisvl": (Thing(routes=REDISVL), "redisvl"),
    "its routes ": (tuple(REDISVL), "redisvl"),
    "a prompt": (Thing(examples=EXAMPLES, example_selector=None, input_variables=["input"]), "few-shot"),
    "a selector": (Thing(examples=EXAMPLES), "few-shot"),
    "a prompt with a selector": (Thing(examples=None, example_selector=Thing(examples=EXAMPLES)), "few-shot"),
    "a chat prompt": (
        Thing(messages=["x", Thing(examples=EXAMPLES), Thing(prompt=1)], input_variables=["input"]),
        "few-shot",
    ),
    "a store in memory": (Thing(vectorstore=Stored.in_memory, input_keys=["input"]), "few-shot"),
    "a store of FAISS": (Thing(vectorstore=Stored.faiss, input_keys=None), "few-shot"),
    "a store of Chroma": (Thing(vectorstore=Stored.chroma), "few-shot"),
    "an index": (Thing(docstore=STORE), "few-shot"),
    "a retriever": (Thing(_docstore=STORE), "few-shot"),
    "another retriever": (Thing(_index=Thing(docstore=STORE)), "few-shot"),
    "nodes": (NODES, "few-shot"),
    "records": (EXAMPLES, "few-shot"),
    "known records": ([{"text": text, "intent": name} for name, text in EXPECTED], "few-shot"),
    "the content of a file": ({"routes": [vars(route) for route in REDISVL]}, "redisvl"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_object_is_recognised_by_its_attributes(kind: str) -> None:
    value, form = KINDS[kind]
    found = read(value)

    assert found.format == form
    assert in_short(found) == EXPECTED
    assert [problem for problem in found.problems if problem.severity != "info"] == []


def test_route_keeps_its_fields() -> None:
    route = aurelio("status", "hi", confidence_threshold=0.4, function_schemas=[{"name": "f"}])
    route.description, route.metadata = (
        "Where it is.",
        {"since": datetime.date(2026, 1, 2), "tags": ("a", 1, None, True)},
    )
    found = read(Thing(routes=[route, aurelio("greet", "hello")], confidence_threshold=0.2)).registry

    assert (found["status"].threshold, found["greet"].threshold) == (0.4, 0.2)
    assert found["status"].description == "Where it is."
    assert found["status"].metadata == {
        "since": "2026-01-02",
        "tags": ["a", 1, None, True],
        "function_schemas": [{"name": "f"}],
    }


def test_distance_of_a_route_becomes_a_similarity() -> None:
    assert read([redisvl("a", "hi", distance_threshold=0.3)]).registry["a"].threshold == 0.7


def test_keys_of_a_selector_are_its_example_keys() -> None:
    examples = [{**example, "secret": "x"} for example in EXAMPLES]
    store = Thing(store={str(n): {"metadata": one} for n, one in enumerate(examples)})
    found = read(Thing(vectorstore=store, example_keys=["input", "output"], input_keys=["input"]))

    assert in_short(found) == EXPECTED
    assert "secret" not in str(found.problems)


def test_columns_can_be_named() -> None:
    """For records with keys that say nothing."""
    found = read([{"a": "hi", "b": "greet"}], columns={"text": "a", "intent": "b"})

    assert in_short(found) == [("greet", "hi")]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (Thing(routes=AURELIO), "shop:thing.routes[0].utterances[1]"),
        (AURELIO, "shop:thing[0].utterances[1]"),
        ({"routes": [{"name": "status", "references": ["x", "track it"]}]}, "shop:thing.routes[0].references[1]"),
    ],
)
def test_places_name_the_part_of_the_object(value: Any, place: str) -> None:
    assert read(value).registry["status"].utterances[1].location.path == place


def test_key_that_is_no_identifier_is_quoted_in_its_place() -> None:
    class Odd(enum.Enum):
        THING = "odd"

    route = aurelio("a", "hi")
    route.metadata = {"a b": {1: object()}, "odd": Odd.THING}
    found = read([route])

    assert found.registry["a"].metadata == {"a b": {"1": {}}, "odd": "odd"}


def test_utterance_that_is_no_text_is_reported_with_its_place() -> None:
    """A route may have images."""
    found = read([aurelio("a", "hi", object(), b"image", llm=object())])

    assert in_short(found) == [("a", "hi")]
    assert [(problem.location.path, problem.rule) for problem in found.problems] == [
        ("shop:thing[0].llm", "not-expressed"),
        ("shop:thing[0].utterances[1]", "wrong-type"),
    ]


def function() -> None:
    """Makes a router."""


class Broken:
    @property
    def routes(self) -> Any:
        raise ConnectionError("no server")


CYCLE = Thing()
CYCLE._index = CYCLE
CHAIN = Thing()
CHAIN.routers = [CHAIN]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (7, "shop:thing is an object of builtins.int. Known are a router of semantic-router or RedisVL"),
        ("a text", "shop:thing is an object of builtins.str"),
        (None, "shop:thing is an object of builtins.NoneType"),
        ([], "shop:thing is an object of builtins.list"),
        ([1, 2], "shop:thing is an object of builtins.list"),
        (function, "shop:thing is a function; name what it returns"),
        (Broken(), "shop:thing cannot be read: ConnectionError: no server"),
        (Thing(vectorstore=object()), "shop:thing is an object of types.SimpleNamespace"),
        (Thing(messages=["x"]), "is an object of"),
        (Thing(routes={"a": 1}), "is an object of"),
        (Thing(routes=[]), "is an object of"),
        (Thing(routers=[Thing(routes=[])]), "is an object of"),
        (Thing(examples=["a"]), "is an object of"),
        (CYCLE, "is an object of"),
        (CHAIN, "is an object of"),
        ({"foo": 1}, r"shop:thing: unknown format\. shop:thing has the keys foo\."),
    ],
)
def test_other_objects_are_refused(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(value)


def test_value_that_contains_itself_is_cut() -> None:
    route = aurelio("a", "hi")
    route.metadata["again"] = route.metadata
    found = read([route])

    assert in_short(found) == [("a", "hi")]
