"""Resolve the names in templates: find each intent's slots, and report unknown, ambiguous and unused names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from intentmatch.core.errors import Location, Problem, Severity, suggest
from intentmatch.core.types import Rule, Slot
from intentmatch.registry.reading.file_content import FileContent, Reference, owner_of_lines
from intentmatch.registry.reading.scope import Scope, path_of
from intentmatch.registry.reading.slot_grammar import KINDS, SlotEntry
from intentmatch.registry.templates.rules import key_of

_UNUSED = "use it in a template, or remove it"
# Fields of a slot that have another name in YAML.
_KEYS = {"kind": "type", "patterns": "pattern", "questions": "ask"}


class Names:
    """Slots and rules of a registry's files and their uses; a lookup reports unknown and ambiguous names."""

    def __init__(self, contents: Sequence[FileContent]) -> None:
        self.slots = tuple(slot for content in contents for entry in content.slots if (slot := entry.slot()))
        """Slots that files declare outside intents, in file order."""
        self.rules = tuple(rule for content in contents for rule in content.rules)
        self._slots, self._rules = Scope(self.slots), Scope(self.rules)
        self._entries: dict[str, list[SlotEntry]] = {}
        self._lines: dict[str, list[Reference]] = {}
        self._in_responses: dict[str, list[Reference]] = {}
        self._in_rules: dict[tuple[str | None, str, str], list[Reference]] = {}
        for content in contents:
            for intent, entry in content.intent_slots:
                self._entries.setdefault(intent, []).append(entry)
            for reference in content.references:
                self._lines.setdefault(reference.owner, []).append(reference)
            for reference in content.placeholders:
                self._in_responses.setdefault(reference.owner, []).append(reference)
            for reference in content.rule_references:
                key = content.path, reference.owner, reference.language or ""
                self._in_rules.setdefault(key, []).append(reference)
        self._used: set[int] = set()
        self._problems: dict[Problem, None] = {}

    def intent_slots(self, intent: str) -> tuple[Slot, ...]:
        """Return the slots that an intent declares, then the file slots that its lines or their rules name."""
        own = self._declared(intent)
        refined = [entry for entry in self._entries.get(intent, ()) if own[entry.name].kind is None]
        open_ = self._without_type(refined)
        named = [Reference("slot", entry.name, entry.location, intent, None) for entry in refined]
        shared: dict[str, Slot] = {}
        for reference in (*named, *self._named_in_lines(intent)):
            entry = own.get(reference.name)
            # Its missing type is reported where it is declared; each use would only repeat that.
            if reference.name in open_:
                continue
            slot = None if entry and entry.kind else self._slot(reference)
            if slot is not None:
                first = shared.setdefault(slot.name, slot)
                # Two files may declare the same slot for lines of one intent; only different ones are a conflict.
                if _meaning(first) != _meaning(slot):
                    message = (
                        f"intent {intent!r} uses two different slots {slot.name!r}: {_short(first)}, {_short(slot)}"
                    )
                    hint = "declare the slot in one file only, or in the intent"
                    self._note(reference.location, "error", "slot-redefined", message, hint)
        declared = {name: entry.slot(shared.pop(name, None)) for name, entry in own.items()}
        slots = tuple(slot for slot in (*declared.values(), *shared.values()) if slot)
        self._check_placeholders(intent, {*own, *(slot.name for slot in slots)})
        return slots

    def check_lines_of(self, question: str) -> None:
        """Report the slots that a question's lines name: nothing fills them."""
        for reference in self._named_in_lines(owner_of_lines(question)):
            message = f"a line of the question {question!r} has the slot {reference.name!r}"
            hint = (
                f"write a value in place of {{{reference.name}}}, or a backslash before the bracket to read it as text"
            )
            self._note(reference.location, "error", "slot-in-question", message, hint)

    def problems(self) -> list[Problem]:
        """Return all problems: those found so far, those in rules that no line uses, and unused slots and rules."""
        declared = {entry.name for entries in self._entries.values() for entry in entries}
        for references in self._in_rules.values():
            for reference in references:
                if reference.sign == "rule":
                    self._rule(reference)
                elif reference.name not in declared:
                    self._slot(reference)
        for rule in self.rules:
            if id(rule) not in self._used and rule.location:
                self._note(rule.location, "warning", "unused-rule", f"the rule {rule.name!r} is not used", _UNUSED)
        for slot in self.slots:
            if id(slot) not in self._used and slot.location:
                self._note(slot.location, "warning", "unused-slot", f"the slot {slot.name!r} is not used", _UNUSED)
        return list(self._problems)

    def _declared(self, intent: str) -> dict[str, SlotEntry]:
        """Return an intent's declaration of each slot, merged over files; report what two files both declare."""
        own: dict[str, SlotEntry] = {}
        for entry in self._entries.get(intent, ()):
            known = own.setdefault(entry.name, entry)
            if repeated := [] if known is entry else [name for name in entry.fields if name in known.fields]:
                keys = ", ".join(f"`{_KEYS.get(name, name)}`" for name in repeated)
                message = f"slot {entry.name!r} of {intent!r} declares {keys} twice"
                hint = f"the slot is also described at {known.location.short}; keep one of the two"
                self._note(entry.location, "error", "slot-redefined", message, hint)
            own[entry.name] = replace(known, **{**entry.fields, **known.fields})
        return own

    def _without_type(self, refined: Iterable[SlotEntry]) -> set[str]:
        """Report slots of an intent that have no type and refine no slot of a file; return their names."""
        found = set()
        for entry in refined:
            # With a similar name elsewhere it is a misspelt refinement, which is reported as an unknown slot.
            if not self._slots.definitions(entry.name) and suggest(entry.name, self._slots.names) is None:
                hint = f"add `values`, a `pattern`, or a `type`: {', '.join(KINDS)}"
                self._note(entry.location, "error", "bad-slot", f"slot {entry.name!r} has no type", hint)
                found.add(entry.name)
        return found

    def _named_in_lines(self, intent: str) -> Iterator[Reference]:
        """Yield every slot that an intent's lines name, directly or through rules."""
        # A list in place of recursion, since rules may use rules to any depth.
        waiting = [(reference, reference.language) for reference in reversed(self._lines.get(intent, ()))]
        seen: set[tuple[int, str | None]] = set()
        while waiting:
            reference, language = waiting.pop()
            if reference.sign == "slot":
                yield reference
                continue
            rule = self._rule(reference)
            key = None if rule is None else key_of(rule, language)
            if rule is not None and rule.templates and key is None:
                message = f"the rule {rule.name!r} ({_short(rule)}) has no template for {language or 'any language'}"
                hint = f"add a template with the key `{language}` to it" if language else "give the line a language"
                self._note(reference.location, "error", "unknown-rule", message, hint)
            # Rules may use each other in a circle, which the expansion reports.
            elif rule is not None and key is not None and (id(rule), language) not in seen:
                seen.add((id(rule), language))
                inside = self._in_rules.get((path_of(rule.location), rule.name, key), ())
                waiting += [(inner, language) for inner in reversed(inside)]

    def _check_placeholders(self, intent: str, slots: Collection[str]) -> None:
        """Report words in braces in an intent's responses that are no slots of it but seem to be meant so.

        Any other word may be filled by the program that shows the response.
        """
        for reference in self._in_responses.get(intent, ()):
            name = reference.name.strip()
            if reference.name in slots:
                continue
            message = f"{{{reference.name}}} in the response is no slot of {intent!r}"
            if (nearest := name if name in slots else suggest(name, slots)) is not None:
                self._note(
                    reference.location, "warning", "unknown-placeholder", message, f"did you mean {{{nearest}}}?"
                )
            elif name in self._slots.names:
                hint = f"use {{{name}}} in an utterance of the intent, or declare it there below `slots:`"
                self._note(reference.location, "warning", "unknown-placeholder", message, hint)

    def _rule(self, reference: Reference) -> Rule | None:
        found = self._rules.get(reference.name, reference.location.path)
        if found is not None:
            self._used.add(id(found))
        elif definitions := self._rules.definitions(reference.name):
            self._note(reference.location, "error", "ambiguous-rule", *_ambiguous(reference, definitions))
        elif reference.name in self._slots.names:
            hint = f"there is a slot of that name: write `{{{reference.name}}}`"
            self._note(reference.location, "error", "unknown-rule", f"there is no rule {reference.name!r}", hint)
        else:
            self._note(reference.location, "error", "unknown-rule", *_unknown(reference, self._rules.names))
        return found

    def _slot(self, reference: Reference) -> Slot | None:
        found = self._slots.get(reference.name, reference.location.path)
        if found is not None:
            self._used.add(id(found))
        elif definitions := self._slots.definitions(reference.name):
            self._note(reference.location, "error", "ambiguous-slot", *_ambiguous(reference, definitions))
        else:
            self._note(reference.location, "error", "unknown-slot", *_unknown(reference, self._slots.names))
        return found

    def _note(self, place: Location, severity: Severity, rule: str, message: str, hint: str) -> None:
        # Several lines may meet the same mistake in one rule.
        self._problems.setdefault(Problem(place, severity, rule, message, hint))


def _meaning(slot: Slot) -> tuple[object, ...]:
    """Everything that a slot declares, without locations."""
    lines = [
        [(line.text, line.language) for line in group] for group in (*(v.synonyms for v in slot.values), slot.examples)
    ]
    values = [value.value for value in slot.values]
    return slot.kind, values, lines, slot.patterns, slot.required, slot.questions


def _ambiguous(reference: Reference, definitions: Sequence[Rule | Slot]) -> tuple[str, str]:
    places = " and ".join(map(_short, definitions))
    message = f"the {reference.sign} {reference.name!r} is defined in several files, but not in this one: {places}"
    return message, "rename one of them, or define it in one file only"


def _unknown(reference: Reference, known: Iterable[str]) -> tuple[str, str]:
    nearest = suggest(reference.name, known)
    hint = f"declare it below `{reference.sign}s:`, or put a backslash before the bracket to read it as text"
    return f"there is no {reference.sign} {reference.name!r}", f"did you mean `{nearest}`?" if nearest else hint


def _short(thing: Rule | Slot) -> str:
    return thing.location.short if thing.location else "code"
