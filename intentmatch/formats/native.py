"""Write intentmatch's own YAML for people to edit: one file, or one for each group of intents if there are many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Case, Intent, Registry, Slot, TraitQuestion, Utterance
from intentmatch.formats.kit import yaml_writer
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.repair import repair
from intentmatch.formats.kit.slot_mentions import mentioned_slots
from intentmatch.formats.kit.source import File
from intentmatch.registry.reading.grammar import GRAMMAR_VERSION, OUT_OF_SCOPE

# Intents in one file; more are split into groups.
_MAX_INTENTS_PER_FILE = 30
# Intents of a group that gets a file of its own.
_MIN_INTENTS_PER_GROUP = 3
# Names such as `order/status`, `order.status` and `order_status` begin with their group.
_GROUP = re.compile(r"[/._: -]")
_SHARED, _REST, _NO_LANGUAGE = "_shared", "intents", "without_language"
_LITERAL = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_IMPLIED = {"list": "values", "pattern": "pattern"}


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Return YAML by file name. The registry is repaired first, so that it can be loaded."""
    registry, left_out = repair(registry)
    problems += left_out
    writer = _Writer(registry, problems)
    groups = _groups(registry)
    parts = {intent.name: _split_by_language(intent) for intent in registry}
    files = {}
    if len(groups) == 1:
        files[_REST] = writer.document(replace(registry, intents=tuple(main for main, _ in parts.values())))
    else:
        shared = replace(registry, intents=())
        if shared != Registry(()):
            files[_SHARED] = writer.document(shared)
        for group, names in groups.items():
            files[group] = writer.document(Registry(tuple(parts[name][0] for name in names)))
    without_language = tuple(rest for _, rest in parts.values() if rest is not None)
    if without_language:
        files[_NO_LANGUAGE] = writer.document(Registry(without_language))
    return {f"{name}.yaml": text for name, text in files.items()}


def recognise(file: File) -> Sure:
    """Never recognise a file: intentmatch's own YAML needs no import."""
    return Sure.NO


class _Writer:
    """Writes the files of one registry."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._problems = problems
        self._slots = {slot.name: _without_locations(slot) for slot in registry.slots}
        self._rules = registry.rules
        found = _languages(registry)
        # A single language is written at the top of each file.
        self._language = found.pop() if len(found) == 1 else None

    def document(self, registry: Registry) -> str:
        """Return the text of one file."""
        head: dict[str, Any] = {"version": int(GRAMMAR_VERSION)}
        if self._language:
            head["language"] = self._language
        parts = [head]
        if registry.settings:
            parts.append({"settings": dict(registry.settings)})
        if registry.own_sections:
            parts.append({"languages": dict(registry.own_sections)})
        if registry.rules:
            parts.append(
                {"rules": {rule.name: self._by_language(rule.templates, rule.location) for rule in registry.rules}}
            )
        if registry.slots:
            parts.append({"slots": {slot.name: self._slot(slot) for slot in registry.slots}})
        texts = [yaml_writer.native_yaml(part) for part in parts]
        if registry.intents:
            intents = [
                # Each without the line `intents:`, so that blank lines can stand between them.
                yaml_writer.native_yaml({"intents": {i.name: self._intent(i)}}).partition("\n")[2]
                for i in registry
            ]
            texts.append("intents:\n" + "\n".join(intents))
        if registry.questions:
            texts.append(
                yaml_writer.native_yaml({"questions": {q.name: self._question(q) for q in registry.questions}})
            )
        if registry.tests:
            texts.append(yaml_writer.native_yaml({"tests": [self._test(case) for case in registry.tests]}))
        return "\n".join(texts)

    def _intent(self, intent: Intent) -> dict[str, Any]:
        own = {
            slot.name: entry for slot in intent.slots if (entry := self._changes_to_shared(slot, intent)) is not None
        }
        entry = {
            "title": dict(intent.titles) or intent.title,
            "description": intent.description,
            "when": yaml_writer.InlineList(intent.when),
            "threshold": intent.threshold,
            "confirm": intent.confirm or None,
            "response": self._by_language(
                {code: list(texts) if len(texts) > 1 else texts[0] for code, texts in intent.all_responses.items()},
                intent.location,
            ),
            "slots": own,
            "utterances": self._lines(intent.utterances),
            "not": self._lines(intent.negatives),
            "metadata": _quoted_metadata(intent.metadata),
        }
        # Not by truth: 0 is a threshold.
        return {key: value for key, value in entry.items() if value not in (None, [], {})}

    def _question(self, question: TraitQuestion) -> dict[str, Any]:
        text = {"question": question.text} if question.text else {}
        return {**text, "answers": {name: self._answer(lines, question) for name, lines in question.answers.items()}}

    def _answer(self, lines: Sequence[Utterance], question: TraitQuestion) -> Any:
        """Return the lines of an answer. Those without a language join the first one that has lines."""
        code = next((line.language for line in lines if line.language), None)
        if code and any(line.language is None for line in lines):
            self._report_loss(
                question.location, f"lines of {question.name!r} without a language beside others with one"
            )
            lines = [line if line.language else replace(line, language=code) for line in lines]
        return self._lines(lines)

    def _changes_to_shared(self, slot: Slot, intent: Intent) -> Any:
        """Return the changes of an intent to a shared slot; None if there are none."""
        shared = self._slots.get(slot.name)
        if shared is None:
            return self._slot(slot)
        if shared == _without_locations(slot):
            # A slot that no utterance names must be listed under the intent.
            named = mentioned_slots((*intent.utterances, *intent.negatives), self._rules)
            return None if slot.name in named else yaml_writer.EmptyValue()
        same = _without_locations(replace(slot, required=shared.required, questions=shared.questions)) == shared
        # An entry that only refines the shared slot keeps its questions.
        if not same or (not slot.questions and shared.questions):
            return self._slot(slot)
        entry: dict[str, Any] = {}
        if slot.required != shared.required:
            entry["required"] = slot.required
        if slot.questions != shared.questions:
            entry["ask"] = self._by_language(slot.questions, slot.location)
        return entry

    def _slot(self, slot: Slot) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        if _IMPLIED.get(slot.kind) is None:
            entry["type"] = slot.kind
        if any(value.synonyms for value in slot.values):
            entry["values"] = {
                value.value: self._short_lines(value.synonyms, slot) or yaml_writer.EmptyValue()
                for value in slot.values
            }
        elif slot.values:
            entry["values"] = [value.value for value in slot.values]
        if slot.patterns:
            entry["pattern"] = list(slot.patterns)
        if slot.examples:
            entry["examples"] = self._short_lines(slot.examples, slot)
        if slot.required:
            entry["required"] = True
        if slot.questions:
            entry["ask"] = self._by_language(slot.questions, slot.location)
        return entry

    def _lines(self, lines: Iterable[Utterance]) -> list[str] | dict[str, list[str]]:
        """Return a list of utterances, or one for each language."""
        found: dict[str | None, list[str]] = {}
        for line in lines:
            found.setdefault(line.language, []).append(line.text if line.template is None else line.template)
        alone = found.get(None if self._language is None else self._language)
        return alone if alone is not None and len(found) == 1 else {code or "": texts for code, texts in found.items()}

    def _short_lines(self, lines: Iterable[Utterance], slot: Slot) -> Any:
        """Return synonyms or examples of a slot: one short list, or one for each language."""
        lines = tuple(lines)
        codes = dict.fromkeys(line.language for line in lines if line.language is not None)
        if codes and any(line.language is None for line in lines):
            self._report_loss(
                slot.location,
                f"synonyms or examples of the slot {slot.name!r} without a language beside others with one",
            )
            lines = tuple(
                replace(line, language=code) for line in lines for code in ([line.language] if line.language else codes)
            )
        if not codes:
            return yaml_writer.InlineList(line.text for line in lines)
        by_language = {code: dict.fromkeys(line.text for line in lines if line.language == code) for code in codes}
        return {code: yaml_writer.InlineList(texts) for code, texts in by_language.items()}

    def _by_language(self, texts: Mapping[str, str | list[str]], place: Location | None) -> Any:
        """Return a text or a list of them, or one for each language."""
        if set(texts) == {self._language or ""}:
            return texts[self._language or ""]
        if "" in texts:
            first = texts[""] if isinstance(texts[""], str) else texts[""][0]
            self._report_loss(place, f"“{first}”, a text without a language beside others with one")
        return {code: text for code, text in texts.items() if code}

    def _test(self, case: Case) -> dict[str, Any]:
        expected = case.expected
        intent: Any = (
            OUT_OF_SCOPE
            if expected is None
            else expected
            if isinstance(expected, str)
            else yaml_writer.InlineList(expected)
        )
        language = {"language": case.language} if case.language != self._language else {}
        return {"text": case.text, "intent": intent, **language}

    def _report_loss(self, place: Location | None, what: str) -> None:
        message = f"this format cannot express {what}"
        self._problems.append(Problem(place or NOWHERE, "warning", NOT_EXPRESSED, message))


def _groups(registry: Registry) -> dict[str, list[str]]:
    """Return the names of the intents by file name."""
    names = [intent.name for intent in registry]
    if len(names) <= _MAX_INTENTS_PER_FILE:
        return {_REST: names}
    groups: dict[str, list[str]] = {}
    for name in names:
        # In lower case, since file systems may ignore it.
        groups.setdefault(re.sub(r"[^\w-]+", "", _GROUP.split(name)[0]).lower(), []).append(name)
    files: dict[str, list[str]] = {}
    for group, group_names in groups.items():
        # Two names are taken by the files of everything else.
        pays_off = len(group_names) >= _MIN_INTENTS_PER_GROUP and group not in ("", _SHARED, _NO_LANGUAGE)
        files.setdefault(group if pays_off else _REST, []).extend(group_names)
    return files


def _split_by_language(intent: Intent) -> tuple[Intent, Intent | None]:
    """Split an intent into its parts with and without a language, because one mapping cannot hold both."""
    main: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key in ("utterances", "negatives"):
        lines = getattr(intent, key)
        if len({line.language is None for line in lines}) == 2:
            main[key] = tuple(line for line in lines if line.language is not None)
            rest[key] = tuple(line for line in lines if line.language is None)
    if "" in intent.responses and len(intent.responses) > 1:
        main["responses"] = {code: text for code, text in intent.responses.items() if code}
        rest["responses"] = {"": intent.responses[""]}
        main["more_responses"] = {code: texts for code, texts in intent.more_responses.items() if code}
        rest["more_responses"] = {code: texts for code, texts in intent.more_responses.items() if not code}
    without_language = Intent(intent.name, **{"utterances": (), **rest}) if rest else None
    return replace(intent, **main), without_language


def _languages(registry: Registry) -> set[str | None]:
    """Return the languages of all text in a registry, with None for text without a language."""
    found: set[str | None] = {case.language for case in registry.tests}
    found |= {code or None for rule in registry.rules for code in rule.templates}
    for intent in registry:
        found |= {line.language for line in (*intent.utterances, *intent.negatives)}
        found |= {code or None for code in (*intent.responses, *intent.titles)}
    found |= {line.language for line in registry.question_lines}
    for slot in (*registry.slots, *(slot for intent in registry for slot in intent.slots)):
        found |= {code or None for code in slot.questions}
    return found


def _without_locations(slot: Slot) -> Slot:
    """Return a slot without locations."""

    def bare(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        return tuple(replace(line, location=None) for line in lines)

    values = tuple(replace(value, synonyms=bare(value.synonyms)) for value in slot.values)
    return replace(slot, location=None, values=values, examples=bare(slot.examples))


def _quoted_metadata(value: Any) -> Any:
    """Return metadata with quotes around text that looks like a number, a boolean or null."""
    if isinstance(value, Mapping):
        return {str(key): _quoted_metadata(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_quoted_metadata(inner) for inner in value]
    if isinstance(value, str):
        return yaml_writer.QuotedText(value) if _LITERAL.fullmatch(value) else value
    return value


FORMAT = Format("intentmatch", "intentmatch YAML", recognise, None, write, frozenset(get_args(Feature)))
