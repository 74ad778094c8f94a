"""The written form of a file: every node of its YAML with the piece of text that it takes up.

`nodes` tells what was said; this tells where and how, for those who change a piece and leave the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import yaml

from intentmatch.registry.reading.nodes import LOADER

AS_IT_IS: Mapping[int, Any] = MappingProxyType({})
GONE: Any = object()
"""In place of a key or item: not there."""

Kind = Literal["text", "list", "mapping", "alias"]

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_TO_DASH = re.compile(r"(?:\s|#[^\r\n]*)*-")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A node as it is written: `text[start:end]` of its file, with its anchor and tag."""

    kind: Kind
    start: int
    end: int
    style: str = ""
    """Of a text its quotes, or | or > for a block; of a list or mapping its opening bracket, if there is one."""
    text: str = ""
    """What a text is read as; of an alias its name."""
    children: tuple[Part, ...] = ()
    """Items, or keys and values in turn; of an alias what it stands for."""
    anchor: str | None = None

    @property
    def entries(self) -> tuple[tuple[Part, Part], ...]:
        """Keys and values of a mapping; of anything else none."""
        return tuple(zip(self.children[::2], self.children[1::2], strict=True)) if self.kind == "mapping" else ()

    @property
    def items(self) -> tuple[Part, ...]:
        """What stands in a list; of anything else nothing."""
        return self.children if self.kind == "list" else ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written where a value might be."""
        return self.kind == "text" and not self.style and not self.text

    @property
    def meant(self) -> Part:
        """What is read here: of an alias what it stands for."""
        return self.children[0] if self.kind == "alias" else self

    def get(self, key: str) -> Part | None:
        """The value under a key of a mapping."""
        return next((value for name, value in self.entries if name.text == key), None)

    def walk(self) -> Iterator[Part]:
        """This and everything written in it, in the order of the text."""
        yield self
        if self.kind != "alias":
            for child in self.children:
                yield from child.walk()


def layout(text: str) -> Part | None:
    """The root of the only document in a text, None where there is nothing. Raises `yaml.YAMLError`."""
    anchors: dict[str, Part] = {}
    root: Part | None = None
    # Each open collection: its start event and the parts read so far.
    open_: list[tuple[Any, list[Part]]] = []
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


def _part(text: str, event: Any, end: Any, children: list[Part], anchors: dict[str, Part]) -> Part:
    first, last = event.start_mark.index, end.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        name = str(event.anchor)
        if name not in anchors:
            raise yaml.YAMLError(f"undefined alias *{name}")
        return Part("alias", first, last, text=name, children=(anchors[name],))
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        if style in ("|", ">") or not event.value:
            # For the reader, these end where the next thing begins.
            while last and text[last - 1].isspace():
                last -= 1
        return Part("text", min(first, last), last, style, event.value, anchor=event.anchor)
    kind: Kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
    style = ("[" if kind == "list" else "{") if event.flow_style else ""
    if not style and children:
        last = children[-1].end
    return Part(kind, first, last, style, children=tuple(children), anchor=event.anchor)


def bare(text: str, part: Part) -> int:
    """Where a part begins behind its anchor and tag."""
    found = _PROPERTIES.match(text, part.start, part.end)
    return found.end() if found else part.start


def dash(text: str, block: Part, number: int) -> int:
    """Where the dash of an item stands in a list that is written in lines."""
    found = _TO_DASH.match(text, block.items[number - 1].end if number else bare(text, block))
    return found.end() - 1 if found else block.items[number].start


class _Alias(NamedTuple):
    name: str


def read_as(part: Part, instead: Mapping[int, Any] = AS_IT_IS) -> Any:
    """What is read: texts, and tuples of items or of keys with values; `instead` by the identity of a part."""
    if id(part) in instead:
        return instead[id(part)]
    if part.kind == "text":
        return part.text
    if part.kind == "alias":
        return _Alias(part.text)
    if part.kind == "list":
        return tuple(read for item in part.items if (read := read_as(item, instead)) is not GONE)
    return tuple((read_as(k, instead), read_as(v, instead)) for k, v in part.entries if instead.get(id(k)) is not GONE)
