"""Build a registry step by step while a format is read, and collect the problems on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from intentmatch.core.errors import Location, Problem, Severity
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.formats.kit import tree
from intentmatch.formats.kit.slot_draft import SlotDraft, add_value, merge_spellings
from intentmatch.formats.kit.slot_mentions import mentioned_slots
from intentmatch.formats.kit.source import File
from intentmatch.registry.templates.syntax import is_name, labelled, parse
from intentmatch.text.normalize import language_code

NOT_EXPRESSED = "not-expressed"

_MAX_NAMES = 5
_INVALID_NAME_CHARS = re.compile(r"[\s!-,/:-@\[-^`{-~]+")


class Label(NamedTuple):
    """A labelled span of a text: `text[start:end]` is a value of a slot."""

    slot: str
    start: int
    end: int
    value: str | None = None
    """The canonical value, if it differs from the text."""


class IntentDraft:
    """An intent that is being built."""

    def __init__(self, draft: Draft, name: str, location: Location) -> None:
        self.name = name
        self.location = location
        self.title: str | None = None
        self.description: str | None = None
        self.threshold: float | str | None = None
        self.metadata: dict[str, Any] = {}
        self.when: list[str] = []
        self.responses: dict[str, str] = {}
        self.more_responses: dict[str, tuple[str, ...]] = {}
        self.utterances: list[Utterance] = []
        self.negatives: list[Utterance] = []
        self.slots: dict[str, SlotDraft] = {}
        self._draft = draft

    def say(self, text: str, place: Location, language: str | None = None, labels: Sequence[Label] = ()) -> None:
        """Add a literal utterance: template signs in it are text. Repetitions are kept."""
        self.utterances.append(self._draft.utterance(text, place, language, labels))

    def template(self, template: str, place: Location, language: str | None = None) -> None:
        """Add an utterance in the template grammar."""
        self.utterances.append(self._draft.template(template, place, language))

    def deny(self, text: str, place: Location, language: str | None = None) -> None:
        """Add a negative utterance."""
        self.negatives.append(self._draft.utterance(text, place, language))

    def respond(self, text: str, place: Location, language: str | None = None) -> None:
        """Add a response in a language, or a variant of it. Repetitions are skipped."""
        code = self._draft.language(language, place) or ""
        more = self.more_responses.get(code, ())
        self._draft.answering.setdefault(text, self)
        if self.responses.setdefault(code, text) != text and text not in more:
            self.more_responses[code] = (*more, text)

    def respond_once(self, variants: Sequence[str], place: Location, language: str | None = None) -> None:
        """Add the variants of one message. A further message in the same language is reported and skipped."""
        code = self._draft.language(language, place) or ""
        if code in self.responses and variants:
            message = f"{self.name!r} answers with several messages; only the first is imported"
            self._draft.not_expressed(place, message)
            return
        for text in variants:
            self.respond(text, place, language)

    def slot(self, name: str, place: Location) -> SlotDraft:
        """Return what this intent alone declares about a slot: whether it is required, and its questions."""
        shared = self._draft.slot(name, place)
        return self.slots.setdefault(shared.name, SlotDraft(shared.name, place))


class Draft:
    """A registry that is being built: intents, slots, rules and tests in the order of their first appearance."""

    def __init__(self, language: str | None = None) -> None:
        self.default_language = language
        """The language of all text whose language is not stated."""
        self.columns: dict[str, str] = {}
        """Table columns that the user named: `text`, `intent`, `language` or `response` to a name or number."""
        self.settings: dict[str, Any] = {}
        self.intents: dict[str, IntentDraft] = {}
        self.answering: dict[str, IntentDraft] = {}
        """Response to the first intent that answers with it."""
        self.slots: dict[str, SlotDraft] = {}
        self._slot_names: dict[str, str] = {}
        self.types: dict[str, SlotDraft] = {}
        """Types, for formats in which a slot takes its values from a separate type; see `type`."""
        self._rules: dict[str, Rule] = {}
        self._tests: list[Case] = []
        self._problems: dict[tuple[Severity, str, str], tuple[Problem, int]] = {}

    def intent(self, name: str, place: Location, *, fallback: bool = False) -> IntentDraft:
        """Return the intent with this name, or create it. A fallback intent is reported."""
        name = name.strip()
        if name not in self.intents:
            self.intents[name] = IntentDraft(self, name, place)
            if not name:
                self.error(place, "no-name", "an intent has no name", "give it one")
            if fallback:
                message = f"{name!r} is a fallback intent; it is imported as an ordinary intent"
                hint = "move its utterances to `tests:` with `intent: out_of_scope`"
                self.warn(place, "fallback-intent", message, hint)
        return self.intents[name]

    def slot(self, name: str, place: Location) -> SlotDraft:
        """Return the slot with this name, or create it. A name that templates cannot use is made valid."""
        valid = self._slot_names.get(name)
        if valid is None:
            valid = _INVALID_NAME_CHARS.sub("_", name.strip()).strip("_") or "slot"
            valid = valid if is_name(valid) else f"_{valid}"
            # Two invalid names may become the same valid one.
            while valid in self.slots:
                valid += "_"
            if valid != name:
                self.note(place, "renamed-slot", f"the slot {name!r} is renamed to {valid!r}")
            # Callers may use the valid name too.
            self._slot_names[name] = self._slot_names[valid] = valid
            self.slots[valid] = SlotDraft(valid, place)
        return self.slots[valid]

    def type(self, name: str, place: Location) -> SlotDraft:
        """Return the type with this name, or create it.

        Any number of slots may take their values from it (`like`). A type without such a slot becomes a slot itself.
        """
        return self.types.setdefault(name, SlotDraft(name, place))

    def rule(self, name: str, template: str, place: Location, language: str | None = None) -> None:
        """Add a rule: a named template fragment in a language. The name must be valid."""
        code = self.language(language, place) or ""
        known = self._rules.setdefault(name, Rule(name, {}, place))
        if known.templates.get(code, template) != template:
            self.warn(place, "duplicate-key", f"the rule {name!r} is defined twice; the first definition is used")
        else:
            self._rules[name] = replace(known, templates={**known.templates, code: template})

    def test(
        self, text: str, expected: str | tuple[str, ...] | None, place: Location, language: str | None = None
    ) -> None:
        """Add a test: a message with its expected intent, several intents, or None for out of scope."""
        self._tests.append(Case(text.strip(), expected, self.language(language, place), place))

    def utterance(
        self, text: str, place: Location, language: str | None = None, labels: Sequence[Label] = ()
    ) -> Utterance:
        """Build an utterance from literal text and labelled spans. Invalid and overlapping labels are reported."""
        code = self.language(language, place)
        # Values in the default language are stored without a language.
        own = code if code != self.default_language else None
        shift = len(text) - len(text.lstrip())
        marks: list[Mark] = []
        # Of labels that begin together the longest comes first, and the ones inside it are reported as overlapping.
        for label in sorted(labels, key=lambda label: (label.start, -label.end)):
            if not 0 <= label.start < label.end <= len(text) or not text[label.start : label.end].strip():
                self.warn(
                    place, "bad-label", f"a label of {label.slot!r} is empty or outside of its text; it is skipped"
                )
            elif marks and label.start - shift < marks[-1].end:
                message = f"a label of {label.slot!r} overlaps a label of {marks[-1].slot!r}; it is skipped"
                self.not_expressed(place, message)
            else:
                # Strip spaces from both ends of a label.
                inner = text[label.start : label.end]
                start = label.start + len(inner) - len(inner.lstrip())
                end = start + len(inner.strip())
                slot = self.slot(label.slot, place)
                add_value((slot.like or slot).labelled, label.value or text[start:end], [text[start:end]], own)
                marks.append(Mark(slot.name, start - shift, end - shift))
        text = text.strip()
        written = labelled(text, marks)
        return Utterance(text, code, place, written if written != text else None, tuple(marks))

    def template(self, template: str, place: Location, language: str | None = None) -> Utterance:
        """Build an utterance from a template. The slot values in it are collected like labelled values."""
        code = self.language(language, place)
        for blank in parse(template).blanks:
            slot = self.slot(blank.slot, place)
            if blank.value is not None:
                own = code if code != self.default_language else None
                add_value((slot.like or slot).labelled, blank.value, [], own)
        return Utterance(template, code, place, template)

    def assume_language(self, code: str | None, place: Location) -> None:
        """Set the default language, as a file states it."""
        self.default_language = self.language(code, place)

    def language(self, code: str | None, place: Location) -> str | None:
        """Return a language code in its usual case, or the default language if `code` is empty."""
        if code is None or not code.strip():
            return self.default_language
        found = language_code(code.strip())
        if found is None:
            self.warn(
                place, "language-code", f"{code!r} is not a language code; its text is imported without a language"
            )
        return found

    def root(self, file: File) -> tree.Value:
        """Return the root of a JSON or YAML file. Unexpected types are reported. Raises `RegistryError` otherwise."""
        roots = self.roots(file)
        return roots[0] if roots else tree.Value(None, file.location, note=self.warn)

    def roots(self, file: File) -> list[tree.Value]:
        """Return the root of each document in a YAML file."""
        return [tree.Value(node, node.location, note=self.warn) for node in file.nodes]

    def not_expressed(self, place: Location, message: str, hint: str = "") -> None:
        """Report something that intentmatch cannot express and does not import."""
        self._problem("warning", place, NOT_EXPRESSED, message, hint)

    def error(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Report an error: nothing is written until it is fixed."""
        self._problem("error", place, rule, message, hint)

    def warn(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Report something that is skipped or changed."""
        self._problem("warning", place, rule, message, hint)

    def note(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Report a piece of information."""
        self._problem("info", place, rule, message, hint)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems sorted by location. Equal messages are merged at their first location, with a count."""
        return tuple(
            sorted(
                problem if count == 1 else replace(problem, message=f"{problem.message} (and {count - 1} more like it)")
                for problem, count in self._problems.values()
            )
        )

    def registry(self) -> Registry:
        """Return the registry that was built."""
        # By identity: two types with equal values are two types.
        used = {id(slot.like) for slot in self.slots.values()}
        for name, type_ in self.types.items():
            if id(type_) not in used:
                self.slot(name, type_.location).like = type_
        slots = {name: self._slot(slot) for name, slot in self.slots.items()}
        rules = tuple(self._rules.values())
        intents = tuple(self._intent(intent, slots, rules) for intent in self.intents.values())
        return Registry(
            intents, dict(self.settings), tests=tuple(self._tests), slots=tuple(slots.values()), rules=rules
        )

    def _intent(self, draft: IntentDraft, slots: dict[str, Slot], rules: Sequence[Rule]) -> Intent:
        # Slots with settings of the intent come first.
        named = [*draft.slots, *mentioned_slots((*draft.utterances, *draft.negatives), rules)]
        own = {
            name: replace(slots[name], required=own.required, questions=own.questions)
            for name, own in draft.slots.items()
        }
        return Intent(
            draft.name,
            tuple(draft.utterances),
            tuple(draft.negatives),
            draft.title,
            draft.description,
            draft.threshold,
            draft.responses,
            draft.metadata,
            draft.location,
            tuple(own.get(name, slots[name]) for name in dict.fromkeys(named) if name in slots),
            tuple(draft.when),
            more_responses=draft.more_responses,
        )

    def _slot(self, draft: SlotDraft) -> Slot:
        source = draft.like or draft
        values, kind, patterns = source.values, draft.kind or source.kind, source.patterns
        if kind is None:
            kind = "list" if values else "pattern" if patterns else "list" if source.labelled else "any"
        if kind == "list" and not values:
            values = merge_spellings(source.labelled)
            message = f"the values of the slot {draft.name!r} were collected from labelled utterances"
            self.note(draft.location, "learned-slot", message, "add any values that are missing")
        if kind != "pattern" and patterns:
            message = f"the slot {draft.name!r} has both values and patterns; the patterns are skipped"
            self.not_expressed(source.location, message)
        return Slot(
            draft.name,
            kind,
            tuple(SlotValue(value, tuple(synonyms)) for value, synonyms in values.items()) if kind == "list" else (),
            tuple(patterns) if kind == "pattern" else (),
            () if kind == "list" else tuple(source.examples),
            draft.required,
            draft.questions,
            draft.location,
        )

    def _problem(self, severity: Severity, place: Location, rule: str, message: str, hint: str) -> None:
        # A bot with a thousand lines of one flaw would bury its other problems.
        key = severity, rule, message
        first, count = self._problems.get(key, (Problem(place, severity, rule, message, hint), 0))
        self._problems[key] = first, count + 1


def few(names: Iterable[str]) -> str:
    """Join the first five names, and add how many more there are."""
    named = list(names)
    return ", ".join(named[:_MAX_NAMES]) + (f" and {len(named) - _MAX_NAMES} more" if len(named) > _MAX_NAMES else "")
