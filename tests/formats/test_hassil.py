"""Tests for Home Assistant files: sentences, lists, rules, tests, and agreement with the hassil library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from contracts.format import Subject, bare, contract, read_files
from formats.real_files import FOLDER, needs_files
from tiers import rows_of

from intentmatch import formats
from intentmatch.core.types import Intent, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.formats.hassil import FORMAT
from intentmatch.registry import read_registry
from intentmatch.registry.templates.expansion import expand

COMMON = """\
language: en
lists:
  color:
    values:
      - red
      - in: (crimson|blood red)
        out: red
      - {in: "light[s]", out: light}
  brightness: {range: {from: 0, to: 100}}
  max: {values: [{in: (max|maximum), out: 100}]}
  what: {wildcard: true}
expansion_rules:
  the: (the|my)
  name: "[<the>] {name}"
  level: "{brightness}[ percent]"
  how far: <distance> away
skip_words: [please, could you]
responses:
  intents:
    SetLight: {default: Done, other: Well}
  errors: {no_intent: Sorry}
"""
LIGHT = """\
language: en
intents:
  SetLight:
    data:
      - sentences:
          - set <name> to <level>
          - set <name> to {max:brightness}
          - "set brightness (<here>;to <level>)"
          - good (morning
        slots: {domain: light}
        requires_context: {domain: light}
        expansion_rules: {here: "in here|<the> room"}
      - sentences: ["make <name> {color}"]
        slots: {domain: light}
        response: color
  Play:
    data:
      - sentences:
          - play {what}
          - say \\(hi\\)
        metadata: {room: any}
"""
TESTS = """\
language: en
tests:
  - sentences: [set my lamp to 10 percent, set lamp to max]
    intent: {name: SetLight, slots: {name: lamp}}
  - sentences: [open the door]
    intent: {name: OpenDoor}
"""
FILES = {"sentences/en/_common.yaml": COMMON, "sentences/en/light.yaml": LIGHT, "tests/en/light.yaml": TESTS}
SUBJECTS = [Subject(FORMAT, FILES)]
test_obeys_contract = contract(*SUBJECTS)


def read(tmp_path: Path, files: dict[str, str] = FILES) -> formats.Imported:
    return read_files(tmp_path, files)


def block(tmp_path: Path, *sentences: str, **more: Any) -> formats.Imported:
    """Import a file with one intent, one block and further keys."""
    keys = {key: more.pop(key) for key in ("lists", "expansion_rules", "skip_words") if key in more}
    data = {"language": "en", "intents": {"a": {"data": [{"sentences": list(sentences), **more.pop("block", more)}]}}}
    return read(tmp_path, {"a.yaml": yaml.safe_dump({**data, **keys})})


def messages(found: formats.Imported) -> list[str]:
    return [problem.message for problem in found.problems]


def test_sentences_become_templates_with_block_rules_replaced(tmp_path):
    """An invalid sentence is skipped."""
    found = read(tmp_path)

    assert [line.text for line in found.registry["SetLight"].utterances] == [
        "set <name> to <level>",
        "set <name> to {brightness_max}",
        "set brightness ((in here|<the> room) to <level>|to <level> (in here|<the> room))",
        "make <name> {color}",
    ]
    assert [(line.text, line.template) for line in found.registry["Play"].utterances] == [
        ("play {what}", "play {what}"),
        ("say (hi)", None),
    ]
    assert "a sentence is skipped: `(` is never closed" in messages(found)


def test_shared_rules_are_imported_per_language(tmp_path):
    """Invalid rule names are changed."""
    rules = {rule.name: rule.templates for rule in read(tmp_path).registry.rules}

    assert rules == {
        "the": {"en": "(the|my)"},
        "name": {"en": "[<the>] {name}"},
        "level": {"en": "{brightness}[ percent]"},
        "how_far": {"en": "distance away"},
    }


def test_lists_become_slots_and_undefined_lists_accept_any_text(tmp_path):
    found = read(tmp_path)
    slots = {slot.name: slot for slot in found.registry.slots}

    assert slots["color"].values == (
        SlotValue("red", (Utterance("crimson", "en"), Utterance("blood red", "en"))),
        SlotValue("light", (Utterance("lights", "en"),)),
    )
    assert {name: slot.kind for name, slot in slots.items() if slot.kind != "list"} == {
        "brightness": "number",
        "what": "any",
        "name": "any",
    }
    assert slots["brightness_max"].values == (SlotValue("100", (Utterance("max", "en"), Utterance("maximum", "en"))),)
    assert "the list 'name' is not defined; its slot accepts any text" in messages(found)


def test_slot_named_like_its_list_keeps_its_name(tmp_path):
    lists = {name: {"wildcard": True} for name in ("level", "other")}
    found = block(tmp_path, "a {other:level}", "b {level}", lists=lists)

    assert [line.text for line in found.registry["a"].utterances] == ["a {level_other}", "b {level}"]


def test_block_list_applies_to_its_block_only(tmp_path):
    found = block(tmp_path, "a {size} {name}", block={"lists": {"size": {"values": ["big"]}}})

    assert [line.text for line in found.registry["a"].utterances] == ["a {size} {name}"]
    assert [(slot.name, slot.kind) for slot in found.registry["a"].slots] == [("size", "list"), ("name", "any")]


def test_block_settings_become_metadata(tmp_path):
    """Differing values are merged and reported."""
    found = read(tmp_path)

    assert found.registry["SetLight"].metadata == {
        "slots": {"domain": "light"},
        "requires_context": [{"domain": "light"}],
        "response": ["color"],
    }
    assert found.registry["Play"].metadata == {"room": "any"}
    assert sum("blocks of 'SetLight' differ in" in message for message in messages(found)) == 2
    assert "`requires_context` has no effect; it is kept as metadata" in messages(found)


def test_responses_and_tests_of_known_intents_are_imported(tmp_path):
    found = read(tmp_path)

    assert found.registry["SetLight"].responses == {"en": "Done"}
    assert [(case.text, case.expected, case.language) for case in found.registry.tests] == [
        ("set my lamp to 10 percent", "SetLight", "en"),
        ("set lamp to max", "SetLight", "en"),
    ]
    assert {
        "tests of intents that are not in these files are skipped",
        "slots that tests expect are not imported",
        "only `default` responses of intents in these files are imported",
        "`responses: errors` is not imported",
        "`skip_words` are not imported: please, could you",
    } <= set(messages(found))


def test_folder_names_the_intent_of_its_tests(tmp_path):
    tests = "language: en\ntests: [{sentences: [say hi], slots: {}}]\n"
    found = read(tmp_path, {"sentences/en/light.yaml": LIGHT, "tests/en/Play/default.yaml": tests})

    assert [(case.text, case.expected) for case in found.registry.tests] == [("say hi", "Play")]


def test_repository_of_today_names_the_intent_by_its_folder(tmp_path):
    """Home Assistant's repository: a file for each combination of slots, with lists and rules in folders beside."""
    name_only = """\
language: en
data:
  - sentences: ["<turn> on [<the>] {name}"]
    name_domains: [light]
    example: turn on the lamp
    response: default
  - sentences: ["make {area} {color}", "set it to {brightness}"]
    inferred_domain: light
"""
    files = {
        "intents.yaml": "HassTurnOn: {domain: homeassistant, slots: {name: {}}}\n",
        "lists/lights.yaml": "lists:\n  brightness: {range: {type: percentage, from: 0, to: 100}}\n",
        "lists/en/lights.yaml": "language: en\nlists:\n  color: {values: [{in: 'red[dish]', out: red}]}\n",
        "lists/de/lights.yaml": "language: de\nlists:\n  color: {values: [{in: rot, out: red}]}\n",
        "rules/en/common.yaml": "language: en\nexpansion_rules:\n  turn: (turn|switch)\n  the: (the|my)\n",
        "sentences/en/HassTurnOn/name_only.yaml": name_only,
        "sentences/de/HassTurnOn/name_only.yaml": "language: de\ndata: [{sentences: ['{brightness} {color}']}]\n",
        "responses/en/HassTurnOn.yaml": "language: en\nresponses: {intents: {HassTurnOn: {default: On}}}\n",
        "tests/en/HassTurnOn/name_only.yaml": "language: en\nareas: []\ntests: [{sentences: [lamp on], slots: {}}]\n",
    }
    found = read(tmp_path, files)
    intent = found.registry["HassTurnOn"]

    assert [(line.text, line.language) for line in intent.utterances] == [
        ("{brightness} {color}", "de"),
        ("<turn> on [<the>] {name}", "en"),
        ("make {area} {color}", "en"),
        ("set it to {brightness}", "en"),
    ]
    assert {slot.name: slot.kind for slot in intent.slots} == {
        "brightness": "number",
        "color": "list",
        "name": "any",
        "area": "any",
    }
    assert [(rule.name, rule.templates) for rule in found.registry.rules] == [
        ("turn", {"en": "(turn|switch)"}),
        ("the", {"en": "(the|my)"}),
    ]
    assert intent.responses == {"en": "On"}
    assert [(case.text, case.expected) for case in found.registry.tests] == [("lamp on", "HassTurnOn")]
    assert intent.metadata == {
        "name_domains": [["light"]],
        "response": ["default"],
        "inferred_domain": ["light"],
    }
    assert [p.message for p in found.problems if p.rule == "unread-file"] == [
        "files of another format are skipped: intents.yaml"
    ]


def test_one_file_of_today_is_read_alone(tmp_path):
    folder = tmp_path / "HassTurnOn"
    folder.mkdir()
    (folder / "default.yaml").write_text("language: en\ndata: [{sentences: [lights on]}]\n")

    assert formats.read(folder / "default.yaml").registry["HassTurnOn"].utterances[0].text == "lights on"
    assert formats.read(folder).registry["HassTurnOn"].utterances[0].text == "lights on"


def test_languages_share_intents_but_not_rules(tmp_path):
    german = COMMON.replace("language: en", "language: de").replace("(the|my)", "(der|mein)")
    lines = "language: de\nintents: {SetLight: {data: [{sentences: ['stelle <name> auf {color}']}]}}\n"
    found = read(tmp_path, {**FILES, "sentences/de/_common.yaml": german, "sentences/de/light.yaml": lines}).registry

    assert found.languages == ("de", "en")
    assert next(rule for rule in found.rules if rule.name == "the").templates == {"de": "(der|mein)", "en": "(the|my)"}
    color = next(slot for slot in found.slots if slot.name == "color")
    assert [(line.text, line.language) for line in color.values[1].synonyms] == [("lights", "de"), ("lights", "en")]


def test_recursive_rule_is_an_error(tmp_path):
    found = block(tmp_path, "x <a>", expansion_rules={"a": "y <b>", "b": "z <a>"})
    error = next(problem for problem in found.problems if problem.severity == "error")

    assert (error.rule, error.message) == ("recursive-rule", "a rule cannot use itself: <a> → <b> → <a>")


@pytest.mark.parametrize(
    "rules",
    [
        {"a": "<a>"},
        {"a": "<b>", "b": "<a>"},
        {f"a{n}": f"<a{n + 1}>" for n in range(2000)} | {"a": "<a0>"},
        {f"a{n}": f"<a{n + 1}> <a{n + 1}>" for n in range(60)} | {"a60": "x", "a": "<a0>"},
    ],
    ids=["itself", "each other", "deep", "wide"],
)
def test_recursive_or_huge_block_rules_skip_the_sentence(tmp_path, rules):
    found = block(tmp_path, "x <a>", "y", expansion_rules={}, block={"expansion_rules": rules})

    assert [line.text for line in found.registry["a"].utterances] == ["y"]
    assert "bad-template" in [problem.rule for problem in found.problems]


def test_block_rule_overrides_rule_used_by_shared_rules(tmp_path):
    rules = {"what": "what is the <thing>", "thing": "thing"}
    found = block(tmp_path, "<what> here", expansion_rules=rules, block={"expansion_rules": {"thing": "level"}})

    assert [line.text for line in found.registry["a"].utterances] == ["what is the level here"]


@pytest.mark.parametrize(
    ("sentence", "expected", "message"),
    [
        ("a <no_rule>", "a no rule", "the rule 'no_rule' is not defined; its name is used as text"),
        ("a {0..10,2:n}", "a {n}", "the range of a list is not imported; the slot accepts any number"),
        ("a {@x}", "a {x}", "a capture for a response (`@`) is imported as an ordinary slot"),
        ("a {x:@y}", "a {y}", "a capture for a response (`@`) is imported as an ordinary slot"),
    ],
)
def test_unsupported_references_are_reported(tmp_path, sentence, expected, message):
    found = block(tmp_path, sentence)

    assert [line.text for line in found.registry["a"].utterances] == [expected]
    assert message in messages(found)


def test_tags_round_trip_as_requires_context(tmp_path):
    intent = Intent("a", (Utterance("hi", "en"),), when=("x", "y"), metadata={"requires_context": {"area": None}})
    formats.write(Registry((intent,)), "hassil", tmp_path / "en.yaml")
    written = yaml.safe_load((tmp_path / "en.yaml").read_text(encoding="utf-8"))

    assert written["intents"]["a"]["data"][0]["requires_context"] == {"area": None, "tag": ["x", "y"]}
    assert bare(formats.read(tmp_path / "en.yaml").registry) == Registry((intent,))


def test_export_writes_a_file_per_language(tmp_path):
    """Utterances without a language go to a file that hassil loads too."""
    lines = (Utterance("hi", "en"), Utterance("hallo", "de"), Utterance("hm"))
    formats.write(Registry((Intent("a", lines),)), "hassil", tmp_path)
    written = {file.name: yaml.safe_load(file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()}

    assert {name: content["language"] for name, content in written.items()} == {
        "en.yaml": "en",
        "de.yaml": "de",
        "und.yaml": "und",
    }


def test_unsupported_slot_kinds_are_reported(tmp_path):
    slots = (Slot("day", "date"), Slot("count", "number"), Slot("note", "any"))
    line = Utterance("{day} {count} {note}", "en", template="{day} {count} {note}")
    problems = formats.write(Registry((Intent("a", (line,), slots=slots),), slots=slots), "hassil", tmp_path / "a.yaml")

    assert sorted(problem.message for problem in problems) == [
        "the slot 'count' is written as a range from 0 to 100",
        "the slot 'day' (date) is written as a wildcard",
    ]


def test_hassil_recognises_every_exported_sentence(tmp_path):
    hassil = pytest.importorskip("hassil", reason="needs hassil")
    city = Slot("city", "list", (SlotValue("Rome", (Utterance("the (eternal) city", "en"),)), SlotValue("Oslo")))
    templates = ["(fly|go) [<soon>] to {city}", "<soon> [please] (leave|depart)[ now]", r"odd \{x\} a;b c@d"]
    lines = tuple(Utterance(text, "en", template=text) for text in templates)
    rules = (Rule("soon", {"en": "today|this (week|month)"}),)
    registry = Registry((Intent("travel", lines, slots=(city,)),), slots=(city,), rules=rules)
    formats.write(registry, "hassil", tmp_path / "en.yaml")
    intents = hassil.Intents.from_files([tmp_path / "en.yaml"])

    sentences, _ = expand(registry)
    assert len(sentences.utterances) > 20
    for sentence in sentences.utterances:
        found = hassil.recognize(sentence.text, intents)
        assert found is not None, sentence.text
        assert found.intent.name == "travel"
        assert set(found.entities) == {mark.slot for mark in sentence.marks}


def test_hassil_recognises_every_line_of_the_shipped_intents():
    hassil = pytest.importorskip("hassil", reason="needs hassil")
    registry = read_registry("intents", expand=False)
    written = {name: yaml.load(text, yaml.CSafeLoader) for name, text in formats.render(registry, "hassil")[0].items()}
    missed = []
    for intent, text, language in rows_of(
        [(i.name, line.text, line.language) for i in registry for line in i.utterances]
    ):
        document = written[f"{language}.yaml"]
        intents = hassil.Intents.from_dict({**document, "intents": {intent: document["intents"][intent]}})
        missed += [] if hassil.recognize(text, intents) else [text]
    assert missed == []


@needs_files
@pytest.mark.parametrize("language", ["en", "de", "fr", "ar", "zh-cn"])
def test_home_assistant_sentences_round_trip(tmp_path, language):
    hassil = pytest.importorskip("hassil", reason="needs hassil")
    folder = FOLDER / "formats" / "hassil" / "home-assistant__intents" / "sentences" / language
    original = hassil.Intents.from_files(sorted(folder.glob("*.yaml")))
    formats.write(formats.read(folder).registry, "hassil", tmp_path / "all.yaml")
    written = hassil.Intents.from_files([tmp_path / "all.yaml"])

    def sizes(intents: Any) -> dict[str, int]:
        return {name: sum(len(data.sentences) for data in intent.data) for name, intent in intents.intents.items()}

    assert sizes(written) == sizes(original)
    for intent in written.intents.values():
        for data in intent.data:
            for sentence in data.sentences:
                assert set(sentence.list_names(written.expansion_rules)) <= set(written.slot_lists)
