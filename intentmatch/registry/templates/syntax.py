"""Template syntax: parse an author's line with marks into nodes.

`(a|b)` is an alternative, `[a]` or `[a|b]` is optional, `<name>` is a rule, `{name}` is a slot, and `{name=Berlin}` is
a slot with a value. Marks also work inside words. A backslash escapes a mark. Brackets that form no mark are text, and
so are round brackets without a bar. The parser is iterative, so groups may nest to any depth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from intentmatch.core.types import Mark
from intentmatch.text.normalize import in_words

MARKS = "()[]{}<>|\\"
"""A line without any of these characters is not a template."""

# `reading/schema.py` says the same for editors.
_NAME = r"[^\W\d][^\s!-,/:-@\[-^`{-~]*"
_SPECIAL = r"[()\[\]{}<>|\\=]"
_ESCAPED = rf"\\{_SPECIAL}"
_TOKEN = re.compile(
    rf"(?P<escaped>{_ESCAPED})|<(?P<rule>{_NAME})>"
    rf"|\{{(?P<slot>{_NAME})(?:=(?P<value>(?:{_ESCAPED}|[^{{}}\\]|\\(?!{_SPECIAL}))+))?\}}|[()\[\]{{}}<>|]"
)
_UNESCAPE = re.compile(rf"\\({_SPECIAL})")
_NEEDS_ESCAPE = re.compile(r"[()\[\]{}<>|\\]")
_SPACE = re.compile(r"\s+")
_PAIRS = {")": "(", "]": "["}
# Neighbours of a bracket in a smiley or an arrow.
_FACE = frozenset(":;=-^'")

Fill = Callable[[str], str]
"""Returns the text for a slot name; called once for each slot of each sentence."""


class Sentence(NamedTuple):
    """A sentence of a template."""

    text: str
    marks: tuple[Mark, ...] = ()


class Flaw(NamedTuple):
    """A mistake at a position of a text, and how to fix it."""

    position: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Words:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A slot, with the value that the author gave it, if any."""

    slot: str
    position: int
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a rule."""

    rule: str
    position: int


@dataclass(frozen=True, slots=True)
class Series:
    """A sequence of nodes, by node number."""

    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice between nodes, by node number."""

    items: tuple[int, ...]


Node = Words | Blank | Use | Series | Choice


@dataclass(frozen=True)
class Template:
    """A parsed line."""

    text: str
    """The line as the author wrote it."""
    nodes: tuple[Node, ...]
    """Nodes in post-order: children come before their parent, and the root is last."""
    flaw: Flaw | None = None
    """The first mark that is read as text but looks like a mistake."""

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The rules that it uses."""
        return tuple(node for node in self.nodes if isinstance(node, Use))

    @cached_property
    def blanks(self) -> tuple[Blank, ...]:
        """The slots that it names."""
        return tuple(node for node in self.nodes if isinstance(node, Blank))

    @cached_property
    def varied(self) -> bool:
        """Whether it has alternatives or rules; the spaces of its sentences are then normalised."""
        return any(isinstance(node, (Choice, Use)) for node in self.nodes)

    def renamed(self, rules: Mapping[str, str]) -> Template:
        """Return the template with rules renamed."""
        if all(name == new for name, new in rules.items()):
            return self
        nodes = (Use(rules.get(n.rule, n.rule), n.position) if isinstance(n, Use) else n for n in self.nodes)
        return replace(self, nodes=tuple(nodes))

    @cached_property
    def sentence(self) -> Sentence | None:
        """The single sentence of a template without alternatives, rules and open slots; otherwise None."""
        if self.varied or any(blank.value is None for blank in self.blanks):
            return None
        return join(node for node in self.nodes if isinstance(node, (Words, Blank)))


def parse(text: str, *, fragment: bool = False) -> Template:
    """Parse any text as a template. In a fragment, the text of a rule, `a|b` needs no brackets."""
    tokens = list(_TOKEN.finditer(text))
    brackets = _brackets(tokens)
    builder = _Builder()
    lone: list[int] = []
    depth = end = 0
    for token in tokens:
        builder.text(text[end : token.start()])
        end = token.end()
        mark, position = token[0], token.start()
        if token["escaped"]:
            builder.text(mark[1])
        elif token["rule"]:
            builder.leaf(Use(token["rule"], position))
        elif token["slot"]:
            value = token["value"]
            builder.leaf(Blank(token["slot"], position, None if value is None else _UNESCAPE.sub(r"\1", value)))
        elif position in brackets.groups and mark in "([":
            builder.open()
            depth += 1
        elif position in brackets.groups:
            builder.close(optional=mark == "]")
            depth -= 1
        elif mark == "|" and (depth or fragment):
            builder.bar()
        else:
            builder.text(mark)
            lone += [] if position in brackets.text else [position]
    builder.text(text[end:])
    nodes = builder.whole()
    marked = bool(brackets.groups) or any(isinstance(node, (Use, Blank)) for node in nodes)
    return Template(text, nodes, _flaw(text, lone, marked=marked))


def escape(text: str) -> str:
    """Escape all marks, so that the result is a template of exactly this text."""
    return _NEEDS_ESCAPE.sub(r"\\\g<0>", text)


def labelled(text: str, marks: Iterable[Mark] = ()) -> str:
    """Write a sentence and its slot values as a template: `to {city=Berlin}`.

    Of overlapping marks the first is used. Marks without text or with an invalid name (see `is_name`) are left out.
    """
    pieces: list[str] = []
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        if end <= mark.start < mark.end <= len(text) and is_name(mark.slot):
            pieces += [escape(text[end : mark.start]), f"{{{mark.slot}={escape(text[mark.start : mark.end])}}}"]
            end = mark.end
    if not pieces:
        # Most lines need no escapes: smileys, arrows and single brackets are not marks.
        found = parse(text)
        return text if found.flaw is None and found.sentence == Sentence(text) else escape(text)
    return "".join([*pieces, escape(text[end:])])


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a rule or slot."""
    return re.fullmatch(_NAME, text) is not None


def join(leaves: Iterable[Words | Blank], fill: Fill | None = None, *, single_spaced: bool = False) -> Sentence:
    """Join words and slots to a sentence; without `fill`, a slot is replaced by its name.

    With `single_spaced`, runs of spaces become one space, such as those around an omitted option.
    """
    text = ""
    marks: list[Mark] = []
    for leaf in leaves:
        if isinstance(leaf, Words):
            part = leaf.text
        else:
            part = (fill or in_words)(leaf.slot) if leaf.value is None else leaf.value
        if single_spaced:
            part = _SPACE.sub(" ", part)
            # Around an omitted option two spaces meet.
            part = part.lstrip() if not text or text[-1] == " " else part
        if isinstance(leaf, Blank) and part:
            marks.append(Mark(leaf.slot, len(text), len(text) + len(part)))
        text += part
    if single_spaced and text.endswith(" "):
        text = text[:-1]
        marks = [Mark(m.slot, m.start, min(m.end, len(text))) for m in marks if m.start < len(text)]
    return Sentence(text, tuple(marks))


class _Builder:
    """Builds the nodes of a template in post-order."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._text: list[str] = []
        # The alternatives so far of each open bracket, each a list of node numbers.
        self._open: list[list[list[int]]] = [[[]]]

    def text(self, text: str) -> None:
        self._text.append(text)

    def leaf(self, node: Node) -> None:
        self._end_text()
        self._open[-1][-1].append(self._added(node))

    def open(self) -> None:
        self._end_text()
        self._open.append([[]])

    def bar(self) -> None:
        self._end_text()
        self._open[-1].append([])

    def close(self, *, optional: bool) -> None:
        self._end_text()
        alternatives = [*self._open.pop(), *([[]] if optional else [])]
        self._open[-1][-1].append(self._choice(alternatives))

    def whole(self) -> tuple[Node, ...]:
        """Return all nodes; the root is last."""
        self._end_text()
        self._choice(self._open.pop())
        return tuple(self.nodes)

    def _choice(self, alternatives: list[list[int]]) -> int:
        items = [a[0] if len(a) == 1 else self._added(Series(tuple(a))) for a in alternatives]
        return items[0] if len(items) == 1 else self._added(Choice(tuple(items)))

    def _added(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _end_text(self) -> None:
        if text := "".join(self._text):
            self._open[-1][-1].append(self._added(Words(text)))
        self._text.clear()


class _Brackets(NamedTuple):
    """Positions of paired round and square brackets; a closing bracket pairs with the nearest open one of its kind."""

    groups: frozenset[int]
    """Positions of pairs that are marks."""
    text: frozenset[int]
    """Positions of pairs that are text: round brackets without a bar between them."""


def _brackets(tokens: Iterable[re.Match[str]]) -> _Brackets:
    groups: set[int] = set()
    text: set[int] = set()
    # Kind and position of each open bracket, and whether a bar follows it.
    waiting: list[tuple[str, int, bool]] = []
    open_of_kind = Counter[str]()
    for token in tokens:
        if token[0] in ("(", "["):
            waiting.append((token[0], token.start(), False))
            open_of_kind[token[0]] += 1
        elif token[0] == "|" and waiting:
            waiting[-1] = (*waiting[-1][:2], True)
        # By the count, a closing bracket without an opening one is known at once, and a line of them takes linear time.
        elif open_of_kind[kind := _PAIRS.get(token[0], "")]:
            bracket, position, barred = waiting.pop()
            while bracket != kind:
                open_of_kind[bracket] -= 1
                bracket, position, outside = waiting.pop()
                barred = barred or outside
            open_of_kind[kind] -= 1
            (groups if barred or kind == "[" else text).update((position, token.start()))
    return _Brackets(frozenset(groups), frozenset(text))


def _flaw(text: str, lone: Sequence[int], *, marked: bool) -> Flaw | None:
    """Return the first unpaired mark that is probably a mistake; `:)`, `<3` and `->` are not."""
    for position in lone:
        mark, before, after = text[position], text[max(position - 1, 0) : position], text[position + 1 : position + 2]
        if mark == "|":
            return Flaw(position, "`|` outside brackets is read as text", "write `(a|b)`, or `\\|` for a literal bar")
        if before in _FACE or after in _FACE:
            continue
        inside = after if mark in "([{<" else before
        if (marked and mark not in "<>") or (inside.isalpha() and (marked or mark not in ")>")):
            hint = f"add the matching bracket, or write `\\{mark}` for a literal one"
            return Flaw(position, f"unmatched `{mark}` is read as text", hint)
    return None
