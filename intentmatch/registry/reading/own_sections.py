"""Read `languages:` of a file: sections of a language's words that a bot adds to the shipped ones, or replaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from intentmatch.core.errors import suggest
from intentmatch.languages.own import REPLACES
from intentmatch.languages.sections import OF_REFUSALS, OWN_SECTIONS, SECTIONS
from intentmatch.languages.shapes import ShapeError
from intentmatch.registry.reading.file_content import OwnSection
from intentmatch.registry.reading.nodes import Mapping, Node, Scalar
from intentmatch.registry.reading.page import Page
from intentmatch.text.normalize import base_language

_ELSEWHERE = {
    "shorthand": "set `spelling` in `settings:`",
    "exclusions": "write the negatives below `not:`",
    "samples": "give the slot `examples`",
    "names": "leave it out",
    "examples": "write a test, or ask `intentmatch match`",
    **dict.fromkeys(OF_REFUSALS, "write what users say as utterances or below `not:`"),
}
"""Sections of a shipped file that no bot has, with what its author does in place of them."""


def read_own_sections(node: Node, page: Page) -> Iterator[OwnSection]:
    """Yield the valid sections of all languages; report the others."""
    for key, value in page.entries(node, "`languages`"):
        code = page.canonical(key)
        if code is None:
            continue
        if "-" in code:
            hint = f"write `{base_language(code)}`: its regions read the same words"
            page.error(key.location, "language-section", f"{code!r} is a region or script of a language", hint)
            continue
        yield from _of_language(base_language(code), value, page)


def _of_language(code: str, node: Node, page: Page) -> Iterator[OwnSection]:
    entries = {key.text: (key, value) for key, value in page.entries(node, f"language {code!r}")}
    replaced = []
    if REPLACES in entries:
        replaced = page.texts(entries.pop(REPLACES)[1], f"`{REPLACES}`")
    for one in replaced:
        if one.text not in entries:
            hint = f"write `{one.text}:` with what stands in its place"
            page.error(one.location, "language-section", f"the section {one.text!r} is not given here", hint)
    replaces = {one.text for one in replaced}
    for name, (key, value) in entries.items():
        if name in OWN_SECTIONS:
            try:
                OWN_SECTIONS[name](_marked(value, page))
            except ShapeError as error:
                place = replace(key.location, line=error.line + 1, column=error.column + 1)
                page.error(place, "language-section", f"{name}: {error.why}", "see `intentmatch guide languages`")
            else:
                yield OwnSection(code, name, _plain(value), name in replaces, key.location)
        elif name in SECTIONS:
            page.error(key.location, "language-section", f"a bot cannot have a section {name!r}", _ELSEWHERE[name])
        else:
            nearest = suggest(name, OWN_SECTIONS)
            hint = f"did you mean `{nearest}`?" if nearest else f"known sections: {', '.join(OWN_SECTIONS)}"
            page.error(key.location, "language-section", f"unknown section {name!r}", hint)


def _marked(node: Node, page: Page) -> yaml.Node:
    """Return a node of PyYAML with the place of ours, as the shapes of sections read it."""
    page.visit(node)
    mark = yaml.Mark("", 0, node.location.line - 1, node.location.column - 1, None, 0)
    if isinstance(node, Scalar):
        return yaml.ScalarNode("", node.text, mark)
    if isinstance(node, Mapping):
        return yaml.MappingNode("", [(_marked(key, page), _marked(value, page)) for key, value in node.entries], mark)
    return yaml.SequenceNode("", [_marked(item, page) for item in node.items], mark)


def _plain(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Mapping):
        return {_plain(key): _plain(value) for key, value in node.entries}
    return [_plain(item) for item in node.items]
