"""Layout of a YAML text: every node with its span and style, for edits in place.

`reading.nodes` parses the same text for its content only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import yaml

from intentmatch.registry.reading.nodes import LOADER

UNCHANGED: Mapping[int, Any] = MappingProxyType({})
REMOVED: Any = object()
"""Expected value of a removed key or item."""

Kind = Literal["text", "list", "mapping", "alias"]

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_TO_DASH = re.compile(r"(?:\s|#[^\r\n]*)*-")


@dataclass(frozen=True, slots=True, eq=False)
class WrittenNode:
    """A node as written: `text[start:end]` of its file, including anchor and tag."""

    kind: Kind
    start: int
    end: int
    style: str = ""
    """Quote of a text, | or > of a block text, or opening bracket of a list or mapping; "" without one."""
    text: str = ""
    """Content of a text, or name of an alias."""
    children: tuple[WrittenNode, ...] = ()
    """Items of a list, alternating keys and values of a mapping, or the target of an alias."""
    anchor: str | None = None

    @property
    def entries(self) -> tuple[tuple[WrittenNode, WrittenNode], ...]:
        """Keys and values of a mapping; empty for other parts."""
        return tuple(zip(self.children[::2], self.children[1::2], strict=True)) if self.kind == "mapping" else ()

    @property
    def items(self) -> tuple[WrittenNode, ...]:
        """Items of a list; empty for other parts."""
        return self.children if self.kind == "list" else ()

    @property
    def is_empty(self) -> bool:
        """Whether it is a value without any text."""
        return self.kind == "text" and not self.style and not self.text

    @property
    def resolved(self) -> WrittenNode:
        """The part itself, or the target of an alias."""
        return self.children[0] if self.kind == "alias" else self

    def get(self, key: str) -> WrittenNode | None:
        """Return the value under a key of a mapping, None without one."""
        return next((value for name, value in self.entries if name.text == key), None)

    def walk(self) -> Iterator[WrittenNode]:
        """Yield this part and all parts written inside it, in text order."""
        yield self
        if self.kind != "alias":
            for child in self.children:
                yield from child.walk()


def layout(text: str) -> WrittenNode | None:
    """Return the root part of a text with one document, None for an empty one. Raises `yaml.YAMLError`."""
    anchors: dict[str, WrittenNode] = {}
    root: WrittenNode | None = None
    # Start event and parts so far of each open collection.
    open_: list[tuple[Any, list[WrittenNode]]] = []
    # A composed tree has the target in place of an alias, without the place of the alias itself.
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event, []))
        elif isinstance(event, yaml.CollectionEndEvent | yaml.NodeEvent):
            start, children = open_.pop() if isinstance(event, yaml.CollectionEndEvent) else (event, [])
            part = _part(text, start, event, children, anchors)
            if part.anchor is not None:
                anchors[part.anchor] = part
            if open_:
                open_[-1][1].append(part)
            else:
                root = part
    return root


def _part(text: str, event: Any, end: Any, children: list[WrittenNode], anchors: dict[str, WrittenNode]) -> WrittenNode:
    first, last = event.start_mark.index, end.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        name = str(event.anchor)
        if name not in anchors:
            raise yaml.YAMLError(f"undefined alias *{name}")
        return WrittenNode("alias", first, last, text=name, children=(anchors[name],))
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        if style in ("|", ">") or not event.value:
            # PyYAML ends these at the start of the next token.
            while last and text[last - 1].isspace():
                last -= 1
        # Without the space before the next token, an empty value ends before it starts.
        return WrittenNode("text", min(first, last), last, style, event.value, anchor=event.anchor)
    kind: Kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
    style = ("[" if kind == "list" else "{") if event.flow_style else ""
    if not style and children:
        # PyYAML ends a block collection at the next token, after comments that belong to what follows.
        last = children[-1].end
    return WrittenNode(kind, first, last, style, children=tuple(children), anchor=event.anchor)


def bare(text: str, part: WrittenNode) -> int:
    """Return the start of a part after its anchor and tag."""
    found = _PROPERTIES.match(text, part.start, part.end)
    return found.end() if found else part.start


def dash(text: str, block: WrittenNode, number: int) -> int:
    """Return the position of an item's dash in a block list."""
    found = _TO_DASH.match(text, block.items[number - 1].end if number else bare(text, block))
    return found.end() - 1 if found else block.items[number].start


class _Alias(NamedTuple):
    name: str


def read_as(part: WrittenNode, overrides: Mapping[int, Any] = UNCHANGED) -> Any:
    """Return the content of a part as texts and nested tuples; `overrides` maps the id of a part to its content."""
    if id(part) in overrides:
        return overrides[id(part)]
    if part.kind == "text":
        return part.text
    if part.kind == "alias":
        return _Alias(part.text)
    if part.kind == "list":
        return tuple(read for item in part.items if (read := read_as(item, overrides)) is not REMOVED)
    return tuple(
        (read_as(k, overrides), read_as(v, overrides)) for k, v in part.entries if overrides.get(id(k)) is not REMOVED
    )
