"""Tests for NLP.js: slots, alternatives, entities, questions, answers, tests and languages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, bare, contract
from formats.real_files import FOLDER, needs_files

from intentmatch import formats
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.nlpjs import FORMAT

CORPUS: dict[str, Any] = {
    "name": "Heroes",
    "locale": "en-US",
    "contextData": "./heroes.json",
    "data": [
        {
            "intent": "hero.city",
            "utterances": [
                "where does @hero live?",
                "where is %hero%",
                "where was @hero_0 born",
                "mail @hero at me@hero.com",
            ],
            "answers": ["In {{ city }}", {"answer": "I do not know", "opts": "city === undefined"}],
            "slotFilling": {"hero": {"mandatory": True, "question": "Which hero?"}, "date": "When?"},
            "tests": ["where is [Thor|Loki]"],
            "actions": [{"name": "look", "parameters": ["up"]}],
        },
        {"intent": "travel", "utterances": ["[go|fly] on @date at @noon", "take (me) [home]"]},
        {"intent": "None", "utterances": [], "tests": ["it rains"]},
    ],
    "entities": {
        "hero": {"options": {"thor": ["thor", "Thor Odinson"], "loki": []}},
        "email": "/\\b\\w+@\\w+\\.com\\b/gi",
        "code": {"regex": ["/[A-Z]{2}/g"]},
        "city": {"trim": [{"position": "afterLast", "words": ["in"]}]},
    },
}
SUBJECTS = [Subject(FORMAT, {"corpus-en.json": CORPUS})]
test_obeys_contract = contract(*SUBJECTS)


def read(tmp_path: Path, corpus: dict[str, Any] | None = None, **others: Any) -> formats.Imported:
    for name, content in {"corpus": corpus or CORPUS, **others}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return formats.read(tmp_path if others else tmp_path / "corpus.json")


def lines(found: formats.Imported, intent: str) -> list[str]:
    return [utterance.text for utterance in found.registry[intent].utterances]


def test_slot_references_become_open_slots(tmp_path):
    """In the syntax of both versions, with or without a number."""
    assert lines(read(tmp_path), "hero.city") == [
        "where does {hero} live?",
        "where is {hero}",
        "where was {hero_0} born",
        "mail {hero} at me@hero.com",
    ]


def test_alternatives_are_imported_and_other_brackets_are_text(tmp_path):
    """A reference to an unknown entity is text and reported."""
    found = read(tmp_path)

    assert lines(found, "travel") == ["(go|fly) on {date} at @noon", "take (me) [home]"]
    assert [p.message for p in found.problems if p.rule == "unknown-slot"] == [
        "'@noon' names no entity; it is read as text"
    ]


def test_entities_become_slots_of_their_kind(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path).registry.slots}

    assert slots["hero"].values == (SlotValue("thor", (Utterance("Thor Odinson", "en-US"),)), SlotValue("loki"))
    assert slots["hero_0"].values == slots["hero"].values
    assert slots["email"].patterns == (r"\b\w+@\w+\.com\b",)
    assert slots["code"].patterns == ("(?-i:[A-Z]{2})",)
    assert (slots["city"].kind, slots["date"].kind) == ("any", "date")


def test_slot_filling_sets_required_and_question(tmp_path):
    slots = {slot.name: slot for slot in read(tmp_path).registry["hero.city"].slots}

    assert (slots["hero"].required, slots["hero"].questions) == (True, {"en-US": "Which hero?"})
    assert (slots["date"].required, slots["date"].questions) == (True, {"en-US": "When?"})


def test_answers_tests_and_actions_are_imported(tmp_path):
    found = read(tmp_path).registry

    assert found["hero.city"].responses == {"en-US": "In {{ city }}"}
    assert found["hero.city"].metadata == {"actions": [{"name": "look", "parameters": ["up"]}]}
    assert [(case.text, case.expected) for case in found.tests] == [
        ("where is Thor", "hero.city"),
        ("where is Loki", "hero.city"),
        ("it rains", None),
    ]


def test_unsupported_content_is_reported(tmp_path):
    corpus = {**CORPUS, "data": [*CORPUS["data"], {"intention": "x", "utterances": ["y"]}]}

    assert {problem.message for problem in read(tmp_path, corpus).problems} >= {
        "conditions of answers are not imported",
        "`contextData` is not imported",
        "the `trim` rules of 'city' are not imported",
        "an entry without `intent` is skipped",
        "'None' is a fallback intent; it is imported as an ordinary intent",
    }


@pytest.mark.parametrize("wrapped", [True, False])
def test_entities_are_read_from_a_separate_file(tmp_path, wrapped):
    entities = {"entities": CORPUS["entities"]} if wrapped else CORPUS["entities"]
    (tmp_path / "entities.json").write_text(json.dumps(entities), encoding="utf-8")
    found = read(tmp_path, {**CORPUS, "entities": "./entities.json"})

    assert {slot.name for slot in found.registry.slots} >= {"hero", "hero_0", "email", "code", "city"}
    assert lines(found, "hero.city")[0] == "where does {hero} live?"


def test_missing_entity_file_is_reported(tmp_path):
    found = read(tmp_path, {**CORPUS, "entities": "../entities.json"})

    assert "not-found" in [problem.rule for problem in found.problems]
    assert lines(found, "travel") == ["(go|fly) on {date} at @noon", "take (me) [home]"]


def test_corpora_of_several_languages_are_merged(tmp_path):
    german = {"name": "x", "locale": "de", "data": [{"intent": "hero.city", "utterances": ["wo wohnt @hero?"]}]}
    found = read(tmp_path, CORPUS, another=german)

    assert found.registry.languages == ("de", "en-US")
    assert "wo wohnt {hero}?" in lines(found, "hero.city")


def test_corpus_round_trips(tmp_path):
    """Except for alternatives and tests."""
    once = read(tmp_path).registry
    formats.write(once, "nlpjs", tmp_path / "again.json")
    written = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    again = formats.read(tmp_path / "again.json").registry

    assert written["data"][0]["utterances"][:3] == [
        "where does @hero live?",
        "where is @hero",
        "where was @hero_0 born",
    ]
    assert written["data"][1]["utterances"][:2] == ["go on @date at @noon", "fly on @date at @noon"]
    assert written["entities"]["hero"] == {"options": {"thor": ["thor", "Thor Odinson"], "loki": ["loki"]}}
    assert written["entities"]["email"] == "/\\b\\w+@\\w+\\.com\\b/gi"
    assert written["entities"]["code"] == "/[A-Z]{2}/g"
    assert bare(again)["hero.city"] == replace(bare(once)["hero.city"], metadata={})


def test_export_writes_a_corpus_per_language(tmp_path):
    slot = Slot("city", "list", (SlotValue("Rome"),), required=True, questions={"en": "Where?", "de": "Wohin?"})
    registry = Registry(
        (
            Intent(
                "go", (Utterance("go", "en"), Utterance("los", "de")), responses={"": "ok", "de": "gut"}, slots=(slot,)
            ),
        ),
        slots=(Slot("city", "list", (SlotValue("Rome"),)),),
    )
    problems = formats.write(registry, "nlpjs", tmp_path)
    german = json.loads((tmp_path / "corpus-de.json").read_text(encoding="utf-8"))
    english = json.loads((tmp_path / "corpus-en.json").read_text(encoding="utf-8"))

    assert german["data"] == [
        {
            "intent": "go",
            "utterances": ["los"],
            "answers": ["gut"],
            "slotFilling": {"city": {"mandatory": True, "question": "Wohin?"}},
        }
    ]
    assert english["data"][0]["answers"] == ["ok"]
    assert [problem.message for problem in problems] == ["“ok” has no language; it is written as 'en'"]


def test_slots_that_nlpjs_cannot_find_are_reported(tmp_path):
    slots = (Slot("date", "date"), Slot("when", "date"), Slot("note", "any"))
    line = Utterance("{date} {when} {note}", template="{date} {when} {note}")
    registry = Registry((Intent("a", (line,), slots=slots),), slots=slots)
    problems = formats.write(registry, "nlpjs", tmp_path / "corpus.json")

    assert [problem.rule for problem in problems] == ["foreign-kind", "foreign-kind", "no-language"]
    assert bare(formats.read(tmp_path / "corpus.json").registry)["a"].utterances == (line,)
    assert {slot.name: slot.kind for slot in formats.read(tmp_path / "corpus.json").registry.slots} == {
        slot.name: slot.kind for slot in slots
    }


def test_text_that_looks_like_a_reference_is_reported(tmp_path):
    city = Slot("city", "list", (SlotValue("Rome"),))
    registry = Registry(
        (Intent("a", (Utterance("[yes|no]"), Utterance("write @city"), Utterance("write @rome"))),), slots=(city,)
    )
    problems = formats.write(registry, "nlpjs", tmp_path / "corpus.json")

    assert [problem.message for problem in problems if problem.rule == "not-expressed"] == [
        "“[yes|no]” will be read as alternatives or a slot",
        "“write @city” will be read as alternatives or a slot",
    ]


@needs_files
def test_unrolled_pattern_corpus_equals_composed_corpus():
    """Both files come from the NLP.js repository."""
    folder = FOLDER / "formats" / "nlpjs" / "axa-group__nlp.js" / "packages" / "utils" / "test"
    pattern = formats.read(folder / "corpus-pattern.json").registry
    composed = formats.read(folder / "corpus-composed.json").registry
    unrolled, _ = formats.losses.without_unsupported(pattern, {"languages"})

    for intent in composed:
        assert {u.text for u in unrolled[intent.name].utterances} == {u.text for u in intent.utterances}
    assert {case.text for case in pattern.tests} == {case.text for case in composed.tests}
