"""The `nlu:` block of Rasa training and test data as cases; entity marks are taken out of the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from intentmatch.errors import Location, Problem, RegistryError
from intentmatch.registry import read_text
from intentmatch.registry.grammar import OUT_OF_SCOPE
from intentmatch.registry.nodes import Mapping, Node, NodeError, Scalar, Sequence, parse
from intentmatch.types import Case

# [Rome](city), [Rome]{"entity": "city"} and [Rome, Paris][{"entity": "city"}, ...].
_ENTITY = re.compile(r"\[([^\[\]]+)\](?:\([^()]*\)|\{[^{}]*\}|\[\{.*?\}\])")
# What Rasa calls a message that no intent should answer.
_NO_INTENT = frozenset({OUT_OF_SCOPE, "nlu_fallback"})


def is_rasa(file: Path) -> bool:
    """Whether a YAML file has an `nlu:` block; what is no YAML has none, and is for others to complain about."""
    try:
        return _block(_root(file)) is not None
    except RegistryError:
        return False


def read_rasa(file: Path) -> tuple[Case, ...]:
    """The examples of every intent. Synonyms, lookups and patterns hold no cases. Raises `RegistryError`."""
    block = _block(_root(file))
    if not isinstance(block, Sequence):
        raise RegistryError([_problem(Location(str(file)), "`nlu:` must be a list", "write `- intent: NAME` below it")])
    lines = read_text(file).splitlines()
    problems: list[Problem] = []
    cases = [case for item in block.items for case in _intent(item, lines, problems)]
    if problems:
        raise RegistryError(problems)
    return tuple(cases)


def plain(text: str) -> str:
    """A text without its entity marks: `to [Rome](city)` is `to Rome`."""
    return _ENTITY.sub(r"\1", text)


def _root(file: Path) -> Node | None:
    try:
        return parse(read_text(file), str(file))
    except NodeError as error:
        raise RegistryError([error.problem]) from None


def _block(root: Node | None) -> Node | None:
    return _entries(root).get("nlu") if root is not None else None


def _entries(node: Node) -> dict[str, Node]:
    entries = node.entries if isinstance(node, Mapping) else ()
    return {key.text: value for key, value in entries if isinstance(key, Scalar)}


def _intent(item: Node, lines: list[str], problems: list[Problem]) -> Iterator[Case]:
    entries = _entries(item)
    if "intent" not in entries:
        return
    name, examples = entries["intent"], entries.get("examples")
    if not isinstance(name, Scalar) or not name.text.strip():
        problems.append(_problem(name.location, "`intent` must be a name", "write it after the colon"))
    elif isinstance(examples, Scalar):
        yield from _block_of_text(examples, name.text.strip(), lines)
    elif isinstance(examples, Sequence):
        for example in examples.items:
            text = _entries(example).get("text", example)
            if isinstance(text, Scalar):
                yield _case(text.text.strip().removeprefix("- "), name.text.strip(), text.location)
            else:
                problems.append(_problem(text.location, "an example must be text", "write `- text: ...`"))
    else:
        place = examples.location if examples is not None else item.location
        problems.append(_problem(place, f"{name.text!r} has no `examples`", "write `examples: |` and lines of `- `"))


def _block_of_text(examples: Scalar, intent: str, lines: list[str]) -> Iterator[Case]:
    """Each line that begins with a dash; a block of text begins in the line after its mark."""
    for number, line in enumerate(examples.text.splitlines(), examples.location.line + 1):
        if line.lstrip().startswith("- "):
            written = lines[number - 1] if number <= len(lines) else ""
            column = len(written) - len(written.lstrip()) + 3
            yield _case(line.lstrip()[2:].strip(), intent, Location(examples.location.path, number, column))


def _case(text: str, intent: str, place: Location) -> Case:
    return Case(plain(text), None if intent in _NO_INTENT else intent, None, place)


def _problem(place: Location, message: str, hint: str) -> Problem:
    return Problem(place, "error", "test-case", message, hint)
