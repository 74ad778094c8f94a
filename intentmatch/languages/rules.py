"""Shapes of rules: what a rule finds in a message, and what stands there without it.

A rule has one of these forms. Line breaks in a pattern mean nothing.

    leading: PHRASE                  # before what it refuses: "no need to cancel"
    trailing: PHRASE                 # behind it: "a refund is not necessary"
    drop: PHRASE, before: WORDS      # right before one of some words
    drop: PHRASE, after: WORDS       # behind one of some words, with up to six others between
    find: PATTERN, instead: TEMPLATE # without `instead`, nothing stands there

A pattern may have `{letter}`, `{words}` for up to six words in a group, `{head but and}` for the place where a clause
begins, if only behind "but" or "and", and what its section defines under `named`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from intentmatch.languages.shapes import Shape, ShapeError, map_of, record, text

Rule = tuple[re.Pattern[str], str]
"""A pattern that ignores case, and the template that replaces what it finds."""

LETTER = r"[\w\u0900-\u0963]"
"""The pattern of a letter, vowel signs of Hindi included."""
# More words belong to another clause, and each one costs time.
_WORDS = r"((?: [\w-]+){0,6}?)"
_FORMS: Mapping[frozenset[str], Callable[..., tuple[str, str]]] = {
    frozenset({"leading"}): lambda leading: (rf"(?<!{LETTER})(?:{leading})(?: |(?<=['’]))(?=\w)", ""),
    frozenset({"trailing"}): lambda trailing: (rf"(?<={LETTER}) (?:{trailing})(?!{LETTER})", ""),
    frozenset({"drop", "before"}): lambda drop, before: (rf"(?<!\w)(?:{drop}) (?=(?:{before}))", ""),
    frozenset({"drop", "after"}): lambda drop, after: (rf"\b((?:{after})\b{_WORDS}) (?:{drop})(?!\w)", r"\1"),
    frozenset({"find"}): lambda find: (find, ""),
    frozenset({"find", "instead"}): lambda find, instead: (find, instead),
}
_NAME = re.compile(r"\{([a-z_]+)(?: ([^{}]*))?\}")


def head(words: str) -> str:
    """Return the pattern of a place where a clause begins: the start, after a mark, or after one of the words."""
    places = [
        "^",
        "(?<=[,.;:!?…–¡-] )",
        "(?<=[,!?¡…。，！？])",
        *(rf"(?<=(?<!{LETTER}){re.escape(word)} )" for word in words.split()),
    ]
    return f"(?:{'|'.join(places)})"


def alternatives(node: yaml.Node) -> str:
    """Return a regular expression that may stand within another one."""
    found = _lines(node)
    try:
        compiled = re.compile(found)
    except re.error as error:
        raise ShapeError(f"invalid regular expression: {error}", node) from None
    if compiled.groups:
        raise ShapeError("write (?:...) for a group", node)
    if compiled.flags != re.UNICODE:
        raise ShapeError("leave out the flags", node)
    return found


def rules(node: yaml.Node, named: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
    """Return a list of rules, of which the first that matches counts. `named` are parts of patterns by name."""
    if not isinstance(node, yaml.SequenceNode):
        raise ShapeError("expected a list of rules", node)
    return tuple(_rule(one, named or {}) for one in node.value)


def named_rules(fields: Mapping[str, Shape]) -> Shape:
    """Return the shape of a record with the fields, and with `rules` whose patterns may have what `named` defines."""

    def read(node: yaml.Node) -> Any:
        named: dict[str, str] = {}
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value == "named":
                for name, part in map_of(_lines)(value).items():
                    named[name] = _with_names(part, named, value)
        with_names = {"named": map_of(_lines), "rules": lambda inner: rules(inner, named)}
        return record({**with_names, **fields})(node)

    return read


def _rule(node: yaml.Node, named: Mapping[str, str]) -> Rule:
    given = map_of(_lines)(node)
    form = _FORMS.get(frozenset(given))
    if form is None:
        known = "; ".join(" and ".join(sorted(keys)) for keys in _FORMS)
        raise ShapeError(f"expected a rule with the keys of one form: {known}", node)
    expression, template = form(**{key: _with_names(part, named, node) for key, part in given.items()})
    try:
        compiled = re.compile(expression, re.IGNORECASE)
        compiled.sub(template, "")
    except (re.error, IndexError) as error:
        raise ShapeError(f"invalid rule: {error}", node) from None
    return compiled, template


def _with_names(part: str, named: Mapping[str, str], node: yaml.Node) -> str:
    """Return a part of a pattern with what its names in braces stand for."""

    def meant(found: re.Match[str]) -> str:
        name, words = found.groups()
        if name == "head":
            return head(words or "")
        known = {"letter": LETTER, "words": _WORDS, **named}
        if name not in known:
            raise ShapeError(f"unknown name {name!r}: known are head, {', '.join(known)}", node)
        return known[name]

    return _NAME.sub(meant, part)


def _lines(node: yaml.Node) -> str:
    """Return a text without its line breaks."""
    return "".join(text(node).splitlines())
