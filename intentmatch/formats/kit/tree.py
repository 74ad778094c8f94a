"""JSON and YAML as nodes with locations, and `Value`, an accessor that reports values of an unexpected type."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from intentmatch.core.errors import Location, Problem
from intentmatch.registry.reading import nodes

YAML_SUFFIXES = (".yaml", ".yml")
# The parser calls itself for each level, and a file of brackets would end it with a RecursionError.
MAX_DEPTH = 100

Note = Callable[[Location, str, str, str], None]
"""Receives location, rule, message and hint of a problem."""

_SPACE = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Accept line breaks inside of strings: they are invalid JSON, but harmless.
_STRINGS = json.JSONDecoder(strict=False)
_RULE = "json-syntax"


@dataclass(frozen=True, slots=True)
class Value:
    """A node, or a missing one. Reading it as another type returns nothing and reports the mismatch to `note`."""

    node: nodes.Node | None
    location: Location
    """The location of the node; for a missing node, the location of its parent."""
    what: str = "the file"
    """The name for messages: the key of the node."""
    note: Note | None = None

    def __bool__(self) -> bool:
        """Return whether the node exists and is not null or an empty YAML value."""
        node = self.node
        return node is not None and not (
            isinstance(node, nodes.Scalar) and node.plain and node.text in ("", "null", "~")
        )

    def __getitem__(self, key: str) -> Value:
        """Return the value of a key; a missing value if there is none."""
        found = self.keys.get(key)
        return Value(found, found.location if found else self.location, f"`{key}`", self.note)

    @property
    def keys(self) -> dict[str, nodes.Node]:
        """The nodes of a mapping by key; empty for other nodes. The last of equal keys wins. Reports nothing."""
        entries = self.node.entries if isinstance(self.node, nodes.Mapping) else ()
        return {key.text: value for key, value in entries if isinstance(key, nodes.Scalar)}

    @property
    def is_list(self) -> bool:
        """Whether the node is a list."""
        return isinstance(self.node, nodes.Sequence)

    @property
    def is_mapping(self) -> bool:
        """Whether the node is a mapping."""
        return isinstance(self.node, nodes.Mapping)

    @property
    def is_text(self) -> bool:
        """Whether the node is a string, a number or a boolean."""
        return isinstance(self.node, nodes.Scalar) and bool(self)

    def items(self) -> list[Value]:
        """Return the items of a list; nothing for a missing node."""
        if not self:
            return []
        if not isinstance(self.node, nodes.Sequence):
            self._expected("a list")
            return []
        return [Value(item, item.location, f"an item of {self.what}", self.note) for item in self.node.items]

    def entries(self) -> list[tuple[str, Value]]:
        """Return the keys and values of a mapping. A repeated key is reported, and both entries are kept."""
        if not self:
            return []
        if not isinstance(self.node, nodes.Mapping):
            self._expected("a mapping")
            return []
        found: list[tuple[str, Value]] = []
        seen: set[str] = set()
        for key, value in self.node.entries:
            if not isinstance(key, nodes.Scalar):
                Value(key, key.location, f"a key in {self.what}", self.note)._expected("text")
                continue
            if key.text in seen and self.note is not None:
                message = f"the key {key.text!r} appears twice in {self.what}"
                self.note(key.location, "duplicate-key", message, "keep one of the two")
            seen.add(key.text)
            found.append((key.text, Value(value, value.location, f"`{key.text}`", self.note)))
        return found

    def text(self) -> str | None:
        """Return the text of a scalar as it is written; None for a missing node."""
        if not self:
            return None
        if not isinstance(self.node, nodes.Scalar):
            self._expected("text")
            return None
        return self.node.text

    def number(self) -> float | None:
        """Return the value as a number; None for a missing node."""
        text = self.text()
        if text is None:
            return None
        try:
            return float(text)
        except ValueError:
            self._expected("a number")
            return None

    def integer(self) -> int | None:
        """Return the value as an integer; None for a missing node."""
        number = self.number()
        if number is None:
            return None
        # Above 2**53 a double rounds integers.
        if not number.is_integer() or abs(number) > 2**53:
            self._expected("a whole number")
            return None
        return int(number)

    def flag(self) -> bool:
        """Return whether the value is true; false for a missing node."""
        return (self.text() or "").lower() == "true"

    def plain(self) -> Any:
        """Return the node as Python values, as `json.loads` would."""
        node = self.node
        if isinstance(node, nodes.Mapping):
            return {key: value.plain() for key, value in self.entries()}
        if isinstance(node, nodes.Sequence):
            return [value.plain() for value in self.items()]
        if node is None or not self:
            return None
        return json.loads(node.text) if node.plain and _SHORT_LITERAL.fullmatch(node.text) else node.text

    def _expected(self, kind: str) -> None:
        if self.note is not None:
            node = self.node
            found = (
                "a list"
                if isinstance(node, nodes.Sequence)
                else "a mapping"
                if isinstance(node, nodes.Mapping)
                else "text"
            )
            self.note(self.location, "wrong-type", f"{self.what} should be {kind} but is {found}; it is ignored", "")


# Numbers that fit into a double; longer ones stay text.
_SHORT_LITERAL = re.compile(r"true|false|-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,2})?")


def documents(text: str, suffix: str, place: str) -> tuple[nodes.Node, ...]:
    """Parse JSON or YAML and return the root of each document. Raises `NodeError`.

    Text that begins with a bracket is JSON unless `suffix` is one of YAML.
    """
    if suffix not in YAML_SUFFIXES and (suffix == ".json" or text.lstrip()[:1] in ("{", "[")):
        return (json_node(text, place),)
    if suffix not in ("", *YAML_SUFFIXES):
        raise nodes.NodeError(
            Problem(Location(place), "error", _RULE, "this is neither JSON nor a file named .yaml or .yml")
        )
    found = nodes.parse_all(text, place)
    _check_size(found, len(text))
    return found


def json_node(text: str, place: str, line: int = 1) -> nodes.Node:
    """Parse JSON text that begins at `line` of a file. Unquoted scalars are plain nodes. Raises `NodeError`."""
    return _Json(text, place, line).whole()


class _Json:
    """JSON parser that keeps the location of each node, which the standard library does not."""

    def __init__(self, text: str, place: str, line: int) -> None:
        self._text = text
        self._place = place
        self._line = line
        # Each node has a location; counting the lines before each would take quadratic time.
        self._breaks = [match.end() for match in re.finditer("\n", text)]

    def whole(self) -> nodes.Node:
        node, end = self._value(self._skip(0), 1)
        end = self._skip(end)
        if end < len(self._text):
            raise self._error(end, "unexpected text after the end of the JSON")
        return node

    def _value(self, at: int, depth: int) -> tuple[nodes.Node, int]:
        if depth > MAX_DEPTH:
            raise self._error(at, f"nested deeper than {MAX_DEPTH} levels")
        sign = self._text[at : at + 1]
        if sign == "{":
            return self._mapping(at, depth)
        if sign == "[":
            return self._list(at, depth)
        if sign == '"':
            return self._string(at)
        literal = _LITERAL.match(self._text, at)
        if literal is None:
            raise self._error(at, f"expected a value, found {sign!r}" if sign else "the JSON ends too early")
        return nodes.Scalar(self._location(at), literal[0], plain=True), literal.end()

    def _string(self, at: int) -> tuple[nodes.Scalar, int]:
        try:
            text, end = _STRINGS.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, error.msg[0].lower() + error.msg[1:]) from None
        # JSON can hold half of a surrogate pair, and UTF-8 cannot.
        return nodes.Scalar(self._location(at), _SURROGATE.sub("\ufffd", text), plain=False), end

    def _list(self, at: int, depth: int) -> tuple[nodes.Node, int]:
        items: list[nodes.Node] = []
        end = self._skip(at + 1)
        while self._text[end : end + 1] != "]":
            if items:
                end = self._skip(self._past(end, ",", "]"))
            item, end = self._value(end, depth + 1)
            items.append(item)
            end = self._skip(end)
        return nodes.Sequence(self._location(at), tuple(items)), end + 1

    def _mapping(self, at: int, depth: int) -> tuple[nodes.Node, int]:
        entries: list[tuple[nodes.Node, nodes.Node]] = []
        end = self._skip(at + 1)
        while self._text[end : end + 1] != "}":
            if entries:
                end = self._skip(self._past(end, ",", "}"))
            if self._text[end : end + 1] != '"':
                raise self._error(end, "expected a key in double quotes")
            key, end = self._string(end)
            value, end = self._value(self._skip(self._past(self._skip(end), ":")), depth + 1)
            entries.append((key, value))
            end = self._skip(end)
        return nodes.Mapping(self._location(at), tuple(entries)), end + 1

    def _past(self, at: int, sign: str, closing: str = "") -> int:
        if self._text[at : at + 1] != sign:
            wanted = f"{sign!r} or {closing!r}" if closing else repr(sign)
            raise self._error(at, f"expected {wanted}")
        return at + 1

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _location(self, at: int) -> Location:
        number = bisect_right(self._breaks, at)
        column = at - (self._breaks[number - 1] if number else 0)
        return Location(self._place, self._line + number, column + 1)

    def _error(self, at: int, message: str) -> nodes.NodeError:
        return nodes.NodeError(Problem(self._location(at), "error", _RULE, message))


def _check_size(roots: tuple[nodes.Node, ...], most: int) -> None:
    """Refuse YAML whose aliases expand to more nodes than the text has characters."""
    left = [(root, 1) for root in roots]
    visits = 0
    while left:
        node, depth = left.pop()
        visits += 1
        if visits > most or depth > MAX_DEPTH:
            message = "YAML aliases expand this file beyond its size limit"
            raise nodes.NodeError(
                Problem(node.location, "error", "alias-expansion", message, "replace the aliases by their text")
            )
        if isinstance(node, nodes.Mapping):
            left += [(inner, depth + 1) for entry in node.entries for inner in entry]
        elif isinstance(node, nodes.Sequence):
            left += [(inner, depth + 1) for inner in node.items]
