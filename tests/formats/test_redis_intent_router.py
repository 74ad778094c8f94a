"""Tests for the Redis Intent Router: definitions, pages of lists, targets and least scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, contract

from intentmatch import formats
from intentmatch.formats.redis_intent_router import FORMAT

# Written by `AddIntentsRequestContent.model_dump_json` of redis-intent-router 0.1.0a1.
DEFINITIONS: dict[str, Any] = {
    "intents": [
        {
            "name": "track_order",
            "description": "Where an order is.",
            "target": {"type": "tool", "ref": "orders.track", "args": {"region": "eu"}},
            "minScore": 0.75,
            "metadata": {"owner": "support"},
            "examples": ["where is my order", "track my package"],
        },
        {"name": "refund", "examples": ["i want a refund"]},
    ]
}
TIMES = {"createdAt": "2026-11-03T15:26:57Z", "updatedAt": "2026-11-03T15:26:57Z", "revision": "r1"}
INTENTS = {"items": [{"name": "refund", "exampleCount": 2, **TIMES}, {"name": "other", "exampleCount": 0, **TIMES}]}
EXAMPLES = {
    "items": [
        {"exampleId": "ex_1", "intentName": "refund", "text": "i want a refund"},
        {"exampleId": "ex_2", "intentName": "refund", "text": "refund my purchase"},
    ]
}
ROUTER = {
    "routerId": "rtr_1",
    "name": "support",
    "state": "READY",
    "vectorSpace": {"provider": "x", "model": "y", "dimensions": 3},
    "minScore": 0.6,
}
SUBJECTS = [
    Subject(FORMAT, {"intents.json": json.dumps(DEFINITIONS)}),
    Subject(
        FORMAT,
        {
            "examples.json": json.dumps(EXAMPLES),
            "intents.json": json.dumps(INTENTS),
            "router.json": json.dumps(ROUTER),
        },
    ),
]
test_obeys_contract = contract(*SUBJECTS, ids=["definitions", "lists"])


def read(folder: Path, **files: Any) -> formats.Imported:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return formats.read(folder)


def test_definition_becomes_an_intent(tmp_path: Path) -> None:
    """The target is metadata, the least score a threshold."""
    found = read(tmp_path, intents=DEFINITIONS)
    track, refund = found.registry.intents

    assert found.format == "redis-intent-router"
    assert [line.text for line in track.utterances] == ["where is my order", "track my package"]
    assert (track.description, track.threshold) == ("Where an order is.", 0.75)
    assert track.metadata == {
        "owner": "support",
        "target": {"type": "tool", "ref": "orders.track", "args": {"region": "eu"}},
    }
    assert (refund.threshold, refund.metadata) == (None, {})
    assert [(problem.rule, problem.location.line) for problem in found.problems] == [("foreign-threshold", 13)]


def test_definitions_without_targets_are_recognised(tmp_path: Path) -> None:
    assert read(tmp_path, intents={"intents": DEFINITIONS["intents"][1:]}).format == "redis-intent-router"


def test_least_score_of_python_client_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, intents={"intents": [{"name": "a", "examples": ["x"], "min_score": 0.8}]})

    assert found.registry["a"].threshold == 0.8


def test_lists_are_joined(tmp_path: Path) -> None:
    """Intents without examples and the examples, in any order of files; the bookkeeping is no loss."""
    found = read(tmp_path, a_examples=EXAMPLES, b_intents=INTENTS)

    assert [(i.name, [u.text for u in i.utterances]) for i in found.registry] == [
        ("refund", ["i want a refund", "refund my purchase"]),
        ("other", []),
    ]
    assert found.problems == ()


@pytest.mark.parametrize(("least", "threshold"), [(0.6, 0.6), (0.7, None)])
def test_least_score_of_the_router_is_that_of_its_intents(
    tmp_path: Path, least: float, threshold: float | None
) -> None:
    """Unless it is the default, or an intent has its own."""
    found = read(tmp_path, intents=DEFINITIONS, router={**ROUTER, "minScore": least})

    assert [intent.threshold for intent in found.registry] == [0.75, threshold]


def test_missing_examples_and_pages_are_reported(tmp_path: Path) -> None:
    found = read(tmp_path, intents={**INTENTS, "nextCursor": "abc"})

    assert [(problem.rule, problem.message) for problem in found.problems] == [
        ("no-examples", "the 2 examples of 'refund' are not in the files"),
        ("missing-page", "this is only a page of a list; its other pages are missing"),
    ]


def test_examples_of_python_client_are_read(tmp_path: Path) -> None:
    """With the names of its fields instead of those of the API."""
    examples = [{"example_id": "ex_1", "intent_name": "refund", "text": "i want a refund"}]
    found = read(tmp_path, examples={"items": examples})

    assert found.format == "redis-intent-router"
    assert [line.text for line in found.registry["refund"].utterances] == ["i want a refund"]
