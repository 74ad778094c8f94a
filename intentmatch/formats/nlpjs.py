"""NLP.js: JSON corpora of version 3 and 4, one language each.

In an utterance, `[great|nice]` are alternatives, and `@hero` or `%hero%` is a slot. Alternatives are read but not
written, because only a separate tool supports them, not the library.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, Utterance
from intentmatch.formats.kit.by_language import synonyms_in, utterances_in
from intentmatch.formats.kit.draft import NOT_EXPRESSED, Draft, IntentDraft
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.regexes import split_case_flag, with_case
from intentmatch.formats.kit.slot_draft import SlotDraft
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry.templates.syntax import Blank, Words, escape, parse

_NONE = "None"
_CHOICE = re.compile(r"\[([^\[\]|]*(?:\|[^\[\]|]*)+)\]")
# No mark within a word, so that addresses of e-mail stay text.
_MARK = re.compile(r"(?<![\w@])@(\w+)|%(\w+)%")
_NUMBER = re.compile(r"_\d+$")
_REGEX = re.compile(r"/(?P<pattern>.+)/(?P<flags>[a-z]*)", re.DOTALL)
_BUILT_IN = frozenset(
    {"age", "currency", "date", "daterange", "datetime", "dimension", "duration", "email", "hashtag", "ip", "mention"}
    | {"number", "numberrange", "ordinal", "percentage", "phonenumber", "temperature", "time", "timerange", "url"}
)
_KINDS: Mapping[SlotKind, str] = {
    **{kind: kind for kind in ("number", "ordinal", "temperature", "date", "time", "datetime", "duration", "email")},
    "money": "currency",
    "phone": "phonenumber",
    "url": "url",
    "any": "any",
}
"""Kinds of slots with the names of NLP.js."""
_READ = frozenset({"id", "intent", "utterances", "tests", "answers", "slotFilling", "actions"})
# Alternatives multiply: ten of four words each in one line are a million sentences.
_MAX_TESTS = 64
_SAYS: frozenset[Feature] = frozenset(
    {"languages", "blanks", "responses", "variants", "lists", "synonyms", "patterns", "kinds", "required", "questions"}
)


def _recognise(file: File) -> Sure:
    root = file.root
    if root["data"].is_list and any({"intent", "utterances"} <= set(entry.keys) for entry in root["data"].items()):
        return Sure.CERTAIN if "locale" in root.keys else Sure.LIKELY
    entities = root["entities"].entries() if root["entities"].is_mapping else []
    return Sure.LIKELY if any({"options", "regex", "trim"} & set(entity.keys) for _, entity in entities) else Sure.NO


def _read(files: Sequence[File], draft: Draft) -> None:
    corpora = [_Corpus(file, draft) for file in files]
    for corpus in corpora:
        corpus.read_entities()
    for corpus in corpora:
        corpus.read_intents()


class _Corpus:
    """Reads one file: first its entities, which utterances of any file may use."""

    def __init__(self, file: File, draft: Draft) -> None:
        self._file = file
        self._draft = draft
        self._root = draft.root(file)
        self._language = self._root["locale"].text()

    def read_entities(self) -> None:
        for name, entity in self._entities().entries():
            slot = self._draft.type(name, entity.location)
            if entity.is_text:
                self._read_regex(entity, slot)
                continue
            for option, texts in entity["options"].entries():
                slot.add(option, _texts(texts), self._draft.language(self._language, texts.location))
            for regex in entity["regex"].items() if entity["regex"].is_list else [entity["regex"]]:
                self._read_regex(regex, slot)
            type_ = entity["type"].text() if entity["type"].is_text else None
            kind = next((kind for kind, name in _KINDS.items() if name == type_), None)
            if kind is not None:
                slot.kind = kind
            elif entity["trim"]:
                slot.kind = slot.kind or (None if slot.values or slot.patterns else "any")
                message = f"the `trim` rules of {name!r} are not imported"
                hint = "use the slot in utterances to show where its value appears"
                self._draft.not_expressed(entity["trim"].location, message, hint)

    def read_intents(self) -> None:
        if context := self._root["contextData"]:
            self._draft.not_expressed(context.location, "`contextData` is not imported")
        for entry in self._root["data"].items():
            if name := entry["intent"].text():
                self._read_intent(name, entry)
            else:
                self._draft.warn(entry.location, "no-name", "an entry without `intent` is skipped")

    def _entities(self) -> Value:
        """Return the entities of the corpus, which may be in a separate file."""
        named = self._root["entities"]
        if not named.is_text:
            return named
        path = named.text() or ""
        found = self._file.resolve_reference(path)
        if found is None:
            self._draft.warn(named.location, "not-found", f"the entity file {path!r} was not found")
            return Value(None, named.location)
        other = self._draft.root(found)
        return other["entities"] or other

    def _read_regex(self, value: Value, slot: SlotDraft) -> None:
        text = value.text()
        if text is None:
            return
        regex = _REGEX.fullmatch(text)
        pattern, flags = (regex["pattern"], regex["flags"]) if regex else (text, "")
        slot.patterns.append(pattern if "i" in flags else with_case(pattern))
        if set(flags) & set("ms"):
            self._draft.not_expressed(value.location, "the regular expression flags `m` and `s` are not imported")

    def _read_intent(self, name: str, entry: Value) -> None:
        intent = self._draft.intent(name, entry.location, fallback=name == _NONE)
        for slot, filling in entry["slotFilling"].entries():
            self._read_filling(slot, filling, intent)
        for line in entry["utterances"].items():
            if text := line.text():
                self._say(text, line.location, intent)
        for line in entry["tests"].items():
            for text in _composed(line.text() or ""):
                self._draft.test(text, None if name == _NONE else name, line.location, self._language)
        for answer in entry["answers"].items():
            self._read_answer(answer, intent)
        if entry["actions"]:
            intent.metadata["actions"] = entry["actions"].plain()
        for key, value in entry.entries():
            if key not in _READ:
                self._draft.not_expressed(value.location, f"`{key}` of an entry is not imported")

    def _read_answer(self, answer: Value, intent: IntentDraft) -> None:
        if answer["opts"]:
            self._draft.not_expressed(answer["opts"].location, "conditions of answers are not imported")
        if text := (answer["answer"] if answer.is_mapping else answer).text():
            intent.respond(text, answer.location, self._language)

    def _read_filling(self, name: str, filling: Value, intent: IntentDraft) -> None:
        """Read a slot filling entry. A plain question makes the slot required; the first question is shared."""
        shared = self._draft.slot(self._declare(name, filling.location), filling.location)
        slot = intent.slot(name, filling.location)
        question = filling if filling.is_text else filling["question"]
        slot.required = filling.is_text or filling["mandatory"].flag()
        if text := question.text():
            code = self._draft.language(self._language, filling.location) or ""
            slot.questions[code] = text
            shared.questions.setdefault(code, text)

    def _say(self, text: str, place: Location, intent: IntentDraft) -> None:
        """Read an utterance. Alternatives or slots make it a template."""
        written, end = "", 0
        for choice in _CHOICE.finditer(text):
            alternatives = "|".join(self._marked(one, place, intent) for one in choice[1].split("|"))
            written += f"{self._marked(text[end : choice.start()], place, intent)}({alternatives})"
            end = choice.end()
        written += self._marked(text[end:], place, intent)
        if written == escape(text):
            intent.say(text, place, self._language)
        else:
            intent.template(written.strip(), place, self._language)

    def _marked(self, text: str, place: Location, intent: IntentDraft) -> str:
        written, end = "", 0
        for mark in _MARK.finditer(text):
            name = mark[1] or mark[2]
            if not self._is_known(name, intent):
                message = f"{mark[0]!r} names no entity; it is read as text"
                self._draft.warn(place, "unknown-slot", message)
                continue
            written += f"{escape(text[end : mark.start()])}{{{self._declare(name, place)}}}"
            end = mark.end()
        return written + escape(text[end:])

    def _is_known(self, name: str, intent: IntentDraft) -> bool:
        types = self._draft.types
        return bool({name, _NUMBER.sub("", name)} & (set(types) | _BUILT_IN)) or name in intent.slots

    def _declare(self, name: str, place: Location) -> str:
        """Declare the slot of an entity, which may have a number (`hero_0`), and return its name."""
        slot = self._draft.slot(name, place)
        entity = name if name in self._draft.types else _NUMBER.sub("", name)
        if entity in _BUILT_IN and entity not in self._draft.types:
            take_built_in(self._draft.type(entity, place), entity, place, self._draft)
        slot.like = self._draft.type(entity, place)
        return slot.name


def _texts(values: Value) -> list[str]:
    return [text for value in values.items() if (text := value.text())]


def _composed(text: str) -> Iterator[str]:
    """Yield the sentences of a text with alternatives."""
    # `split` yields texts and groups in turn.
    pieces = [piece.split("|") if number % 2 else [piece] for number, piece in enumerate(_CHOICE.split(text))]
    for parts in itertools.islice(itertools.product(*pieces), _MAX_TESTS):
        if composed := "".join(parts).strip():
            yield composed


def _write(registry: Registry, problems: list[Problem]) -> Files:
    writer = _Writer(registry, problems)
    codes = writer.codes
    if len(codes) == 1:
        return {"corpus.json": writer.corpus(codes[0])}
    return {f"corpus-{code or 'none'}.json": writer.corpus(code) for code in codes}


class _Writer:
    """Writes the corpora of one registry."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._registry = registry
        self._problems = problems
        self._slots = all_slots(registry)
        codes = [line.language or "" for line in registry.utterances]
        # A language in which the bot only answers or asks needs a corpus too, or its texts would be lost.
        codes += [code for intent in registry for code in intent.responses if code]
        codes += [code for intent in registry for slot in intent.slots for code in slot.questions if code]
        self.codes = list(dict.fromkeys(codes)) or [""]
        for slot in self._slots.values():
            if slot.kind in _KINDS and slot.name != _KINDS[slot.kind]:
                message = f"NLP.js will not find the slot {slot.name!r}: it must be named {_KINDS[slot.kind]!r}"
                if slot.kind == "any":
                    message = f"NLP.js will not find the slot {slot.name!r} until you add `trim` rules to it"
                self._note(slot.location, "foreign-kind", message)

    def corpus(self, code: str) -> str:
        if not code:
            self._note(None, "no-language", "NLP.js needs a `locale`, but some utterances have no language")
        entries = []
        for intent in self._registry:
            lines = utterances_in(intent, code or None)
            entry = {
                "intent": intent.name,
                "utterances": [self._line(line) for line in lines],
                "answers": self._texts_in(code, intent.all_responses),
                "slotFilling": self._fillings(code, intent),
            }
            # An intent without a line is in one corpus only: in none, the import of the files would lose it.
            if lines or entry["answers"] or (code == self.codes[0] and not intent.utterances):
                entries.append({key: value for key, value in entry.items() if value or key == "utterances"})
        head = {"name": "Corpus", **({"locale": code} if code else {})}
        entities = {slot.name: entity for slot in self._slots.values() if (entity := _entity(slot, code))}
        return json.dumps({**head, "data": entries, "entities": entities}, ensure_ascii=False, indent=2) + "\n"

    def _texts_in(self, code: str, texts: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the texts in a language. Texts without a language belong to the first corpus."""
        own = list(texts.get(code, ()))
        if "" in texts and code == self.codes[0] and "" not in self.codes:
            self._note(None, NOT_EXPRESSED, f"“{texts[''][0]}” has no language; it is written as {code!r}")
            own = own or list(texts[""])
        return own

    def _fillings(self, code: str, intent: Intent) -> dict[str, Any]:
        fillings: dict[str, Any] = {}
        for slot in intent.slots:
            question = self._texts_in(code, {key: (text,) for key, text in slot.questions.items()})
            if slot.required or question:
                fillings[slot.name] = {"mandatory": slot.required, **({"question": question[0]} if question else {})}
        return fillings

    def _line(self, line: Utterance) -> str:
        if not is_template(line):
            return self._text(line.text, line)
        pieces = []
        for node in parse(line.text).nodes:
            if isinstance(node, Words):
                pieces.append(self._text(node.text, line))
            elif isinstance(node, Blank):
                pieces.append(f"@{node.slot}" if node.value is None else self._text(node.value, line))
        return "".join(pieces)

    def _text(self, text: str, line: Utterance) -> str:
        # The format has no way to escape them.
        if _CHOICE.search(text) or any(mark[1] in self._slots for mark in _MARK.finditer(text)):
            self._note(line.location, NOT_EXPRESSED, f"“{text}” will be read as alternatives or a slot")
        return text

    def _note(self, place: Location | None, rule: str, message: str) -> None:
        problem = Problem(place or NOWHERE, "warning", rule, message)
        if problem not in self._problems:
            self._problems.append(problem)


def _entity(slot: Slot, code: str) -> Any:
    if slot.kind == "list":
        # NLP.js finds only the texts of an option, and its name is not one of them.
        return {"options": {value.value: [value.value, *synonyms_in(value, code)] for value in slot.values}}
    if slot.kind == "pattern":
        # NLP.js cuts the pattern out from between slashes, and without them would lose its first letter.
        patterns = [
            f"/{body}/{'g' if case_sensitive else 'gi'}" for body, case_sensitive in map(split_case_flag, slot.patterns)
        ]
        return patterns[0] if len(patterns) == 1 else {"regex": patterns}
    return None if slot.name == _KINDS[slot.kind] else {"type": _KINDS[slot.kind]}


FORMAT = Format("nlpjs", "NLP.js: corpora of version 3 and 4", _recognise, _read, _write, _SAYS)
