"""Tests for importing Rasa bots of all versions and exporting to Rasa 3."""

from __future__ import annotations

from pathlib import Path

import pytest
from contracts.format import Subject, bare, contract, read_files

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
test_obeys_contract = contract(SUBJECT)


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


def rules(found: formats.Imported) -> list[str]:
    return [problem.rule for problem in found.problems]


def values(found: formats.Imported) -> dict[str, dict[str, list[str]]]:
    return {s.name: {v.value: [u.text for u in v.synonyms] for v in s.values} for s in found.registry.slots}


def test_yaml_bot_is_read(tmp_path: Path) -> None:
    """Intents, entities with roles, synonyms, patterns, lookups, responses and questions."""
    found = read_files(tmp_path, {"data/nlu.yml": NLU, "domain.yml": DOMAIN})
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


def test_values_that_examples_mark_are_added_to_a_lookup_table(tmp_path: Path) -> None:
    """Otherwise the line itself would be matched without its entity."""
    nlu = """\
version: "3.1"
nlu:
- intent: rent
  examples: |
    - I want a [mountain bike](bike)
    - book a [City Bike](bike) or a [mtb](bike)
    - an [ebike]{"entity": "bike", "value": "e-bike"} please
- lookup: bike
  examples: |
    - city bike
- synonym: mountain bike
  examples: |
    - mtb
"""
    found = read_files(tmp_path, {"nlu.yml": nlu})

    assert values(found) == {"bike": {"city bike": [], "mountain bike": ["mtb"], "e-bike": ["ebike"]}}
    assert [(p.rule, p.message) for p in found.problems] == [
        ("learned-slot", "the lookup table of the slot 'bike' lacks values that examples mark: mountain bike, e-bike")
    ]


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
    found = read_files(tmp_path, {"nlu.json": text, "data/plates.txt": "tacos\n\nbeef mu shu\n"})

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
    found = read_files(tmp_path, {"nlu.md": text, "plates.txt": "tacos\n"})

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
    found = read_files(tmp_path, {"nlu.yml": f"nlu:\n- intent: ok\n  examples: |\n    - fine\n{item}\n"})

    assert found.registry["ok"].utterances[0].text == "fine"
    (problem,) = [problem for problem in found.problems if problem.rule != "learned-slot"]
    assert problem.rule == rule
    assert problem.location.line >= 5


def test_quoted_and_folded_text_has_the_location_of_its_start(tmp_path: Path) -> None:
    text = 'nlu:\n- intent: a\n  examples: "- x\\n- y"\n- intent: b\n  examples: >\n    - z\n\n    - w\n'
    found = read_files(tmp_path, {"nlu.yml": text})

    assert [(u.text, u.location.line) for u in found.registry.utterances] == [("x", 3), ("y", 3), ("z", 6), ("w", 5)]


def test_pipeline_language_is_reported_but_not_used(tmp_path: Path) -> None:
    """Many bots keep the language of the project template they were made from."""
    found = read_files(tmp_path, {"nlu.yml": NLU, "config.yml": "language: en\npipeline:\n- name: x\n"})

    assert found.registry.languages == ()
    assert "import with --language en" in str(found.problems[0])


def test_form_responses_become_slot_questions(tmp_path: Path) -> None:
    domain = "responses:\n  utter_ask_form_city:\n  - text: A?\n  utter_ask_city:\n  - text: B?\n  utter_x: [y]\n"
    nlu = "nlu:\n- intent: go\n  examples: |\n    - to [Rome](city)\n"
    found = read_files(tmp_path, {"nlu.yml": nlu, "domain.yml": domain})

    assert found.registry["go"].slots[0].questions == {"": "A?"}
    assert [p.message for p in found.problems if p.rule == "not-expressed"] == [
        "the slot 'city' has several questions; only the first is imported",
        "responses that belong to no intent or slot are not imported: utter_x",
    ]


def test_question_belongs_to_slot_with_longest_name(tmp_path: Path) -> None:
    domain = "responses:\n  utter_ask_departure_city: [{text: From?}]\n  utter_ask_city: [{text: To?}]\n"
    nlu = "nlu:\n- intent: go\n  examples: |\n    - to [Rome](city) from [Bonn](departure_city)\n"
    slots = read_files(tmp_path, {"nlu.yml": nlu, "domain.yml": domain}).registry.slots

    assert {slot.name: slot.questions[""] for slot in slots} == {"city": "To?", "departure_city": "From?"}


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


TESTED = {
    "data/nlu.yml": """\
nlu:
- intent: greet
  examples: |
    - hello
    - hi there
- intent: faq/hours
  examples: |
    - when are you open
- intent: bye
  examples: |
    - goodbye
""",
    "domain.yml": "responses:\n  utter_greet:\n  - text: Hello!\n",
}


def cases_in(found: formats.Imported) -> list[tuple[str, object]]:
    return [(case.text, case.expected) for case in found.registry.tests]


def test_test_stories_become_tests(tmp_path: Path) -> None:
    """Without entity marks, payloads, steps of the bot and repetitions."""
    stories = """\
stories:
- story: one
  steps:
  - user: |
      hi [Anna](name)
    intent: greet
  - action: utter_greet
  - user: /bye
    intent: bye
  - user: when do you open
    intent: faq/hours
- story: two
  steps:
  - user: "hi Anna"
    intent: greet
  - user: what do penguins eat
    intent: nlu_fallback
  - user: see you
  - intent: bye
  - slot_was_set:
    - name: Anna
"""
    found = read_files(tmp_path, {**TESTED, "tests/test_stories.yml": stories})

    assert cases_in(found) == [("hi Anna", "greet"), ("when do you open", "faq/hours"), ("what do penguins eat", None)]
    assert [case.location.line for case in found.registry.tests] == [4, 10, 16]
    assert [len(i.utterances) for i in found.registry] == [2, 1, 1]
    assert sorted(rules(found)) == ["not-expressed", "test-data", "test-data"]
    assert "messages of stories without an intent" in str(found.problems)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/nlu.yml", "nlu:\n- intent: greet\n  examples: |\n    - hiya [Bob](name)\n"),
        ("test_data.yml", "nlu:\n- intent: greet\n  examples: |\n    - hiya Bob\n"),
        ("train_test_split/test_data.yml", "nlu:\n- intent: greet\n  examples: |\n    - hiya Bob\n"),
        ("test/test_nlu.md", "## intent:greet\n- hiya [Bob](name)\n"),
        ("data/test/nlu.json", '{"rasa_nlu_data": {"common_examples": [{"text": "hiya Bob", "intent": "greet"}]}}'),
        ("tests/conversation_tests.md", '## one\n* form: greet{"name": "Bob"}: hiya [Bob](name)\n    - utter_greet\n'),
        ("e2e_tests/a.yml", "stories:\n- story: one\n  steps:\n  - user: hiya Bob\n    intent: greet\n"),
    ],
)
def test_nlu_data_of_test_files_becomes_tests(tmp_path: Path, name: str, text: str) -> None:
    found = read_files(tmp_path, {**TESTED, name: text})

    assert cases_in(found) == [("hiya Bob", "greet")]
    assert [len(i.utterances) for i in found.registry] == [2, 1, 1]
    assert [slot.name for slot in found.registry.slots] == []


@pytest.mark.parametrize("name", ["data/latest.yml", "train_test_split/training_data.yml", "test/train/nlu.yml"])
def test_other_files_are_training_data(tmp_path: Path, name: str) -> None:
    found = read_files(tmp_path, {**TESTED, name: "nlu:\n- intent: greet\n  examples: |\n    - hiya\n"})

    assert len(found.registry["greet"].utterances) == 3
    assert cases_in(found) == []


def test_test_data_alone_is_training_data(tmp_path: Path) -> None:
    """Somebody may keep a bot in a folder `tests`."""
    found = read_files(tmp_path, {"tests/test_nlu.yml": TESTED["data/nlu.yml"]})

    assert len(found.registry.utterances) == 4
    assert cases_in(found) == []


def test_synonyms_of_test_files_are_skipped_and_responses_are_read(tmp_path: Path) -> None:
    text = "nlu:\n- synonym: x\n  examples: |\n    - y\nresponses:\n  utter_bye:\n  - text: Bye!\n"
    found = read_files(tmp_path, {**TESTED, "tests/test_nlu.yml": text})

    assert found.registry["bye"].responses == {"": "Bye!"}
    assert rules(found) == ["test-data"]


def test_tests_without_a_single_intent_are_reported(tmp_path: Path) -> None:
    """A retrieval intent stands for several intents, and `out_of_scope` for none, even if the bot trained it."""
    nlu = TESTED["data/nlu.yml"] + "- intent: out_of_scope\n  examples: |\n    - order a pizza\n"
    steps = [("your hours please", "faq"), ("buy me beer", "out_of_scope"), ("hi and bye", "greet+bye"), ("x", "gone")]
    steps += [("hi and gone", "greet+gone")]
    stories = "stories:\n- story: one\n  steps:\n" + "".join(f"  - user: {t}\n    intent: {i}\n" for t, i in steps)
    found = read_files(tmp_path, {"data/nlu.yml": nlu, "tests/test_stories.yml": stories})

    assert cases_in(found) == [("hi and bye", ("greet", "bye")), ("x", "gone"), ("hi and gone", "greet+gone")]
    assert [problem.hint for problem in found.problems] == [
        "write the full name, such as faq/hours",
        "rename the intent",
    ]
    assert formats.render(found.registry, "intentmatch")[1][0].rule == "unknown-intent"


def test_tests_that_equal_an_utterance_are_noted(tmp_path: Path) -> None:
    stories = "stories:\n- story: one\n  steps:\n  - user: Hello!\n    intent: greet\n"
    found = read_files(tmp_path, {**TESTED, "tests/test_stories.yml": stories})

    assert cases_in(found) == [("Hello!", "greet")]
    assert rules(found) == ["known-test"]


def test_readme_with_lists_is_no_file_of_test_stories(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "nlu.md").write_text("## intent:greet\n- hello\n")
    (tmp_path / "README.md").write_text("# My bot\nIt talks.\n\n* Install: see below\n  - pip\n* Run: rasa\n")
    found = formats.read(tmp_path)

    assert found.registry.tests == ()
    assert [p.message for p in found.problems] == ["files of another format are skipped: README.md"]


def test_stories_without_messages_are_left_unread(tmp_path: Path) -> None:
    stories = "stories:\n- story: one\n  steps:\n  - intent: greet\n  - action: utter_greet\n"
    markdown = "# Notes\n* Note: text\n\n## story\n* greet\n    - utter_greet\n"
    found = read_files(tmp_path, {**TESTED, "data/stories.yml": stories, "data/stories.md": markdown})

    assert cases_in(found) == []
    assert [problem.message for problem in found.problems] == [
        "files of another format are skipped: data/stories.md, data/stories.yml"
    ]


@pytest.mark.parametrize("stories", ["x", "[x]", "[{steps: x}]", "[{steps: [x, {user: [], intent: {}}]}]"])
def test_broken_stories_do_not_stop_the_import(tmp_path: Path, stories: str) -> None:
    found = read_files(tmp_path, {**TESTED, "tests/test_stories.yml": f"nlu: []\nstories: {stories}\n"})

    assert (cases_in(found), len(found.registry)) == ([], 3)


def test_labelled_text_that_is_a_synonym_is_no_value(tmp_path: Path) -> None:
    """`[NYC](city)` beside `[NYC](city:New York)` would be two values with the same word."""
    lines = ["[NYC](city)", "[nyc](city:New York)", "[NYC](city:Newark)", "[a](city:b)", "[b](city:a)", "[Rome](city)"]
    nlu = "nlu:\n- intent: go\n  examples: |\n" + "".join(f"    - to {line}\n" for line in lines)
    found = read_files(tmp_path, {"nlu.yml": nlu})

    assert values(found) == {"city": {"New York": ["NYC"], "Newark": [], "b": ["a"], "Rome": []}}
