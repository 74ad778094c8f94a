"""JSON Schema of the YAML grammar, for completion, validation and hover texts in editors.

The schema is draft 7, which YAML plugins support best. It describes the structure of a file; unknown names, duplicate
texts and unbalanced templates are reported by `intentmatch validate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intentmatch.core.setting_values import DEFAULT_LANGUAGE
from intentmatch.core.settings import PARSERS
from intentmatch.languages.own import REPLACES
from intentmatch.languages.sections import OWN_SECTIONS
from intentmatch.registry.reading.grammar import (
    FILE_KEYS,
    GRAMMAR_VERSION,
    INTENT_KEYS,
    OUT_OF_SCOPE,
    QUESTION_KEYS,
    TEST_KEYS,
)
from intentmatch.registry.reading.slot_grammar import KINDS, SLOT_KEYS

DRAFT = "http://json-schema.org/draft-07/schema#"
ADDRESS = "https://github.com/intentmatch/intentmatch/releases/latest/download/intents.schema.json"
"""Where each release puts its schema, for editors that find it by the name of a file."""
_CODE = "^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-[A-Za-z0-9]{5,8})*$"
# The names of `templates/syntax.py`, as JavaScript can say them: its `\w` knows only ASCII.
_NAME = r"^[^\s!-@\[-^`{-~][^\s!-,/:-@\[-^`{-~]*$"
_MARKS = (
    "`(a|b)` is an alternative, `[a]` is optional, `<name>` is a rule, `{name}` is a slot; a backslash escapes a mark."
)

_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "file": {
        "version": "Version of this grammar: 1.",
        "language": "Language of all utterances without one of their own, as a BCP-47 code: en, pt-BR, zh-Hant.",
        "include": "Other files and folders to read, relative to this file. Each file is read once.",
        "settings": "Settings of the matcher. A setting may be set in only one file of a folder.",
        "languages": "Words of a language that this bot reads too, by language and section: see `guide languages`.",
        "rules": f"Template fragments by name, used as `<name>` in the whole folder. {_MARKS}",
        "slots": "Values that intents need from a message, by name, used as `{name}` in the whole folder.",
        "intents": "What users may want, by name. An intent may be spread over several files.",
        "questions": "What every message is asked beside its intent, by name: “Is it urgent?”.",
        "tests": "Messages with the expected intent, for `intentmatch eval`.",
    },
    "intent": {
        "title": "Name shown to users, as in “did you mean ...?”: a text, or one for each language.",
        "description": "What users want, in a sentence. Read as a line of an intent that has eight or fewer.",
        "utterances": f"Example messages: a list, or one for each language. {_MARKS}",
        "not": "Negatives, messages that resemble this intent but are not of it: a list, or one for each language.",
        "threshold": "Lowest score (0 to 1) or confidence (as in 90%) of this intent. It overrides other thresholds.",
        "response": "Answer of the bot: a text, or a list of variants, or one of these for each language.",
        "metadata": "Your own data, returned with the result.",
        "slots": "Slots of this intent only, and refinements of slots of the file or folder.",
        "when": "Tags of which at least one must be active for the intent to match.",
        "confirm": "Whether a dialogue asks the user to confirm the intent before the bot acts.",
    },
    "question": {
        "question": "The question in words, as people read it and programs may ask it.",
        "answers": f"Messages of each answer, such as `yes` and `no`: a list, or one for each language. {_MARKS}",
    },
    "slot": {
        "type": f"{', '.join(KINDS[:-1])} or {KINDS[-1]}. `values` imply list, and `pattern` implies pattern.",
        "values": "Values of a list slot, or a mapping of values to synonyms, which may be grouped by language.",
        "pattern": "Regular expression of a pattern slot, or a list of them of which one must match.",
        "examples": "Texts that fill the slot in the sentences of a template; a list slot uses its values.",
        "required": "Whether the bot asks for the slot if the message does not contain it.",
        "ask": "Question for a missing slot: a text, or one for each language.",
    },
    "test": {
        "text": "The message, as a user would write it.",
        "intent": f"The expected intent, {OUT_OF_SCOPE}, or a list of the intents that the bot should ask about.",
        "language": "Language of the message, as a BCP-47 code.",
    },
}


_TEXT = {"$ref": "#/definitions/text"}
_TEXTS = {"$ref": "#/definitions/texts"}
_LOCALIZED = {"$ref": "#/definitions/localized"}
_VARIANTS = {"$ref": "#/definitions/variants"}
_SLOTS = {"$ref": "#/definitions/slots"}
_UTTERANCES = {"$ref": "#/definitions/utterances"}
_LANGUAGE = {"type": "string", "pattern": _CODE}


def schema() -> dict[str, Any]:
    """Return the schema of a file as JSON values."""
    return {
        "$schema": DRAFT,
        "$id": ADDRESS,
        "title": "Intents of a chatbot",
        "definitions": _definitions(),
        **_mapping("file", FILE_KEYS, _file_properties(), nullable=True),
    }


def _definitions() -> dict[str, Any]:
    # An unquoted number, boolean or `null` is a text too.
    lines = {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}
    variants = [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]
    return {
        "text": {"type": ["string", "number", "boolean"]},
        "texts": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
        "localized": {"anyOf": [_TEXT, _by_language(_TEXT)]},
        "variants": {"anyOf": [*variants, _by_language({"anyOf": variants})]},
        "utterances": {"anyOf": [lines, _by_language(lines)]},
        "slots": _named(_mapping("slot", SLOT_KEYS, _slot_properties()), names=_NAME),
    }


def _file_properties() -> dict[str, Any]:
    setting = {"anyOf": [_TEXT, {"type": "object", "additionalProperties": _TEXT}]}
    shorthand = _named({"type": "object", "additionalProperties": _TEXT}, f"^{DEFAULT_LANGUAGE}$|{_CODE}")
    by_language = _named(_TEXTS, f"^{DEFAULT_LANGUAGE}$|{_CODE}")
    test = _mapping("test", TEST_KEYS, _test_properties())
    return {
        "version": {"enum": [int(GRAMMAR_VERSION), GRAMMAR_VERSION]},
        "language": _LANGUAGE,
        "include": _TEXTS,
        "settings": {
            "type": ["object", "null"],
            "properties": dict.fromkeys(PARSERS, setting)
            | {"spelling": shorthand, "fallback": {"anyOf": [_TEXTS, by_language]}},
            "additionalProperties": False,
        },
        "languages": _by_language(_language_sections()),
        "rules": _named(_LOCALIZED, names=_NAME),
        "slots": _SLOTS,
        "intents": _named(_mapping("intent", INTENT_KEYS, _intent_properties(), nullable=True)),
        "questions": _named(_mapping("question", QUESTION_KEYS, _question_properties())),
        "tests": {"type": ["array", "null"], "items": {**test, "required": ["text", "intent"]}},
    }


def _language_sections() -> dict[str, Any]:
    section = {"type": ["object", "array", "string", "number", "boolean"]}
    return {
        "type": ["object", "null"],
        "properties": {REPLACES: _TEXTS, **dict.fromkeys(OWN_SECTIONS, section)},
        "additionalProperties": False,
    }


def _intent_properties() -> dict[str, Any]:
    return {
        "title": _LOCALIZED,
        "description": _TEXT,
        "utterances": _UTTERANCES,
        "not": _UTTERANCES,
        "threshold": {"type": ["number", "string"], "minimum": 0, "maximum": 1},
        "response": _VARIANTS,
        "metadata": {"type": "object"},
        "slots": _SLOTS,
        "when": _TEXTS,
        "confirm": {"type": "boolean"},
    }


def _question_properties() -> dict[str, Any]:
    return {"question": _TEXT, "answers": {**_named(_UTTERANCES), "minProperties": 2}}


def _slot_properties() -> dict[str, Any]:
    localized_texts = {"anyOf": [_TEXTS, _by_language(_TEXTS)]}
    synonyms = {"anyOf": [{"type": "null"}, *localized_texts["anyOf"]]}
    return {
        "type": {"enum": list(KINDS)},
        "values": {"anyOf": [{"type": "array", "items": _TEXT}, {"type": "object", "additionalProperties": synonyms}]},
        "pattern": _TEXTS,
        "examples": localized_texts,
        "required": {"type": "boolean"},
        "ask": _LOCALIZED,
    }


def _test_properties() -> dict[str, Any]:
    intents = {"type": "array", "items": _TEXT, "minItems": 2, "uniqueItems": True}
    return {"text": _TEXT, "intent": {"anyOf": [_TEXT, intents]}, "language": _LANGUAGE}


def _mapping(what: str, keys: Sequence[str], values: Mapping[str, Any], *, nullable: bool = False) -> dict[str, Any]:
    """Return the schema of a mapping with exactly these keys, each with its description."""
    descriptions = _DESCRIPTIONS[what]
    return {
        "type": ["object", "null"] if nullable else "object",
        # Draft 7 ignores a description beside `$ref`, hence `allOf`.
        "properties": {key: {"description": descriptions[key], "allOf": [values[key]]} for key in keys},
        "additionalProperties": False,
    }


def _named(value: Mapping[str, Any], names: str = ".") -> dict[str, Any]:
    return {"type": ["object", "null"], "propertyNames": {"pattern": names}, "additionalProperties": value}


def _by_language(value: Mapping[str, Any]) -> dict[str, Any]:
    return _named(value, _CODE)
