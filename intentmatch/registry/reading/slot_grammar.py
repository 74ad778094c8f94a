"""What a file says of slots: below its own `slots:`, and below those of its intents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from intentmatch.core.errors import Location, suggest
from intentmatch.core.types import Slot, SlotKind, SlotValue, Utterance
from intentmatch.registry.reading.nodes import Mapping as MappingNode
from intentmatch.registry.reading.nodes import Node, Scalar
from intentmatch.registry.reading.page import Page, found, is_empty
from intentmatch.registry.templates.syntax import is_name
from intentmatch.text.normalize import fold
from intentmatch.text.regexes import ExpressionError, compiled

SLOT_KEYS = ("type", "values", "pattern", "examples", "required", "ask")
KINDS: tuple[SlotKind, ...] = get_args(SlotKind)
_MADE_OF: Mapping[str, SlotKind] = {"values": "list", "pattern": "pattern"}


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """What one place says of a slot; None where it says nothing."""

    name: str
    location: Location
    kind: SlotKind | None = None
    values: tuple[SlotValue, ...] | None = None
    patterns: tuple[str, ...] | None = None
    examples: tuple[Utterance, ...] | None = None
    required: bool | None = None
    questions: Mapping[str, str] | None = None

    @property
    def said(self) -> dict[str, Any]:
        """The fields of a slot that it says something of."""
        fields = ("kind", "values", "patterns", "examples", "required", "questions")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

    def slot(self, base: Slot | None = None) -> Slot | None:
        """A slot of its own, where it says of which kind; otherwise `base` refined, and None where there is none."""
        if self.kind is not None:
            return Slot(self.name, location=self.location, **self.said)
        return None if base is None else replace(base, location=self.location, **self.said)


class SlotGrammar:
    """Reads the slots of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def read(self, node: Node, *, refine: bool = False) -> Iterator[SlotEntry]:
        """The entries of a `slots:` block; those of an intent may refine what stands elsewhere."""
        for key, value in self._page.entries(node, "`slots`"):
            name = key.text.strip()
            if not is_name(name):
                hint = "begin with a letter, and go on with letters, digits, _, - and ."
                self._page.error(key.location, "bad-name", f"{name!r} can be no name of a slot", hint)
                continue
            before = len(self._page.problems)
            entry = self._entry(name, key, value)
            if len(self._page.problems) == before:
                self._check_complete(entry, refine=refine)
            yield entry if entry.kind or refine else replace(entry, kind="any")

    def _entry(self, name: str, key: Scalar, node: Node) -> SlotEntry:
        page = self._page
        entries = {inner.text: (inner, value) for inner, value in page.entries(node, f"slot {name!r}", SLOT_KEYS)}
        said = {text: value for text, (_, value) in entries.items()}
        kind = self._kind(said)
        for made_of, needed_by in _MADE_OF.items():
            if made_of in said and needed_by != kind:
                message = f"`{made_of}` says nothing in slot {name!r}, which is of type {kind}"
                page.error(entries[made_of][0].location, "bad-slot", message, "remove it, or make two slots of it")
        return SlotEntry(
            name,
            key.location,
            kind,
            values=tuple(self._values(said["values"])) if "values" in said else None,
            patterns=tuple(self._patterns(said["pattern"])) if "pattern" in said else None,
            examples=tuple(self._lines(said["examples"], "examples")) if "examples" in said else None,
            required=self._truth(said["required"]) if "required" in said else None,
            questions=page.said(said["ask"], "`ask`", "question") if "ask" in said else None,
        )

    def _kind(self, said: Mapping[str, Node]) -> SlotKind | None:
        """What is said, or follows from what is there."""
        if "type" not in said:
            return next((kind for key, kind in _MADE_OF.items() if key in said), None)
        text = self._page.text(said["type"], "`type`")
        if text is not None and text not in KINDS:
            nearest = suggest(text, KINDS)
            hint = f"did you mean `{nearest}`?" if nearest else f"known are {', '.join(KINDS)}"
            self._page.error(said["type"].location, "bad-slot", f"there is no type {text!r} of slots", hint)
        return next((kind for kind in KINDS if kind == text), "any")

    def _check_complete(self, entry: SlotEntry, *, refine: bool) -> None:
        """Note what an entry lacks."""
        lacking = next((key for key, kind in _MADE_OF.items() if kind == entry.kind), None)
        if lacking and not (entry.values or entry.patterns):
            message = f"slot {entry.name!r} has no `{lacking}`"
            self._page.error(entry.location, "bad-slot", message, f"write them below `{lacking}:`")
        if entry.kind is None and not refine:
            hint = f"list its `values`, give a `pattern`, or a `type`: {', '.join(KINDS)}"
            self._page.error(entry.location, "bad-slot", f"slot {entry.name!r} does not say what it takes", hint)

    def _values(self, node: Node) -> Iterator[SlotValue]:
        """Values, in a list or with what else users say for them; a word that stands for two is noted."""
        taken: dict[str, str] = {}
        for value, synonyms in self._pairs(node):
            if not isinstance(value, Scalar) or not fold(value.text):
                self._wordless(value, "a value")
                continue
            for said in (Utterance(value.text, None, value.location), *synonyms):
                other = taken.setdefault(fold(said.text), value.text)
                if other != value.text:
                    message = f"“{said.text}” stands for {other!r} already, and not for {value.text!r} too"
                    hint = "remove one of the two; the first is taken"
                    self._page.warn(said.location or value.location, "duplicate-value", message, hint)
            yield SlotValue(value.text, synonyms)

    def _pairs(self, node: Node) -> Iterator[tuple[Node, tuple[Utterance, ...]]]:
        if isinstance(node, MappingNode):
            for key, value in self._page.entries(node, "`values`"):
                yield key, () if is_empty(value) else tuple(self._lines(value, "values"))
        else:
            for item in self._page.items(node, "`values`", "write `- value` lines, or `value: [synonym]` lines"):
                yield item, ()

    def _lines(self, node: Node, key: str) -> Iterator[Utterance]:
        """What users say; what is below no language is for all of them, whatever the language of the file."""
        in_languages = self._page.by_language(node, f"`{key}`") if isinstance(node, MappingNode) else [(None, node)]
        for language, some in in_languages:
            for item in self._page.texts(some, f"`{key}`"):
                if fold(item.text):
                    yield Utterance(item.text, language, item.location)
                else:
                    self._wordless(item, f"one of `{key}`")

    def _wordless(self, node: Node, what: str) -> None:
        said = (
            f"{node.text!r} has no words" if isinstance(node, Scalar) else f"{what} must be text, and is {found(node)}"
        )
        self._page.error(node.location, "bad-slot", said, "write what users say")

    def _patterns(self, node: Node) -> Iterator[str]:
        """Regular expressions that can be searched for."""
        for item in self._page.texts(node, "`pattern`"):
            try:
                compiled(item.text)
            except ExpressionError as error:
                place = self._page.place(item, error.position)
                self._page.error(place, "bad-pattern", f"the regular expression cannot be read: {error}")
            else:
                yield item.text

    def _truth(self, node: Node) -> bool | None:
        if isinstance(node, Scalar) and node.text in ("true", "false"):
            return node.text == "true"
        self._page.error(node.location, "bad-slot", "`required` must be true or false", "write one of the two")
        return None
