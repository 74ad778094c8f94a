"""Tests for Snips: YAML with marks, JSON datasets, shared entities and languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contracts.format import Subject, bare, contract

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.snips import FORMAT

TRAINING = """\
# two kinds of documents
---
type: intent
name: searchFlight
slots:
  - name: origin
    entity: city
  - name: when
    entity: snips/datetime
utterances:
  - find me a flight from [origin](Paris) to [destination:city](New York)
  - I need a flight leaving [when](this weekend)
  - show me flights from [origin] on [when](Monday)
---
type: entity
name: city
automatically_extensible: false
values:
  - london
  - [new york, big apple]
"""
DATASET = {
    "language": "fr",
    "intents": {
        "order": {
            "utterances": [
                {"data": [{"text": "un "}, {"text": "café", "entity": "drink", "slot_name": "what"}]},
                {"data": [{"text": "deux", "entity": "snips/number", "slot_name": "count"}, {"text": " [thés]"}]},
            ]
        }
    },
    "entities": {
        "drink": {
            "automatically_extensible": False,
            "use_synonyms": True,
            "matching_strictness": 1.0,
            "data": [{"value": "coffee", "synonyms": ["café", "kawa"]}],
        },
        "snips/number": {},
    },
}
JOVO = [{"path": [""], "content": DATASET}]
"""What `JovoModelSnips.fromJovoModel` returns."""
SUBJECTS = [
    Subject(FORMAT, {"train.yaml": TRAINING}),
    Subject(FORMAT, {"dataset.json": json.dumps(DATASET)}),
    Subject(FORMAT, {"jovo.json": json.dumps(JOVO)}),
]
test_obeys_contract = contract(*SUBJECTS, ids=["yaml", "json", "jovo"])


def read(tmp_path: Path, text: str, name: str = "train.yaml") -> formats.Imported:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return formats.read(tmp_path / name)


def test_marks_become_slot_values(tmp_path):
    first, second, third = read(tmp_path, TRAINING).registry["searchFlight"].utterances

    assert first.text == "find me a flight from Paris to New York"
    assert first.marks == (Mark("origin", 22, 27), Mark("destination", 31, 39))
    assert second.marks == (Mark("when", 24, 36),)
    assert (third.text, third.location.line) == ("show me flights from {origin} on {when=Monday}", 13)


def test_slots_of_one_entity_share_its_values(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path, TRAINING).registry.slots}

    assert {name: slot.kind for name, slot in slots.items()} == {
        "origin": "list",
        "destination": "list",
        "when": "datetime",
    }
    assert slots["origin"].values == slots["destination"].values
    assert [value.value for value in slots["origin"].values] == ["london", "new york"]
    assert [synonym.text for synonym in slots["origin"].values[1].synonyms] == ["big apple"]


def test_dataset_has_a_language_and_values_with_synonyms(tmp_path):
    found = read(tmp_path, json.dumps(DATASET), "dataset.json").registry
    first, second = found["order"].utterances

    assert (first.text, first.language, first.marks) == ("un café", "fr", (Mark("what", 3, 7),))
    assert (second.text, second.marks) == ("deux [thés]", (Mark("count", 0, 4),))
    assert {slot.name: slot.kind for slot in found.slots} == {"what": "list", "count": "number"}
    assert found.slots[0].values == (SlotValue("coffee", (Utterance("café", "fr"), Utterance("kawa", "fr"))),)


def test_undeclared_entity_takes_labelled_values_and_is_reported(tmp_path):
    found = read(tmp_path, "type: intent\nname: a\nutterances: ['to [city](Rome)', 'to [city](Oslo)']\n")

    assert [value.value for value in found.registry.slots[0].values] == ["Rome", "Oslo"]
    assert [problem.rule for problem in found.problems] == ["learned-slot"]


def test_slot_name_with_two_entities_becomes_two_slots(tmp_path):
    text = (
        "type: intent\nname: a\nutterances: ['go [where:city](Rome)']\n---\n"
        "type: intent\nname: b\nutterances: ['in the [where:room](kitchen)']\n"
    )
    found = read(tmp_path, text)

    assert [slot.name for slot in found.registry.slots] == ["where", "where_room"]
    assert [mark.slot for mark in found.registry["b"].utterances[0].marks] == ["where_room"]
    assert "renamed-slot" in [problem.rule for problem in found.problems]


@pytest.mark.parametrize(
    ("entity", "rule"),
    [
        ("automatically_extensible: true\nvalues: [a]", "extensible-entity"),
        ("automatically_extensible: false\nmatching_strictness: 0.8\nvalues: [a]", "not-expressed"),
    ],
)
def test_unsupported_options_are_reported(tmp_path, entity, rule):
    found = read(tmp_path, f"type: entity\nname: city\n{entity}\n")

    assert [problem.rule for problem in found.problems] == [rule]
    assert found.registry.slots[0].kind == "list"


def test_use_synonyms_false_makes_each_word_a_value(tmp_path):
    text = "type: entity\nname: city\nautomatically_extensible: no\nuse_synonyms: false\nvalues: [[a, b], c]\n"

    assert [value.value for value in read(tmp_path, text).registry.slots[0].values] == ["a", "b", "c"]


def test_extensible_entity_without_values_is_any(tmp_path):
    assert [slot.kind for slot in read(tmp_path, "type: entity\nname: title\nvalues: []\n").registry.slots] == ["any"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("type: intent\nname: a\nutterances: ['[city](Rome) or [else']\n", "bad-mark"),
        ("type: intent\nname: a\nutterances: [hello]\n---\ntype: dialogue\nname: b\n", "unknown-document"),
        ("type: intent\nname: a\nutterances: {x: y}\n", "wrong-type"),
    ],
)
def test_unreadable_parts_are_reported_and_the_rest_is_read(tmp_path, text, rule):
    found = read(tmp_path, text)

    assert rule in [problem.rule for problem in found.problems]
    assert [intent.name for intent in found.registry] == ["a"]


@pytest.mark.parametrize("piece", ["[", "[a](", "[a:", "[a:b](c"])
def test_long_line_is_parsed_in_linear_time(tmp_path, piece):
    found = read(tmp_path, f"type: intent\nname: a\nutterances: ['{piece * 30_000}']\n")

    assert len(found.registry.utterances) == 1


def test_all_slot_kinds_round_trip(tmp_path):
    text = "2 at 5 on Monday: milk"
    marks = (Mark("count", 0, 1), Mark("hour", 5, 6), Mark("day", 10, 16), Mark("note", 18, 22))
    template = "{count=2} at {hour=5} on {day=Monday}: {note=milk}"
    slots = (Slot("count", "number"), Slot("hour", "time"), Slot("day", "date"), Slot("note", "any"))
    registry = Registry((Intent("a", (Utterance(text, "en", None, template, marks),), slots=slots),), slots=slots)

    assert formats.write(registry, "snips", tmp_path / "dataset.json") == []
    found = bare(formats.read(tmp_path / "dataset.json").registry)
    assert sorted(found.slots, key=lambda slot: slot.name) == sorted(slots, key=lambda slot: slot.name)
    assert found.intents[0].utterances == registry.intents[0].utterances


def test_export_writes_a_dataset_per_language(tmp_path):
    city = Slot("city", "list", (SlotValue("Rome", (Utterance("Rom", "de"), Utterance("Roma", "it"))),))
    lines = (Utterance("to Rome", "en"), Utterance("nach Rom", "de"))
    formats.write(Registry((Intent("go", lines),), slots=(city,)), "snips", tmp_path)
    written = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()}

    assert set(written) == {"dataset.en.json", "dataset.de.json"}
    assert written["dataset.de.json"]["language"] == "de"
    assert written["dataset.de.json"]["entities"]["city"]["data"] == [{"value": "Rome", "synonyms": ["Rom"]}]
    assert written["dataset.en.json"]["entities"]["city"]["data"] == [{"value": "Rome", "synonyms": []}]


def test_datasets_in_the_list_of_jovo_are_read(tmp_path: Path) -> None:
    """One for each language; they equal the datasets alone."""
    english = {**DATASET, "language": "en"}
    found = read(tmp_path, json.dumps([*JOVO, {"path": ["en"], "content": english}]), "jovo.json")
    alone = read(tmp_path, json.dumps(DATASET), "dataset.json")

    assert [(line.text, line.language) for line in found.registry.utterances] == [
        *[(line.text, "fr") for line in alone.registry.utterances],
        *[(line.text, "en") for line in alone.registry.utterances],
    ]


def test_built_in_entity_without_a_value_becomes_a_blank(tmp_path: Path) -> None:
    """Jovo writes the name of the slot where it has no value."""
    chunks = [{"text": "my number is "}, {"text": "myNumber", "entity": "snips/number", "slot_name": "myNumber"}]
    dataset = {"language": "en", "intents": {"a": {"utterances": [{"data": chunks}]}}, "entities": {"snips/number": {}}}
    found = read(tmp_path, json.dumps([{"path": [""], "content": dataset}]), "jovo.json")

    assert [line.template for line in found.registry.utterances] == ["my number is {myNumber}"]
    assert [(slot.name, slot.kind) for slot in found.registry.slots] == [("myNumber", "number")]


def test_list_item_without_a_dataset_is_reported(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps([*JOVO, {"path": ["en"], "content": "models/en.json"}]), "jovo.json")

    (problem,) = [problem for problem in found.problems if problem.rule == "unknown-document"]
    assert problem.location.line == 1
    assert problem.location.column > 1
