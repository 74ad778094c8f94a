"""Tests for wit.ai: apps, utterance files, the first versions, roles and imprecise labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, contract, read_files

from intentmatch import formats
from intentmatch.formats.wit import FORMAT


def label(entity: str, start: int, end: int, body: str, **more: Any) -> dict[str, Any]:
    return {"entity": entity, "start": start, "end": end, "body": body, "entities": [], **more}


def utterance(text: str, intent: str | None, *labels: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"text": text, "entities": list(labels), "traits": [], **({"intent": intent} if intent else {}), **more}


APP: dict[str, Any] = {
    "bot/app.json": {"version": 20200513, "zip-command": "zip ...", "name": "bot", "lang": "es"},
    "bot/entities/city.json": {
        "name": "city",
        "roles": ["city", "to"],
        "lookups": ["keywords"],
        "keywords": [{"keyword": "Roma", "synonyms": ["Roma", "la ciudad eterna"]}],
    },
    "bot/intents/go.json": {"name": "go", "entities": ["city:city"]},
    "bot/utterances/utterances-1.json": {
        "utterances": [utterance("a Roma", "go", label("city:to", 2, 6, "Roma")), utterance("hola", None)]
    },
}
OLD = {
    "data": [
        {
            "text": "to Berlin tomorrow",
            "entities": [
                {"entity": "intent", "value": '"go"', "start": 0, "end": 18},
                {"entity": "city", "value": '"Berlin"', "role": "to", "start": 3, "end": 9},
                {"entity": "datetime", "value": '"2016-05-29"', "start": 10, "end": 18},
            ],
        },
        {"text": "to Rome", "entities": []},
    ]
}
SUBJECTS = [
    Subject(FORMAT, APP),
    Subject(FORMAT, {"expressions.json": OLD}),
]
test_obeys_contract = contract(*SUBJECTS, ids=["app", "old"])


def read(tmp_path: Path, content: Any) -> formats.Imported:
    file = tmp_path / "utterances.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return formats.read(file)


def app(tmp_path: Path) -> formats.Imported:
    return read_files(tmp_path, APP)


def test_app_has_language_keywords_and_a_slot_per_role(tmp_path):
    found = app(tmp_path)
    slots = {slot.name: slot for slot in found.registry.slots}

    assert [(line.template, line.language) for line in found.registry["go"].utterances] == [("a {city_to=Roma}", "es")]
    assert set(slots) == {"city", "city_to"}
    assert [slot.name for slot in found.registry["go"].slots] == ["city", "city_to"]
    assert [(value.value, value.synonyms[0].text) for value in slots["city_to"].values] == [
        ("Roma", "la ciudad eterna")
    ]


def test_utterance_without_intent_becomes_out_of_scope_test(tmp_path):
    found = app(tmp_path)

    assert [(case.text, case.expected, case.language) for case in found.registry.tests] == [("hola", None, "es")]
    assert "out-of-scope" in {problem.rule for problem in found.problems}


def test_intent_entity_of_first_versions_is_read(tmp_path):
    """Utterances without an intent are skipped."""
    found = read(tmp_path, OLD)

    assert [line.template for line in found.registry["go"].utterances] == ["to {city_to=Berlin} {datetime=tomorrow}"]
    assert {slot.name: slot.kind for slot in found.registry.slots} == {"city_to": "list", "datetime": "datetime"}
    assert found.registry.tests == ()
    assert "no-intent" in {problem.rule for problem in found.problems}


@pytest.mark.parametrize(("start", "end"), [(3, 8), (2, 7), (0, 99), (3, 7)])
def test_body_corrects_the_position_of_a_label(start, end, tmp_path):
    labelled = utterance("to Rome", "go", label("city:city", start, end, "Rome"))

    assert read(tmp_path, {"utterances": [labelled]}).registry["go"].utterances[0].template == "to {city=Rome}"


def test_unsupported_content_is_reported(tmp_path):
    inner = label("city:city", 3, 7, "Rome", entities=[label("x:x", 0, 1, "R")])
    placeless = {"entity": "city:city", "body": "to", "entities": []}
    money = label("wit$distance:price", 8, 10, "4€")
    line = utterance("to Rome 4€", "go", inner, placeless, money, traits=[{"trait": "wit$sentiment"}])
    found = read(tmp_path, {"utterances": [line]})

    messages = "\n".join(problem.message for problem in found.problems)
    assert "traits" in messages
    assert "entities nested in 'city'" in messages
    assert "has no position" in messages
    assert "wit$distance" in messages
    assert found.registry["go"].utterances[0].template == "to {city=Rome} {distance_price=4€}"


def test_unquoted_values_are_read_unchanged(tmp_path):
    values = ["go", '"go"', "[" * 5000]
    lines = [{"text": "x y", "entities": [{"entity": "intent", "value": value}]} for value in values]

    assert [intent.name for intent in read(tmp_path, {"data": lines}).registry] == ["go", "[" * 5000]
