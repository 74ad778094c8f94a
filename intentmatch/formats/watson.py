"""Watson Assistant: the JSON of a workspace, or of a dialog skill.

Two parts of the dialog are imported: a top-level node for one intent gives its response, and the slots of a frame that
ask a question become required slots.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.global_entities import attach_global_entities
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.roles import share_questions
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.syntax import escape

_INTENT = re.compile(r"\s*#([^\s&|()!<>=:]+)\s*")
_ENTITY = re.compile(r"(?<!\w)@([\w-]+)(?::\w+)?")


def _recognise(file: File) -> Sure:
    root = file.root
    if not (root["intents"].is_list and root["entities"].is_list):
        return Sure.NO
    if root["dialog_nodes"].is_list or root["counterexamples"].is_list:
        return Sure.CERTAIN
    first = next(iter(root["intents"].items()), root)
    return Sure.LIKELY if first["intent"].is_text and first["examples"].is_list else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        root = draft.root(file)
        if not root["intents"]:
            draft.warn(file.location, "no-intents", "the file has no intents")
        if language := root["language"].text():
            draft.assume_language(language, root["language"].location)
        names = {_read_entity(entity, draft) for entity in root["entities"].items()}
        for intent in root["intents"].items():
            _read_intent(intent, names, draft)
        for example in root["counterexamples"].items():
            if text := example["text"].text():
                draft.test(text, None, example.location)
        _read_dialog(root, names, draft)
    attach_global_entities(draft)
    share_questions(draft)


def _read_entity(entity: Value, draft: Draft) -> str:
    name = entity["entity"].text() or ""
    slot = draft.slot(name, entity.location)
    if name.startswith("sys-"):
        take_built_in(slot, name, entity.location, draft)
    for value in entity["values"].items():
        slot.patterns += [pattern for item in value["patterns"].items() if (pattern := item.text())]
        text = value["value"].text()
        if text and not value["patterns"].items():
            slot.add(text, [s for item in value["synonyms"].items() if (s := item.text())])
    if slot.values and slot.patterns:
        draft.not_expressed(entity.location, f"the patterns of {name!r} are not imported, because it also has values")
    return name


def _read_intent(root: Value, entities: Iterable[str], draft: Draft) -> None:
    intent = draft.intent(root["intent"].text() or "", root.location)
    intent.description = root["description"].text()
    named = {name: draft.slot(name, root.location).name for name in entities}
    for example in root["examples"].items():
        text, place = example["text"].text() or "", example["text"].location
        template = _with_slots(text, named)
        if template is not None:
            intent.template(template, place)
        else:
            intent.say(text, place, labels=list(_labels(example["mentions"].items(), draft)))


def _with_slots(text: str, slots: Mapping[str, str]) -> str | None:
    """Convert a text with `@entity` in it to a template; None for a text without."""
    template, end = "", 0
    for match in _ENTITY.finditer(text):
        if match[1] in slots:
            template += f"{escape(text[end : match.start()])}{{{slots[match[1]]}}}"
            end = match.end()
    return template + escape(text[end:]) if end else None


def _labels(mentions: Iterable[Value], draft: Draft) -> Iterable[Label]:
    for mention in mentions:
        ends = [end.integer() for end in mention["location"].items()]
        name = mention["entity"].text() or ""
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
            yield Label(name, ends[0], ends[1])
        else:
            message = f"a label of {name!r} has no position; it is skipped"
            draft.warn(mention.location, "bad-label", message)


def _read_dialog(root: Value, entities: Container[str], draft: Draft) -> None:
    nodes = root["dialog_nodes"].items()
    intents = {intent["intent"].text() for intent in root["intents"].items()}
    below: Mapping[str, list[Value]] = defaultdict(list)
    for node in nodes:
        below[node["parent"].text() or ""].append(node)
    for node in below[""]:
        name = _INTENT.fullmatch(node["conditions"].text() or "")
        if name is None or name[1] not in intents:
            continue
        intent = draft.intent(name[1], node.location)
        for variants in _messages(node["output"]):
            intent.respond_once(variants, node.location)
        for slot in below[node["dialog_node"].text() or ""]:
            handlers = below[slot["dialog_node"].text() or ""]
            entity = next((match[1] for h in handlers if (match := _ENTITY.match(h["conditions"].text() or ""))), "")
            # The handler of `focus` asks for the slot.
            question = next((t for h in handlers if h["event_name"].text() == "focus" for t in _texts(h["output"])), "")
            if slot["type"].text() == "slot" and entity in entities and question:
                required = intent.slot(entity, slot.location)
                required.required = True
                required.questions[draft.default_language or ""] = question
    if nodes:
        message = f"of {len(nodes)} dialog nodes, only responses of top-level nodes and required slots are imported"
        draft.not_expressed(nodes[0].location, message)


def _texts(output: Value) -> list[str]:
    """Return all texts of a node."""
    return [text for message in _messages(output) for text in message]


def _messages(output: Value) -> list[list[str]]:
    """Return the variants of each message of a node."""
    text = output["text"]
    messages = [[text] if text.is_text else list(text["values"].items())]
    for part in output["generic"].items() if output["generic"].is_list else []:
        messages.append([value["text"] for value in part["values"].items()])
    found = ([written for value in values if (written := value.text())] for values in messages)
    return [variants for variants in found if variants]


FORMAT = Format("watson", "Watson Assistant workspaces", _recognise, _read)
