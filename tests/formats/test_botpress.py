"""Tests for Botpress: intents, entities, Q&A, marks, languages and contexts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contracts.format import Subject, bare, contract, read_files

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.botpress import FORMAT

ROVER = {
    "name": "rover-pictures",
    "contexts": ["space"],
    "utterances": {
        "en": ["Rover images", "Pictures of [2 October](day) by [Opportunity](rover)"],
        "fr": ["Photos du [2 octobre](day)"],
    },
    "slots": [
        {"id": "x", "name": "day", "entities": ["time"], "color": 1},
        {"id": "y", "name": "rover", "entities": ["robot"], "color": 2},
    ],
}
ROBOT = {
    "id": "robot",
    "name": "robot",
    "type": "list",
    "occurrences": [{"name": "Opportunity", "synonyms": ["Oppy"]}, {"name": "Spirit", "synonyms": []}],
    "fuzzy": 0.8,
    "pattern": "",
}
QUESTION_INTENT = {"name": "__qna__ab12_bye", "contexts": ["global"], "slots": [], "utterances": {"en": ["bye", "Cya"]}}
QUESTION = {
    "id": "ab12_bye",
    "data": {
        "action": "text",
        "contexts": ["global"],
        "enabled": True,
        "questions": {"en": ["bye", "Cya"]},
        "answers": {"en": ["See you!"], "fr": ["À bientôt !"]},
        "redirectFlow": "",
    },
}
BOT = {
    "bot/intents/rover-pictures.json": ROVER,
    "bot/intents/__qna__ab12_bye.json": QUESTION_INTENT,
    "bot/entities/robot.json": ROBOT,
    "bot/qna/ab12_bye.json": QUESTION,
}
SUBJECTS = [Subject(FORMAT, BOT)]
test_obeys_contract = contract(*SUBJECTS)


def read(tmp_path: Path, *contents: dict[str, Any]) -> formats.Imported:
    return read_files(tmp_path, {f"{number}.json": content for number, content in enumerate(contents)})


def test_marks_become_slot_values_in_each_language(tmp_path):
    first, second, third = read(tmp_path, ROVER, ROBOT).registry["rover-pictures"].utterances

    assert (first.text, first.language, first.marks) == ("Rover images", "en", ())
    assert second.text == "Pictures of 2 October by Opportunity"
    assert second.marks == (Mark("day", 12, 21), Mark("rover", 25, 36))
    assert (third.text, third.language) == ("Photos du 2 octobre", "fr")


def test_slot_takes_values_of_its_entity(tmp_path):
    found = read(tmp_path, ROVER, ROBOT).registry
    slots = {slot.name: slot for slot in found.slots}

    assert set(slots) == {"day", "rover"}
    assert slots["day"].kind == "datetime"
    assert slots["rover"].values == (SlotValue("Opportunity", (Utterance("Oppy"),)), SlotValue("Spirit"))


def test_contexts_become_tags_except_global(tmp_path):
    found = read(tmp_path, ROVER, QUESTION_INTENT).registry

    assert found["rover-pictures"].when == ("space",)
    assert found["ab12_bye"].when == ()


def test_answer_becomes_response_and_question_lines_are_read_once(tmp_path):
    found = read(tmp_path, QUESTION_INTENT, QUESTION)

    assert [u.text for u in found.registry["ab12_bye"].utterances] == ["bye", "Cya"]
    assert found.registry["ab12_bye"].responses == {"en": "See you!", "fr": "À bientôt !"}
    assert [problem.rule for problem in found.problems] == ["renamed-intent"]


def test_question_without_intent_file_provides_utterances(tmp_path):
    found = read(tmp_path, QUESTION).registry["ab12_bye"]

    assert [(u.text, u.language) for u in found.utterances] == [("bye", "en"), ("Cya", "en")]


def test_match_case_makes_pattern_case_sensitive(tmp_path):
    code = {"name": "code", "type": "pattern", "pattern": "[A-Z]{2}"}
    found = read(tmp_path, code, {**code, "name": "strict", "matchCase": True})

    assert [slot.patterns for slot in found.registry.slots] == [("[A-Z]{2}",), ("(?-i:[A-Z]{2})",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**QUESTION, "data": {**QUESTION["data"], "enabled": False}}, "disabled questions are skipped"),
        ({**ROBOT, "sensitive": True}, "`sensitive` of an entity is not imported"),
        (
            {**ROVER, "slots": [{"name": "day", "entities": ["time", "number"]}]},
            "a slot has several entities; only the first is imported",
        ),
        (
            {**ROVER, "slots": [{"name": "day", "entities": ["volume"]}]},
            "the built-in type 'volume' has no equivalent",
        ),
        ({**ROVER, "name": "none"}, "'none' is a fallback intent; it is imported as an ordinary intent"),
    ],
)
def test_unsupported_content_is_reported_with_its_file(tmp_path, content, message):
    problems = [problem for problem in read(tmp_path, content).problems if problem.message.startswith(message)]

    assert [Path(problem.location.path).name for problem in problems] == ["0.json"]


def test_export_writes_a_file_per_intent_entity_and_question(tmp_path):
    formats.write(read(tmp_path, ROVER, ROBOT, QUESTION).registry, "botpress", tmp_path / "out")
    written = {
        file.relative_to(tmp_path / "out").as_posix(): json.loads(file.read_text(encoding="utf-8"))
        for file in (tmp_path / "out").rglob("*.json")
    }

    assert set(written) == {
        "intents/rover-pictures.json",
        "intents/__qna__ab12_bye.json",
        "qna/ab12_bye.json",
        "entities/rover.json",
    }
    assert written["intents/rover-pictures.json"]["utterances"]["en"][1] == (
        "Pictures of [2 October](day) by [Opportunity](rover)"
    )
    assert written["intents/__qna__ab12_bye.json"]["name"] == "__qna__ab12_bye"
    assert written["qna/ab12_bye.json"]["data"]["answers"] == QUESTION["data"]["answers"]
    assert written["entities/rover.json"]["occurrences"] == ROBOT["occurrences"]


def test_file_names_are_safe_and_unique(tmp_path):
    names = ["../../evil", "A", "a", "a/b", "a:b", "..", "", "你好"]
    intents = tuple(Intent(name or "x", (Utterance(f"line {n}"),)) for n, name in enumerate(names))
    formats.write(Registry(intents), "botpress", tmp_path / "out")
    files = list((tmp_path / "out" / "intents").iterdir())

    assert len(files) == len(names)
    assert len({file.name.lower() for file in files}) == len(names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {i.name: i.utterances for i in bare(formats.read(tmp_path / "out").registry)} == {
        i.name: i.utterances for i in intents
    }


def test_utterances_that_look_like_marks_are_changed_and_reported(tmp_path):
    city = Slot("city", "list", (SlotValue("a]b"),))
    lines = (
        Utterance("see [this](link)", "en"),
        Utterance("to a]b", "en", None, "", (Mark("city", 3, 6),)),
        Utterance("hm"),
    )
    problems = formats.write(Registry((Intent("a", lines, slots=(city,)),), slots=(city,)), "botpress", tmp_path / "o")

    assert sorted(problem.message for problem in problems) == [
        "the value of 'city' in “to a]b” contains a bracket; it is written without a mark",
        "utterances of 'a' without a language are written as 'en'",
        "“see [this](link)” looks like a slot mark; a space is added",
    ]
    found = formats.read(tmp_path / "o").registry["a"]
    assert [(line.text, line.marks) for line in found.utterances] == [
        ("see [this] (link)", ()),
        ("to a]b", ()),
        ("hm", ()),
    ]
