"""wit.ai: apps, their utterances alone, the file of the first years, roles, and labels that are one too long."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contracts.format import LAWS, Subject

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
    Subject(FORMAT, {path: json.dumps(content) for path, content in APP.items()}),
    Subject(FORMAT, {"expressions.json": json.dumps(OLD)}),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("subject", SUBJECTS, ids=["app", "old"])
def test_obeys(law: Callable[[Subject, Path], None], subject: Subject, tmp_path: Path) -> None:
    """The law holds for the format."""
    law(subject, tmp_path)


def read(tmp_path: Path, content: Any) -> formats.Imported:
    file = tmp_path / "utterances.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return formats.read(file)


def app(tmp_path: Path) -> formats.Imported:
    for path, content in APP.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(content), encoding="utf-8")
    return formats.read(tmp_path)


def test_an_app_has_its_language_its_keywords_and_a_slot_for_each_role(tmp_path):
    """The role of its own name is the entity itself."""
    found = app(tmp_path)
    slots = {slot.name: slot for slot in found.registry.slots}

    assert [(line.template, line.language) for line in found.registry["go"].utterances] == [("a {city_to=Roma}", "es")]
    assert set(slots) == {"city", "city_to"}
    assert [slot.name for slot in found.registry["go"].slots] == ["city", "city_to"]
    assert [(value.value, value.synonyms[0].text) for value in slots["city_to"].values] == [
        ("Roma", "la ciudad eterna")
    ]


def test_what_has_no_intent_is_out_of_scope(tmp_path):
    """That is how it is trained there; here it is a test."""
    found = app(tmp_path)

    assert [(case.text, case.expected, case.language) for case in found.registry.tests] == [("hola", None, "es")]
    assert "out-of-scope" in {problem.rule for problem in found.problems}


def test_the_intent_of_the_first_years_is_an_entity(tmp_path):
    """What lacks one was not finished, and is left out."""
    found = read(tmp_path, OLD)

    assert [line.template for line in found.registry["go"].utterances] == ["to {city_to=Berlin} {datetime=tomorrow}"]
    assert {slot.name: slot.kind for slot in found.registry.slots} == {"city_to": "list", "datetime": "date"}
    assert found.registry.tests == ()
    assert "no-intent" in {problem.rule for problem in found.problems}


@pytest.mark.parametrize(("start", "end"), [(3, 8), (2, 7), (0, 99), (3, 7)])
def test_the_body_of_a_label_tells_where_it_is(start, end, tmp_path):
    """Its end is often one too far."""
    labelled = utterance("to Rome", "go", label("city:city", start, end, "Rome"))

    assert read(tmp_path, {"utterances": [labelled]}).registry["go"].utterances[0].template == "to {city=Rome}"


def test_what_has_no_counterpart_is_noted(tmp_path):
    """Traits, entities inside of entities, labels of no place, what wit.ai has built in."""
    inner = label("city:city", 3, 7, "Rome", entities=[label("x:x", 0, 1, "R")])
    placeless = {"entity": "city:city", "body": "to", "entities": []}
    money = label("wit$amount_of_money:price", 8, 10, "4€")
    line = utterance("to Rome 4€", "go", inner, placeless, money, traits=[{"trait": "wit$sentiment"}])
    found = read(tmp_path, {"utterances": [line]})

    messages = "\n".join(problem.message for problem in found.problems)
    assert "traits" in messages
    assert "entities nested in 'city'" in messages
    assert "has no position" in messages
    assert "wit$amount_of_money" in messages
    assert found.registry["go"].utterances[0].template == "to {city=Rome} {amount_of_money_price=4€}"


def test_values_that_are_no_quoted_text_are_taken_as_they_are(tmp_path):
    """A name without quotes, a number, or brackets without end."""
    values = ["go", '"go"', "[" * 5000]
    lines = [{"text": "x y", "entities": [{"entity": "intent", "value": value}]} for value in values]

    assert [intent.name for intent in read(tmp_path, {"data": lines}).registry] == ["go", "[" * 5000]
