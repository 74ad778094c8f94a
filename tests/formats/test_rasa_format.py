"""Tests for importing Rasa bots of all versions and exporting to Rasa 3."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from contracts.format import LAWS, Subject, bare

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.rasa import FORMAT
from intentmatch.formats.rasa.marks import plain

NLU = """\
version: "3.1"
nlu:
- intent: greet
  examples: |
    - hello
    - hi [there](place)
- intent: book_flight
  metadata: {team: travel}
  examples:
  - text: |
      from [SF]{"entity": "city", "role": "from", "value": "San Francisco"} to [NYC]{"entity": "city", "role": "to"}
    metadata: {mood: happy}
  - to [Rome](city)
- synonym: New York
  examples: |
    - NYC
- regex: flight
  examples: |
    - [A-Z]{2}[0-9]+
- lookup: airline
  examples: |
    - Lufthansa
"""
DOMAIN = """\
version: "3.1"
intents: [greet, book_flight]
responses:
  utter_greet:
  - text: Hello!
  utter_ask_city:
  - text: Where to?
"""
SUBJECT = Subject(FORMAT, {"data/nlu.yml": NLU, "domain.yml": DOMAIN})


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_obeys_contract(law: Callable[[Subject, Path], None], tmp_path: Path) -> None:
    law(SUBJECT, tmp_path)


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("[a](b) and [c]{'entity': 'd'}", "a and c"),
        ("[a](b:c)", "a"),
        ("plain [brackets] (stay)", "plain [brackets] (stay)"),
        ("[](x)", "[](x)"),
    ],
)
def test_plain_removes_only_entity_marks(marked, text):
    assert plain(marked) == text


def read(folder: Path, files: dict[str, str]) -> formats.Imported:
    """Import a bot with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return formats.read(folder)


def rules(found: formats.Imported) -> list[str]:
    return [problem.rule for problem in found.problems]


def values(found: formats.Imported) -> dict[str, dict[str, list[str]]]:
    return {s.name: {v.value: [u.text for u in v.synonyms] for v in s.values} for s in found.registry.slots}


def test_yaml_bot_is_read(tmp_path: Path) -> None:
    """Intents, entities with roles, synonyms, patterns, lookups, responses and questions."""
    found = read(tmp_path, {"data/nlu.yml": NLU, "domain.yml": DOMAIN})
    registry = found.registry

    assert [(i.name, len(i.utterances), dict(i.metadata)) for i in registry] == [
        ("greet", 2, {}),
        ("book_flight", 2, {"team": "travel"}),
    ]
    there = registry["greet"].utterances[1]
    assert (there.text, there.template, there.location.line, there.location.column) == (
        "hi there",
        "hi {place=there}",
        6,
        7,
    )
    fly = registry["book_flight"].utterances[0]
    assert fly.text == "from SF to NYC"
    assert fly.marks == (Mark("city_from", 5, 7), Mark("city_to", 11, 14))
    cities = {"San Francisco": ["SF"], "New York": ["NYC"], "Rome": []}
    assert values(found) == {
        "place": {"there": []}, "city_from": cities, "city_to": cities, "city": cities,
        "flight": {}, "airline": {"Lufthansa": []},
    }  # fmt: skip
    assert [slot.patterns for slot in registry.slots if slot.name == "flight"] == [("[A-Z]{2}[0-9]+",)]
    assert registry["greet"].responses == {"": "Hello!"}
    assert registry["book_flight"].slots[2].question(None) == "Where to?"
    assert set(rules(found)) == {"learned-slot", "not-expressed"}


def test_json_of_version_0_is_read(tmp_path: Path) -> None:
    text = """{"rasa_nlu_data": {
      "common_examples": [
        {"text": "👋 to Roma", "intent": "go", "entities": [{"start": 5, "end": 9, "value": "Rome", "entity": "city"}]},
        {"text": "lost"},
        {"text": "x", "intent": "go", "entities": [{"start": "?", "entity": "city"}]}
      ],
      "entity_synonyms": [{"value": "Rome", "synonyms": ["Rom"]}],
      "regex_features": [{"name": "zip", "pattern": "[0-9]{5}"}],
      "lookup_tables": [{"name": "plate", "elements": "data/plates.txt"}, {"name": "dish", "elements": ["soup"]},
                        {"name": "x", "elements": "gone.txt"}]
    }}"""
    found = read(tmp_path, {"nlu.json": text, "data/plates.txt": "tacos\n\nbeef mu shu\n"})

    assert found.registry["go"].utterances[0].template == "👋 to {city=Roma}"
    assert values(found) == {
        "city": {"Rome": ["Roma", "Rom"]}, "zip": {}, "plate": {"tacos": [], "beef mu shu": []}, "dish": {"soup": []},
    }  # fmt: skip
    assert sorted(rules(found)) == ["bad-label", "incomplete-example", "learned-slot", "not-found", "wrong-type"]


def test_markdown_of_version_1_is_read(tmp_path: Path) -> None:
    text = """\
<!-- a
comment -->
## intent:go <!-- really -->
- to [Roma](city:Rome)\t
* go
not an item

##intent: stay
+ stay
## synonym:Rome
- Rom
## regex:stay
- st.*
## lookup:plate
plates.txt
## story
* go
"""
    found = read(tmp_path, {"nlu.md": text, "plates.txt": "tacos\n"})

    assert [(i.name, [(u.text, u.location.line, u.location.column) for u in i.utterances]) for i in found.registry] == [
        ("go", [("to Roma", 4, 3), ("go", 5, 3)]),
        ("stay", [("stay", 9, 3)]),
    ]
    assert values(found) == {"city": {"Rome": ["Roma", "Rom"]}, "plate": {"tacos": []}}
    assert sorted(rules(found)) == ["learned-slot", "not-expressed", "unknown-section", "unread-line"]


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        ("- story: x", "unknown-key"),
        ("- intent: [x]\n  examples: x", "no-name"),
        ("- intent:\n  examples: x", "no-name"),
        ("- intent: x", "no-examples"),
        ("- intent: x\n  examples: |\n    - fine\n    not", "unread-line"),
        ("- intent: x\n  examples: {}", "wrong-type"),
        ("- intent: x\n  metadata: y\n  examples: |\n    - fine", "not-expressed"),
        ('- intent: x\n  examples: |\n    - [a]{"value": "b"} c', "bad-label"),
        ("- intent: x\n  examples: |\n    - [a]{] c}", "bad-label"),
        ("- synonym: x\n  examples: |\n    - y", "not-expressed"),
        ("- regex: ok\n  examples: |\n    - y", "not-expressed"),
    ],
)
def test_invalid_items_are_skipped_and_reported_with_location(tmp_path: Path, item: str, rule: str) -> None:
    found = read(tmp_path, {"nlu.yml": f"nlu:\n- intent: ok\n  examples: |\n    - fine\n{item}\n"})

    assert found.registry["ok"].utterances[0].text == "fine"
    (problem,) = [problem for problem in found.problems if problem.rule != "learned-slot"]
    assert problem.rule == rule
    assert problem.location.line >= 5


def test_quoted_and_folded_text_has_the_location_of_its_start(tmp_path: Path) -> None:
    text = 'nlu:\n- intent: a\n  examples: "- x\\n- y"\n- intent: b\n  examples: >\n    - z\n\n    - w\n'
    found = read(tmp_path, {"nlu.yml": text})

    assert [(u.text, u.location.line) for u in found.registry.utterances] == [("x", 3), ("y", 3), ("z", 6), ("w", 5)]


def test_pipeline_language_is_reported_but_not_used(tmp_path: Path) -> None:
    """Many bots keep the language of the project template they were made from."""
    found = read(tmp_path, {"nlu.yml": NLU, "config.yml": "language: en\npipeline:\n- name: x\n"})

    assert found.registry.languages == ()
    assert "import with --language en" in str(found.problems[0])


def test_form_responses_become_slot_questions(tmp_path: Path) -> None:
    domain = "responses:\n  utter_ask_form_city:\n  - text: A?\n  utter_ask_city:\n  - text: B?\n  utter_x: [y]\n"
    nlu = "nlu:\n- intent: go\n  examples: |\n    - to [Rome](city)\n"
    found = read(tmp_path, {"nlu.yml": nlu, "domain.yml": domain})

    assert found.registry["go"].slots[0].questions == {"": "A?"}
    assert [p.message for p in found.problems if p.rule == "not-expressed"] == [
        "the slot 'city' has several questions; only the first is imported",
        "responses that belong to no intent or slot are not imported: utter_x",
    ]


def test_export_skips_and_reports_ambiguous_text(tmp_path: Path) -> None:
    slots = tuple(Slot(n, "list", (SlotValue("NYC", (Utterance(f"{n} york"),)),)) for n in ("new", "old"))
    registry = Registry((Intent("a", (Utterance("see [x](y)"), Utterance("fine"))),), slots=slots)
    problems = formats.write(registry, "rasa", tmp_path)

    assert [u.text for u in formats.read(tmp_path).registry.utterances] == ["fine"]
    assert [problem.message.partition(" express ")[2] for problem in problems] == [
        "synonyms of 'NYC' for the slot 'old' alone",
        "“see [x](y)”, because Rasa would read its brackets as an entity",
    ]


def test_export_writes_slots_of_single_intents(tmp_path: Path) -> None:
    city = Slot("city", "list", (SlotValue("Rome"),), questions={"": "Where?"})
    registry = Registry(
        (Intent("a", (Utterance("to Rome", None, None, "to {city=Rome}", (Mark("city", 3, 7),)),), slots=(city,)),)
    )
    formats.write(registry, "rasa", tmp_path)
    found = formats.read(tmp_path).registry

    assert bare(found)["a"] == registry["a"]
