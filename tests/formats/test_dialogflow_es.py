"""Tests for Dialogflow ES agents: phrases, parameters, contexts, types and losses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, bare, contract, messages, read_files

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.dialogflow_es import FORMAT
from intentmatch.registry import read_registry


def phrase(*parts: str | tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """Return a phrase of texts, some with an alias and a type."""
    data = [
        {"text": part} if isinstance(part, str) else dict(zip(("text", "alias", "meta"), part, strict=True))
        for part in parts
    ]
    return {"data": data, "isTemplate": False, "count": 0, **more}


AGENT: dict[str, Any] = {
    "agent.json": {"language": "en", "supportedLanguages": ["de"], "mlMinConfidence": 0.3},
    "package.json": {"version": "1.0.0"},
    "intents/Book.json": {
        "name": "Book",
        "auto": True,
        "contexts": ["open"],
        "responses": [
            {
                "action": "book",
                "affectedContexts": [{"name": "booked"}],
                "parameters": [
                    {
                        "name": "what",
                        "dataType": "@Kind",
                        "required": True,
                        "prompts": [{"lang": "en", "value": "What?"}, {"lang": "de", "value": "Was?"}],
                    },
                    {"name": "day", "dataType": "@sys.date", "required": False},
                    {"name": "ghost", "dataType": "", "value": "#open.ghost"},
                ],
                "messages": [
                    {"type": 4, "payload": {}},
                    {"type": 0, "lang": "en", "platform": "slack", "speech": "On Slack."},
                    {"type": 0, "lang": "en", "speech": ["Done.", "Fine."]},
                    {"type": 0, "lang": "de", "speech": "Erledigt."},
                ],
            }
        ],
        "webhookUsed": True,
        "fallbackIntent": False,
        "events": [{"name": "WELCOME"}],
    },
    "intents/Book_usersays_en.json": [
        phrase("book a ", ("room", "what", "@Kind"), " ", ("tomorrow", "day", "@sys.date")),
        phrase("book ", ("it", "it", "@sys.ignore")),
    ],
    "intents/Book_usersays_de.json": [phrase("buche ein ", ("Zimmer", "what", "@Kind"))],
    "entities/Kind.json": {"name": "Kind", "isEnum": False, "automatedExpansion": True},
    "entities/Kind_entries_en.json": [{"value": "room", "synonyms": ["room", "suite"]}],
    "entities/Kind_entries_de.json": [{"value": "room", "synonyms": ["Zimmer"]}],
    "entities/Code.json": {"name": "Code", "isRegexp": True, "isEnum": False},
    "entities/Code_entries_en.json": [{"value": "[A-Z]\\d", "synonyms": ["[A-Z]\\d"]}],
}

SMALL: dict[str, Any] = {
    "agent.json": {"language": "en", "mlMinConfidence": 0.3},
    "intents/Book.json": {
        "name": "Book",
        "contexts": ["open"],
        "responses": [
            {
                "parameters": [{"name": "what", "dataType": "@Kind", "prompts": [{"lang": "en", "value": "What?"}]}],
                "messages": [{"type": 0, "lang": "en", "speech": ["Done."]}],
            }
        ],
        "fallbackIntent": False,
    },
    "intents/Book_usersays_en.json": [phrase("book a ", ("room", "what", "@Kind"))],
    "entities/Kind.json": {"name": "Kind", "isEnum": False},
    "entities/Kind_entries_en.json": [{"value": "room", "synonyms": ["suite"]}],
}
"""Enough for every way in which a file can be broken."""


test_obeys_contract = contract(Subject(FORMAT, SMALL, language="en"))


def read(folder: Path, files: dict[str, Any] | None = None) -> formats.Imported:
    """Import the agent with some files replaced."""
    return read_files(folder, {**AGENT, **(files or {})})


def test_phrases_are_read_in_every_language_with_slots(tmp_path):
    lines = [(line.language, line.template or line.text) for line in read(tmp_path).registry["Book"].utterances]

    assert lines == [
        ("de", "buche ein {what=Zimmer}"),
        ("en", "book a {what=room} {day=tomorrow}"),
        ("en", "book it"),
    ]


def test_parameters_become_slots_and_prompts_become_questions(tmp_path):
    found = read(tmp_path)
    slots = {slot.name: slot for slot in found.registry["Book"].slots}

    assert slots["what"].required
    assert slots["what"].questions == {"en": "What?", "de": "Was?"}
    assert slots["what"].values == (SlotValue("room", (Utterance("Zimmer", "de"), Utterance("suite", "en"))),)
    assert (slots["day"].kind, slots["day"].required) == ("date", False)
    assert "from a context" in messages(found)


def test_input_context_becomes_tag(tmp_path):
    """Several input contexts are reported."""
    found = read(tmp_path)
    several = {**AGENT["intents/Book.json"], "contexts": ["open", "late"]}

    assert found.registry["Book"].when == ("open",)
    assert "required all of its contexts" not in messages(found)
    assert "required all of its contexts" in messages(read(tmp_path, {"intents/Book.json": several}))


def test_default_platform_responses_and_action_are_imported(tmp_path):
    found = read(tmp_path)

    assert found.registry["Book"].all_responses == {"en": ("Done.", "Fine."), "de": ("Erledigt.",)}
    assert found.registry["Book"].metadata["action"] == "book"
    assert "not text" in messages(found)


def test_unused_type_becomes_unused_slot(tmp_path):
    found = read(tmp_path)

    assert next(slot for slot in found.registry.slots if slot.name == "Code").patterns == ("[A-Z]\\d",)
    assert "automated expansion" in messages(found)


def test_inline_phrases_are_not_read_twice(tmp_path):
    old = {**AGENT["intents/Book.json"], "userSays": [phrase("book ", ("it", "it", "@sys.ignore")), phrase("new")]}
    found = read(tmp_path, {"intents/Book.json": old})

    assert [line.text for line in found.registry["Book"].utterances].count("book it") == 1
    assert found.registry["Book"].utterances[-1].text == "new"
    assert found.registry["Book"].utterances[-1].language == "en"


def test_template_phrase_becomes_template(tmp_path):
    found = read(tmp_path, {"intents/Book_usersays_en.json": [phrase("a @Kind:what (now)", isTemplate=True)]})

    assert found.registry["Book"].utterances[-1].template == "a {what} \\(now\\)"


def test_slot_name_with_several_types_is_renamed(tmp_path):
    other = {
        "name": "Other",
        "auto": True,
        "responses": [{"parameters": [{"name": "what", "dataType": "@sys.number"}]}],
    }
    found = read(
        tmp_path,
        {"intents/Other.json": other, "intents/Other_usersays_en.json": [phrase(("4", "what", "@sys.number"))]},
    )

    assert [slot.kind for slot in found.registry["Book"].slots if slot.name == "what"] == ["list"]
    assert [slot.kind for slot in found.registry["Other"].slots] == ["number"]
    assert "renamed-slot" in {problem.rule for problem in found.problems}


def test_type_with_only_a_built_in_type_becomes_that_type(tmp_path):
    """Other references to types are reported."""
    alone = {"entities/Kind_entries_en.json": [{"value": "@sys.number", "synonyms": ["@sys.number"]}]}
    alone["entities/Kind_entries_de.json"] = []
    mixed = {"entities/Code_entries_en.json": [{"value": "@Kind:a now", "synonyms": []}]}
    mixed["entities/Code.json"] = {"name": "Code", "isEnum": True}

    assert {slot.name: slot.kind for slot in read(tmp_path, alone).registry.slots}["what"] == "number"
    assert "refer to other types" in messages(read(tmp_path, mixed))


def test_output_contexts_are_metadata(tmp_path):
    """With their lifespans, 5 by default; 0 ends a context."""
    response = AGENT["intents/Book.json"]["responses"][0]
    contexts = [{"name": "booked", "lifespan": 2}, {"name": "open", "lifespan": 0}, {"name": "x"}, {"lifespan": 3}]
    several = {**response, "affectedContexts": contexts, "resetContexts": True}
    found = read(tmp_path, {"intents/Book.json": {**AGENT["intents/Book.json"], "responses": [several]}})

    assert found.registry["Book"].metadata == {
        "action": "book",
        "webhook": True,
        "output_contexts": {"booked": 2, "open": 0, "x": 5},
        "reset_contexts": True,
    }
    assert "ontexts" not in messages(found)


def test_fallback_with_phrases_is_reported(tmp_path):
    fallback = {**AGENT["intents/Book.json"], "fallbackIntent": True, "contexts": []}
    found = read(tmp_path, {"intents/Book.json": fallback})

    assert "is a fallback intent" in messages(found)
    assert "Book" in found.registry
    assert found.registry.settings == {"fallback": {"en": ["Done.", "Fine."], "de": ["Erledigt."]}}


def test_fallback_without_phrases_is_a_setting(tmp_path):
    """It is no intent. Texts without a language are those of the agent; those that need a context are reported."""
    messages_ = [{"type": 0, "speech": "Sorry?"}, {"type": 0, "lang": "en", "speech": ["Sorry?", "Pardon?"]}]
    fallback = {"name": "F", "contexts": [], "fallbackIntent": True, "responses": [{"messages": messages_}]}
    files = {"intents/F.json": fallback, "intents/G.json": {**fallback, "name": "G", "contexts": ["open"]}}
    found = read(tmp_path, {**files, "intents/H.json": {**fallback, "name": "H", "responses": [{}]}})

    assert [intent.name for intent in found.registry] == ["Book"]
    assert found.registry.settings == {"fallback": {"en": ["Sorry?", "Pardon?"]}}
    assert "the texts of 'F' are imported as the setting `fallback`" in messages(found)
    assert "the texts of 'G' are not imported, because they need a context" in messages(found)
    formats.write(found.registry, "intentmatch", tmp_path / "bot.yaml")
    assert read_registry(tmp_path / "bot.yaml").settings == {"fallback": {"en": ["Sorry?", "Pardon?"]}}


def test_broken_and_missing_files_do_not_affect_others(tmp_path):
    read(tmp_path)
    (tmp_path / "intents/Book.json").unlink()
    (tmp_path / "intents/Book_usersays_de.json").write_text("[{")
    found = formats.read(tmp_path)

    assert [intent.name for intent in found.registry] == ["Book"]
    assert len(found.registry.utterances) == 2
    assert "json-syntax" in {problem.rule for problem in found.problems}


def test_several_tags_are_reported_and_path_like_names_are_escaped(tmp_path):
    line = Utterance("to Rome", "it", None, "to {city=Rome}", (Mark("city", 3, 7),))
    city = Slot("city", "list", (SlotValue("Rome", (Utterance("Roma", "it"),)),))
    registry = Registry(
        (Intent("a/b: c", (line, Utterance("go", "en")), when=("x", "y"), slots=(city,)),), slots=(city,)
    )
    problems = formats.write(registry, "dialogflow-es", tmp_path / "agent.zip")
    found = formats.read(tmp_path / "agent.zip").registry

    assert ["all of its contexts" in problem.message for problem in problems] == [True]
    assert [intent.name for intent in found] == ["a/b: c"]
    assert {line.language for line in found.utterances} == {"en", "it"}
    assert bare(found).slots == bare(registry).slots


def test_unused_built_in_slot_is_reported(tmp_path):
    registry = Registry((Intent("a", (Utterance("hi", "en"),)),), slots=(Slot("count", "number"),))
    problems = formats.write(registry, "dialogflow-es", tmp_path / "agent")

    assert ["'count'" in problem.message for problem in problems] == [True]


def test_follow_ups_keep_the_phrases_that_they_share(tmp_path: Path) -> None:
    """Each follow-up intent has a context of its own; small talk has none and shares phrases with them."""
    phrases = {
        "Order - yes": (["Order-followup"], ["yes", "of course", "do it"]),
        "Order - no": (["Order-followup"], ["no", "not now"]),
        "Close - yes": (["Close-followup"], ["Yes", "do it", "close it"]),
        "Close - no": (["Close-followup"], ["no", "never"]),
        "Small talk": ([], ["yes", "no", "nice weather"]),
    }
    agent: dict[str, Any] = {"agent.json": AGENT["agent.json"], "package.json": AGENT["package.json"]}
    for name, (contexts, texts) in phrases.items():
        agent[f"intents/{name}.json"] = {"name": name, "auto": True, "contexts": contexts, "responses": [{}]}
        agent[f"intents/{name}_usersays_en.json"] = [phrase(text) for text in texts]
    for path, content in agent.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(json.dumps(content), encoding="utf-8")

    found = formats.read(tmp_path)
    _, problems = formats.render(found.registry, "intentmatch")

    assert not [problem for problem in problems if problem.rule == "conflicting-utterance"]
    assert {i.name: [u.text for u in i.utterances] for i in found.registry} == {n: t for n, (_, t) in phrases.items()}


def test_values_in_responses_are_slots(tmp_path):
    """`$what` becomes `{what}`, and `$what` again in an export; other dollars stay."""
    texts = ["A $what for $day.original, $5 or $ghost.", "$what-$days", "$what_"]
    response = {**AGENT["intents/Book.json"]["responses"][0], "messages": [{"type": 0, "lang": "en", "speech": texts}]}
    found = read(tmp_path, {"intents/Book.json": {**AGENT["intents/Book.json"], "responses": [response]}}).registry

    assert found["Book"].all_responses == {"en": ("A {what} for {day}, $5 or $ghost.", "{what}-$days", "$what_")}
    formats.write(found, "dialogflow-es", tmp_path / "again")
    written = json.loads((tmp_path / "again/intents/Book.json").read_text(encoding="utf-8"))
    assert written["responses"][0]["messages"][0]["speech"][0] == "A $what for $day, $5 or $ghost."
