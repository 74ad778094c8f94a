"""Tests for Dialogflow CX agents: phrases, parameters, types, flows and losses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contracts.format import Subject, contract, messages, read_files

from intentmatch import formats
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.formats.dialogflow_cx import FORMAT

AGENT: dict[str, Any] = {
    "agent.json": {"displayName": "bot", "defaultLanguageCode": "pt-br", "startFlow": "Start"},
    "intents/Book a%2fb/Book a%2fb.json": {
        "displayName": "Book a/b",
        "description": "Books.",
        "parameters": [{"id": "what", "entityType": "@Kind"}, {"id": "count", "entityType": "@sys.number"}],
    },
    "intents/Book a%2fb/trainingPhrases/pt-br.json": {
        "trainingPhrases": [
            {"parts": [{"text": "reserve um "}, {"text": "quarto", "parameterId": "what"}], "repeatCount": 2},
            {"parts": [{"text": "reserve "}, {"text": "isto", "parameterId": "unknown"}]},
        ]
    },
    "intents/Book a%2fb/trainingPhrases/en.json": {
        "trainingPhrases": [{"parts": [{"text": "4", "parameterId": "count"}, {"text": " rooms"}]}]
    },
    "intents/Nothing/Nothing.json": {"displayName": "Nothing", "isFallback": True},
    "entityTypes/Kind/Kind.json": {"displayName": "Kind", "kind": "KIND_MAP"},
    "entityTypes/Kind/entities/pt-br.json": {"entities": [{"value": "room\t", "synonyms": ["room\t", "quarto"]}]},
    "entityTypes/Code/Code.json": {"displayName": "Code", "kind": "KIND_REGEXP"},
    "entityTypes/Code/entities/pt-br.json": {"entities": [{"value": "[A-Z]\\d", "synonyms": ["[A-Z]\\d"]}]},
    "flows/Start/Start.json": {
        "displayName": "Start",
        "transitionRoutes": [
            {
                "intent": "Book a/b",
                "triggerFulfillment": {
                    "messages": [
                        {"text": {"text": ["Feito.", "Certo."]}, "languageCode": "pt-br"},
                        {"text": {"text": ["Done."]}, "languageCode": "en"},
                    ]
                },
            },
            {"intent": "Unknown", "triggerFulfillment": {"messages": [{"text": {"text": ["What?"]}}]}},
            {"condition": "true"},
        ],
    },
    "flows/Start/pages/Ask.json": {"displayName": "Ask", "form": {"parameters": [{"displayName": "what"}]}},
}

SMALL: dict[str, Any] = {
    "agent.json": {"defaultLanguageCode": "en"},
    "intents/Book/Book.json": {"displayName": "Book", "parameters": [{"id": "what", "entityType": "@Kind"}]},
    "intents/Book/trainingPhrases/en.json": {
        "trainingPhrases": [{"parts": [{"text": "book a "}, {"text": "room", "parameterId": "what"}]}]
    },
    "entityTypes/Kind/Kind.json": {"displayName": "Kind", "kind": "KIND_MAP"},
    "entityTypes/Kind/entities/en.json": {"entities": [{"value": "room", "synonyms": ["suite"]}]},
    "flows/Start/Start.json": {
        "transitionRoutes": [
            {
                "intent": "Book",
                "triggerFulfillment": {"messages": [{"text": {"text": ["Done."]}, "languageCode": "en"}]},
            }
        ]
    },
}
"""Enough for every way in which a file can be broken."""


test_obeys_contract = contract(Subject(FORMAT, SMALL, language="en"))


def read(folder: Path, files: dict[str, Any] | None = None) -> formats.Imported:
    """Import the agent with some files replaced."""
    return read_files(folder, {**AGENT, **(files or {})})


def test_phrases_are_read_in_every_language_with_slots(tmp_path):
    found = read(tmp_path)
    lines = [(line.language, line.template or line.text) for line in found.registry["Book a/b"].utterances]

    assert lines == [("en", "{count=4} rooms"), ("pt-BR", "reserve um {what=quarto}"), ("pt-BR", "reserve isto")]
    assert found.registry["Book a/b"].description == "Books."
    assert "no parameter 'unknown'" in messages(found)


def test_types_become_slots(tmp_path):
    """Unused types are kept."""
    slots = {slot.name: slot for slot in read(tmp_path).registry.slots}

    assert [value.value for value in slots["what"].values] == ["room"]
    assert slots["count"].kind == "number"
    assert slots["Code"].patterns == ("[A-Z]\\d",)


def test_flow_reply_becomes_response(tmp_path):
    """With its variants; unknown intents and forms are skipped."""
    found = read(tmp_path)

    assert found.registry["Book a/b"].all_responses == {"pt-BR": ("Feito.", "Certo."), "en": ("Done.",)}
    assert "Unknown" not in found.registry
    assert "flows and pages" in messages(found)


def test_negative_intent_is_reported_as_fallback(tmp_path):
    assert "is a fallback intent" in messages(read(tmp_path))


def test_phrases_without_intent_file_are_named_after_their_folder(tmp_path):
    read(tmp_path)
    (tmp_path / "intents/Book a%2fb/Book a%2fb.json").unlink()

    assert len(formats.read(tmp_path).registry["Book a%2fb"].utterances) == 3


def test_export_writes_a_file_per_language(tmp_path):
    """The most frequent language is the agent's default."""
    lines = (Utterance("hello", "en"), Utterance("hallo", "de"), Utterance("guten Tag", "de"))
    registry = Registry((Intent("greet", lines, responses={"de": "Tag!", "en": "Hi!"}),))
    formats.write(registry, "dialogflow-cx", tmp_path / "agent")

    assert json.loads((tmp_path / "agent/agent.json").read_text())["defaultLanguageCode"] == "de"
    assert (tmp_path / "agent/intents/greet/trainingPhrases/en.json").is_file()
    assert formats.read(tmp_path / "agent").registry["greet"].responses == {"de": "Tag!", "en": "Hi!"}
