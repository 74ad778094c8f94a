"""A registry as plain JSON values, and back: all that an answer needs, without the tests.

The sentences of one line share its template and place, and intents share the slots that are the same: both may be
many times as many as what they are made of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance


def to_plain(registry: Registry) -> dict[str, Any]:
    """The registry as values that JSON has."""
    slots = _Table()
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
            }
            for intent in registry
        ],
        "slots": [slots.number(_slot(slot)) for slot in registry.slots],
        "rules": [[rule.name, dict(rule.templates), _place(rule.location)] for rule in registry.rules],
        "all_slots": slots.values,
    }


def from_plain(values: Mapping[str, Any]) -> Registry:
    """The inverse of `to_plain`. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
    slots = [_slot_of(slot) for slot in values["all_slots"]]
    intents = (
        Intent(
            **{
                **intent,
                "location": _place_of(intent["location"]),
                "utterances": _lines_of(intent["utterances"]),
                "negatives": _lines_of(intent["negatives"]),
                "slots": tuple(slots[number] for number in intent["slots"]),
                "when": tuple(intent["when"]),
            }
        )
        for intent in values["intents"]
    )
    return Registry(
        tuple(intents),
        values["settings"],
        slots=tuple(slots[number] for number in values["slots"]),
        rules=tuple(Rule(name, templates, _place_of(place)) for name, templates, place in values["rules"]),
    )


class _Table:
    """Each value once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, which is added where it is new."""
        number = self._numbers.setdefault(json.dumps(value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


def _lines(utterances: Sequence[Utterance]) -> list[list[Any]]:
    """A list for each line: text, language and place or, of sentences one after the other, what they share and they."""
    lines: list[list[Any]] = []
    last = Utterance("")
    for one in utterances:
        if one.template is None and not one.marks:
            lines.append([one.text, one.language, _place(one.location)])
        else:
            if not (one.same_line(last) and one.language == last.language):
                lines.append([one.template, one.language, _place(one.location), []])
            lines[-1][3].append([one.text, *(part for mark in one.marks for part in (mark.slot, mark.start, mark.end))])
        last = one
    return lines


def _lines_of(lines: Iterable[list[Any]]) -> tuple[Utterance, ...]:
    found: list[Utterance] = []
    for text, code, place, *sentences in lines:
        location, language = _place_of(place), code and intern(code)
        if not sentences:
            found.append(Utterance(text, language, location))
        for sentence, *parts in sentences[0] if sentences else ():
            marks = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
            found.append(Utterance(sentence, language, location, text, tuple(Mark(*mark) for mark in marks)))
    return tuple(found)


def _slot(slot: Slot) -> list[Any]:
    values = [[value.value, _lines(value.synonyms)] for value in slot.values]
    said = slot.required, dict(slot.questions)
    return [slot.name, slot.kind, values, list(slot.patterns), _lines(slot.examples), *said, _place(slot.location)]


def _slot_of(values: list[Any]) -> Slot:
    name, kind, pairs, patterns, examples, required, questions, place = values
    of_list = tuple(SlotValue(value, _lines_of(synonyms)) for value, synonyms in pairs)
    said = required, questions, _place_of(place)
    return Slot(name, kind, of_list, tuple(patterns), _lines_of(examples), *said)


def _place(location: Location | None) -> list[Any] | None:
    return None if location is None else [location.path, location.line, location.column]


def _place_of(values: list[Any] | None) -> Location | None:
    # A file's name comes with each of its lines; it need not be kept so often.
    return None if values is None else Location(intern(values[0]), *values[1:])
