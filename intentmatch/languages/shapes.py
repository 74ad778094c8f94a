"""Shapes of values in a language's file: words, phrases, numbers, maps and records, each with a check.

A shape is a function that takes a YAML node and returns its value. Every scalar is a text (`no` is no boolean, and
`12:00` no number), so that a shape alone decides what it means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import yaml

Shape = Callable[[yaml.Node], Any]

MOST = 10**15
"""Numbers beyond it have no word that anybody writes to a bot."""


class ShapeError(ValueError):
    """A value has another shape than its section asks for; line and column count from 0 in the text that was parsed."""

    def __init__(self, why: str, node: yaml.Node) -> None:
        self.why = why
        self.line: int = node.start_mark.line
        self.column: int = node.start_mark.column
        super().__init__(why)


def text(node: yaml.Node) -> str:
    """Return a text."""
    if not isinstance(node, yaml.ScalarNode) or not node.value:
        raise ShapeError("expected a text", node)
    return str(node.value)


def words(node: yaml.Node) -> str:
    """Return words with one space between them."""
    if isinstance(node, yaml.SequenceNode):
        raise ShapeError("expected words with spaces between them, found a list", node)
    return " ".join(text(node).split())


def words_in(count: int) -> Shape:
    """Return the shape of a certain number of words."""

    def read(node: yaml.Node) -> str:
        found = words(node)
        if len(found.split()) != count:
            raise ShapeError(f"expected {count} words, found {len(found.split())}", node)
        return found

    return read


def pattern(node: yaml.Node) -> str:
    """Return a regular expression, in which line breaks mean nothing."""
    found = "".join(text(node).splitlines())
    try:
        re.compile(found)
    except re.error as error:
        raise ShapeError(f"invalid regular expression: {error}", node) from None
    return found


def written_as(expression: str, example: str) -> Shape:
    """Return the shape of a text that an expression matches, such as the `example`."""
    known = re.compile(expression)

    def read(node: yaml.Node) -> str:
        if not known.fullmatch(found := text(node)):
            raise ShapeError(f"expected a text such as {example!r}, found {found!r}", node)
        return found

    return read


def number(node: yaml.Node) -> int | float:
    """Return a whole number, or one with a decimal point or a fraction ("2/3"), up to `MOST`."""
    found = text(node).replace("_", "")
    try:
        if re.fullmatch(r"-?[0-9]{1,20}", found):
            value: int | float = int(found)
        else:
            above, _, below = found.partition("/")
            value = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    # Written this way round, so that NaN is refused too.
    if not abs(value) <= MOST:
        raise ShapeError(f"expected a number, found {found!r}", node)
    return value


def whole(least: int, most: int) -> Shape:
    """Return the shape of a whole number within bounds."""

    def read(node: yaml.Node) -> int:
        value = number(node)
        if not isinstance(value, int) or not least <= value <= most:
            raise ShapeError(f"expected a whole number from {least} to {most}, found {text(node)!r}", node)
        return value

    return read


def flag(node: yaml.Node) -> bool:
    """Return `true` or `false`."""
    if (found := text(node)) not in ("true", "false"):
        raise ShapeError(f"expected true or false, found {found!r}", node)
    return found == "true"


def one_of(names: Collection[str]) -> Shape:
    """Return the shape of one of some names."""

    def read(node: yaml.Node) -> str:
        if (found := text(node)) not in names:
            raise ShapeError(f"unknown name {found!r}: known are {', '.join(names)}", node)
        return found

    return read


def list_of(shape: Shape) -> Shape:
    """Return the shape of a list."""

    def read(node: yaml.Node) -> tuple[Any, ...]:
        if not isinstance(node, yaml.SequenceNode):
            raise ShapeError("expected a list such as [one, two]", node)
        return tuple(map(shape, node.value))

    return read


def phrases(node: yaml.Node) -> str:
    """Return a list of phrases with bars between them, as patterns are made from them."""
    found = list_of(text)(node)
    if any("|" in phrase for phrase in found):
        raise ShapeError("a phrase may not contain a bar: write two phrases", node)
    return "|".join(found)


def map_of(shape: Shape, keys: Shape = text) -> Shape:
    """Return the shape of a map."""

    def read(node: yaml.Node) -> dict[Any, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise ShapeError("expected a map", node)
        found: dict[Any, Any] = {}
        for key, value in node.value:
            if (name := keys(key)) in found:
                raise ShapeError(f"{name!r} stands here twice", key)
            found[name] = shape(value)
        return found

    return read


def record(fields: Mapping[str, Shape], needed: Collection[str] = ()) -> Shape:
    """Return the shape of a map with known keys, each of which may be left out unless it is `needed`."""

    def read(node: yaml.Node) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise ShapeError(f"expected a map with some of {', '.join(fields)}", node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            if (name := text(key)) not in fields:
                raise ShapeError(f"unknown key {name!r}: known are {', '.join(fields)}", key)
            if name in found:
                raise ShapeError(f"{name!r} stands here twice", key)
            found[name] = fields[name](value)
        if missing := [name for name in needed if name not in found]:
            raise ShapeError(f"missing key {missing[0]!r}", node)
        return found

    return read
