"""Dialogflow CX: the folder or zip of an agent's JSON package.

Every intent, type and flow is a folder with a JSON file of its name. Phrases and entries of each language are in
`trainingPhrases/en.json` and `entities/en.json`. The reply of a flow or page to an intent becomes its response. The
pages of an intent become tags of `when:`, and the page that it leads to `metadata: {target_page: NAME}`. Forms and
conditions are not imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intentmatch.core.errors import Problem
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.formats import dialogflow, dialogflow_cx_pages
from intentmatch.formats.dialogflow_cx_pages import START_FLOW, Pages, Place, Route
from intentmatch.formats.kit import by_language, losses
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.prebuilt import slot_of
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.spans import split_at_marks
from intentmatch.formats.kit.tree import Value

_LANGUAGE_FOLDERS = {"intents": "trainingPhrases", "entityTypes": "entities"}
"""Folder of intents or types to the subfolder with a file for each language."""
_FLOW_KEYS = ("form", "entryFulfillment", "eventHandlers")
_KINDS = {"list": "KIND_MAP", "pattern": "KIND_REGEXP"}
_SAYS: frozenset[Feature] = frozenset(
    ("languages", "marks", "responses", "variants", "when", "descriptions", "lists", "synonyms", "patterns", "kinds")
)


def _recognise(file: File) -> Sure:
    root = file.root
    if file.name == "agent.json" and "defaultLanguageCode" in root.keys:
        return Sure.CERTAIN
    if _owner(file) is not None:
        return Sure.LIKELY
    if "displayName" in root.keys and _folders(file, 2)[0] in _LANGUAGE_FOLDERS:
        return Sure.LIKELY
    return Sure.LIKELY if root["transitionRoutes"].is_list or root["form"].is_mapping else Sure.NO


def _folders(file: File, count: int) -> list[str]:
    """Return the names of the folders around a file, the nearest last."""
    return ["", *[""] * count, *file.path.split("/")[:-1]][-count:]


def _owner(file: File) -> str | None:
    """Return the folder of the intent or type whose phrases or entries are in a file; None for other files."""
    above, _, own = _folders(file, 3)
    if own and _LANGUAGE_FOLDERS.get(above) == own and file.root[own].is_list:
        return file.path.rsplit("/", 2)[0]
    return None


def _read(files: Sequence[File], draft: Draft) -> None:
    reader = _Reader(draft)
    for file in files:
        reader.take(file)
    reader.read()


class _Reader:
    """Joins the file of each intent or type with its files for each language."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._roles = Roles(draft)
        self._intents: dict[str, Value] = {}
        self._types: dict[str, Value] = {}
        self._pages = Pages()
        self._parts: dict[str, list[tuple[str, Value]]] = {}

    def take(self, file: File) -> None:
        root = self._draft.root(file)
        folder = file.path.rpartition("/")[0]
        if owner := _owner(file):
            self._parts.setdefault(owner, []).append((file.name.removesuffix(".json"), root))
            owners = self._intents if _folders(file, 3)[0] == "intents" else self._types
            # The file of the intent or type itself may be missing; it is named after its folder then.
            owners.setdefault(owner, Value(None, root.location, note=self._draft.warn))
        elif file.name == "agent.json":
            code = root["defaultLanguageCode"]
            self._draft.assume_language(code.text(), code.location)
            self._pages.start_flow = root["startFlow"].text() or START_FLOW
        elif _folders(file, 2)[0] == "intents":
            self._intents[folder] = root
        elif _folders(file, 2)[0] == "entityTypes":
            self._types[folder] = root
        else:
            self._pages.take(file, root)

    def read(self) -> None:
        codes = {code for parts in self._parts.values() for code, _ in parts}
        for path, root in self._types.items():
            type_ = self._draft.type(_name(root, path), root.location)
            for code, part in self._parts.get(path, ()):
                if root["kind"].text() == "KIND_REGEXP":
                    dialogflow.read_patterns(type_, part["entities"].items())
                else:
                    # In an agent of one language, synonyms need no language.
                    language = self._draft.language(code, part.location) if len(codes) > 1 else None
                    dialogflow.read_entries(type_, part["entities"].items(), language, self._draft)
        names = {self._read_intent(root, path) for path, root in self._intents.items()}
        self._read_flows(names)

    def _read_intent(self, root: Value, path: str) -> str:
        name = _name(root, path)
        intent = self._draft.intent(name, root.location, fallback=root["isFallback"].flag())
        intent.description = root["description"].text()
        types = {p["id"].text() or "": p["entityType"].text() or "@sys.any" for p in root["parameters"].items()}
        slots = {}
        for parameter, type_ in types.items():
            slot = slot_of(self._roles, parameter, dialogflow.type_name(type_), root.location, self._draft)
            slots[parameter] = slot.name
            intent.slot(slot.name, root.location)
        for code, part in self._parts.get(path, ()):
            for phrase in part["trainingPhrases"].items():
                self._read_phrase(phrase, code, intent, slots)
        return name

    def _read_phrase(self, phrase: Value, code: str, intent: IntentDraft, slots: dict[str, str]) -> None:
        parts = []
        for part in phrase["parts"].items():
            name = part["parameterId"].text()
            if name is not None and name not in slots:
                message = f"{intent.name!r} has no parameter {name!r}; the label is skipped"
                self._draft.warn(part.location, "bad-label", message)
            parts.append((part["text"].text() or "", slots.get(name or "")))
        text, labels = dialogflow.joined(parts)
        intent.say(text, phrase.location, code, labels)

    def _read_flows(self, names: set[str]) -> None:
        lost = [root.location for root in self._pages.roots() if self._has_more(root, names)]
        lost += [group.location for group in self._pages.unknown_groups()]
        places: dict[str, list[Place]] = {name: [] for name in names}
        for route in self._pages.routes():
            if route.intent not in names:
                continue
            places[route.intent].append(route.place)
            intent = self._draft.intent(route.intent, route.root.location)
            if not self._read_target(route, intent):
                lost.append(route.root.location)
            # A group that several pages list would answer once for each page.
            if not route.is_repeated:
                self._read_answer(route.root["triggerFulfillment"], intent)
        for place in lost:
            message = "of flows and pages, only the places of intents, responses and target pages are imported"
            self._draft.not_expressed(place, message)
        for name in sorted(names):
            # A draft keeps names without the spaces around them.
            self._read_tags(self._draft.intents[name.strip()], places[name])

    def _has_more(self, root: Value, names: set[str]) -> bool:
        """Return whether a flow, page or group has more than routes of known intents without conditions."""
        routes = root["transitionRoutes"].items()
        return any(root[key] for key in _FLOW_KEYS) or any(
            route["intent"].text() not in names or bool(route["condition"]) for route in routes
        )

    def _read_target(self, route: Route, intent: IntentDraft) -> bool:
        """Read the page that an intent leads to; return whether nothing is lost."""
        if not dialogflow_cx_pages.leads_elsewhere(route.root):
            return True
        target = self._pages.target(route)
        if target is None or route.root["condition"]:
            return False
        return bool(intent.metadata.setdefault("target_page", target) == target)

    def _read_tags(self, intent: IntentDraft, places: Sequence[Place]) -> None:
        intent.when += self._pages.tags(places)
        if intent.when:
            message = "intents that only pages or other flows name get their names as tags in `when`"
            self._draft.note(intent.location, "page-tags", message, "send the page as `context` with each message")

    def _read_answer(self, root: Value, intent: IntentDraft) -> None:
        for message in root["messages"].items():
            texts = [words for text in message["text"]["text"].items() if (words := text.text())]
            intent.respond_once(texts, message.location, message["languageCode"].text())


def _name(root: Value, path: str) -> str:
    return root["displayName"].text() or path.rpartition("/")[2]


def _write(registry: Registry, problems: list[Problem]) -> Files:
    problems += losses.unused_slot_losses(registry, dialogflow.BUILT_IN)
    registry = by_language.with_languages(registry, problems)
    main, *others = by_language.languages(registry)
    problems += dialogflow_cx_pages.unreached(registry)
    slots = all_slots(registry)
    files: dict[str, Any] = {
        "agent.json": {
            "displayName": "intents",
            "defaultLanguageCode": main.lower(),
            "supportedLanguageCodes": [code.lower() for code in others],
            "timeZone": "Etc/GMT",
            "startFlow": START_FLOW,
        },
        f"flows/{START_FLOW}/{START_FLOW}.json": {
            # The default start flow of every agent has this identifier.
            "name": "00000000-0000-0000-0000-000000000000",
            "displayName": START_FLOW,
            "transitionRoutes": [_route(intent, main) for intent in registry if intent.responses and not intent.when],
        },
        **dialogflow_cx_pages.page_files(registry, lambda intent: _route(intent, main)),
    }
    for intent in registry:
        name = dialogflow.file_name(intent.name)
        files[f"intents/{name}/{name}.json"] = _intent(intent)
        for code in (main, *others):
            if phrases := [_phrase(line) for line in by_language.utterances_in(intent, code)]:
                files[f"intents/{name}/trainingPhrases/{code.lower()}.json"] = {"trainingPhrases": phrases}
    for slot in slots.values():
        if slot.kind in _KINDS:
            files.update(_entity_type(slot, (main, *others)))
    return {path: dialogflow.to_json(value) for path, value in files.items()}


def _route(intent: Intent, main: str) -> dict[str, Any]:
    """Return the route that answers an intent with its response."""
    messages = [
        {"text": {"text": list(texts)}, "languageCode": (code or main).lower()}
        for code, texts in intent.all_responses.items()
    ]
    return {
        "name": dialogflow.identity("route", intent.name),
        "intent": intent.name,
        "triggerFulfillment": {"messages": messages} if messages else {},
    }


def _intent(intent: Intent) -> dict[str, Any]:
    parameters = [{"id": slot.name, "entityType": dialogflow.slot_type(slot)} for slot in intent.slots]
    return {
        "name": dialogflow.identity("intent", intent.name),
        "displayName": intent.name,
        **({"parameters": parameters} if parameters else {}),
        # "Normal" in the console.
        "priority": 500000,
        **({"description": intent.description} if intent.description else {}),
        "numTrainingPhrases": len(intent.utterances),
    }


def _phrase(line: Utterance) -> dict[str, Any]:
    parts = [{"text": text, **({"parameterId": slot} if slot else {})} for text, slot in split_at_marks(line)]
    return {"parts": parts, "repeatCount": 1, "languageCode": (line.language or "").lower()}


def _entity_type(slot: Slot, codes: Sequence[str]) -> Iterator[tuple[str, Any]]:
    name = dialogflow.file_name(slot.name)
    yield (
        f"entityTypes/{name}/{name}.json",
        {
            "name": dialogflow.identity("type", slot.name),
            "displayName": slot.name,
            "kind": _KINDS[slot.kind],
            **({"enableFuzzyExtraction": True} if slot.kind == "list" else {}),
        },
    )
    for code in codes:
        written = [{**entry, "languageCode": code.lower()} for entry in dialogflow.entries(slot, code)]
        yield f"entityTypes/{name}/entities/{code.lower()}.json", {"entities": written}


FORMAT = Format("dialogflow-cx", "Dialogflow CX agents", _recognise, _read, _write, _SAYS)
