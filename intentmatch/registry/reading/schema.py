"""The grammar as a JSON Schema, for editors: what they offer, underline, and show when the mouse rests on a key.

Draft 7, which the YAML plugins of editors know best. It says what a file looks like; whether names are known, texts
are duplicates or templates balanced is for `validate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intentmatch.core.settings import PARSERS
from intentmatch.registry.reading.grammar import FILE_KEYS, GRAMMAR_VERSION, INTENT_KEYS, OUT_OF_SCOPE, TEST_KEYS
from intentmatch.registry.reading.slot_grammar import KINDS, SLOT_KEYS

DRAFT = "http://json-schema.org/draft-07/schema#"
_CODE = "^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-[A-Za-z0-9]{5,8})*$"
_NAME = r"^[^\s!-@\[-^`{-~][^\s!-,/:-@\[-^`{-~]*$"
_MARKS = (
    "`(a|b)` is one of several, `[a]` may be left out, `<name>` is a rule, `{name}` a slot, a backslash makes text."
)

_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "file": {
        "version": "Of this grammar: 1.",
        "language": "Of every utterance that does not say its own, as a BCP-47 code: en, pt-BR, zh-Hant.",
        "include": "Other files and folders to read with this one, relative to it. Each is read once.",
        "settings": "What the matcher is set to. Each setting may stand in one file of a folder.",
        "rules": f"Fragments of templates by name, used as `<name>` in the whole folder. {_MARKS}",
        "slots": "Pieces of information that intents need, by name, used as `{name}` in the whole folder.",
        "intents": "What a user may want, by name. An intent may be spread over several files.",
        "tests": "Messages with the intent that should answer them, for `intentmatch eval`.",
    },
    "intent": {
        "title": "For people: what stands in “did you mean ...?”; a text, or one for each language.",
        "description": "For people.",
        "utterances": f"What users say: a list, or one for each language. {_MARKS}",
        "not": "What looks like this intent and is not, likewise: a message near to it is pushed away.",
        "threshold": "The intent's own cut on the score, 0 to 1. It wins over all others.",
        "response": "What the bot says: a text, or one for each language.",
        "metadata": "Your own data, handed through.",
        "slots": "Slots of this intent alone, and what is special to it about those of the file or folder.",
        "when": "Tags of which one must be active for the intent to answer.",
    },
    "slot": {
        "type": "list, pattern, number, date, time or any. `values` make a list and `pattern` makes a pattern.",
        "values": "Of a list: what users may say; or each with its synonyms, which may be told apart by language.",
        "pattern": "Of a pattern: a regular expression, or a list of them of which one must match.",
        "examples": "What stands for the slot in the sentences of a template; a list has its values for that.",
        "required": "Whether a matched intent asks for it where the message does not hold it.",
        "ask": "What to ask then: a text, or one for each language.",
    },
    "test": {
        "text": "The message, as a user would write it.",
        "intent": f"The intent that should answer, {OUT_OF_SCOPE}, or a list of the intents to ask about.",
        "language": "Of the message, as a BCP-47 code.",
    },
}


_TEXT = {"$ref": "#/definitions/text"}
_TEXTS = {"$ref": "#/definitions/texts"}
_SAID = {"$ref": "#/definitions/said"}
_SLOTS = {"$ref": "#/definitions/slots"}
_UTTERANCES = {"$ref": "#/definitions/utterances"}
_LANGUAGE = {"type": "string", "pattern": _CODE}


def schema() -> dict[str, Any]:
    """The schema of a file, as plain JSON values."""
    return {
        "$schema": DRAFT,
        "title": "Intents of a chatbot",
        "definitions": _definitions(),
        **_mapping("file", FILE_KEYS, _of_file(), nullable=True),
    }


def _definitions() -> dict[str, Any]:
    # Without quotes a number, a truth value and even `null` are text too.
    lines = {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}
    return {
        "text": {"type": ["string", "number", "boolean"]},
        "texts": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
        "said": {"anyOf": [_TEXT, _by_language(_TEXT)]},
        "utterances": {"anyOf": [lines, _by_language(lines)]},
        "slots": _named(_mapping("slot", SLOT_KEYS, _of_slot()), names=_NAME),
    }


def _of_file() -> dict[str, Any]:
    setting = {"anyOf": [_TEXT, {"type": "object", "additionalProperties": _TEXT}]}
    test = _mapping("test", TEST_KEYS, _of_test())
    return {
        "version": {"enum": [int(GRAMMAR_VERSION), GRAMMAR_VERSION]},
        "language": _LANGUAGE,
        "include": _TEXTS,
        "settings": {
            "type": ["object", "null"],
            "properties": dict.fromkeys(PARSERS, setting),
            "additionalProperties": False,
        },
        "rules": _named(_SAID, names=_NAME),
        "slots": _SLOTS,
        "intents": _named(_mapping("intent", INTENT_KEYS, _of_intent(), nullable=True)),
        "tests": {"type": ["array", "null"], "items": {**test, "required": ["text", "intent"]}},
    }


def _of_intent() -> dict[str, Any]:
    return {
        "title": _SAID,
        "description": _TEXT,
        "utterances": _UTTERANCES,
        "not": _UTTERANCES,
        "threshold": {"type": ["number", "string"], "minimum": 0, "maximum": 1},
        "response": _SAID,
        "metadata": {"type": "object"},
        "slots": _SLOTS,
        "when": _TEXTS,
    }


def _of_slot() -> dict[str, Any]:
    in_languages = {"anyOf": [_TEXTS, _by_language(_TEXTS)]}
    synonyms = {"anyOf": [{"type": "null"}, *in_languages["anyOf"]]}
    return {
        "type": {"enum": list(KINDS)},
        "values": {"anyOf": [{"type": "array", "items": _TEXT}, {"type": "object", "additionalProperties": synonyms}]},
        "pattern": _TEXTS,
        "examples": in_languages,
        "required": {"type": "boolean"},
        "ask": _SAID,
    }


def _of_test() -> dict[str, Any]:
    several = {"type": "array", "items": _TEXT, "minItems": 2, "uniqueItems": True}
    return {"text": _TEXT, "intent": {"anyOf": [_TEXT, several]}, "language": _LANGUAGE}


def _mapping(what: str, keys: Sequence[str], values: Mapping[str, Any], *, nullable: bool = False) -> dict[str, Any]:
    """A mapping with these keys and no other, each with what editors show for it."""
    said = _DESCRIPTIONS[what]
    return {
        "type": ["object", "null"] if nullable else "object",
        # A description beside a reference would not be looked at.
        "properties": {key: {"description": said[key], "allOf": [values[key]]} for key in keys},
        "additionalProperties": False,
    }


def _named(value: Mapping[str, Any], names: str = ".") -> dict[str, Any]:
    return {"type": ["object", "null"], "propertyNames": {"pattern": names}, "additionalProperties": value}


def _by_language(value: Mapping[str, Any]) -> dict[str, Any]:
    return _named(value, _CODE)
