"""Read `slots:` blocks of files and of intents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from intentmatch.core.errors import Location, suggest
from intentmatch.core.types import Slot, SlotKind, SlotValue, Utterance
from intentmatch.registry.reading.nodes import Mapping as MappingNode
from intentmatch.registry.reading.nodes import Node, Scalar
from intentmatch.registry.reading.nodes import Sequence as ListNode
from intentmatch.registry.reading.page import NAME_HINT, Page, found, is_empty
from intentmatch.registry.templates.syntax import is_name
from intentmatch.text.normalize import fold
from intentmatch.text.regexes import ExpressionError, compiled

SLOT_KEYS = ("type", "values", "pattern", "examples", "required", "ask")
KINDS: tuple[SlotKind, ...] = get_args(SlotKind)
# Keys that imply a type and that the type requires.
_KIND_KEYS: Mapping[str, SlotKind] = {"values": "list", "pattern": "pattern"}


# Names of types in other programs and languages.
_OTHER_KINDS: Mapping[str, SlotKind] = {
    "text": "any",
    "string": "any",
    "str": "any",
    "free": "any",
    "free_text": "any",
    "int": "number",
    "integer": "number",
    "float": "number",
    "categorical": "list",
    "choice": "list",
    "enum": "list",
    "regex": "pattern",
    "currency": "money",
    "link": "url",
}


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """One declaration of a slot; None for every field that it leaves open."""

    name: str
    location: Location
    kind: SlotKind | None = None
    values: tuple[SlotValue, ...] | None = None
    patterns: tuple[str, ...] | None = None
    examples: tuple[Utterance, ...] | None = None
    required: bool | None = None
    questions: Mapping[str, str] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that it declares, by name."""
        fields = ("kind", "values", "patterns", "examples", "required", "questions")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

    def slot(self, base: Slot | None = None) -> Slot | None:
        """Return a new slot if it declares a kind, otherwise `base` with these fields (None without a base)."""
        if self.kind is not None:
            return Slot(self.name, location=self.location, **self.fields)
        return None if base is None else replace(base, location=self.location, **self.fields)


class SlotGrammar:
    """Reads the slots of one file."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def read(self, node: Node, *, refine: bool = False) -> Iterator[SlotEntry]:
        """Yield the entries of a `slots:` block; with `refine`, an entry may refine a slot declared elsewhere."""
        for key, value in self._page.entries(node, "`slots`"):
            name = key.text.strip()
            if not is_name(name):
                self._page.error(key.location, "bad-name", f"{name!r} is not a valid slot name", NAME_HINT)
                continue
            before = len(self._page.problems)
            entry = self._entry(name, key, value)
            # A value with an error is missing from the entry: that the entry lacks it would be a second problem.
            if len(self._page.problems) == before:
                self._check_complete(entry, refine=refine)
            # A slot without a type is reported and read on, so that its uses are not unknown slots as well.
            yield entry if entry.kind or refine else replace(entry, kind="any")

    def _entry(self, name: str, key: Scalar, node: Node) -> SlotEntry:
        page = self._page
        if isinstance(node, ListNode):
            message, hint = f"slot {name!r} must be a mapping, not a list", "write `values:` above the list"
            if node.location.line == key.location.line:
                hint = f"write `values:` before the list: `{name}: {{values: [...]}}`"
            page.error(node.location, "wrong-type", message, hint)
            # Read as what was meant, so that one missing `values:` is one problem.
            return SlotEntry(name, key.location, "list", values=tuple(self._values(node)))
        if isinstance(node, Scalar) and re.fullmatch(r"[^\W_]+", node.text) and node.text not in SLOT_KEYS:
            meant = f"type: {node.text}" if node.text in KINDS else f"values: [{node.text}]"
            page.error(node.location, "wrong-type", f"slot {name!r} must be a mapping", f"write `{name}: {{{meant}}}`")
            return SlotEntry(name, key.location, "any")
        entries = {inner.text: (inner, value) for inner, value in page.entries(node, f"slot {name!r}", SLOT_KEYS)}
        fields = {text: value for text, (_, value) in entries.items()}
        kind = self._kind(fields)
        for key_name, needed_by in _KIND_KEYS.items():
            if key_name in fields and needed_by != kind:
                message = f"`{key_name}` has no effect in slot {name!r}, which is of type {kind}"
                page.error(entries[key_name][0].location, "bad-slot", message, "remove it, or make two slots")
        return SlotEntry(
            name,
            key.location,
            kind,
            values=tuple(self._values(fields["values"])) if "values" in fields else None,
            patterns=tuple(self._patterns(fields["pattern"])) if "pattern" in fields else None,
            examples=tuple(self._lines(fields["examples"], "examples")) if "examples" in fields else None,
            required=page.boolean(fields["required"], "`required`", "bad-slot") if "required" in fields else None,
            questions=page.localized(fields["ask"], "`ask`", "question") if "ask" in fields else None,
        )

    def _kind(self, fields: Mapping[str, Node]) -> SlotKind | None:
        """Return the declared type, or the type that the other keys imply."""
        if "type" not in fields:
            return next((kind for key, kind in _KIND_KEYS.items() if key in fields), None)
        text = self._page.text(fields["type"], "`type`")
        if text is not None and text not in KINDS:
            nearest = _OTHER_KINDS.get(text.lower()) or suggest(text, KINDS)
            hint = f"did you mean `{nearest}`?" if nearest else f"known types: {', '.join(KINDS)}"
            self._page.error(fields["type"].location, "bad-slot", f"unknown slot type {text!r}", hint)
        return next((kind for kind in KINDS if kind == text), "any")

    def _check_complete(self, entry: SlotEntry, *, refine: bool) -> None:
        """Report what an entry lacks."""
        lacking = next((key for key, kind in _KIND_KEYS.items() if kind == entry.kind), None)
        if lacking and not (entry.values or entry.patterns):
            message = f"slot {entry.name!r} has no `{lacking}`"
            self._page.error(entry.location, "bad-slot", message, f"add them below `{lacking}:`")
        if entry.kind is None and not refine:
            hint = f"add `values`, a `pattern`, or a `type`: {', '.join(KINDS)}"
            self._page.error(entry.location, "bad-slot", f"slot {entry.name!r} has no type", hint)

    def _values(self, node: Node) -> Iterator[SlotValue]:
        """Yield values from a list, or with their synonyms from a mapping; report words that name two values."""
        taken: dict[str, str] = {}
        for value, synonyms in self._pairs(node):
            if not isinstance(value, Scalar) or not fold(value.text):
                self._report_wordless(value, "a value")
                continue
            for synonym in (Utterance(value.text, None, value.location), *synonyms):
                other = taken.setdefault(fold(synonym.text), value.text)
                if other != value.text:
                    message = f"“{synonym.text}” stands for both {other!r} and {value.text!r}"
                    hint = "remove one of the two; the first one is used"
                    self._page.warn(synonym.location or value.location, "duplicate-value", message, hint)
            yield SlotValue(value.text, synonyms)

    def _pairs(self, node: Node) -> Iterator[tuple[Node, tuple[Utterance, ...]]]:
        if isinstance(node, MappingNode):
            for key, value in self._page.entries(node, "`values`"):
                yield key, () if is_empty(value) else tuple(self._lines(value, "values"))
        else:
            for item in self._page.items(node, "`values`", "write `- value` lines, or `value: [synonym]` lines"):
                yield item, ()

    def _lines(self, node: Node, key: str) -> Iterator[Utterance]:
        """Yield synonyms or examples; without a language key they hold for all languages, not just the file's."""
        by_language = self._page.by_language(node, f"`{key}`") if isinstance(node, MappingNode) else [(None, node)]
        for language, lines in by_language:
            for item in self._page.texts(lines, f"`{key}`"):
                if fold(item.text):
                    yield Utterance(item.text, language, item.location)
                else:
                    self._report_wordless(item, f"one of `{key}`")

    def _report_wordless(self, node: Node, what: str) -> None:
        message = f"{what} must be text, not {found(node)}"
        if isinstance(node, Scalar):
            message = f"{node.text!r} has no words"
        self._page.error(node.location, "bad-slot", message, "write words that users say")

    def _patterns(self, node: Node) -> Iterator[str]:
        """Yield valid regular expressions; report invalid ones."""
        for item in self._page.texts(node, "`pattern`"):
            try:
                compiled(item.text)
            except ExpressionError as error:
                place = self._page.place(item, error.position)
                self._page.error(place, "bad-pattern", f"invalid regular expression: {error}")
            else:
                yield item.text
