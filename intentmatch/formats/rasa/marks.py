"""The entity marks of Rasa's example lines: `[Rome](city)`, `[Roma](city:Rome)`, `[Roma]{"entity": "city", ...}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from intentmatch.core.errors import Location
from intentmatch.formats.kit import tree
from intentmatch.registry.reading import nodes

_ENTITY = re.compile(
    r"\[(?P<text>[^\[\]]+)\]"
    r"(?:\((?P<entity>[^():]*)(?::(?P<value>[^()]*))?\)|(?P<one>\{[^{}]*\})|\[(?P<several>\{.*?\})\])"
)
_NOWHERE = Location("")


class Annotation(NamedTuple):
    """An entity: `text[start:end]`."""

    entity: str
    start: int
    end: int
    value: str | None = None
    """What it means, where that is something else."""
    role: str | None = None
    group: str | None = None


def plain(text: str) -> str:
    """A text without its entity marks: `to [Rome](city)` is `to Rome`."""
    return _ENTITY.sub(r"\g<text>", text)


def parse(line: str) -> tuple[str, list[Annotation], list[str]]:
    """The plain text of a line, its entities, and the marks that cannot be understood."""
    text, end = "", 0
    found: list[Annotation] = []
    odd: list[str] = []
    for match in _ENTITY.finditer(line):
        text += line[end : match.start()]
        annotation = _annotation(match, len(text))
        if annotation is None:
            odd.append(match[0])
        else:
            found.append(annotation)
        text += match["text"]
        end = match.end()
    return text + line[end:], found, odd


def written(text: str, annotations: Sequence[Annotation]) -> str:
    """A line with its entity marks, which must not overlap."""
    line, end = "", 0
    for annotation in annotations:
        line += f"{text[end : annotation.start]}[{text[annotation.start : annotation.end]}]({annotation.entity})"
        end = annotation.end
    return line + text[end:]


def _annotation(match: re.Match[str], start: int) -> Annotation | None:
    end = start + len(match["text"])
    if match["entity"] is not None:
        entity = match["entity"].strip()
        value = (match["value"] or "").strip() or None
        return Annotation(entity, start, end, value) if entity else None
    written = match["one"] or f"[{match['several']}]"
    value = _value(written)
    if value.is_list:
        value = next(iter(value.items()), value)
    entity = (value["entity"].text() or "").strip()
    if not entity:
        return None
    return Annotation(entity, start, end, value["value"].text(), value["role"].text(), value["group"].text())


def _value(written: str) -> tree.Value:
    """JSON, or what authors take for it: single quotes, or none."""
    try:
        node: nodes.Node | None = tree.json_node(written, "")
    except nodes.NodeError:
        try:
            node = nodes.parse(written, "")
        except nodes.NodeError:
            node = None
    return tree.Value(node, _NOWHERE)
