"""Amazon Lex: the JSON of a bot, an intent or a slot type of V1, and the folder or zip of V2 with its locales.

In V2 every intent, slot and slot type is a file: `BOT/BotLocales/en_US/Intents/NAME/Slots/NAME/Slot.json`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.format import Format, Sure
from intentmatch.formats.kit.prebuilt import slot_of, take_built_in
from intentmatch.formats.kit.roles import Roles, share_questions
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.syntax import escape

_SLOT = re.compile(r"\{\s*([^{}\s]+)\s*\}")
# Files of V2 in reading order: an intent needs its slots, and a slot needs its type.
_V2_FILES = ("SlotType.json", "Slot.json", "Intent.json", "BotLocale.json", "Bot.json", "Manifest.json")
_FALLBACK = "AMAZON.FallbackIntent"
_DIALOG_KEYS = (
    *("confirmationPrompt", "rejectionStatement", "followUpPrompt", "fulfillmentActivity", "dialogCodeHook"),
    *("intentConfirmationSetting", "fulfillmentCodeHook", "outputContexts", "kendraConfiguration"),
)


def _recognise(file: File) -> Sure:
    root = file.root
    if root["metadata"]["importType"].text() == "LEX" or root["metaData"]["fileFormat"].text() == "LexJson":
        return Sure.CERTAIN
    return Sure.LIKELY if file.name in _V2_FILES and {"name", "identifier"} <= set(root.keys) else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    roles = Roles(draft)
    slots: dict[str, list[Value]] = {}
    several = sum(file.name == "BotLocale.json" for file in files) > 1
    for file in sorted(files, key=lambda file: _V2_FILES.index(file.name) if file.name in _V2_FILES else 0):
        root = draft.root(file)
        folder = file.path.split("/")[:-1]
        if "BotLocales" in folder[:-1]:
            draft.assume_language(folder[folder.index("BotLocales") + 1], file.location)
        if file.name == "SlotType.json":
            # In a bot of one language, synonyms need no language.
            _read_type(root, draft, draft.default_language if several else None)
        elif file.name == "Slot.json":
            # `INTENT/Slots/NAME/Slot.json`: two folders up is the intent.
            slots.setdefault("/".join(folder[:-2]), []).append(root)
        elif file.name == "Intent.json":
            _read_intent(root, slots.get("/".join(folder), []), roles, draft)
        elif file.name not in _V2_FILES:
            _read_v1(root["resource"], roles, draft)
    share_questions(draft)


def _read_v1(root: Value, roles: Roles, draft: Draft) -> None:
    if language := root["locale"].text():
        draft.assume_language(language, root["locale"].location)
    if root["enumerationValues"]:
        _read_type(root, draft)
    for declared in root["slotTypes"].items():
        _read_type(declared, draft)
    for intent in [root] if root["sampleUtterances"] else root["intents"].items():
        _read_intent(intent, intent["slots"].items(), roles, draft)


def _read_type(root: Value, draft: Draft, language: str | None = None) -> None:
    declared = draft.type(root["name"].text() or "", root.location)
    for value in (root["slotTypeValues"] if root["slotTypeValues"] else root["enumerationValues"]).items():
        text = _text(value["sampleValue"] if value["sampleValue"] else value["value"])
        synonyms = [word for synonym in value["synonyms"].items() if (word := _text(synonym))]
        if text:
            declared.add(text, synonyms, language)
    patterns = [setting["regexConfiguration"]["pattern"] for setting in root["slotTypeConfigurations"].items()]
    patterns.append(root["valueSelectionSetting"]["regexFilter"]["pattern"])
    declared.patterns += [text for pattern in patterns if (text := pattern.text())]
    parent = root["parentSlotTypeSignature"].text()
    if parent and not declared.patterns and not declared.values:
        take_built_in(declared, parent, root.location, draft)
    strategy = root["valueSelectionStrategy"].text() or root["valueSelectionSetting"]["resolutionStrategy"].text()
    if strategy in ("ORIGINAL_VALUE", "OriginalValue") and declared.values:
        draft.not_expressed(
            root.location,
            "slot types that also accept values outside of their list are imported with the listed values only",
        )


def _read_intent(root: Value, slots: Sequence[Value], roles: Roles, draft: Draft) -> None:
    name = root["name"].text() or ""
    fallback = root["parentIntentSignature"].text() == _FALLBACK
    intent = draft.intent(name, root.location, fallback=fallback)
    # Each locale of a bot has the intent anew.
    intent.description = intent.description or root["description"].text()
    tags = [tag for context in root["inputContexts"].items() if (tag := context["name"].text())]
    intent.when += [tag for tag in tags if tag not in intent.when]
    slot_names = {slot["name"].text() or "": _read_slot(slot, intent, roles, draft) for slot in slots}
    for line in root["sampleUtterances"].items():
        text = _text(line) if line.is_text else line["utterance"].text()
        if text:
            _say(text, line, intent, slot_names, draft)
    initial = root["initialResponseSetting"]["initialResponse"]
    closing = root["intentClosingSetting"]["closingResponse"]
    for variants in [*_messages(initial), *_messages(closing), *_messages(root["conclusionStatement"])]:
        intent.respond_once(variants, root.location)
    if any(root[key] for key in _DIALOG_KEYS):
        draft.not_expressed(root.location, "confirmations, follow-ups, output contexts and code hooks are not imported")


def _read_slot(root: Value, intent: IntentDraft, roles: Roles, draft: Draft) -> str:
    """Declare a slot of an intent and return its name."""
    place = root.location
    type_ = root["slotTypeName"] if root["slotTypeName"] else root["slotType"]
    name = slot_of(roles, root["name"].text() or "", type_.text() or "", place, draft).name
    setting = root["valueElicitationSetting"] if root["valueElicitationSetting"] else root
    messages = _messages(setting["promptSpecification"]) + _messages(setting["valueElicitationPrompt"])
    own = intent.slot(name, place)
    if setting["slotConstraint"].text() == "Required":
        own.required = True
        if messages:
            own.questions[draft.default_language or ""] = messages[0][0]
    if setting["sampleUtterances"].items():
        draft.not_expressed(place, "utterances that answer the prompt for a slot are not imported")
    return name


def _say(text: str, line: Value, intent: IntentDraft, slots: dict[str, str], draft: Draft) -> None:
    template, end = "", 0
    for match in _SLOT.finditer(text):
        if match[1] in slots:
            template += f"{escape(text[end : match.start()])}{{{slots[match[1]]}}}"
            end = match.end()
        else:
            draft.warn(line.location, "unknown-slot", f"{intent.name!r} has no slot {match[1]!r}; it is read as text")
    if end:
        intent.template((template + escape(text[end:])).strip(), line.location)
    else:
        intent.say(text, line.location)


def _messages(prompt: Value) -> list[list[str]]:
    """Return the variants of each message of a prompt in plain text."""
    messages = [[message["content"] for message in prompt["messages"].items()]]
    for group in prompt["messageGroupsList"].items():
        variants = (group["message"], *group["variations"].items())
        messages.append([message["plainTextMessage"]["value"] for message in variants])
    found = ([text for value in contents if (text := value.text())] for contents in messages)
    return [variants for variants in found if variants]


def _text(value: Value) -> str | None:
    return value.text() if value.is_text else value["value"].text()


FORMAT = Format("lex", "Amazon Lex V1 and V2", _recognise, _read)
