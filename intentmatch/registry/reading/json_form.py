"""Convert a registry to plain JSON values and back.

The form stores the template and location of a line once for all its sentences, and equal slots once for all intents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from intentmatch.core.errors import Location
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotValue, TraitQuestion, Utterance


def to_plain(registry: Registry, *, tests: bool = False) -> dict[str, Any]:
    """Return the registry as JSON values, with its tests if wanted."""
    slots = _NumberedValues()
    return {
        "settings": dict(registry.settings),
        "intents": [
            {
                "name": intent.name,
                "title": intent.title,
                "description": intent.description,
                "threshold": intent.threshold,
                "responses": dict(intent.responses),
                "metadata": dict(intent.metadata),
                "location": _place(intent.location),
                "utterances": _lines(intent.utterances),
                "negatives": _lines(intent.negatives),
                "slots": [slots.number(_slot(slot)) for slot in intent.slots],
                "when": list(intent.when),
                "titles": dict(intent.titles),
                "confirm": intent.confirm,
                # These three are absent where they are empty, as in artefacts of earlier versions.
                **({"more_responses": dict(intent.more_responses)} if intent.more_responses else {}),
                **({"described": _lines(intent.described)} if intent.described else {}),
                **({"excluded": _lines(intent.excluded)} if intent.excluded else {}),
            }
            for intent in registry
        ],
        "slots": [slots.number(_slot(slot)) for slot in registry.slots],
        "rules": [[rule.name, dict(rule.templates), _place(rule.location)] for rule in registry.rules],
        "all_slots": slots.values,
        **({"own_sections": dict(registry.own_sections)} if registry.own_sections else {}),
        **({"questions": [_question(each) for each in registry.questions]} if registry.questions else {}),
        **({"tests": [_case(case) for case in registry.tests]} if tests else {}),
    }


def from_plain(values: Mapping[str, Any]) -> Registry:
    """Return the registry that `to_plain` stored. Raises `KeyError`, `TypeError` or `ValueError` for other values."""
    slots = [_read_slot(slot) for slot in values["all_slots"]]
    intents = (
        Intent(
            **{
                **intent,
                "location": _read_place(intent["location"]),
                "utterances": _read_lines(intent["utterances"]),
                "negatives": _read_lines(intent["negatives"]),
                "slots": tuple(slots[number] for number in intent["slots"]),
                "when": tuple(intent["when"]),
                "described": _read_lines(intent.get("described", ())),
                "excluded": _read_lines(intent.get("excluded", ())),
                "more_responses": {code: tuple(texts) for code, texts in intent.get("more_responses", {}).items()},
            }
        )
        for intent in values["intents"]
    )
    registry = Registry(
        tuple(intents),
        values["settings"],
        tests=tuple(_read_case(*case) for case in values.get("tests", ())),
        slots=tuple(slots[number] for number in values["slots"]),
        rules=tuple(Rule(name, templates, _read_place(place)) for name, templates, place in values["rules"]),
        own_sections=values.get("own_sections", {}),
        questions=tuple(_read_question(*each) for each in values.get("questions", ())),
    )
    registry.own_languages  # noqa: B018 - raises now for sections that are invalid
    return registry


class _NumberedValues:
    """Numbered table of distinct values."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """Return the number of a value; add a new value to the table."""
        number = self._numbers.setdefault(json.dumps(value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


def _lines(utterances: Sequence[Utterance]) -> list[list[Any]]:
    """Return one list per line: text, language and location, and for a template a fourth item with its sentences."""
    lines: list[list[Any]] = []
    last = Utterance("")
    for one in utterances:
        if one.template is None and not one.marks:
            lines.append([one.text, one.language, _place(one.location)])
        else:
            # The sentences of a template follow one another, and its text is stored once for all of them.
            if not (one.same_line(last) and one.language == last.language):
                lines.append([one.template, one.language, _place(one.location), []])
            lines[-1][3].append([one.text, *(part for mark in one.marks for part in (mark.slot, mark.start, mark.end))])
        last = one
    return lines


def _read_lines(lines: Iterable[list[Any]]) -> tuple[Utterance, ...]:
    found: list[Utterance] = []
    for text, code, place, *sentences in lines:
        # Every line has a language: one copy in memory for all of them.
        location, language = _read_place(place), code and intern(code)
        if not sentences:
            found.append(Utterance(text, language, location))
        for sentence, *parts in sentences[0] if sentences else ():
            marks = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
            found.append(Utterance(sentence, language, location, text, tuple(Mark(*mark) for mark in marks)))
    return tuple(found)


def _slot(slot: Slot) -> list[Any]:
    values = [[value.value, _lines(value.synonyms)] for value in slot.values]
    examples, questions = _lines(slot.examples), dict(slot.questions)
    patterns, place = list(slot.patterns), _place(slot.location)
    return [slot.name, slot.kind, values, patterns, examples, slot.required, questions, place]


def _read_slot(values: list[Any]) -> Slot:
    name, kind, pairs, patterns, examples, required, questions, place = values
    slot_values = tuple(SlotValue(value, _read_lines(synonyms)) for value, synonyms in pairs)
    location = _read_place(place)
    return Slot(name, kind, slot_values, tuple(patterns), _read_lines(examples), required, questions, location)


def _question(question: TraitQuestion) -> list[Any]:
    answers = {name: _lines(lines) for name, lines in question.answers.items()}
    return [question.name, answers, question.text, _place(question.location)]


def _read_question(name: str, answers: Mapping[str, Any], text: str | None, place: list[Any] | None) -> TraitQuestion:
    return TraitQuestion(name, {key: _read_lines(lines) for key, lines in answers.items()}, text, _read_place(place))


def _case(case: Case) -> list[Any]:
    return [case.text, case.expected, case.language, _place(case.location)]


def _read_case(text: str, expected: str | list[str] | None, language: str | None, place: list[Any] | None) -> Case:
    return Case(text, tuple(expected) if isinstance(expected, list) else expected, language, _read_place(place))


def _place(location: Location | None) -> list[Any] | None:
    return None if location is None else [location.path, location.line, location.column]


def _read_place(values: list[Any] | None) -> Location | None:
    # Every line names its file: intern the name to keep one copy in memory.
    return None if values is None else Location(intern(values[0]), *values[1:])
