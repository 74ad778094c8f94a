"""Snips NLU: training data in YAML, with several documents per file, and JSON datasets of one language each.

A dataset may be wrapped in a list, as the converter of Jovo models returns it.

Export writes a JSON dataset for each language, because the YAML form cannot escape brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Registry, Slot, SlotKind, Utterance
from intentmatch.formats.kit.by_language import synonyms_in, utterances_in
from intentmatch.formats.kit.draft import Draft, IntentDraft, Label
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.losses import loss, unused_slot_losses
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.syntax import escape

_BUILT_IN = "snips/"
_WRITTEN: Mapping[SlotKind, str] = {
    **{kind: kind for kind in ("number", "ordinal", "temperature", "date", "time", "datetime", "duration")},
    "money": "amountOfMoney",
}
"""Kinds of slots that Snips has, by its names."""
_OPEN = ("any", "email", "phone", "url")
# `[slot:entity](text)`; the entity and the text are optional.
_MARK = re.compile(r"\[(?P<slot>[^\[\]:]+)(?::(?P<entity>[^\[\]]+))?\](?:\((?P<text>[^)\[]+)\))?")
_SAYS: frozenset[Feature] = frozenset({"languages", "marks", "lists", "synonyms", "kinds"})


def _recognise(file: File) -> Sure:
    root = next(iter(_wrapped(file.root)), file.root)
    if root["type"].text() in ("intent", "entity") and "name" in root.keys:
        return Sure.CERTAIN
    if not (root["intents"].is_mapping and root["entities"].is_mapping):
        return Sure.NO
    lines = (line for _, intent in root["intents"].entries() for line in intent["utterances"].items())
    # Without an utterance, only the names of two mappings speak for Snips.
    return Sure.CERTAIN if "data" in next(lines, root).keys else Sure.POSSIBLE


def _read(files: Sequence[File], draft: Draft) -> None:
    reader = _Reader(draft)
    for file in files:
        for document in draft.roots(file):
            for dataset in _wrapped(document) or [document]:
                reader.read(dataset)


def _wrapped(document: Value) -> list[Value]:
    """Return the datasets in a list of `{path, content}`, which Jovo's converter returns; nothing for other files."""
    items = document.items() if document.is_list else []
    return [item["content"] for item in items if {"path", "content"} <= set(item.keys)]


class _Reader:
    """Reads YAML documents and JSON datasets into one draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._roles = Roles(draft)

    def read(self, document: Value) -> None:
        kind = document["type"].text()
        if kind == "intent":
            self._intent(document)
        elif kind == "entity":
            self._entity(document["name"].text() or "", document, document["values"])
        elif document["intents"] or document["entities"]:
            self._dataset(document)
        else:
            self._draft.warn(
                document.location, "unknown-document", "a document that is neither an intent nor an entity is skipped"
            )

    def _intent(self, document: Value) -> None:
        intent = self._draft.intent(document["name"].text() or "", document.location)
        entities = {slot["name"].text() or "": slot["entity"].text() or "" for slot in document["slots"].items()}
        for line in document["utterances"].items():
            text = line.text()
            if text:
                self._line(intent, text.strip(), line.location, entities)

    def _line(self, intent: IntentDraft, text: str, place: Location, entities: dict[str, str]) -> None:
        """Read an utterance of the YAML form. A slot without a text makes it a template."""
        pieces: list[tuple[str, str, str]] = []
        end = 0
        for mark in _MARK.finditer(text):
            if mark["entity"]:
                # Later marks of the slot may leave its entity out.
                entities.setdefault(mark["slot"], mark["entity"])
            slot = self._slot(mark["slot"], mark["entity"] or entities.get(mark["slot"]) or mark["slot"], place)
            pieces.append((text[end : mark.start()], slot, mark["text"] or ""))
            end = mark.end()
        rest = text[end:]
        if "[" in rest:
            self._draft.warn(place, "bad-mark", "a bracket that is never closed is read as text")
        self._say(intent, pieces, rest, place)

    def _say(
        self,
        intent: IntentDraft,
        pieces: Sequence[tuple[str, str, str]],
        rest: str,
        place: Location,
        language: str | None = None,
    ) -> None:
        """Add an utterance of pieces: the text before a slot, the slot, and its value. An empty value is a blank."""
        if all(value for _, _, value in pieces):
            plain = ""
            labels = []
            for before, slot, value in pieces:
                plain += before + value
                labels.append(Label(slot, len(plain) - len(value), len(plain)))
            intent.say(plain + rest, place, language, labels)
        else:
            filled = (f"{escape(before)}{{{slot}{_equals(value)}}}" for before, slot, value in pieces)
            intent.template("".join(filled) + escape(rest), place, language)

    def _dataset(self, document: Value) -> None:
        language = document["language"].text()
        for name, entity in document["entities"].entries():
            self._entity(name, entity, entity["data"], language)
        for name, written in document["intents"].entries():
            intent = self._draft.intent(name, written.location)
            for line in written["utterances"].items():
                text = ""
                pieces: list[tuple[str, str, str]] = []
                for chunk in line["data"].items():
                    piece, name_ = chunk["text"].text() or "", chunk["slot_name"].text()
                    if name_ is None:
                        text += piece
                        continue
                    entity_name = chunk["entity"].text() or name_
                    # Jovo has no value of a built-in entity and writes the name of the slot instead.
                    is_blank = piece == name_ and entity_name.startswith(_BUILT_IN)
                    pieces.append((text, self._slot(name_, entity_name, chunk.location), "" if is_blank else piece))
                    text = ""
                self._say(intent, pieces, text, line.location, language)

    def _slot(self, name: str, entity: str, place: Location) -> str:
        if entity.startswith(_BUILT_IN):
            take_built_in(self._draft.type(entity, place), entity, place, self._draft)
        return self._roles.slot(name, entity, place).name

    def _entity(self, name: str, entity: Value, values: Value, language: str | None = None) -> None:
        if name.startswith(_BUILT_IN):
            return
        type_ = self._draft.type(name, entity.location)
        for item in values.items():
            value, synonyms = _value(item)
            # Without synonyms, each text is a value of its own.
            if entity["use_synonyms"] and not entity["use_synonyms"].flag():
                for text in (value, *synonyms):
                    type_.add(text)
            else:
                type_.add(value, synonyms, language)
        extensible = entity["automatically_extensible"]
        # Extensible is the default.
        if not extensible or extensible.flag():
            if type_.values:
                message = "an extensible entity is imported with its listed values only"
                self._draft.note(entity.location, "extensible-entity", message)
            else:
                type_.kind = "any"
        strictness = entity["matching_strictness"]
        if strictness.number() not in (None, 1.0):
            self._draft.not_expressed(strictness.location, "`matching_strictness` is not imported")


def _equals(value: str) -> str:
    return f"={escape(value)}" if value else ""


def _value(item: Value) -> tuple[str, list[str]]:
    """Return a value and its synonyms, from YAML or JSON."""
    if item.is_list:
        texts = [text for one in item.items() if (text := one.text())]
        return (texts[0], texts[1:]) if texts else ("", [])
    if item.is_mapping:
        return item["value"].text() or "", [text for one in item["synonyms"].items() if (text := one.text())]
    return item.text() or "", []


def _write(registry: Registry, problems: list[Problem]) -> Files:
    problems += unused_slot_losses(registry, _WRITTEN)
    problems += [
        loss(slot.location, f"the slot {slot.name!r} ({slot.kind}) exactly; an open entity is written")
        for slot in all_slots(registry).values()
        if slot.kind in _OPEN and slot.kind != "any"
    ]
    lines = registry.utterances
    languages = list(dict.fromkeys(line.language for line in lines)) or [None]
    if len(languages) == 1:
        return {"dataset.json": _dataset(registry, languages[0])}
    return {f"dataset.{code or 'none'}.json": _dataset(registry, code) for code in languages}


def _dataset(registry: Registry, language: str | None) -> str:
    slots = all_slots(registry)
    intents = {}
    for intent in registry:
        lines = utterances_in(intent, language)
        if lines or not intent.utterances:
            intents[intent.name] = {"utterances": [{"data": list(_chunks(line, slots))} for line in lines]}
    entities = dict(_entity_definition(slot, language) for slot in slots.values())
    dataset = {"language": language} if language else {}
    return json.dumps({**dataset, "intents": intents, "entities": entities}, ensure_ascii=False, indent=2) + "\n"


def _chunks(line: Utterance, slots: Mapping[str, Slot]) -> Iterator[dict[str, str]]:
    end = 0
    for mark in line.marks:
        if mark.start > end:
            yield {"text": line.text[end : mark.start]}
        entity, _ = _entity_definition(slots[mark.slot], None) if mark.slot in slots else (mark.slot, None)
        yield {"text": line.text[mark.start : mark.end], "slot_name": mark.slot, "entity": entity}
        end = mark.end
    if line.text[end:]:
        yield {"text": line.text[end:]}


def _entity_definition(slot: Slot, language: str | None) -> tuple[str, dict[str, Any]]:
    """Return the name and the definition of the entity of a slot."""
    if slot.kind in _WRITTEN:
        return f"{_BUILT_IN}{_WRITTEN[slot.kind]}", {}
    data = [{"value": value.value, "synonyms": synonyms_in(value, language)} for value in slot.values]
    return slot.name, {
        "data": data,
        "use_synonyms": True,
        "automatically_extensible": slot.kind in _OPEN,
        "matching_strictness": 1.0,
    }


FORMAT = Format("snips", "Snips NLU: training data in YAML, datasets in JSON", _recognise, _read, _write, _SAYS)
