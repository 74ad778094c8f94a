"""Dialogflow ES: the folder or zip of an agent.

`intents/NAME.json` has the parameters, contexts and responses of an intent. `intents/NAME_usersays_LANGUAGE.json` has
its phrases; the first versions have them in `userSays`. `entities/NAME.json` and `entities/NAME_entries_LANGUAGE.json`
define the types. An input context becomes a tag of `when:`, and output contexts become `metadata: {output_contexts:
{NAME: LIFESPAN}}`, which the protocol `dialogflow` of the server reads. A fallback intent without phrases becomes the
setting `fallback`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from intentmatch.core.errors import Location, Problem
from intentmatch.core.setting_values import DEFAULT_LANGUAGE
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.formats import dialogflow
from intentmatch.formats.kit import by_language, losses
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.prebuilt import slot_of
from intentmatch.formats.kit.roles import Roles, share_questions
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.spans import split_at_marks
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.syntax import escape

_PART = re.compile(r"(?P<owner>.*)_(?P<what>usersays|entries)_(?P<language>[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)\.json")
_IN_TEMPLATE = re.compile(r"@(?P<type>[\w.-]+):(?P<name>[\w-]+)")
_SLOT = re.compile(r"\{([^{}]+)\}")
_IGNORED = "@sys.ignore"
# The default, which no author chose.
_USUAL_CONFIDENCE = 0.3
_SAYS: frozenset[Feature] = frozenset(
    (
        "languages",
        "marks",
        "responses",
        "variants",
        "when",
        "lists",
        "synonyms",
        "patterns",
        "kinds",
        "required",
        "questions",
    )
)


def _recognise(file: File) -> Sure:
    root = file.root
    keys = set(root.keys)
    if file.name == "agent.json" and "language" in keys and keys & {"mlMinConfidence", "defaultTimezone", "webhook"}:
        return Sure.CERTAIN
    # Agents have this file, and so do many other programs.
    if file.name == "package.json" and keys == {"version"}:
        return Sure.POSSIBLE
    if {"name", "responses"} <= keys and keys & {"fallbackIntent", "userSays", "auto"}:
        return Sure.LIKELY
    if "name" in keys and keys & {"isOverridable", "isEnum", "automatedExpansion"}:
        return Sure.LIKELY
    return Sure.LIKELY if root.is_list and _PART.fullmatch(file.name) else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    reader = _Reader(draft)
    for file in files:
        reader.take(file)
    reader.read()


class _Reader:
    """Joins the file of each intent or type with its files of phrases or entries."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._roles = Roles(draft)
        self._intents: dict[str, Value] = {}
        self._types: dict[str, Value] = {}
        self._parts: dict[tuple[str, str], list[tuple[str, Value]]] = {}

    def take(self, file: File) -> None:
        root = self._draft.root(file)
        path = file.path.removesuffix(".json")
        part = _PART.fullmatch(file.path)
        if part:
            self._parts.setdefault((part["what"], part["owner"]), []).append((part["language"], root))
            owners = self._intents if part["what"] == "usersays" else self._types
            # The file of the intent or type itself may be missing; it is named after its other files then.
            owners.setdefault(part["owner"], Value(None, root.location, note=self._draft.warn))
        elif root["responses"]:
            self._intents[path] = root
        elif file.name == "agent.json":
            self._read_agent(root)
        elif file.name != "package.json":
            self._types[path] = root

    def read(self) -> None:
        codes = {code for parts in self._parts.values() for code, _ in parts}
        for path, root in self._types.items():
            type_ = self._draft.type(_name(root, path), root.location)
            for code, entries in self._parts.get(("entries", path), ()):
                if root["isRegexp"].flag():
                    dialogflow.read_patterns(type_, entries.items())
                else:
                    # In an agent of one language, synonyms need no language.
                    language = self._draft.language(code, entries.location) if len(codes) > 1 else None
                    dialogflow.read_entries(type_, entries.items(), language, self._draft)
            if root["automatedExpansion"].flag():
                message = "types with automated expansion are imported with their listed values only"
                self._draft.note(root.location, "extensible-entity", message)
        for path, root in self._intents.items():
            self._read_intent(root, path)
        share_questions(self._draft)

    def _read_agent(self, root: Value) -> None:
        if language := root["language"].text():
            self._draft.assume_language(language, root["language"].location)
        least = root["mlMinConfidence"]
        if least.number() not in (None, _USUAL_CONFIDENCE):
            message = f"the confidence threshold {least.text()} is not imported; intentmatch learns its own thresholds"
            self._draft.not_expressed(least.location, message)

    def _read_intent(self, root: Value, path: str) -> None:
        draft, place = self._draft, root.location
        if root["fallbackIntent"].flag():
            self._read_fallback(root)
            if not self._has_phrases(root, path):
                return
        intent = draft.intent(_name(root, path), place, fallback=root["fallbackIntent"].flag())
        intent.when += [tag for context in root["contexts"].items() if (tag := context.text())]
        if len(intent.when) > 1:
            draft.not_expressed(place, f"{intent.name!r} required all of its contexts; here one of them is enough")
        for response in root["responses"].items():
            for parameter in response["parameters"].items():
                self._read_parameter(parameter, intent)
            self._read_messages(response["messages"].items(), intent, self._parameter_slots(response))
            if action := response["action"].text():
                intent.metadata["action"] = action
            self._read_contexts(response, intent)
        self._read_triggers(root, intent)
        for code, phrases in self._parts.get(("usersays", path), ()):
            for phrase in phrases.items():
                self._read_phrase(phrase, code, intent)
        self._read_inline(root["userSays"].items(), intent)

    def _read_triggers(self, root: Value, intent: IntentDraft) -> None:
        """Read what starts an intent besides a message, and what it calls."""
        draft, place = self._draft, root.location
        if root["events"].items():
            draft.not_expressed(place, "events that trigger an intent are not imported")
        if root["webhookUsed"].flag():
            intent.metadata["webhook"] = True
            message = "an intent with a webhook gets `metadata: {webhook: true}`"
            draft.note(place, "webhook", message, "start the server with --protocol dialogflow --fulfillment URL")
        if root["webhookForSlotFilling"].flag():
            draft.not_expressed(place, "webhook calls while slots are missing are not imported")

    def _has_phrases(self, root: Value, path: str) -> bool:
        parts = self._parts.get(("usersays", path), ())
        return bool(root["userSays"].items()) or any(phrases.items() for _, phrases in parts)

    def _read_fallback(self, root: Value) -> None:
        """Read the texts of a fallback intent as the setting `fallback`. Those of a context are skipped."""
        draft, name = self._draft, root["name"].text()
        if root["contexts"].items():
            draft.not_expressed(root.location, f"the texts of {name!r} are not imported, because they need a context")
            return
        texts: dict[str, list[str]] = draft.settings.setdefault("fallback", {})
        messages = [message for response in root["responses"].items() for message in response["messages"].items()]
        for message, found in _texts(messages):
            code = draft.language(message["lang"].text(), message.location) or DEFAULT_LANGUAGE
            if found:
                known = texts.setdefault(code, [])
                known += [text for text in found if text not in known]
        if any(texts.values()):
            draft.note(
                root.location, "fallback-intent", f"the texts of {name!r} are imported as the setting `fallback`"
            )
        else:
            del draft.settings["fallback"]

    def _read_contexts(self, response: Value, intent: IntentDraft) -> None:
        contexts = {
            # A context without a lifespan lasts for five messages.
            name: 5 if lifespan is None else lifespan
            for context in response["affectedContexts"].items()
            if (name := context["name"].text())
            for lifespan in [context["lifespan"].integer()]
        }
        if contexts:
            intent.metadata["output_contexts"] = contexts
        if response["resetContexts"].flag():
            intent.metadata["reset_contexts"] = True

    def _read_parameter(self, root: Value, intent: IntentDraft) -> None:
        name, type_ = root["name"].text(), root["dataType"].text()
        if not name or not type_:
            self._draft.not_expressed(
                root.location, "parameters without a data type, such as those filled from a context, are not imported"
            )
            return
        own = intent.slot(self._slot(name, type_, root.location), root.location)
        own.required = root["required"].flag()
        for prompt in root["prompts"].items():
            text = prompt.text() if prompt.is_text else prompt["value"].text()
            code = self._draft.language(None if prompt.is_text else prompt["lang"].text(), prompt.location) or ""
            if text:
                own.questions.setdefault(code, text)

    def _parameter_slots(self, response: Value) -> dict[str, str]:
        """Return the slot of each parameter, by the name that responses use."""
        named = (
            (each["name"].text(), each["dataType"].text(), each.location) for each in response["parameters"].items()
        )
        return {name: self._slot(name, type_, place) for name, type_, place in named if name and type_}

    def _read_messages(self, messages: Sequence[Value], intent: IntentDraft, slots: dict[str, str]) -> None:
        # The longest first, so that `$size-unit` is not read as `$size`.
        names = "|".join(sorted(map(re.escape, slots), key=len, reverse=True))
        # `$size`, or `$date.original` for the text of a date.
        value = re.compile(rf"\$({names})(?:\.original)?(?!\w)") if names else None
        for message, texts in _texts(messages):
            written = [value.sub(lambda match: f"{{{slots[match[1]]}}}", text) if value else text for text in texts]
            intent.respond_once(written, message.location, message["lang"].text())
        if any(not message["speech"] for message in messages):
            self._draft.not_expressed(messages[0].location, "messages that are not text are not imported")

    def _read_phrase(self, phrase: Value, code: str | None, intent: IntentDraft) -> None:
        parts = phrase["data"].items()
        if phrase["isTemplate"].flag():
            text = "".join(part["text"].text() or "" for part in parts)
            intent.template(self._template(text, phrase.location), phrase.location, code)
            return
        text, labels = dialogflow.joined((part["text"].text() or "", self._label(part)) for part in parts)
        intent.say(text, phrase.location, code, labels)

    def _read_inline(self, phrases: Iterable[Value], intent: IntentDraft) -> None:
        """Read the phrases in an intent file of the first versions. Later exports repeat them in separate files."""
        known = {line.text for line in intent.utterances if line.language == self._draft.default_language}
        for phrase in phrases:
            text = "".join(part["text"].text() or "" for part in phrase["data"].items()).strip()
            if text in known:
                message = "phrases that appear in the intent and in a file of their own are imported once"
                self._draft.note(phrase.location, "duplicate-utterance", message)
            else:
                self._read_phrase(phrase, None, intent)

    def _label(self, part: Value) -> str | None:
        type_ = part["meta"].text()
        if not type_ or type_ == _IGNORED:
            return None
        return self._slot(part["alias"].text() or dialogflow.type_name(type_), type_, part.location)

    def _slot(self, name: str, type_: str, place: Location) -> str:
        return slot_of(self._roles, name, dialogflow.type_name(type_), place, self._draft).name

    def _template(self, text: str, place: Location) -> str:
        template, end = "", 0
        for match in _IN_TEMPLATE.finditer(text):
            slot = self._slot(match["name"], f"@{match['type']}", place)
            template += f"{escape(text[end : match.start()])}{{{slot}}}"
            end = match.end()
        return (template + escape(text[end:])).strip()


def _texts(messages: Sequence[Value]) -> Iterator[tuple[Value, list[str]]]:
    """Yield the messages with text, and their texts. Those of a platform count only without others."""
    spoken = [message for message in messages if message["speech"]]
    for message in [each for each in spoken if not each["platform"]] or spoken:
        speech = message["speech"]
        found = [(text.text() or "").strip() for text in ([speech] if speech.is_text else speech.items())]
        yield message, [text for text in found if text]


def _name(root: Value, path: str) -> str:
    return root["name"].text() or path.rsplit("/", 1)[-1]


def _write(registry: Registry, problems: list[Problem]) -> Files:
    problems += losses.unused_slot_losses(registry, dialogflow.BUILT_IN)
    registry = by_language.with_languages(registry, problems)
    main, *others = by_language.languages(registry)
    agent = {
        "description": "",
        "language": main.lower(),
        "supportedLanguages": [code.lower() for code in others],
        "defaultTimezone": "Etc/GMT",
        "customClassifierMode": "use.after",
        "mlMinConfidence": _USUAL_CONFIDENCE,
    }
    files: dict[str, Any] = {"agent.json": agent, "package.json": {"version": "1.0.0"}}
    slots = all_slots(registry)
    for intent in registry:
        path = f"intents/{dialogflow.file_name(intent.name)}"
        files[f"{path}.json"] = _intent(intent, main)
        if len(intent.when) > 1:
            what = f"alternative tags of {intent.name!r}; Dialogflow will require all of its contexts"
            problems.append(losses.loss(intent.location, what))
        for code in (main, *others):
            if phrases := [_phrase(line, intent, slots) for line in by_language.utterances_in(intent, code)]:
                files[f"{path}_usersays_{code.lower()}.json"] = phrases
    for slot in slots.values():
        if slot.kind in ("list", "pattern"):
            files.update(_entity(slot, (main, *others)))
    return {path: dialogflow.to_json(value) for path, value in files.items()}


def _intent(intent: Intent, main: str) -> dict[str, Any]:
    names = {slot.name for slot in intent.slots}

    def with_values(text: str) -> str:
        return _SLOT.sub(lambda match: f"${match[1]}" if match[1] in names else match[0], text)

    messages = [
        # Type 0 is text.
        {"type": "0", "lang": (code or main).lower(), "speech": list(map(with_values, texts))}
        for code, texts in intent.all_responses.items()
    ]
    response = {
        "resetContexts": False,
        "action": "",
        "affectedContexts": [],
        "parameters": [_parameter(slot, intent, main) for slot in intent.slots],
        "messages": messages,
        "speech": [],
    }
    return {
        "id": dialogflow.identity("intent", intent.name),
        "name": intent.name,
        "auto": True,
        "contexts": list(intent.when),
        "responses": [response],
        # "Normal" in the console.
        "priority": 500000,
        "webhookUsed": False,
        "webhookForSlotFilling": False,
        "fallbackIntent": False,
        "events": [],
    }


def _parameter(slot: Slot, intent: Intent, main: str) -> dict[str, Any]:
    prompts = [{"lang": (code or main).lower(), "value": text} for code, text in slot.questions.items()]
    return {
        "id": dialogflow.identity("parameter", intent.name, slot.name),
        "required": slot.required,
        "dataType": dialogflow.slot_type(slot),
        "name": slot.name,
        "value": f"${slot.name}",
        "prompts": prompts,
        "isList": False,
    }


def _phrase(line: Utterance, intent: Intent, slots: dict[str, Slot]) -> dict[str, Any]:
    return {
        "id": dialogflow.identity("phrase", intent.name, line.language or "", line.text),
        "data": list(_data(line, slots)),
        "isTemplate": False,
        "count": 0,
        "updated": 0,
    }


def _data(line: Utterance, slots: dict[str, Slot]) -> Iterator[dict[str, Any]]:
    for text, slot in split_at_marks(line):
        label = {} if slot is None else {"alias": slot, "meta": dialogflow.slot_type(slots.get(slot))}
        yield {"text": text, **label, "userDefined": slot is not None}


def _entity(slot: Slot, codes: Iterable[str]) -> Iterator[tuple[str, Any]]:
    path = f"entities/{dialogflow.file_name(slot.name)}"
    yield (
        f"{path}.json",
        {
            "id": dialogflow.identity("entity", slot.name),
            "name": slot.name,
            "isOverridable": True,
            "isEnum": False,
            "isRegexp": slot.kind == "pattern",
            "automatedExpansion": False,
            "allowFuzzyExtraction": slot.kind == "list",
        },
    )
    for code in codes:
        yield f"{path}_entries_{code.lower()}.json", dialogflow.entries(slot, code)


FORMAT = Format("dialogflow-es", "Dialogflow ES agents", _recognise, _read, _write, _SAYS)
