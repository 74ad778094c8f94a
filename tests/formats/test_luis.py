"""Tests for LUIS apps: entities of all versions, nested labels, roles, patterns and losses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, contract, messages

from intentmatch import formats
from intentmatch.formats.luis import FORMAT


def label(entity: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"entity": entity, "startPos": start, "endPos": end, **more}


APP: dict[str, Any] = {
    "luis_schema_version": "7.0.0",
    "culture": "en-us",
    "intents": [{"name": "Fly"}, {"name": "None"}],
    "entities": [
        {
            "name": "trip",
            "roles": [],
            "children": [
                {"name": "start", "children": [], "features": [{"modelName": "city", "isRequired": True}]},
                {"name": "seats", "instanceOf": "number", "children": []},
            ],
        }
    ],
    "closedLists": [{"name": "city", "subLists": [{"canonicalForm": "Rome", "list": ["Roma"]}], "roles": ["to"]}],
    "regex_entities": [{"name": "code", "regexPattern": "[A-Z]{2}", "roles": []}],
    "prebuiltEntities": [{"name": "number", "roles": []}],
    "patternAnyEntities": [{"name": "name", "explicitList": ["a of b"]}],
    "utterances": [
        {
            "text": "🛫 from Rome with 4",
            "intent": "Fly",
            "entities": [
                label("trip", 3, 18, children=[label("start", 8, 11), label("seats", 18, 18)]),
            ],
        },
        {"text": "to Rome", "intent": "Fly", "entities": [label("city", 3, 6, role="to")]},
    ],
    "patterns": [{"pattern": "[please] fly {name} to {city:to} (now|soon)", "intent": "Fly"}],
}


SMALL = {**APP, "prebuiltEntities": [], "patternAnyEntities": [], "utterances": APP["utterances"][1:]}
test_obeys_contract = contract(Subject(FORMAT, {"app.json": SMALL}))


def read(tmp_path: Path, **more: Any) -> formats.Imported:
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**APP, **more}), encoding="utf-8")
    return formats.read(file)


def templates(found: formats.Imported) -> list[str]:
    return [line.template or line.text for line in found.registry["Fly"].utterances]


def test_innermost_labels_are_kept(tmp_path):
    """Positions count UTF-16 units, and the end is inclusive."""
    found = read(tmp_path)

    assert templates(found)[0] == "🛫 from {start=Rome} with {seats=4}"
    assert "labels of 'trip' contain other labels" in messages(found)


def test_roles_and_parts_become_slots_with_values_of_their_entity(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path).registry.slots}

    assert [slots[name].values[0].value for name in ("start", "to")] == ["Rome", "Rome"]
    assert slots["seats"].kind == "number"
    assert slots["name"].kind == "any"
    assert slots["code"].patterns == ("[A-Z]{2}",)


def test_patterns_become_templates(tmp_path):
    assert templates(read(tmp_path))[-1] == "[please] fly {name} to {to} (now|soon)"


def test_flat_labels_may_be_nested_by_position(tmp_path):
    """Of two labels at one position, the first is kept."""
    labels = [label("size", 3, 6), label("kind", 3, 6), label("order", 0, 6)]
    found = read(tmp_path, utterances=[{"text": "to Rome", "intent": "Fly", "entities": labels}], entities=[])

    assert templates(found)[0] == "to {size=Rome}"


def test_entities_of_first_versions_may_be_plain_names(tmp_path):
    labels = [label("Place::To", 3, 6)]
    first = {
        "bing_entities": ["number"],
        "entities": [{"name": "Place", "children": ["To"]}],
        "utterances": [{"text": "to Rome", "intent": "Fly", "entities": labels}],
    }
    found = read(tmp_path, **first)

    assert templates(found)[0] == "to {Place_To=Rome}"
    assert "number" in {slot.name for slot in found.registry.slots}


def test_unsupported_content_is_reported(tmp_path):
    found = read(tmp_path, composites=[{"name": "c", "children": ["city"]}], phraselists=[{"name": "p", "words": "a"}])

    assert "composite entities" in messages(found)
    assert "phrase lists" in messages(found)
    assert "explicit lists" in messages(found)
    assert "is a fallback intent" in messages(found)


def test_labels_without_valid_position_are_skipped(tmp_path):
    labels = [label("city", 30, 40), {"entity": "city"}, label("city", 6, 2)]
    found = read(tmp_path, utterances=[{"text": "to Rome", "intent": "Fly", "entities": labels}])

    assert templates(found)[0] == "to Rome"
    assert "bad-label" in {problem.rule for problem in found.problems}


def test_deeply_nested_labels_are_read(tmp_path):
    inner = label("e29", 3, 6)
    for number in range(28, -1, -1):
        inner = label(f"e{number}", 0, 6, children=[inner])
    found = read(tmp_path, utterances=[{"text": "to Rome", "intent": "Fly", "entities": [inner]}])

    assert templates(found)[0] == "to {e29=Rome}"
