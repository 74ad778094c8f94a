"""Tests for Watson Assistant: entities, mentions, counterexamples and the dialog."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, contract

from intentmatch import formats
from intentmatch.formats.watson import FORMAT

WORKSPACE: dict[str, Any] = {
    "name": "pizza",
    "language": "en",
    "intents": [
        {
            "intent": "order",
            "description": "Orders.",
            "examples": [
                {"text": "a small one", "mentions": [{"entity": "size", "location": [2, 7]}]},
                {"text": "one in @size, mail me@size.org"},
            ],
        },
        {"intent": "bye", "examples": [{"text": "bye"}]},
    ],
    "entities": [
        {"entity": "size", "values": [{"type": "synonyms", "value": "small", "synonyms": ["tiny"]}]},
        {"entity": "code", "values": [{"type": "patterns", "value": "any", "patterns": ["[A-Z]{2}"]}]},
        {"entity": "sys-number", "values": []},
    ],
    "counterexamples": [{"text": "what a day"}],
    "dialog_nodes": [
        {"dialog_node": "n1", "type": "frame", "conditions": "#order", "output": {"text": {"values": ["Coming."]}}},
        {"dialog_node": "n2", "type": "slot", "parent": "n1", "variable": "$size"},
        {"dialog_node": "n3", "parent": "n2", "event_name": "input", "conditions": "@size"},
        {"dialog_node": "n4", "parent": "n2", "event_name": "focus", "output": {"text": "Which size?"}},
        {
            "dialog_node": "n5",
            "conditions": "#bye",
            "output": {"generic": [{"response_type": "text", "values": [{"text": "Bye!"}, {"text": "Ciao!"}]}]},
        },
        {"dialog_node": "n6", "conditions": "#unknown", "output": {"text": "What?"}},
        {"dialog_node": "n7", "conditions": "#bye && @size", "output": {"text": "No."}},
    ],
}


_FEW = {key: WORKSPACE[key][:1] for key in ("intents", "entities", "counterexamples")}
SMALL = {**WORKSPACE, **_FEW, "dialog_nodes": WORKSPACE["dialog_nodes"][:4]}
test_obeys_contract = contract(Subject(FORMAT, {"workspace.json": SMALL}))


def read(tmp_path: Path, **more: Any) -> formats.Imported:
    file = tmp_path / "workspace.json"
    file.write_text(json.dumps({**copy.deepcopy(WORKSPACE), **more}), encoding="utf-8")
    return formats.read(file)


def test_examples_become_utterances_with_entities(tmp_path):
    found = read(tmp_path)

    assert [line.template for line in found.registry["order"].utterances] == [
        "a {size=small} one",
        "one in {size}, mail me@size.org",
    ]
    assert found.registry["order"].description == "Orders."
    assert found.registry.languages == ("en",)


def test_entities_become_slots(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path).registry.slots}

    assert [(value.value, value.synonyms[0].text) for value in slots["size"].values] == [("small", "tiny")]
    assert slots["code"].patterns == ("[A-Z]{2}",)
    assert slots["sys-number"].kind == "number"


def test_counterexamples_become_out_of_scope_tests(tmp_path):
    assert [(case.text, case.expected) for case in read(tmp_path).registry.tests] == [("what a day", None)]


def test_dialog_responses_and_required_slots_are_imported(tmp_path):
    """Nodes with further conditions are not; the number of nodes is reported."""
    found = read(tmp_path)
    (size,) = found.registry["order"].slots

    assert found.registry["order"].responses == {"en": "Coming."}
    assert found.registry["bye"].responses == {"en": "Bye!"}
    assert (size.required, size.questions) == (True, {"en": "Which size?"})
    assert "unknown" not in found.registry
    assert any("of 7 dialog nodes" in problem.message for problem in found.problems)


def test_values_win_over_patterns_of_one_entity(tmp_path):
    mixed = [{"entity": "x", "values": [{"value": "a"}, {"value": "b", "patterns": ["[0-9]"]}]}]
    found = read(tmp_path, entities=mixed)

    assert [value.value for value in found.registry.slots[0].values] == ["a"]
    assert any("values and patterns" in problem.message for problem in found.problems)


def test_mention_without_position_is_skipped(tmp_path):
    intents = [{"intent": "a", "examples": [{"text": "hi", "mentions": [{"entity": "size", "location": [1]}]}]}]
    found = read(tmp_path, intents=intents)

    assert [line.text for line in found.registry["a"].utterances] == ["hi"]
    assert "bad-label" in {problem.rule for problem in found.problems}
