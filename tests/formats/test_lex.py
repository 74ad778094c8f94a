"""Tests for Amazon Lex: V1 files, V2 folders with locales, slots and losses."""

from __future__ import annotations

from typing import Any

import pytest
from contracts.format import Subject, contract, messages, read_files

from intentmatch.formats.lex import FORMAT

V1: dict[str, Any] = {
    "metadata": {"schemaVersion": "1.0", "importType": "LEX", "importFormat": "JSON"},
    "resource": {
        "name": "Plans",
        "locale": "en-US",
        "intents": [
            {
                "name": "Apply",
                "sampleUtterances": ["apply {plan} {now}", "apply it"],
                "slots": [
                    {
                        "name": "plan",
                        "slotType": "Plan",
                        "slotConstraint": "Required",
                        "valueElicitationPrompt": {"messages": [{"contentType": "PlainText", "content": "Which?"}]},
                        "sampleUtterances": ["the {plan} one"],
                    },
                    {"name": "weeks", "slotType": "AMAZON.NUMBER", "slotConstraint": "Optional"},
                ],
                "conclusionStatement": {"messages": [{"content": "Applied."}]},
                "confirmationPrompt": {"messages": [{"content": "Sure?"}]},
            },
            {"name": "Fallback", "parentIntentSignature": "AMAZON.FallbackIntent"},
        ],
        "slotTypes": [
            {
                "name": "Plan",
                "enumerationValues": [{"value": "basic", "synonyms": ["plain"]}],
                "valueSelectionStrategy": "ORIGINAL_VALUE",
            }
        ],
    },
}


def prompt(text: str) -> dict[str, Any]:
    return {"messageGroupsList": [{"message": {"plainTextMessage": {"value": text}}, "variations": None}]}


def locale(code: str, question: str, utterance: str, value: str) -> dict[str, Any]:
    root = f"Bot/BotLocales/{code}"
    slot = {
        "name": "Name",
        "identifier": "1",
        "slotTypeName": "Names",
        "valueElicitationSetting": {"slotConstraint": "Required", "promptSpecification": prompt(question)},
    }
    intent = {
        "name": "Book",
        "identifier": "2",
        "sampleUtterances": [{"utterance": utterance}],
        "inputContexts": [{"name": "open"}],
        "intentClosingSetting": {"closingResponse": prompt(f"{value}!")},
    }
    values = [{"sampleValue": {"value": value}, "synonyms": [{"value": f"{value}chen"}]}]
    return {
        f"{root}/BotLocale.json": {"name": code, "identifier": code},
        f"{root}/Intents/Book/Intent.json": intent,
        f"{root}/Intents/Book/Slots/Name/Slot.json": slot,
        f"{root}/SlotTypes/Names/SlotType.json": {"name": "Names", "identifier": "3", "slotTypeValues": values},
    }


V2 = {
    "Manifest.json": {"metaData": {"fileFormat": "LexJson", "resourceType": "BOT", "schemaVersion": "1"}},
    "Bot/Bot.json": {"name": "Bot", "identifier": "0"},
    **locale("en_US", "Your name?", "for {Name}", "Ann"),
}
GERMAN = locale("de_DE", "Ihr Name?", "für {Name}", "Anna")
SUBJECTS = [
    Subject(FORMAT, {"bot.json": V1}),
    Subject(FORMAT, V2),
]
test_obeys_contract = contract(*SUBJECTS, ids=["V1", "V2"])


def test_v1_bot_is_read(tmp_path):
    """Braces without a declared slot are text."""
    found = read_files(tmp_path, {"bot.json": V1})
    plan, weeks = found.registry["Apply"].slots

    assert [line.template or line.text for line in found.registry["Apply"].utterances] == [
        "apply {plan} \\{now\\}",
        "apply it",
    ]
    assert (plan.required, plan.questions) == (True, {"en-US": "Which?"})
    assert [(value.value, value.synonyms[0].text) for value in plan.values] == [("basic", "plain")]
    assert (weeks.kind, weeks.required) == ("number", False)
    assert found.registry["Apply"].responses == {"en-US": "Applied."}


def test_unsupported_content_is_reported(tmp_path):
    text = messages(read_files(tmp_path, {"bot.json": V1}))

    assert "confirmations" in text
    assert "utterances that answer the prompt" in text
    assert "values outside of their list" in text
    assert "no slot 'now'" in text
    assert "is a fallback intent" in text


@pytest.mark.parametrize("name", ["intents", "slotTypes"])
def test_v1_intent_or_type_can_be_exported_alone(name, tmp_path):
    alone = {"metadata": V1["metadata"], "resource": V1["resource"][name][0]}
    found = read_files(tmp_path, {"alone.json": alone})

    assert len(found.registry) + len(found.registry.slots) > 0


def test_v2_locales_become_languages(tmp_path):
    found = read_files(tmp_path, {**V2, **GERMAN})
    (intent,) = found.registry.intents
    (name,) = intent.slots

    assert {(line.language, line.template) for line in intent.utterances} == {
        ("en-US", "for {Name}"),
        ("de-DE", "für {Name}"),
    }
    assert name.questions == {"en-US": "Your name?", "de-DE": "Ihr Name?"}
    assert {(value.value, value.synonyms[0].text, value.synonyms[0].language) for value in name.values} == {
        ("Ann", "Annchen", "en-US"),
        ("Anna", "Annachen", "de-DE"),
    }
    assert intent.responses == {"en-US": "Ann!", "de-DE": "Anna!"}
    assert intent.when == ("open",)


def test_synonyms_of_a_single_locale_have_no_language(tmp_path):
    (name,) = read_files(tmp_path, V2).registry.slots

    assert [synonym.language for value in name.values for synonym in value.synonyms] == [None]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"slotTypeValues": None, "valueSelectionSetting": {"regexFilter": {"pattern": "[A-Z]+"}}}, "pattern"),
        ({"slotTypeValues": None, "parentSlotTypeSignature": "AMAZON.Date"}, "date"),
        ({"slotTypeValues": None, "parentSlotTypeSignature": "AMAZON.AlphaNumeric"}, "any"),
    ],
)
def test_types_without_values_become_patterns_or_built_in_kinds(changes, kind, tmp_path):
    path = "Bot/BotLocales/en_US/SlotTypes/Names/SlotType.json"
    found = read_files(tmp_path, {**V2, path: {**V2[path], **changes}})

    assert [slot.kind for slot in found.registry.slots] == [kind]


def test_unknown_type_is_reported_and_accepts_any_text(tmp_path):
    path = "Bot/BotLocales/en_US/SlotTypes/Names/SlotType.json"
    found = read_files(tmp_path, {key: value for key, value in V2.items() if key != path})

    assert "the type 'Names' of the slot 'Name' is not defined" in messages(found)
    assert [slot.kind for slot in found.registry.slots] == ["any"]
