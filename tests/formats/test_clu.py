"""Tests for CLU projects: UTF-16 offsets, entity components, tests, the fallback and losses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, bare, contract

from intentmatch import formats
from intentmatch.core.types import Case, Intent, Mark, Registry, Slot, Utterance
from intentmatch.formats.clu import FORMAT

PROJECT: dict[str, Any] = {
    "projectFileVersion": "2023-04-01",
    "stringIndexType": "Utf16CodeUnit",
    "metadata": {"projectKind": "Conversation", "multilingual": True, "language": "de"},
    "assets": {
        "intents": [{"category": "None"}, {"category": "Order"}],
        "entities": [
            {
                "category": "Size",
                "list": {"sublists": [{"listKey": "large", "synonyms": [{"language": "fr", "values": ["grande"]}]}]},
            },
            {"category": "Id", "regex": {"expressions": [{"language": "de", "regexPattern": "[A-Z]{2}\\d"}]}},
            {"category": "When", "prebuilts": [{"category": "DateTime"}]},
        ],
        "utterances": [
            {
                "text": "🍕🍕 large, bitte",
                "intent": "Order",
                "language": "de",
                "dataset": "Train",
                "entities": [{"category": "Size", "offset": 5, "length": 5}],
            },
            {"text": "une grande pizza", "intent": "Order", "language": "fr", "dataset": "Test", "entities": []},
        ],
    },
}


PREVIEW: dict[str, Any] = {
    "api-version": "2021-11-01-preview",
    "metadata": {"name": "pizza", "modelType": "Conversation", "multiLingual": True, "language": "de"},
    "assets": {
        "intents": [{"name": "None"}, {"name": "Order"}],
        "entities": [{"name": "Size"}, {"name": "When", "prebuilts": [{"name": "DateTime"}]}],
        "examples": [
            {
                "text": "🍕🍕 large, bitte",
                "intent": "Order",
                "language": "de",
                "entities": [{"entityName": "Size", "position": 5, "length": 5}],
            },
            {"text": "une grande pizza", "intent": "Order", "language": "fr", "dataset": "Test"},
        ],
    },
}
"""The same project with the keys of the previews of 2021."""


SUBJECTS = [Subject(FORMAT, {"project.json": one}, language="en") for one in (PROJECT, PREVIEW)]
test_obeys_contract = contract(*SUBJECTS, ids=["2023", "2021"])


def read(tmp_path: Path, project: dict[str, Any]) -> formats.Imported:
    file = tmp_path / "project.json"
    file.write_text(json.dumps(project), encoding="utf-8")
    return formats.read(file)


def rules(found: formats.Imported) -> list[str]:
    return [problem.rule for problem in found.problems]


def test_offsets_count_utf16_units(tmp_path):
    found = read(tmp_path, PROJECT)

    (line,) = found.registry["Order"].utterances
    assert line.template == "🍕🍕 {Size=large}, bitte"
    assert line.language == "de"


@pytest.mark.parametrize("version", ["api-version", "projectFileVersion", "schemaVersion", None])
def test_previews_of_2021_are_read(tmp_path, version):
    """With or without a version; a test stays a test, and a synonym keeps its language."""
    project = {key: value for key, value in PREVIEW.items() if key != "api-version"}
    found = read(tmp_path, {version: "2021-11-01-preview", **project} if version else project)

    assert found.format == "clu"
    assert [(line.template, line.language) for line in found.registry.utterances] == [
        ("🍕🍕 {Size=large}, bitte", "de")
    ]
    assert [(case.text, case.expected) for case in found.registry.tests] == [("une grande pizza", "Order")]
    assert {slot.name: slot.kind for slot in found.registry.slots} == {"Size": "list", "When": "datetime"}


@pytest.mark.parametrize("label", [{"category": "Size", "offset": 5}, {"name": "Size", "startPosition": 5}])
def test_labels_of_previews_have_any_of_their_keys(tmp_path, label):
    project = copy.deepcopy(PREVIEW)
    project["assets"]["examples"][0]["entities"] = [{**label, "length": 5}]

    assert read(tmp_path, project).registry.utterances[0].template == "🍕🍕 {Size=large}, bitte"


def test_mistake_in_a_preview_is_reported_with_its_location(tmp_path):
    project = copy.deepcopy(PREVIEW)
    project["assets"]["examples"][0]["entities"][0]["position"] = "five"
    (problem,) = [one for one in read(tmp_path, project).problems if one.rule == "wrong-type"]

    assert problem.message == "`position` should be a number but is text; it is ignored"
    assert problem.location.column > 100


def test_offsets_may_count_characters(tmp_path):
    project = copy.deepcopy(PROJECT)
    project["stringIndexType"] = "UnicodeCodePoint"
    project["assets"]["utterances"][0]["entities"][0]["offset"] = 3

    assert read(tmp_path, project).registry["Order"].utterances[0].template == "🍕🍕 {Size=large}, bitte"


def test_entity_components_become_slot_kinds(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path, PROJECT).registry.slots}

    assert [(v.value, v.synonyms) for v in slots["Size"].values] == [("large", (Utterance("grande", "fr"),))]
    assert slots["Id"].patterns == ("[A-Z]{2}\\d",)
    assert slots["When"].kind == "datetime"


def test_test_set_becomes_tests_and_empty_fallback_is_no_intent(tmp_path):
    """Tests of the intent None are out of scope."""
    project = copy.deepcopy(PROJECT)
    project["assets"]["utterances"].append({"text": "hm", "intent": "None", "dataset": "Test"})
    found = read(tmp_path, project)

    assert [intent.name for intent in found.registry] == ["Order"]
    assert [(case.text, case.expected, case.language) for case in found.registry.tests] == [
        ("une grande pizza", "Order", "fr"),
        ("hm", None, "de"),
    ]


def test_fallback_with_utterances_is_an_intent_and_reported(tmp_path):
    project = copy.deepcopy(PROJECT)
    project["assets"]["utterances"] += [
        {"text": "hm", "intent": "None", "dataset": "Train"},
        {"text": "oh", "intent": "None", "dataset": "Test"},
    ]
    found = read(tmp_path, project)

    assert [utterance.text for utterance in found.registry["None"].utterances] == ["hm"]
    assert found.registry.tests[-1].expected == "None"
    assert "fallback-intent" in rules(found)


def test_unsupported_content_is_reported(tmp_path):
    project = copy.deepcopy(PROJECT)
    project["metadata"] |= {"projectKind": "Orchestration", "settings": {"confidenceThreshold": 0.7}}
    project["assets"]["entities"][0]["prebuilts"] = [{"category": "Quantity.Number"}]
    found = read(tmp_path, project)

    messages = [problem.message for problem in found.problems if problem.rule == "not-expressed"]
    assert any("confidence threshold 0.7" in message for message in messages)
    assert any("only the first is imported" in message for message in messages)
    assert any("target projects" in message for message in messages)


def test_unmarked_list_is_attached_to_intents_that_mention_it(tmp_path):
    project = copy.deepcopy(PROJECT)
    project["assets"]["utterances"][0]["entities"] = []
    found = read(tmp_path, project)

    assert [slot.name for slot in found.registry["Order"].slots] == ["Size"]
    assert "attached-slot" in rules(found)
    assert "unused-slot" in rules(found)


def test_utterances_without_language_are_written_in_main_language(tmp_path):
    registry = Registry(
        (
            Intent(
                "first",
                (Utterance("hallo", "de"), Utterance("tach", "de"), Utterance("hi")),
            ),
        )
    )
    problems = formats.write(registry, "clu", tmp_path / "project.json")

    assert [utterance.language for utterance in formats.read(tmp_path / "project.json").registry.utterances] == [
        "de"
    ] * 3
    assert [problem.rule for problem in problems] == ["not-expressed"]


def test_emoji_tests_and_kinds_round_trip(tmp_path):
    """A test that expects several intents is reported as lost."""
    line = Utterance("🍕 für 4", "de", None, "🍕 für {persons=4}", (Mark("persons", 6, 7),))
    slot = Slot("persons", "number")
    cases = (Case("hm", None, "de"), Case("zwei", "first", "de"))
    registry = Registry((Intent("first", (line,), slots=(slot,)),), slots=(slot,), tests=cases)
    asked = Registry(registry.intents, slots=registry.slots, tests=(*cases, Case("?", ("first", "second"), "de")))
    problems = formats.write(asked, "clu", tmp_path / "project.json")

    assert bare(formats.read(tmp_path / "project.json").registry) == registry
    assert ["several intents" in problem.message for problem in problems] == [True]
