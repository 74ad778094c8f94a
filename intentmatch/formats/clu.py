"""Conversational language understanding (CLU) of Azure: the JSON of a project.

Offsets count UTF-16 units. Utterances of the data set "Test" become tests. Every project has the fallback intent
"None". Files of the previews of 2021 have other keys for the same parts; export writes the keys of 2023-04-01.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from intentmatch.core.errors import Problem
from intentmatch.core.types import Case, Registry, Slot, Utterance
from intentmatch.formats.kit import by_language
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.global_entities import attach_global_entities
from intentmatch.formats.kit.losses import loss
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.spans import from_utf16, innermost, utf16_length
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.lu.entities import NONE

_UTF16 = "utf16codeunit"
_VERSIONS = ("projectFileVersion", "api-version", "apiVersion", "schemaVersion")
_KINDS = ("projectKind", "projectType", "modelType", "type")
_NAMES = ("category", "name")
_LINES = ("utterances", "examples")
_LABELS = (*_NAMES, "entityName")
_OFFSETS = ("offset", "position", "startPosition")
"""Keys of one part of a project: today's, and those of the previews of 2021."""
_ORCHESTRATION = ("orchestration", "workflow")
_BUILT_IN = {
    "number": "Quantity.Number",
    "ordinal": "Quantity.Ordinal",
    "money": "Quantity.Currency",
    "temperature": "Quantity.Temperature",
    **dict.fromkeys(("date", "time", "datetime", "duration"), "DateTime"),
    "email": "Email",
    "phone": "PhoneNumber",
    "url": "URL",
}
_SAYS: frozenset[Feature] = frozenset({"languages", "marks", "tests", "lists", "synonyms", "patterns", "kinds"})


def _recognise(file: File) -> Sure:
    root = file.root
    metadata, assets = root["metadata"], root["assets"]
    if not assets.is_mapping:
        return Sure.NO
    if "projectFileVersion" in root.keys or metadata["projectKind"]:
        return Sure.CERTAIN
    is_old = bool(_any_of(root, _VERSIONS) or _any_of(metadata, _KINDS)) and assets["intents"].is_list
    return Sure.CERTAIN if is_old and _any_of(assets, _LINES).is_list else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        root = draft.root(file)
        metadata, assets = root["metadata"], root["assets"]
        if not assets["intents"].items():
            draft.warn(file.location, "no-intents", "the file has no intents")
        if (_any_of(metadata, _KINDS).text() or "").lower() in _ORCHESTRATION:
            draft.not_expressed(metadata.location, "the target projects of an orchestration project are not imported")
        if language := metadata["language"].text():
            draft.assume_language(language, metadata["language"].location)
        least = metadata["settings"]["confidenceThreshold"]
        if least.number():
            message = f"the confidence threshold {least.text()} is not imported; intentmatch learns its own thresholds"
            draft.not_expressed(least.location, message)
        for entity in assets["entities"].items():
            _read_entity(entity, _any_of(metadata, ("multilingual", "multiLingual")).flag(), draft)
        utterances = _any_of(assets, _LINES).items()
        # Every project has `None`. Without utterances it is no intent, and its tests are out of scope.
        trained = {utterance["intent"].text() for utterance in utterances if not _is_test(utterance)}
        for intent in assets["intents"].items():
            name = _any_of(intent, _NAMES).text() or ""
            if name != NONE or name in trained:
                draft.intent(name, intent.location, fallback=name == NONE)
        in_utf16 = (root["stringIndexType"].text() or _UTF16).lower() == _UTF16
        for utterance in utterances:
            _read_utterance(utterance, in_utf16, NONE in trained, draft)
    attach_global_entities(draft)


def _any_of(value: Value, keys: Sequence[str]) -> Value:
    """Return the value of the first of these keys that exists; a missing value if there is none."""
    return value[next((key for key in keys if key in value.keys), keys[0])]


def _read_entity(root: Value, multilingual: bool, draft: Draft) -> None:
    """Read an entity. Of its components, the first that intentmatch can express is imported."""
    slot = draft.slot(_any_of(root, _NAMES).text() or "", root.location)
    for item in root["list"]["sublists"].items():
        if value := item["listKey"].text():
            slot.add(value)
            for synonyms in item["synonyms"].items():
                # In a project of one language, synonyms need no language.
                language = draft.language(synonyms["language"].text(), synonyms.location) if multilingual else None
                slot.add(value, [text for synonym in synonyms["values"].items() if (text := synonym.text())], language)
    for expression in root["regex"]["expressions"].items():
        pattern = expression["regexPattern"].text()
        if pattern and pattern not in slot.patterns:
            slot.patterns.append(pattern)
    for prebuilt in root["prebuilts"].items():
        if slot.values or slot.patterns or slot.kind:
            draft.not_expressed(prebuilt.location, f"of the components of {slot.name!r}, only the first is imported")
        else:
            take_built_in(slot, _any_of(prebuilt, _NAMES).text() or "", prebuilt.location, draft)


def _read_utterance(root: Value, in_utf16: bool, has_fallback: bool, draft: Draft) -> None:
    text, name = root["text"].text() or "", root["intent"].text() or ""
    language = root["language"].text()
    if _is_test(root):
        draft.test(text, name if name != NONE or has_fallback else None, root.location, language)
        return
    labels: list[Label] = []
    for entity in root["entities"].items():
        offset, length = _any_of(entity, _OFFSETS).integer() or 0, entity["length"].integer() or 0
        ends = (from_utf16(text, offset), from_utf16(text, offset + length)) if in_utf16 else (offset, offset + length)
        labels.append(Label(_any_of(entity, _LABELS).text() or "", *ends))
    intent = draft.intent(name, root.location, fallback=name == NONE)
    intent.say(text, root["text"].location, language, innermost(labels, root.location, draft))


def _is_test(utterance: Value) -> bool:
    return (utterance["dataset"].text() or "").lower() == "test"


def _write(registry: Registry, problems: list[Problem]) -> Files:
    registry = by_language.with_languages(registry, problems)
    main, *others = by_language.languages(registry)
    names = [intent.name for intent in registry]
    lines = [_utterance(line, intent.name) for intent in registry for line in intent.utterances]
    slots = all_slots(registry).values()
    project = {
        "projectFileVersion": "2023-04-01",
        "stringIndexType": "Utf16CodeUnit",
        "metadata": {
            "projectKind": "Conversation",
            "projectName": "intents",
            "multilingual": bool(others),
            "description": "",
            # Azure writes codes in lower case: `en-us`.
            "language": main.lower(),
            "settings": {"confidenceThreshold": 0},
        },
        "assets": {
            "projectKind": "Conversation",
            "intents": [{"category": name} for name in (*names, *([] if NONE in names else [NONE]))],
            "entities": [_entity(slot, (main, *others), problems) for slot in slots],
            "utterances": [*lines, *_tests(registry.tests, main, problems)],
        },
    }
    return {"project.json": json.dumps(project, ensure_ascii=False, indent=2) + "\n"}


def _utterance(line: Utterance, intent: str) -> dict[str, Any]:
    labels = [
        {
            "category": mark.slot,
            "offset": utf16_length(line.text[: mark.start]),
            "length": utf16_length(line.text[mark.start : mark.end]),
        }
        for mark in line.marks
    ]
    language = (line.language or "").lower()
    return {"text": line.text, "intent": intent, "language": language, "dataset": "Train", "entities": labels}


def _tests(cases: Iterable[Case], main: str, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    for case in cases:
        if isinstance(case.expected, tuple):
            problems.append(loss(case.location, "a test that expects several intents"))
        else:
            line = Utterance(case.text, case.language or main)
            yield {**_utterance(line, case.expected or NONE), "dataset": "Test"}


def _entity(slot: Slot, codes: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    written: dict[str, Any] = {"category": slot.name, "compositionSetting": "combineComponents"}
    if slot.kind == "list":
        written["list"] = {
            "sublists": [
                {
                    "listKey": value.value,
                    "synonyms": [
                        {"language": code.lower(), "values": [value.value, *by_language.synonyms_in(value, code)]}
                        for code in codes
                    ],
                }
                for value in slot.values
            ]
        }
    elif slot.kind == "pattern":
        patterns = enumerate(slot.patterns, 1)
        written["regex"] = {
            "expressions": [
                {"regexKey": f"pattern{number}", "language": code.lower(), "regexPattern": pattern}
                for number, pattern in patterns
                for code in codes
            ]
        }
    elif slot.kind in _BUILT_IN:
        written["prebuilts"] = [{"category": _BUILT_IN[slot.kind]}]
    if slot.kind in ("date", "time", "duration", "any"):
        problems.append(
            loss(slot.location, f"the slot {slot.name!r} ({slot.kind}) exactly; the nearest type is written")
        )
    return written


FORMAT = Format("clu", "Azure CLU projects", _recognise, _read, _write, _SAYS)
