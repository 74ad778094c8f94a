"""Tests for semantic-router: both versions, nested routers, thresholds and losses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, contract

from intentmatch import Intent, Registry, Utterance, formats
from intentmatch.formats.semantic_router import FORMAT

OLD = """\
encoder_type: openai
encoder_name: text-embedding-3-small
routes:
- name: get_time
  utterances:
  - what is the time in London?
  - "I live in Rome: what time is it?"
  description: null
  function_schema: {name: get_time}
  llm: {module: semantic_router.llms.openai, class: OpenAILLM, model: gpt-4}
  score_threshold: 0.82
"""
INDEXED: dict[str, Any] = {
    "router_type": "indexed",
    "encoder": {"type": "openai"},
    "confidence_threshold": 0.35,
    "routes": [
        {"name": "politics", "utterances": ["who will win?"], "metadata": {"team": "news", "n": 2}},
        {"name": "weather", "utterances": ["will it rain?"], "confidence_threshold": 0.5, "description": "The sky."},
    ],
}
SUBJECTS = [
    Subject(FORMAT, {"layer.yaml": OLD}),
    Subject(FORMAT, {"router.json": INDEXED}, "router.json"),
]
test_obeys_contract = contract(*SUBJECTS, ids=["0.x", "1.x"])


def read(tmp_path: Path, router: dict[str, Any] | str) -> formats.Imported:
    file = tmp_path / "router.yaml"
    file.write_text(router if isinstance(router, str) else json.dumps(router), encoding="utf-8")
    return formats.read(file)


def test_route_of_0_x_becomes_intent_with_threshold_and_function(tmp_path):
    found = read(tmp_path, OLD)
    (intent,) = found.registry.intents

    assert (intent.name, intent.threshold, intent.description) == ("get_time", 0.82, None)
    assert [u.text for u in intent.utterances] == ["what is the time in London?", "I live in Rome: what time is it?"]
    assert intent.metadata == {"function_schema": {"name": "get_time"}}
    assert [(p.rule, p.location.line) for p in found.problems] == [("not-expressed", 10), ("foreign-threshold", 11)]


def test_route_inherits_threshold_of_its_router(tmp_path):
    found = read(tmp_path, INDEXED).registry

    assert [intent.threshold for intent in found] == [0.35, 0.5]
    assert found["weather"].description == "The sky."
    assert found["politics"].metadata == {"team": "news", "n": 2}


def test_routers_of_a_chain_are_merged(tmp_path):
    other = {"router_type": "decision", "routes": [{"name": "politics", "description": "Power."}, {"name": "art"}]}
    found = read(tmp_path, {"router_type": "chain", "routers": [INDEXED, other]}).registry

    assert [(intent.name, len(intent.utterances)) for intent in found] == [("politics", 1), ("weather", 1), ("art", 0)]
    assert found["politics"].description == "Power."


def test_threshold_on_the_confidence_is_a_loss(tmp_path):
    registry = Registry((Intent("a", (Utterance("hello"),), threshold="90%"),))

    problems = formats.write(registry, "semantic-router", tmp_path / "out.json")

    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["routes"][0]["confidence_threshold"] is None
    assert "this format cannot express the threshold 90% of 'a' on the confidence" in [p.message for p in problems]


def test_export_writes_an_indexed_router_of_1_x(tmp_path):
    problems = formats.write(read(tmp_path, OLD).registry, "semantic-router", tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    assert written["router_type"] == "indexed"
    assert set(written["encoder"]) == {"type", "name"}
    assert written["routes"][0] == {
        "name": "get_time",
        "utterances": ["what is the time in London?", "I live in Rome: what time is it?"],
        "description": None,
        "confidence_threshold": 0.82,
        "metadata": {"function_schema": {"name": "get_time"}},
    }
    assert [(problem.severity, problem.rule) for problem in problems] == [("info", "encoder")]
