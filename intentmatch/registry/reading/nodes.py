"""Parse YAML text to nodes with locations. Every scalar remains text: `no`, `12:30` and `007` are texts.

The parser reads PyYAML's event stream. `yaml.compose` recurses in C, so a file of opening brackets would crash the
process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from intentmatch.core.errors import Location, Problem

# The grammar needs six levels; `metadata` may nest deeper.
MAX_DEPTH = 32

# Not every build of PyYAML has libyaml.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_HINTS = (
    ("tab character", "indent with spaces; YAML does not allow tabs"),
    ("\\t", "indent with spaces; YAML does not allow tabs"),
    ("mapping values are not allowed", 'put a text that contains ": " in double quotes'),
    ("did not find expected key", "check the indentation and the quotes of this line and the one above it"),
    ("block sequence entries are not allowed", "start the list on a line of its own"),
    ("cannot start any token", "put a text that starts with this character in double quotes"),
    ("found unexpected end of stream", "the quote opened here is never closed"),
    ("did not find expected ',' or", "a bracket is never closed, or a comma is missing"),
    ("alphabetic or numeric character", "put a text that starts with * or & in double quotes"),
    ("unknown escape character", "write two backslashes for one, or use single quotes"),
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text."""

    location: Location
    text: str
    plain: bool
    """Whether it is unquoted, so that it could also be a number, a boolean or empty."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    location: Location
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in file order; repeated keys are kept, so that the reader can report them."""

    location: Location
    entries: tuple[tuple[Node, Node], ...]


Node = Scalar | Sequence | Mapping


class NodeError(Exception):
    """Raised for a text that cannot be parsed; `problem` says why and where.

    `reached` is the 1-based line and column at which a YAML parser gave up; None if the text is valid YAML that is not
    allowed.
    """

    def __init__(self, problem: Problem, reached: tuple[int, int] | None = None) -> None:
        self.problem = problem
        self.reached = reached
        super().__init__(str(problem))


def parse(text: str, path: str) -> Node | None:
    """Return the root node of a text with one document, None for an empty text. Raises `NodeError`."""
    roots = parse_all(text, path, most=1)
    return roots[0] if roots else None


def parse_all(text: str, path: str, most: int | None = None) -> tuple[Node, ...]:
    """Return the root node of each document, of which at most `most` are allowed. Raises `NodeError`."""
    forbidden = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if forbidden is not None:
        # Checked here because libyaml would report the position in bytes, not in characters.
        line, column = line_and_column(text, forbidden.start())
        message = f"character U+{ord(forbidden[0]):04X} is not allowed in YAML"
        problem = Problem(Location(path, line, column), "error", "yaml-syntax", message, "remove the character")
        raise NodeError(problem)
    events = yaml.parse(text, Loader=LOADER)
    try:
        return _documents(events, path, most)
    except yaml.MarkedYAMLError as error:
        message = ", ".join(filter(None, (error.problem, error.context))) or "not readable as YAML"
        mark = error.problem_mark or error.context_mark
        reached = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if mark and (mark.index >= len(text) or error.context == "while scanning a simple key"):
            # An unclosed bracket or quote is noticed at the end of the file; report where it begins. A missing colon is
            # noticed at the next key; report the key that lacks it.
            mark = error.context_mark or mark
        place = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        # libyaml's message does not include the character at fault.
        signs = f"{message} {text[mark.index : mark.index + 1]!r}" if mark else message
        hint = next((hint for sign, hint in _HINTS if sign in signs), "")
        raise NodeError(Problem(place, "error", "yaml-syntax", message, hint), reached) from None


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return the 1-based line and column of a position in a text."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def _documents(events: Iterator[Any], path: str, most: int | None) -> tuple[Node, ...]:
    anchors: dict[str, Node] = {}
    roots: list[Node] = []
    # Start event and nodes so far of each open collection.
    open_: list[tuple[Any, list[Node]]] = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if len(roots) == most:
                raise NodeError(_problem(event, path, "more than one document in a file", "remove the --- line"))
            # An anchor holds only within its document.
            anchors = {}
            continue
        if isinstance(event, yaml.CollectionStartEvent):
            if len(open_) >= MAX_DEPTH:
                raise NodeError(_problem(event, path, f"nested deeper than {MAX_DEPTH} levels", ""))
            open_.append((event, []))
            continue
        node = _node(event, path, open_, anchors)
        if node is None:
            continue
        if open_:
            open_[-1][1].append(node)
        else:
            roots.append(node)
    return tuple(roots)


def _node(event: Any, path: str, open_: list[tuple[Any, list[Node]]], anchors: dict[str, Node]) -> Node | None:
    """Return the node that an event completes, None if it completes none."""
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            hint = "put a text that starts with * in double quotes"
            problem = _problem(event, path, f"undefined alias *{event.anchor}", hint)
            raise NodeError(problem, (problem.location.line, problem.location.column))
        return anchors[event.anchor]
    node: Node
    if isinstance(event, yaml.ScalarEvent):
        start = event
        node = Scalar(_location(event, path), event.value, event.style is None or event.style == "")
    elif isinstance(event, yaml.SequenceEndEvent):
        start, children = open_.pop()
        node = Sequence(_location(start, path), tuple(children))
    elif isinstance(event, yaml.MappingEndEvent):
        start, children = open_.pop()
        node = Mapping(_location(start, path), tuple(zip(children[::2], children[1::2], strict=True)))
    else:
        return None
    if start.anchor is not None:
        anchors[start.anchor] = node
    return node


def _location(event: Any, path: str) -> Location:
    return Location(path, event.start_mark.line + 1, event.start_mark.column + 1)


def _problem(event: Any, path: str, message: str, hint: str) -> Problem:
    return Problem(_location(event, path), "error", "yaml-syntax", message, hint)
