"""Write a registry as hassil files, one for each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Case, Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.hassil.blocks import SETTING, TAG
from intentmatch.formats.hassil.syntax import from_template, literal, with_optional_marks
from intentmatch.formats.kit import yaml_writer
from intentmatch.formats.kit.by_language import synonyms_in, utterances_in
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Files
from intentmatch.formats.kit.slot_mentions import all_slots, mentioned_slots
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry.templates.rules import key_of
from intentmatch.registry.templates.syntax import parse

# The code of BCP-47 for an undetermined language.
_NO_LANGUAGE = "und"
_SHAPES: Mapping[str, type] = {
    "slots": dict,
    "response": str,
    "requires_context": dict,
    "excludes_context": dict,
    "required_keywords": list,
    "name_domains": list,
    "inferred_domain": str,
}
_RANGE = {"from": 0, "to": 100}


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Return YAML by file name."""
    writer = _Writer(registry, problems)
    languages = [line.language for line in registry.utterances]
    languages += [case.language for case in registry.tests]
    languages += [code or None for intent in registry for code in intent.responses]
    codes = dict.fromkeys(languages) or {None: None}
    return {f"{code or _NO_LANGUAGE}.yaml": yaml_writer.standard_yaml(writer.document(code)) for code in codes}


class _Writer:
    """Writes the files of one registry."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._registry = registry
        self._problems = problems
        # Hassil refuses a template that names an undefined list.
        named = mentioned_slots((*registry.utterances, *registry.negatives), registry.rules)
        self._slots = {**{name: Slot(name, "any") for name in named}, **all_slots(registry)}

    def document(self, code: str | None) -> dict[str, Any]:
        """Return the content of the file of a language."""
        intents = {}
        for intent in self._registry:
            lines = utterances_in(intent, code)
            if lines or not intent.utterances:
                intents[intent.name] = {"data": [self._block(intent, lines)]}
        rules = {
            rule.name: with_optional_marks(from_template(parse(rule.templates[key], fragment=True)))
            for rule in self._registry.rules
            if (key := key_of(rule, code)) is not None
        }
        responses = {
            intent.name: {"default": intent.responses[code or ""]}
            for intent in self._registry
            if (code or "") in intent.responses
        }
        document = {
            "language": code or _NO_LANGUAGE,
            "intents": intents,
            "lists": {slot.name: self._list(slot, code) for slot in self._slots.values()},
            "expansion_rules": rules,
            "responses": {"intents": responses} if responses else {},
            "tests": [self._test(case) for case in self._registry.tests if case.language == code],
        }
        # Hassil needs `intents`, even without any.
        return {key: value for key, value in document.items() if value or key == "intents"}

    def _block(self, intent: Intent, lines: list[Utterance]) -> dict[str, Any]:
        block: dict[str, Any] = {"sentences": [_sentence(line) for line in lines]}
        metadata = dict(intent.metadata)
        for key in SETTING:
            # Only what an import could have put there: metadata of the same name may be of the bot itself.
            if isinstance(metadata.get(key), _SHAPES[key]):
                block[key] = metadata.pop(key)
        if intent.when:
            block["requires_context"] = {**block.get("requires_context", {}), TAG: list(intent.when)}
        return {**block, **({"metadata": metadata} if metadata else {})}

    def _list(self, slot: Slot, code: str | None) -> dict[str, Any]:
        if slot.kind == "list":
            return {"values": [entry for value in slot.values for entry in _values(value, code)]}
        if slot.kind == "number":
            self._note(slot.location, "range", f"the slot {slot.name!r} is written as a range from 0 to 100")
            return {"range": dict(_RANGE)}
        if slot.kind != "any":
            self._note(slot.location, NOT_EXPRESSED, f"the slot {slot.name!r} ({slot.kind}) is written as a wildcard")
        return {"wildcard": True}

    def _test(self, case: Case) -> dict[str, Any]:
        expected = case.expected
        if isinstance(expected, tuple):
            self._note(
                case.location,
                NOT_EXPRESSED,
                f"the test “{case.text}” expects several intents; only the first is written",
            )
            expected = expected[0]
        return {"sentences": [case.text], "intent": None if expected is None else {"name": expected}}

    def _note(self, place: Location | None, rule: str, message: str) -> None:
        problem = Problem(place or NOWHERE, "warning", rule, message)
        if problem not in self._problems:
            self._problems.append(problem)


def _sentence(line: Utterance) -> str:
    return with_optional_marks(from_template(parse(line.text)) if is_template(line) else literal(line.text))


def _values(value: SlotValue, code: str | None) -> list[str | dict[str, str]]:
    """Return the entries of a value: the value itself, escaped if necessary, and each synonym in the language."""
    first, *others = (with_optional_marks(literal(text)) for text in (value.value, *synonyms_in(value, code)))
    plain = value.value if first == value.value else {"in": first, "out": value.value}
    return [plain, *({"in": text, "out": value.value} for text in others)]
