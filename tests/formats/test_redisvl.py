"""Tests for RedisVL: routes, distance thresholds, and what is not imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, contract

from intentmatch import formats
from intentmatch.formats.redisvl import FORMAT

# Written by `SemanticRouter.to_yaml` of redisvl 0.28.0.
YAML = """\
name: topic-router
routes:
- name: technology
  references:
  - what are the latest advancements in AI?
  - 'tell me about: gadgets'
  metadata:
    category: tech
    priority: 1
  distance_threshold: 0.71
- name: sports
  references:
  - who won the game last night?
  metadata: {}
  distance_threshold: 0.5
vectorizer:
  type: custom
  model: custom
routing_config:
  max_k: 2
  aggregation_method: avg
"""
DICT: dict[str, Any] = {
    "name": "topic-router",
    "routes": [{"name": "sports", "references": ["who won?"], "metadata": {}, "distance_threshold": 0.5}],
    "vectorizer": {"type": "hf", "model": "sentence-transformers/all-mpnet-base-v2"},
    "routing_config": {"max_k": 1, "aggregation_method": "avg"},
}
SUBJECTS = [Subject(FORMAT, {"router.yaml": YAML}), Subject(FORMAT, {"router.json": DICT})]
test_obeys_contract = contract(*SUBJECTS, ids=["yaml", "json"])


def read(tmp_path: Path, router: dict[str, Any] | str) -> formats.Imported:
    file = tmp_path / "router.yaml"
    file.write_text(router if isinstance(router, str) else json.dumps(router), encoding="utf-8")
    return formats.read(file)


def test_route_becomes_an_intent(tmp_path: Path) -> None:
    """With its metadata; a distance becomes a similarity, and the default distance is none."""
    found = read(tmp_path, YAML)

    assert found.format == "redisvl"
    assert [(intent.name, intent.threshold, intent.metadata) for intent in found.registry] == [
        ("technology", 0.29, {"category": "tech", "priority": 1}),
        ("sports", None, {}),
    ]
    assert [(line.text, line.location.line) for line in found.registry.utterances] == [
        ("what are the latest advancements in AI?", 5),
        ("tell me about: gadgets", 6),
        ("who won the game last night?", 13),
    ]
    assert [(problem.rule, problem.location.line) for problem in found.problems] == [("foreign-threshold", 10)]
    assert "imported as 1 minus the distance" in found.problems[0].message


def test_router_without_references_is_told_by_its_settings(tmp_path: Path) -> None:
    """Every route is empty; the format is known all the same."""
    found = read(tmp_path, {**DICT, "routes": [{"name": "sports"}]})

    assert found.format == "redisvl"
    assert [len(intent.utterances) for intent in found.registry] == [0]
