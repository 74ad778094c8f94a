"""Our own YAML, written for people to go on with: one file, or one for each group of intents where there are many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Case, Intent, Registry, Slot, Utterance
from intentmatch.formats.kit import yaml_writer as emit
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature, Files, Format, Sure
from intentmatch.formats.kit.repair import settled
from intentmatch.formats.kit.slot_mentions import slots_named
from intentmatch.formats.kit.source import File
from intentmatch.registry.reading.grammar import GRAMMAR_VERSION, OUT_OF_SCOPE

# What one file may hold before people would rather have several.
_MOST = 30
# A group with fewer intents is not worth a file.
_FEWEST = 3
_GROUP = re.compile(r"[/._: -]")
_SHARED, _REST, _NO_LANGUAGE = "_shared", "intents", "without_language"
_LITERAL = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_IMPLIED = {"list": "values", "pattern": "pattern"}


def write(registry: Registry, problems: list[Problem]) -> Files:
    """YAML by file name. What keeps a registry from being loaded is left out first."""
    registry, left_out = settled(registry)
    problems += left_out
    writer = _Writer(registry, problems)
    groups = _groups(registry)
    parts = {intent.name: _parted(intent) for intent in registry}
    files = {}
    if len(groups) == 1:
        files[_REST] = writer.document(replace(registry, intents=tuple(spoken for spoken, _ in parts.values())))
    else:
        shared = replace(registry, intents=())
        if shared != Registry(()):
            files[_SHARED] = writer.document(shared)
        for group, names in groups.items():
            files[group] = writer.document(Registry(tuple(parts[name][0] for name in names)))
    unspoken = tuple(rest for _, rest in parts.values() if rest is not None)
    if unspoken:
        files[_NO_LANGUAGE] = writer.document(Registry(unspoken))
    return {f"{name}.yaml": text for name, text in files.items()}


def recognise(file: File) -> Sure:
    """Never: our own YAML is read by its own reader, which knows more than any format can say."""
    return Sure.NO


class _Writer:
    """Writes files of one registry."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._problems = problems
        self._slots = {slot.name: _placeless(slot) for slot in registry.slots}
        self._rules = registry.rules
        found = _languages(registry)
        # Said once for all files, where there is but one.
        self._language = found.pop() if len(found) == 1 else None

    def document(self, registry: Registry) -> str:
        """A file."""
        head: dict[str, Any] = {"version": int(GRAMMAR_VERSION)}
        if self._language:
            head["language"] = self._language
        parts = [head]
        if registry.settings:
            parts.append({"settings": dict(registry.settings)})
        if registry.rules:
            parts.append(
                {"rules": {rule.name: self._by_code(rule.templates, rule.location) for rule in registry.rules}}
            )
        if registry.slots:
            parts.append({"slots": {slot.name: self._slot(slot) for slot in registry.slots}})
        texts = [emit.native(part) for part in parts]
        if registry.intents:
            intents = [emit.native({"intents": {i.name: self._intent(i)}}).partition("\n")[2] for i in registry]
            texts.append("intents:\n" + "\n".join(intents))
        if registry.tests:
            texts.append(emit.native({"tests": [self._test(case) for case in registry.tests]}))
        return "\n".join(texts)

    def _intent(self, intent: Intent) -> dict[str, Any]:
        own = {slot.name: entry for slot in intent.slots if (entry := self._own(slot, intent)) is not None}
        said = {
            "title": dict(intent.titles) or intent.title,
            "description": intent.description,
            "when": emit.Short(intent.when),
            "threshold": intent.threshold,
            "response": self._by_code(intent.responses, intent.location),
            "slots": own,
            "utterances": self._lines(intent.utterances),
            "not": self._lines(intent.negatives),
            "metadata": _json(intent.metadata),
        }
        return {key: value for key, value in said.items() if value not in (None, [], {})}

    def _own(self, slot: Slot, intent: Intent) -> Any:
        """What an intent says of a slot beside what holds for all; None for nothing."""
        shared = self._slots.get(slot.name)
        if shared is None:
            return self._slot(slot)
        if shared == _placeless(slot):
            # One that no line names belongs to the intent because it says so.
            named = slots_named((*intent.utterances, *intent.negatives), self._rules)
            return None if slot.name in named else emit.Nothing()
        same = _placeless(replace(slot, required=shared.required, questions=shared.questions)) == shared
        if not same or (not slot.questions and shared.questions):
            return self._slot(slot)
        entry: dict[str, Any] = {}
        if slot.required != shared.required:
            entry["required"] = slot.required
        if slot.questions != shared.questions:
            entry["ask"] = self._by_code(slot.questions, slot.location)
        return entry

    def _slot(self, slot: Slot) -> dict[str, Any]:
        entry: dict[str, Any] = {}
        if _IMPLIED.get(slot.kind) is None:
            entry["type"] = slot.kind
        if any(value.synonyms for value in slot.values):
            entry["values"] = {
                value.value: self._short_lines(value.synonyms, slot) or emit.Nothing() for value in slot.values
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
            entry["ask"] = self._by_code(slot.questions, slot.location)
        return entry

    def _lines(self, lines: Iterable[Utterance]) -> list[str] | dict[str, list[str]]:
        """A list, or one for each language."""
        found: dict[str | None, list[str]] = {}
        for line in lines:
            found.setdefault(line.language, []).append(line.text if line.template is None else line.template)
        alone = found.get(None if self._language is None else self._language)
        return alone if alone is not None and len(found) == 1 else {code or "": some for code, some in found.items()}

    def _short_lines(self, lines: Iterable[Utterance], slot: Slot) -> Any:
        """What is said for a slot: in every language, or a list for each, on one line where there is room."""
        lines = tuple(lines)
        codes = dict.fromkeys(line.language for line in lines if line.language is not None)
        if codes and any(line.language is None for line in lines):
            self._lose(
                slot.location,
                f"synonyms or examples of the slot {slot.name!r} without a language beside others with one",
            )
            lines = tuple(
                replace(line, language=code) for line in lines for code in ([line.language] if line.language else codes)
            )
        if not codes:
            return emit.Short(line.text for line in lines)
        spoken = {code: dict.fromkeys(line.text for line in lines if line.language == code) for code in codes}
        return {code: emit.Short(texts) for code, texts in spoken.items()}

    def _by_code(self, texts: Mapping[str, str], place: Location | None) -> Any:
        """A text, or one for each language."""
        if set(texts) == {self._language or ""}:
            return texts[self._language or ""]
        if "" in texts:
            self._lose(place, f"“{texts['']}”, a text without a language beside others with one")
        return {code: text for code, text in texts.items() if code}

    def _test(self, case: Case) -> dict[str, Any]:
        expected = case.expected
        intent: Any = (
            OUT_OF_SCOPE if expected is None else expected if isinstance(expected, str) else emit.Short(expected)
        )
        language = {"language": case.language} if case.language != self._language else {}
        return {"text": case.text, "intent": intent, **language}

    def _lose(self, place: Location | None, what: str) -> None:
        message = f"this format cannot express {what}"
        self._problems.append(Problem(place or NOWHERE, "warning", NOT_EXPRESSED, message))


def _groups(registry: Registry) -> dict[str, list[str]]:
    """File name to the names of the intents in it."""
    names = [intent.name for intent in registry]
    if len(names) <= _MOST:
        return {_REST: names}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(re.sub(r"[^\w-]+", "", _GROUP.split(name)[0]).lower(), []).append(name)
    files: dict[str, list[str]] = {}
    for group, some in groups.items():
        pays_off = len(some) >= _FEWEST and group not in ("", _SHARED, _NO_LANGUAGE)
        files.setdefault(group if pays_off else _REST, []).extend(some)
    return files


def _parted(intent: Intent) -> tuple[Intent, Intent | None]:
    """What an intent says in languages, and what it says in none; a mapping of languages cannot hold both."""
    said: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key in ("utterances", "negatives"):
        lines = getattr(intent, key)
        if len({line.language is None for line in lines}) == 2:
            said[key] = tuple(line for line in lines if line.language is not None)
            rest[key] = tuple(line for line in lines if line.language is None)
    if "" in intent.responses and len(intent.responses) > 1:
        said["responses"] = {code: text for code, text in intent.responses.items() if code}
        rest["responses"] = {"": intent.responses[""]}
    without = Intent(intent.name, **{"utterances": (), **rest}) if rest else None
    return replace(intent, **said), without


def _languages(registry: Registry) -> set[str | None]:
    """Every language that anything is said in, None among them where something is said in none."""
    found: set[str | None] = {case.language for case in registry.tests}
    found |= {code or None for rule in registry.rules for code in rule.templates}
    for intent in registry:
        found |= {line.language for line in (*intent.utterances, *intent.negatives)}
        found |= {code or None for code in (*intent.responses, *intent.titles)}
    for slot in (*registry.slots, *(slot for intent in registry for slot in intent.slots)):
        found |= {code or None for code in slot.questions}
    return found


def _placeless(slot: Slot) -> Slot:
    """A slot as it is, wherever it stands."""

    def bare(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        return tuple(replace(line, location=None) for line in lines)

    values = tuple(replace(value, synonyms=bare(value.synonyms)) for value in slot.values)
    return replace(slot, location=None, values=values, examples=bare(slot.examples))


def _json(value: Any) -> Any:
    """Metadata, in which a text that looks like a number must be quoted."""
    if isinstance(value, Mapping):
        return {str(key): _json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(inner) for inner in value]
    if isinstance(value, str):
        return emit.Quoted(value) if _LITERAL.fullmatch(value) else value
    return value


FORMAT = Format("intentmatch", "Our own YAML", recognise, None, write, frozenset(get_args(Feature)))
