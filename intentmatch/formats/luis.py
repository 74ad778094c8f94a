"""LUIS: the JSON of an app, in all versions of its schema.

Of nested labels, the innermost are kept. Patterns become templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.global_entities import attach_global_entities
from intentmatch.formats.kit.slot_draft import SlotDraft
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.spans import from_utf16, innermost
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.lu.entities import NONE, Entities
from intentmatch.formats.lu.lines import parse

_ENTITIES = ("closedLists", "regex_entities", "prebuiltEntities", "patternAnyEntities", "entities", "composites")
_FEATURES = ("phraselists", "model_features", "regex_features", "phraseLists")


def _recognise(file: File) -> Sure:
    root = file.root
    if not (root["intents"].is_list and root["utterances"].is_list):
        return Sure.NO
    return Sure.CERTAIN if "luis_schema_version" in root.keys else Sure.LIKELY if root["culture"].is_text else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        root = draft.root(file)
        if not root["intents"].items():
            draft.warn(file.location, "no-intents", "the file has no intents")
        if language := root["culture"].text():
            draft.assume_language(language, root["culture"].location)
        entities = Entities(draft)
        _read_entities(root, entities, draft)
        for intent in root["intents"].items():
            name = intent["name"].text() or ""
            draft.intent(name, intent.location, fallback=name == NONE)
        for utterance in root["utterances"].items():
            _read_utterance(utterance, entities, draft)
        for pattern in root["patterns"].items():
            _read_pattern(pattern, entities, draft)
        for key in _FEATURES:
            if root[key].items():
                draft.not_expressed(root[key].location, "phrase lists and other features are not imported")
    attach_global_entities(draft)


def _read_entities(root: Value, entities: Entities, draft: Draft) -> None:
    for entity in root["closedLists"].items():
        _read_list(entity, entities.entity(_name(entity), entity.location))
    for entity in root["regex_entities"].items():
        if pattern := entity["regexPattern"].text():
            entities.entity(_name(entity), entity.location).patterns.append(pattern)
    for entity in (*root["prebuiltEntities"].items(), *root["bing_entities"].items()):
        entities.built_in(_name(entity), entity.location)
    for entity in root["patternAnyEntities"].items():
        entities.entity(_name(entity), entity.location).kind = "any"
        if entity["explicitList"].items():
            draft.not_expressed(entity.location, "explicit lists of pattern.any entities are not imported")
    for entity in root["composites"].items():
        draft.not_expressed(entity.location, "composite entities are not imported, but their parts are")
    for name, parent in (*_roles(root), *_parts(root["entities"].items())):
        entities.add_instance(name, parent)


def _roles(root: Value) -> Iterator[tuple[str, str]]:
    """Yield the roles of all entities, each with its entity."""
    for key in _ENTITIES:
        for entity in root[key].items():
            for role in entity["roles"].items() if entity.is_mapping else ():
                yield role.text() or "", _name(entity)


def _read_list(root: Value, type_: SlotDraft) -> None:
    for sublist in root["subLists"].items():
        if value := sublist["canonicalForm"].text():
            type_.add(value, [text for synonym in sublist["list"].items() if (text := synonym.text())])


def _name(entity: Value) -> str:
    """Return the name of an entity. In the first versions an entity could be just its name."""
    return (entity.text() if entity.is_text else entity["name"].text()) or ""


def _parts(entities: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """Yield the parts of machine-learned entities at any depth, each with the entity it is an instance of."""
    waiting = list(entities)
    while waiting:
        entity = waiting.pop()
        for child in entity["children"].items():
            # Hierarchical entities of the first versions list only the names of their children.
            if not child.is_mapping:
                continue
            waiting.append(child)
            required = [f["modelName"].text() for f in child["features"].items() if f["isRequired"].flag()]
            parent = child["instanceOf"].text() or next(filter(None, required), None)
            if parent:
                yield child["name"].text() or "", parent


def _read_utterance(root: Value, entities: Entities, draft: Draft) -> None:
    text, name = root["text"].text() or "", root["intent"].text() or ""
    labels = innermost(_labels(root["entities"].items(), text, entities), root.location, draft)
    labels = [label._replace(slot=entities.slot(label.slot, root.location)) for label in labels]
    draft.intent(name, root.location, fallback=name == NONE).say(text, root["text"].location, labels=labels)


def _labels(entities: list[Value], text: str, known: Entities) -> list[Label]:
    """Return all labels of a text, inner ones first. `endPos` is inclusive."""
    labels: list[tuple[int, Label]] = []
    waiting = [(0, entity) for entity in reversed(entities)]
    while waiting:
        depth, entity = waiting.pop()
        waiting += [(depth + 1, child) for child in reversed(entity["children"].items())]
        start, last = entity["startPos"].integer(), entity["endPos"].integer()
        name = known.name(entity["entity"].text() or "", entity["role"].text())
        ends = (-1, -1) if start is None or last is None else (from_utf16(text, start), from_utf16(text, last + 1))
        labels.append((depth, Label(name, *ends)))
    # Of labels of the same span, `innermost` keeps the first.
    return [label for _, label in sorted(labels, key=lambda found: -found[0])]


def _read_pattern(root: Value, entities: Entities, draft: Draft) -> None:
    name, place = root["intent"].text() or "", root.location
    intent = draft.intent(name, place, fallback=name == NONE)
    line = parse(root["pattern"].text() or "", lambda entity, role: entities.slot(entities.name(entity, role), place))
    if line.template is None:
        intent.say(line.text, place)
    else:
        intent.template(line.template, place)


FORMAT = Format("luis", "LUIS apps, all versions of the schema", _recognise, _read)
