"""Rules and value lists of hassil: those shared by the files of a language, and those of a single block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from intentmatch.core.errors import Location
from intentmatch.formats.hassil.syntax import TemplateError, names, to_template
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_draft import SlotDraft
from intentmatch.formats.kit.tree import Value
from intentmatch.registry.templates.sentences import Rules, TooLongError, Wordings
from intentmatch.registry.templates.syntax import escape, is_name, parse
from intentmatch.text.normalize import in_words

_RANGE = re.compile(r"-?\d+\.\.-?\d+(,\d+)?")
# Wordings of one value.
_MAX_SYNONYMS = 64
# Nesting depth of the rules of a block.
_MAX_DEPTH = 20


@dataclass
class Language:
    """The rules and lists of one language."""

    code: str | None
    draft: Draft
    roles: Roles
    rules: dict[str, Value] = field(default_factory=dict)
    lists: dict[str, Value] = field(default_factory=dict)
    _ready: Rules = field(default_factory=lambda: Rules({}))

    def read_shared(self) -> None:
        """Read the shared rules and lists into the draft."""
        shared = Scope(self)
        templates = {}
        for name, value in self.rules.items():
            text = value.text()
            if text is None:
                continue
            try:
                template = shared.template(text.strip(), value.location, fragment=True)
            except TemplateError as error:
                self.draft.warn(value.location, "bad-template", f"the rule {name!r} is skipped: {error}")
                continue
            valid = rule_name(name)
            self.draft.rule(valid, template, value.location, self.code)
            templates[valid] = parse(template, fragment=True)
        self._ready = Rules(templates)
        for circle in self._ready.circles:
            shown = " → ".join(f"<{name}>" for name in (*circle, circle[0]))
            place = next(v.location for name, v in self.rules.items() if rule_name(name) == circle[0])
            self.draft.error(
                place, "recursive-rule", f"a rule cannot use itself: {shown}", "replace the rule by its text"
            )
        for name, value in self.lists.items():
            self.read_list(self.draft.type(name, value.location), value, shared)

    def scope(self, block: Value, intent: str) -> Scope:
        """Return the scope of a block, which may have rules and lists of its own."""
        rules = dict(block["expansion_rules"].entries())
        own = Scope(self, rules, self._with_users(rules))
        for name, values in block["lists"].entries():
            # Blocks of two intents may have different lists of one name.
            own.lists[name] = f"{intent}_{name}"
            self.read_list(self.draft.type(own.lists[name], values.location), values, own)
        return own

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        """The rules that use each rule."""
        users: dict[str, set[str]] = {}
        for name, value in self.rules.items():
            for used in names(value.text() or "")[1] if value.is_text else ():
                users.setdefault(used, set()).add(name)
        return users

    def _with_users(self, rules: Iterable[str]) -> set[str]:
        """Return these rules and all rules that use one of them, directly or indirectly."""
        found: set[str] = set()
        # Backwards from the few rules of a block: forwards, each block would walk through all rules of the language.
        waiting = list(rules)
        while waiting:
            rule = waiting.pop()
            if rule not in found:
                found.add(rule)
                waiting += self._users.get(rule, ())
        return found

    def read_list(self, list_: SlotDraft, value: Value, scope: Scope) -> None:
        """Read a list of values, a range of numbers or a wildcard."""
        for item in value["values"].items():
            self._read_value(list_, item, scope)
        if value["range"]:
            list_.kind = "number"
            self.draft.not_expressed(
                value["range"].location, "the range of a list is not imported; the slot accepts any number"
            )
            if value["range"]["multiplier"]:
                self.draft.not_expressed(value["range"].location, "the `multiplier` of a range is not imported")
        elif value["wildcard"].flag():
            list_.kind = "any"

    def _read_value(self, list_: SlotDraft, item: Value, scope: Scope) -> None:
        written = item["in"] if item.is_mapping else item
        text = written.text()
        if text is None:
            self.draft.warn(item.location, "no-text", "a list value without text is skipped")
            return
        try:
            template = scope.template(text.strip(), written.location)
            texts = list(self._texts(template))
        except TemplateError as error:
            self.draft.warn(item.location, "bad-template", f"a list value is skipped: {error}")
            return
        out = item["out"].text() if item.is_mapping else None
        # Hassil returns the text itself for a value without `out`: here, its first wording is the value.
        if out is None:
            out, *texts = texts or [text]
        list_.add(out, texts, self.code)
        for key in ("context", "metadata"):
            if item[key]:
                self.draft.not_expressed(item[key].location, f"`{key}` of list values is not imported")

    def _texts(self, template: str) -> Iterator[str]:
        """Yield the wordings of a value. Raises `TemplateError` if it has too many parts."""
        try:
            wordings = Wordings.from_template(parse(template), self._ready)
        except TooLongError:
            raise TemplateError("it has too many parts") from None
        yield from dict.fromkeys(sentence.text for sentence in wordings.sentences(limit=_MAX_SYNONYMS) if sentence.text)


@dataclass
class Scope:
    """The meaning of names in one scope: a language, or a block of sentences."""

    language: Language
    rules: dict[str, Value] = field(default_factory=dict)
    """Rules of the block."""
    overridden: set[str] = field(default_factory=set)
    """These rules and all rules that use one of them: in this block they differ from the shared rules."""
    lists: dict[str, str] = field(default_factory=dict)
    """Lists of the block: name to the name of the type."""
    _open: list[str] = field(default_factory=list)

    def template(self, text: str, place: Location, *, fragment: bool = False) -> str:
        """Convert a template, or a rule if `fragment`. Raises `TemplateError`."""

        def slot(name: str) -> str:
            return self._slot(name, place)

        def rule(name: str) -> str:
            return self._rule(name, place)

        return to_template(text, slot, rule, fragment=fragment)

    def _slot(self, text: str, place: Location) -> str:
        """Convert a slot reference: `list`, `list:slot`, a range instead of a list, or `@` for a response capture."""
        draft = self.language.draft
        name, _, slot = text.partition(":")
        if text.startswith("@") or slot.startswith("@"):
            draft.not_expressed(place, "a capture for a response (`@`) is imported as an ordinary slot")
            name, slot = name.removeprefix("@"), slot.removeprefix("@")
        name, slot = name.strip(), slot.strip() or name.strip()
        if not slot:
            raise TemplateError("a slot has no name")
        type_ = self.lists.get(name, name)
        if _RANGE.fullmatch(name):
            draft.type(type_, place).kind = "number"
            draft.not_expressed(place, "the range of a list is not imported; the slot accepts any number")
        elif type_ not in draft.types and name not in self.language.lists:
            message = f"the list {name!r} is not defined; its slot accepts any text"
            draft.warn(
                place, "unknown-list", message, "Home Assistant may fill this list at run time; add its values here"
            )
        return f"{{{self.language.roles.slot(slot, type_, place).name}}}"

    def _rule(self, name: str, place: Location) -> str:
        if name in self.overridden:
            return self._rule_text(name)
        if name not in self.language.rules:
            message = f"the rule {name!r} is not defined; its name is used as text"
            self.language.draft.warn(place, "unknown-rule", message)
            return escape(in_words(name))
        return f"<{rule_name(name)}>"

    def _rule_text(self, name: str) -> str:
        value = self.rules[name] if name in self.rules else self.language.rules[name]
        if name in self._open or len(self._open) >= _MAX_DEPTH:
            raise TemplateError(f"the rule {name!r} uses itself or is nested too deeply")
        # A rule of a block has no name outside of it, so its text is inserted, which a rule that uses itself would
        # never end.
        self._open.append(name)
        try:
            return self.template((value.text() or "").strip(), value.location)
        finally:
            self._open.pop()


def rule_name(name: str) -> str:
    """Return a valid rule name for intentmatch templates."""
    valid = re.sub(r"[\s!-,/:-@\[-^`{-~]+", "_", name.strip()) or "_"
    return valid if is_name(valid) else f"_{valid}"
