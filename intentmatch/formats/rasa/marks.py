"""Entity marks in Rasa's examples: `[Rome](city)`, `[Roma](city:Rome)`, `[Roma]{"entity": "city", ...}`."""

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
    """An annotated entity: `text[start:end]`."""

    entity: str
    start: int
    end: int
    value: str | None = None
    """The canonical value, if it differs from the text."""
    role: str | None = None
    group: str | None = None


def plain(text: str) -> str:
    """Return a text without entity marks: `to [Rome](city)` becomes `to Rome`."""
    return _ENTITY.sub(r"\g<text>", text)


def parse(line: str) -> tuple[str, list[Annotation], list[str]]:
    """Return the plain text of a line, its entities, and the marks that are invalid."""
    text, end = "", 0
    found: list[Annotation] = []
    invalid: list[str] = []
    for match in _ENTITY.finditer(line):
        text += line[end : match.start()]
        annotation = _annotation(match, len(text))
        if annotation is None:
            invalid.append(match[0])
        else:
            found.append(annotation)
        text += match["text"]
        end = match.end()
    return text + line[end:], found, invalid


def written(text: str, annotations: Sequence[Annotation]) -> str:
    """Return a line with entity marks, which must not overlap."""
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
        # Rasa allows several entities for one text, which is one mark here.
        value = next(iter(value.items()), value)
    entity = (value["entity"].text() or "").strip()
    if not entity:
        return None
    return Annotation(entity, start, end, value["value"].text(), value["role"].text(), value["group"].text())


def _value(written: str) -> tree.Value:
    """Parse JSON, or almost-JSON with single quotes or none."""
    try:
        node: nodes.Node | None = tree.json_node(written, "")
    except nodes.NodeError:
        try:
            node = nodes.parse(written, "")
        except nodes.NodeError:
            node = None
    return tree.Value(node, _NOWHERE)
