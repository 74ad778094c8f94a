"""NLP.js: slots and alternatives in lines, entities of all kinds, questions, answers, tests, and languages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contracts.format import LAWS, Subject, bare
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
SUBJECTS = [Subject(FORMAT, {"corpus-en.json": json.dumps(CORPUS)})]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_obeys(law: Callable[[Subject, Path], None], subject: Subject, tmp_path: Path) -> None:
    """The law holds for the format."""
    law(subject, tmp_path)


def read(tmp_path: Path, corpus: dict[str, Any] | None = None, **others: Any) -> formats.Imported:
    for name, content in {"corpus": corpus or CORPUS, **others}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return formats.read(tmp_path if others else tmp_path / "corpus.json")


def lines(found: formats.Imported, intent: str) -> list[str]:
    return [utterance.text for utterance in found.registry[intent].utterances]


def test_a_slot_in_a_line_is_an_open_slot(tmp_path):
    """Written in the way of either version, and perhaps with a number; an address is no slot."""
    assert lines(read(tmp_path), "hero.city") == [
        "where does {hero} live?",
        "where is {hero}",
        "where was {hero_0} born",
        "mail {hero} at me@hero.com",
    ]


def test_alternatives_are_alternatives_and_other_brackets_are_text(tmp_path):
    """What nobody declares and nobody has built in is text, and said to be."""
    found = read(tmp_path)

    assert lines(found, "travel") == ["(go|fly) on {date} at @noon", "take (me) [home]"]
    assert [p.message for p in found.problems if p.rule == "unknown-slot"] == [
        "'@noon' names no entity; it is read as text"
    ]


def test_entities_are_slots_of_the_kind_that_they_are(tmp_path):
    """Options are a list, expressions a pattern, trimmed text and what is built in have kinds."""
    slots = {slot.name: slot for slot in read(tmp_path).registry.slots}

    assert slots["hero"].values == (SlotValue("thor", (Utterance("Thor Odinson", "en-US"),)), SlotValue("loki"))
    assert slots["hero_0"].values == slots["hero"].values
    assert slots["email"].patterns == (r"\b\w+@\w+\.com\b",)
    assert slots["code"].patterns == ("(?-i:[A-Z]{2})",)
    assert (slots["city"].kind, slots["date"].kind) == ("any", "date")


def test_slot_filling_says_what_is_required_and_what_to_ask(tmp_path):
    """A question alone says that the slot is required."""
    slots = {slot.name: slot for slot in read(tmp_path).registry["hero.city"].slots}

    assert (slots["hero"].required, slots["hero"].questions) == (True, {"en-US": "Which hero?"})
    assert (slots["date"].required, slots["date"].questions) == (True, {"en-US": "When?"})


def test_answers_tests_and_actions_are_taken_along(tmp_path):
    """The first answer is the response; a test with alternatives is several; None is out of scope."""
    found = read(tmp_path).registry

    assert found["hero.city"].responses == {"en-US": "In {{ city }}"}
    assert found["hero.city"].metadata == {"actions": [{"name": "look", "parameters": ["up"]}]}
    assert [(case.text, case.expected) for case in found.tests] == [
        ("where is Thor", "hero.city"),
        ("where is Loki", "hero.city"),
        ("it rains", None),
    ]


def test_what_is_not_taken_is_said(tmp_path):
    """Conditions, quoted data, words around a slot, further answers, and entries without a name."""
    corpus = {**CORPUS, "data": [*CORPUS["data"], {"intention": "x", "utterances": ["y"]}]}

    assert {problem.message for problem in read(tmp_path, corpus).problems} >= {
        "conditions of answers are not imported",
        "`contextData` is not imported",
        "the `trim` rules of 'city' are not imported",
        "'hero.city' has several responses; only the first is imported",
        "an entry without `intent` is skipped",
        "'None' is a fallback intent; it is imported as an ordinary intent",
    }


@pytest.mark.parametrize("wrapped", [True, False])
def test_entities_may_be_in_a_file_of_their_own(tmp_path, wrapped):
    """The corpus names the file."""
    entities = {"entities": CORPUS["entities"]} if wrapped else CORPUS["entities"]
    (tmp_path / "entities.json").write_text(json.dumps(entities), encoding="utf-8")
    found = read(tmp_path, {**CORPUS, "entities": "./entities.json"})

    assert {slot.name for slot in found.registry.slots} >= {"hero", "hero_0", "email", "code", "city"}
    assert lines(found, "hero.city")[0] == "where does {hero} live?"


def test_a_file_that_is_not_there_is_said(tmp_path):
    """And its entities are no slots."""
    found = read(tmp_path, {**CORPUS, "entities": "../entities.json"})

    assert "not-found" in [problem.rule for problem in found.problems]
    assert lines(found, "travel") == ["(go|fly) on {date} at @noon", "take (me) [home]"]


def test_corpora_of_several_languages_make_one_registry(tmp_path):
    """The entities of one are known in the other."""
    german = {"name": "x", "locale": "de", "data": [{"intent": "hero.city", "utterances": ["wo wohnt @hero?"]}]}
    found = read(tmp_path, CORPUS, another=german)

    assert found.registry.languages == ("de", "en-US")
    assert "wo wohnt {hero}?" in lines(found, "hero.city")


def test_what_was_read_comes_back(tmp_path):
    """Apart from alternatives and tests, a corpus is written as it was read."""
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


def test_each_language_is_a_corpus(tmp_path):
    """With its own lines, answers and questions."""
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


def test_slots_that_nlpjs_will_not_find_are_said(tmp_path):
    """It finds numbers and dates by the names that they have there, and free text by the words around it."""
    slots = (Slot("date", "date"), Slot("when", "date"), Slot("note", "any"))
    line = Utterance("{date} {when} {note}", template="{date} {when} {note}")
    registry = Registry((Intent("a", (line,), slots=slots),), slots=slots)
    problems = formats.write(registry, "nlpjs", tmp_path / "corpus.json")

    assert [problem.rule for problem in problems] == ["foreign-kind", "foreign-kind", "no-language"]
    assert bare(formats.read(tmp_path / "corpus.json").registry)["a"].utterances == (line,)
    assert {slot.name: slot.kind for slot in formats.read(tmp_path / "corpus.json").registry.slots} == {
        slot.name: slot.kind for slot in slots
    }


def test_text_that_looks_like_a_mark_of_theirs_is_said(tmp_path):
    """They know no way to say a bracket or an @."""
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
def test_a_corpus_of_alternatives_stands_for_the_one_in_which_they_are_written_out():
    """The two files of the project itself."""
    folder = FOLDER / "formats" / "nlpjs" / "axa-group__nlp.js" / "packages" / "utils" / "test"
    pattern = formats.read(folder / "corpus-pattern.json").registry
    composed = formats.read(folder / "corpus-composed.json").registry
    unfolded, _ = formats.losses.without(pattern, {"languages"})

    for intent in composed:
        assert {u.text for u in unfolded[intent.name].utterances} == {u.text for u in intent.utterances}
    assert {case.text for case in pattern.tests} == {case.text for case in composed.tests}
