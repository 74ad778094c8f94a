"""A registry in the making: what a format fills in, line by line, and all that it notes on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from intentmatch.core.errors import Location, Problem, Severity
from intentmatch.core.types import Case, Intent, Mark, Registry, Rule, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit import tree
from intentmatch.formats.kit.slot_mentions import slots_named
from intentmatch.formats.kit.source import File
from intentmatch.registry.templates.syntax import is_name, labelled, parse
from intentmatch.text.normalize import fold, language_code

NOT_EXPRESSED = "not-expressed"

_FEW = 5
_NO_NAME = re.compile(r"[\s!-,/:-@\[-^`{-~]+")


class Label(NamedTuple):
    """A piece of a text that stands for a slot: `text[start:end]`."""

    slot: str
    start: int
    end: int
    value: str | None = None
    """What the bot gets for it, where that is something else."""


@dataclass
class SlotDraft:
    """A slot in the making."""

    name: str
    location: Location
    kind: SlotKind | None = None
    """None where nothing says so: then by what it has."""
    like: SlotDraft | None = None
    """The type that declares its values."""
    patterns: list[str] = field(default_factory=list)
    examples: list[Utterance] = field(default_factory=list)
    required: bool = False
    questions: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[Utterance]] = field(default_factory=dict)
    """Value to its synonyms, each once."""
    labelled: dict[str, list[Utterance]] = field(default_factory=dict)
    """The same, as seen in utterances."""

    def add(self, value: str, synonyms: Iterable[str] = (), language: str | None = None) -> None:
        """A value of a list, with what else users say for it in a language."""
        _put(self.values, value, synonyms, language)

    def unite(self, value: str, synonyms: Sequence[str]) -> bool:
        """Make one value of all that are said to be one; whether any of them was known."""
        known = self.values or self.labelled
        if not {value, *synonyms} & set(known):
            return False
        united: dict[str, list[Utterance]] = {}
        for said, more in known.items():
            if said == value or said in synonyms:
                _put(united, value, [said])
                united[value] += [synonym for synonym in more if synonym not in united[value]]
            else:
                united[said] = more
        _put(united, value, synonyms)
        known.clear()
        known.update(united)
        return True


class IntentDraft:
    """An intent in the making."""

    def __init__(self, draft: Draft, name: str, location: Location) -> None:
        self.name = name
        self.location = location
        self.title: str | None = None
        self.description: str | None = None
        self.threshold: float | None = None
        self.metadata: dict[str, Any] = {}
        self.when: list[str] = []
        self.responses: dict[str, str] = {}
        self.utterances: list[Utterance] = []
        self.negatives: list[Utterance] = []
        self.slots: dict[str, SlotDraft] = {}
        self._draft = draft

    def say(self, text: str, place: Location, language: str | None = None, labels: Sequence[Label] = ()) -> None:
        """An utterance as users say it: whatever looks like a mark of a template is text. Repetitions are kept."""
        self.utterances.append(self._draft.utterance(text, place, language, labels))

    def template(self, template: str, place: Location, language: str | None = None) -> None:
        """An utterance in the grammar of templates."""
        self.utterances.append(self._draft.template(template, place, language))

    def deny(self, text: str, place: Location, language: str | None = None) -> None:
        """A negative utterance."""
        self.negatives.append(self._draft.utterance(text, place, language))

    def respond(self, text: str, place: Location, language: str | None = None) -> None:
        """What the bot says, of which there can be one a language."""
        code = self._draft.language(language, place) or ""
        if self.responses.setdefault(code, text) != text:
            self._draft.not_expressed(place, f"{self.name!r} has several responses; only the first is imported")

    def slot(self, name: str, place: Location) -> SlotDraft:
        """What the intent itself says about a slot: that it is required, and what to ask for it."""
        shared = self._draft.slot(name, place)
        return self.slots.setdefault(shared.name, SlotDraft(shared.name, place))


class Draft:
    """Intents, slots and tests in the order in which they first appear."""

    def __init__(self, language: str | None = None) -> None:
        self.default_language = language
        """Of everything that does not say its own."""
        self.columns: dict[str, str] = {}
        """What the user says about the columns of a table: `text`, `intent` or `language` to a name or number."""
        self.settings: dict[str, Any] = {}
        self.intents: dict[str, IntentDraft] = {}
        self.slots: dict[str, SlotDraft] = {}
        self._slot_names: dict[str, str] = {}
        self.types: dict[str, SlotDraft] = {}
        """What declares the values of slots in formats that part the two; see `type`."""
        self._rules: dict[str, Rule] = {}
        self._tests: list[Case] = []
        self._problems: dict[tuple[Severity, str, str], tuple[Problem, int]] = {}

    def intent(self, name: str, place: Location, *, fallback: bool = False) -> IntentDraft:
        """The intent of a name, which may appear again. A fallback is one for what no intent should answer."""
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
        """The slot of a name, which is made valid where templates could not name it."""
        valid = self._slot_names.get(name)
        if valid is None:
            valid = _NO_NAME.sub("_", name.strip()).strip("_") or "slot"
            valid = valid if is_name(valid) else f"_{valid}"
            while valid in self.slots:
                valid += "_"
            if valid != name:
                self.note(place, "renamed-slot", f"the slot {name!r} is renamed to {valid!r}")
            # Who learned the valid name may use it.
            self._slot_names[name] = self._slot_names[valid] = valid
            self.slots[valid] = SlotDraft(valid, place)
        return self.slots[valid]

    def type(self, name: str, place: Location) -> SlotDraft:
        """A type, which any number of slots may be `like`. One that no slot is like becomes a slot of its name."""
        return self.types.setdefault(name, SlotDraft(name, place))

    def rule(self, name: str, template: str, place: Location, language: str | None = None) -> None:
        """A named fragment of templates, in a language; its name must be valid."""
        code = self.language(language, place) or ""
        known = self._rules.setdefault(name, Rule(name, {}, place))
        if known.templates.get(code, template) != template:
            self.warn(place, "duplicate-key", f"the rule {name!r} is defined twice; the first definition is used")
        else:
            self._rules[name] = replace(known, templates={**known.templates, code: template})

    def test(
        self, text: str, expected: str | tuple[str, ...] | None, place: Location, language: str | None = None
    ) -> None:
        """A message with the answer that is expected."""
        self._tests.append(Case(text.strip(), expected, self.language(language, place), place))

    def utterance(
        self, text: str, place: Location, language: str | None = None, labels: Sequence[Label] = ()
    ) -> Utterance:
        """Literal text, with the values of slots marked in it."""
        code = self.language(language, place)
        # What goes without saying is not said of each value either.
        own = code if code != self.default_language else None
        shift = len(text) - len(text.lstrip())
        marks: list[Mark] = []
        for label in sorted(labels, key=lambda label: (label.start, -label.end)):
            if not 0 <= label.start < label.end <= len(text) or not text[label.start : label.end].strip():
                self.warn(
                    place, "bad-label", f"a label of {label.slot!r} is empty or outside of its text; it is skipped"
                )
            elif marks and label.start - shift < marks[-1].end:
                message = f"a label of {label.slot!r} overlaps a label of {marks[-1].slot!r}; it is skipped"
                self.not_expressed(place, message)
            else:
                # Spaces at the rim of a label belong to nobody.
                inner = text[label.start : label.end]
                start = label.start + len(inner) - len(inner.lstrip())
                end = start + len(inner.strip())
                slot = self.slot(label.slot, place)
                _put((slot.like or slot).labelled, label.value or text[start:end], [text[start:end]], own)
                marks.append(Mark(slot.name, start - shift, end - shift))
        text = text.strip()
        written = labelled(text, marks)
        return Utterance(text, code, place, written if written != text else None, tuple(marks))

    def template(self, template: str, place: Location, language: str | None = None) -> Utterance:
        """A template; a value that it gives to a slot counts as one that is marked."""
        code = self.language(language, place)
        for blank in parse(template).blanks:
            slot = self.slot(blank.slot, place)
            if blank.value is not None:
                own = code if code != self.default_language else None
                _put((slot.like or slot).labelled, blank.value, [], own)
        return Utterance(template, code, place, template)

    def assume_language(self, code: str | None, place: Location) -> None:
        """Make a language that a file names the language of all lines that name none."""
        self.default_language = self.language(code, place)

    def language(self, code: str | None, place: Location) -> str | None:
        """A code in its usual case, or the language of what has none."""
        if code is None or not code.strip():
            return self.default_language
        found = language_code(code.strip())
        if found is None:
            self.warn(
                place, "language-code", f"{code!r} is not a language code; its text is imported without a language"
            )
        return found

    def root(self, file: File) -> tree.Value:
        """The root of JSON or YAML, noting what is not as expected. Raises `RegistryError` for what is neither."""
        roots = self.roots(file)
        return roots[0] if roots else tree.Value(None, file.location, note=self.warn)

    def roots(self, file: File) -> list[tree.Value]:
        """The root of each document in a file of YAML."""
        return [tree.Value(node, node.location, note=self.warn) for node in file.nodes]

    def not_expressed(self, place: Location, message: str, hint: str = "") -> None:
        """Something that intentmatch has no words for, and that is not taken over."""
        self._problem("warning", place, NOT_EXPRESSED, message, hint)

    def error(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Something that must be mended before anything is written."""
        self._problem("error", place, rule, message, hint)

    def warn(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Something that is left out, or taken otherwise than it was meant."""
        self._problem("warning", place, rule, message, hint)

    def note(self, place: Location, rule: str, message: str, hint: str = "") -> None:
        """Something to know."""
        self._problem("info", place, rule, message, hint)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that was noted, sorted by place; what was noted of many places in the same words stands at the first."""
        return tuple(
            sorted(
                problem if count == 1 else replace(problem, message=f"{problem.message} (and {count - 1} more like it)")
                for problem, count in self._problems.values()
            )
        )

    def registry(self) -> Registry:
        """What the draft has become."""
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
        # Those that it says something about come first.
        named = [*draft.slots, *slots_named((*draft.utterances, *draft.negatives), rules)]
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
        )

    def _slot(self, draft: SlotDraft) -> Slot:
        source = draft.like or draft
        values, kind, patterns = source.values, draft.kind or source.kind, source.patterns
        if kind is None:
            kind = "list" if values else "pattern" if patterns else "list" if source.labelled else "any"
        if kind == "list" and not values:
            values = _by_words(source.labelled)
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
        key = severity, rule, message
        first, count = self._problems.get(key, (Problem(place, severity, rule, message, hint), 0))
        self._problems[key] = first, count + 1


def few(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    named = list(names)
    return ", ".join(named[:_FEW]) + (f" and {len(named) - _FEW} more" if len(named) > _FEW else "")


def _put(values: dict[str, list[Utterance]], value: str, synonyms: Iterable[str], language: str | None = None) -> None:
    known = values.setdefault(value, [])
    for synonym in synonyms:
        new = Utterance(synonym, language)
        if synonym != value and new not in known:
            known.append(new)


def _by_words(values: dict[str, list[Utterance]]) -> dict[str, list[Utterance]]:
    """Values and synonyms as they were first seen; what differs in nothing but case and signs is the same."""
    first: dict[str, str] = {}
    united: dict[str, list[Utterance]] = {}
    for value, synonyms in values.items():
        kept = united.setdefault(first.setdefault(fold(value), value), [])
        known = {fold(value), *(fold(synonym.text) for synonym in kept)}
        for synonym in synonyms:
            if fold(synonym.text) not in known:
                known.add(fold(synonym.text))
                kept.append(synonym)
    return united
