"""wit.ai: an app as a folder or zip, a file of utterances, and the single file of the first versions.

    {"utterances": [{"text": "to Berlin", "intent": "go", "traits": [],
                     "entities": [{"entity": "location:to", "start": 3, "end": 9, "body": "Berlin", "entities": []}]}]}

In the first versions the intent was an entity (`data` for `utterances`, `value` in double quotes). An entity with a
role is a slot of its own. An utterance without an intent is out of scope today; in the first versions it was not yet
annotated, and it is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.prebuilt import bare, is_built_in, take_built_in
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

_APP = "app.json"
_UTTERANCES = ("utterances", "data")
# Built-in entities that had no prefix in the first versions.
_OLD_BUILT_IN = frozenset({"datetime", "number", "duration", "email", "phone_number", "url", "temperature", "ordinal"})


def _recognise(file: File) -> Sure:
    root = file.root
    for key in _UTTERANCES:
        first = next(iter(root[key].items()), root) if root[key].is_list else root
        if first["text"].is_text and first["entities"].is_list:
            return Sure.LIKELY
    if file.name == _APP:
        return Sure.CERTAIN if {"zip-command", "lang"} <= set(root.keys) else Sure.NO
    if _folder(file) == "entities" and {"name", "roles", "lookups"} <= set(root.keys):
        return Sure.LIKELY
    is_intent = _folder(file) == "intents" and root["name"].is_text and root["entities"].is_list
    return Sure.LIKELY if is_intent else Sure.NO


def _folder(file: File) -> str:
    return PurePosixPath(file.path).parent.name


def _read(files: Sequence[File], draft: Draft) -> None:
    roots = [(file, draft.root(file)) for file in files]
    for _, root in roots:
        if language := root["lang"].text():
            draft.assume_language(language, root["lang"].location)
    for _, root in roots:
        if root["lookups"]:
            _read_entity(root, draft)
    for file, root in roots:
        if _folder(file) == "intents":
            _read_intent(root, draft)
    for file, root in roots:
        _read_utterances(file, root, draft)


def _read_utterances(file: File, root: Value, draft: Draft) -> None:
    if not any(root[key] for key in (*_UTTERANCES, "name")):
        draft.warn(file.location, "no-utterances", "the file has no utterances")
    for utterance in root["utterances"].items():
        _read_utterance(utterance, draft)
    for utterance in root["data"].items():
        _read_old_utterance(utterance, draft)


def _read_entity(root: Value, draft: Draft) -> None:
    name = root["name"].text() or ""
    # The default role has the name of its entity.
    for role in root["roles"].items() or [root["name"]]:
        slot = draft.slot(_slot(name, role.text() or "", root.location, draft), root.location)
        for keyword in root["keywords"].items():
            synonyms = [text for synonym in keyword["synonyms"].items() if (text := synonym.text())]
            if value := keyword["keyword"].text():
                slot.add(value, synonyms)
        slot.patterns += [pattern for regexp in root["regexps"].items() if (pattern := regexp.text())]


def _read_intent(root: Value, draft: Draft) -> None:
    """Read an intent file, which lists the entities of the intent."""
    intent = draft.intent(root["name"].text() or "", root.location)
    for entity in root["entities"].items():
        name, _, role = (entity.text() or "").partition(":")
        intent.slot(_slot(name, role, entity.location, draft), entity.location)


def _read_utterance(utterance: Value, draft: Draft) -> None:
    text, place = utterance["text"].text() or "", utterance.location
    name = utterance["intent"].text()
    if name is None:
        draft.test(text, None, place)
        draft.note(place, "out-of-scope", "an utterance without an intent is imported as an out-of-scope test")
        return
    labels = []
    for entity in utterance["entities"].items():
        entity_name, _, role = (entity["entity"].text() or "").partition(":")
        labels += _label(text, entity, entity_name, role, draft)
        if entity["entities"].items():
            draft.not_expressed(entity.location, f"entities nested in {entity_name!r} are not imported")
    if utterance["traits"].items():
        draft.not_expressed(place, "traits of utterances are not imported")
    draft.intent(name, place).say(text, place, labels=labels)


def _read_old_utterance(utterance: Value, draft: Draft) -> None:
    text, place = utterance["text"].text() or "", utterance.location
    name = None
    labels = []
    for entity in utterance["entities"].items():
        entity_name = entity["entity"].text() or ""
        if entity_name == "intent":
            name = _unquoted(entity["value"].text() or "")
        else:
            full_name = f"wit${entity_name}" if entity_name in _OLD_BUILT_IN else entity_name
            labels += _label(text, entity, full_name, entity["role"].text() or "", draft)
    if name:
        draft.intent(name, place).say(text, place, labels=labels)
    else:
        draft.warn(place, "no-intent", "an utterance without an intent is skipped", "give it an entity `intent`")


def _label(text: str, entity: Value, name: str, role: str, draft: Draft) -> list[Label]:
    """Return the label of an entity; nothing if it has no position."""
    slot = _slot(name, role, entity.location, draft)
    start, end = entity["start"].integer(), entity["end"].integer()
    if start is None or end is None:
        draft.warn(entity.location, "bad-label", f"a label of {slot!r} has no position; it is skipped")
        return []
    body = entity["body"].text()
    # `end` is sometimes one too large; `body` is always correct.
    if body and body in text and (end - start, text[start:end]) != (len(body), body):
        found = text.find(body, max(start, 0))
        start = found if found >= 0 else text.index(body)
        end = start + len(body)
    return [Label(slot, start, end)]


def _slot(entity: str, role: str, place: Location, draft: Draft) -> str:
    """Declare the slot of an entity in a role and return its name. The role with the entity's name is the default."""
    name = bare(entity)
    slot_name = name if role in ("", name) else f"{name}_{role}"
    slot = draft.slot(slot_name, place)
    if is_built_in(entity) and slot.kind is None:
        take_built_in(slot, entity, place, draft)
    return slot_name


def _unquoted(value: str) -> str:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, str) else value


FORMAT = Format("wit", "wit.ai apps, utterance files and files of the first versions", _recognise, _read)
