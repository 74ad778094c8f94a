"""Botpress 12: the folder of a bot, with a file for each intent, entity and Q&A.

A Q&A is also an intent whose name begins with `__qna__`. It is imported as an intent without that prefix, with the
answer as its response. On export, every intent with a response becomes a Q&A.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, Utterance
from intentmatch.formats.kit.draft import NOT_EXPRESSED, Draft, IntentDraft, Label
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.losses import unused_slot_losses
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.regexes import split_case_flag, with_case
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

_QNA = "__qna__"
_ANYWHERE = "global"
_MARK = re.compile(r"\[(?P<text>[^\[\]]+)\]\((?P<slot>[\w.-]+)\)")
_BUILT_IN = frozenset(
    {"amountOfMoney", "any", "distance", "duration", "email", "number", "ordinal", "phoneNumber", "quantity"}
    | {"temperature", "time", "url", "volume"}
)
"""Types that need no file. `time` is a date, a time or both."""
_WRITTEN: Mapping[SlotKind, str] = {
    "number": "number",
    "ordinal": "ordinal",
    "money": "amountOfMoney",
    "temperature": "temperature",
    "date": "time",
    "time": "time",
    "datetime": "time",
    "duration": "duration",
    "email": "email",
    "phone": "phoneNumber",
    "url": "url",
    "any": "any",
}
_SAYS: frozenset[Feature] = frozenset(
    {"languages", "marks", "responses", "variants", "when", "lists", "synonyms", "patterns", "kinds"}
)


def _recognise(file: File) -> Sure:
    # The keys of an entity are common ones, so it is only likely.
    return Sure.CERTAIN if _is_intent(file.root) or _is_question(file.root) else Sure(2 * _is_entity(file.root))


def _is_intent(root: Value) -> bool:
    keys = set(root.keys)
    # The intents of Snips have these keys too, and a `type`.
    return {"name", "utterances"} <= keys and bool({"contexts", "slots"} & keys) and "type" not in keys


def _is_question(root: Value) -> bool:
    return "id" in root.keys and {"questions", "answers"} <= set(root["data"].keys)


def _is_entity(root: Value) -> bool:
    return root["type"].is_text and "name" in root.keys and bool({"occurrences", "pattern"} & set(root.keys))


def _read(files: Sequence[File], draft: Draft) -> None:
    reader = _Reader(draft)
    roots = [draft.root(file) for file in files]
    for shape, read in (
        (_is_entity, reader.entity),
        (_is_intent, reader.intent),
        (_is_question, reader.question),
    ):
        for root in filter(shape, roots):
            read(root)


class _Reader:
    """Reads the three kinds of files into one draft: entities, then intents, then questions."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._roles = Roles(draft)
        self._known: set[str] = set()

    def entity(self, root: Value) -> None:
        name = root["name"].text()
        if not name or root["type"].text() == "system":
            return
        type_ = self._draft.type(name, root.location)
        for value in root["occurrences"].items():
            type_.add(value["name"].text() or "", _texts(value["synonyms"]))
        if pattern := root["pattern"].text():
            type_.kind = "pattern"
            type_.patterns.append(with_case(pattern) if root["matchCase"].flag() else pattern)
        for key in ("sensitive", "examples"):
            if root[key].flag() if root[key].is_text else root[key].items():
                self._draft.not_expressed(root[key].location, f"`{key}` of an entity is not imported")

    def intent(self, root: Value) -> None:
        intent = self._intent(root["name"].text() or "", root)
        slots = {slot["name"].text() or "": self._slot(slot) for slot in root["slots"].items()}
        for language, line in _by_language(root["utterances"]):
            self._line(intent, line, language, slots)
        contexts = _texts(root["contexts"])
        # An intent in the context `global` answers everywhere, as one without tags does.
        if contexts and _ANYWHERE not in contexts:
            intent.when += [context for context in contexts if context not in intent.when]

    def question(self, root: Value) -> None:
        data = root["data"]
        name = root["id"].text() or ""
        if "enabled" in data.keys and not data["enabled"].flag():
            self._draft.warn(root.location, "disabled", "disabled questions are skipped")
            return
        # Its intent, read before, has the same questions as utterances.
        known = _QNA + name in self._known
        intent = self._intent(_QNA + name, root)
        for language, line in () if known else _by_language(data["questions"]):
            self._line(intent, line, language, {})
        for language, answer in _by_language(data["answers"]):
            if text := answer.text():
                intent.respond(text, answer.location, language)
        if data["redirectFlow"].text():
            self._draft.not_expressed(
                data["redirectFlow"].location, "the flow that an answer redirects to is not imported"
            )

    def _intent(self, name: str, root: Value) -> IntentDraft:
        self._known.add(name)
        if name.startswith(_QNA):
            self._draft.note(root.location, "renamed-intent", f"questions are imported without the prefix {_QNA!r}")
        return self._draft.intent(name.removeprefix(_QNA), root.location, fallback=name == "none")

    def _slot(self, slot: Value) -> str:
        """Declare a slot of an intent and return its name."""
        name = slot["name"].text() or ""
        entities = _texts(slot["entities"])
        if len(entities) > 1:
            message = "a slot has several entities; only the first is imported"
            self._draft.not_expressed(slot["entities"].location, message)
        type_ = entities[0] if entities else "any"
        # The bot may have an entity of its own by this name.
        if type_ in _BUILT_IN and type_ not in self._draft.types:
            type_name = "datetime" if type_ == "time" else type_
            take_built_in(self._draft.type(type_, slot.location), type_name, slot.location, self._draft)
        return self._roles.slot(name, type_, slot.location).name

    def _line(self, intent: IntentDraft, line: Value, language: str | None, slots: Mapping[str, str]) -> None:
        text = line.text()
        if not text:
            return
        plain, end = "", 0
        labels = []
        for mark in _MARK.finditer(text):
            plain += text[end : mark.start()] + mark["text"]
            slot = slots.get(mark["slot"], mark["slot"])
            labels.append(Label(slot, len(plain) - len(mark["text"]), len(plain)))
            end = mark.end()
        intent.say(plain + text[end:], line.location, language, labels)


def _texts(values: Value) -> list[str]:
    return [text for value in values.items() if (text := value.text())]


def _by_language(lines: Value) -> Iterator[tuple[str | None, Value]]:
    """Yield each line with its language: a mapping has languages as keys, a list has none."""
    if lines.is_mapping:
        for language, values in lines.entries():
            yield from ((language, value) for value in values.items())
    else:
        yield from ((None, value) for value in lines.items())


def _write(registry: Registry, problems: list[Problem]) -> Files:
    writer = _Writer(problems)
    problems += unused_slot_losses(registry, _WRITTEN)
    slots = all_slots(registry)
    files: dict[str, str] = {}
    for intent in registry:
        name = f"{_QNA if intent.responses else ''}{intent.name}"
        files[_free(f"intents/{_file_name(name)}", files)] = _text(writer.intent(name, intent, slots))
        if intent.responses:
            files[_free(f"qna/{_file_name(intent.name)}", files)] = _text(writer.question(intent))
    for slot in slots.values():
        if slot.kind not in _WRITTEN:
            files[_free(f"entities/{_file_name(slot.name)}", files)] = _text(writer.entity(slot))
    return files


class _Writer:
    """Writes the contents of files and reports losses."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def intent(self, name: str, intent: Intent, slots: Mapping[str, Slot]) -> dict[str, Any]:
        marked = dict.fromkeys(mark.slot for line in intent.utterances for mark in line.marks)
        return {
            "name": name,
            "contexts": list(intent.when) or [_ANYWHERE],
            "utterances": self._lines(intent),
            "slots": [self._slot(slots.get(slot, Slot(slot, "any"))) for slot in marked],
        }

    def question(self, intent: Intent) -> dict[str, Any]:
        # A text without a language has no key in a mapping, so then all are written as a list.
        answers = {code: list(texts) for code, texts in intent.all_responses.items() if code}
        all_texts = [text for texts in intent.all_responses.values() for text in texts]
        data = {
            "action": "text",
            "contexts": list(intent.when) or [_ANYWHERE],
            "enabled": True,
            "answers": answers if len(answers) == len(intent.responses) else all_texts,
            "questions": self._lines(intent),
            "redirectFlow": "",
            "redirectNode": "",
        }
        return {"id": intent.name, "data": data}

    def entity(self, slot: Slot) -> dict[str, Any]:
        if any(synonym.language for value in slot.values for synonym in value.synonyms):
            self._report_loss(
                slot, f"this format cannot express the languages of the synonyms of the slot {slot.name!r}"
            )
        pattern = slot.patterns[0] if len(slot.patterns) == 1 else "|".join(f"(?:{text})" for text in slot.patterns)
        pattern, is_case_sensitive = split_case_flag(pattern)
        return {
            "id": slot.name,
            "name": slot.name,
            "type": slot.kind,
            "occurrences": [{"name": v.value, "synonyms": [s.text for s in v.synonyms]} for v in slot.values],
            "pattern": pattern,
            "matchCase": is_case_sensitive,
            "fuzzy": 0.8,
            "sensitive": False,
            "examples": [],
        }

    def _slot(self, slot: Slot) -> dict[str, Any]:
        if slot.kind in ("date", "time"):
            self._report_loss(
                slot, f"the slot {slot.name!r} is written as Botpress's `time`, which matches dates and times"
            )
        return {"id": slot.name, "name": slot.name, "entities": [_WRITTEN.get(slot.kind, slot.name)], "color": 1}

    def _lines(self, intent: Intent) -> dict[str, list[str]] | list[str]:
        lines = [(line.language, self._marked(line)) for line in intent.utterances]
        languages = [code for code in dict.fromkeys(code for code, _ in lines) if code]
        if not languages:
            return [text for _, text in lines]
        if any(code is None for code, _ in lines):
            self._report_loss(
                intent, f"utterances of {intent.name!r} without a language are written as {languages[0]!r}"
            )
        return {code: [text for own, text in lines if (own or languages[0]) == code] for code in languages}

    def _marked(self, line: Utterance) -> str:
        written, end = "", 0
        for mark in line.marks:
            value = line.text[mark.start : mark.end]
            if "[" in value or "]" in value:
                self._report_loss(
                    line,
                    f"the value of {mark.slot!r} in “{line.text}” contains a bracket; it is written without a mark",
                )
                continue
            written += self._plain(line, end, mark.start) + f"[{value}]({mark.slot})"
            end = mark.end
        return written + self._plain(line, end, len(line.text))

    def _plain(self, line: Utterance, start: int, end: int) -> str:
        text = line.text[start:end]
        if _MARK.search(text):
            self._report_loss(line, f"“{line.text}” looks like a slot mark; a space is added")
        return _MARK.sub(r"[\g<text>] (\g<slot>)", text)

    def _report_loss(self, thing: Intent | Slot | Utterance, message: str) -> None:
        self._problems.append(Problem(thing.location or NOWHERE, "warning", NOT_EXPRESSED, message))


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _file_name(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name) or "_"


def _free(path: str, taken: Iterable[str]) -> str:
    """Return a path that is not taken yet, also on file systems that ignore case."""
    used = {other.lower() for other in taken}
    while f"{path}.json".lower() in used:
        path += "_"
    return f"{path}.json"


FORMAT = Format("botpress", "Botpress 12: the folder of a bot", _recognise, _read, _write, _SAYS, needs_folder=True)
