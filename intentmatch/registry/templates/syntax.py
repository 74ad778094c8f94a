"""Templates: an author's line with marks, and the sentences that it stands for.

`(a|b)` is one of several, `[a]` or `[a|b]` may be left out, `<name>` is a rule, `{name}` a slot, and `{name=Berlin}` a
slot with the value that stands there. Marks work inside words too. A backslash takes the meaning from a mark; what
cannot be a mark is text, and so are round brackets without a bar. Nothing here recurses, so no line can be too deep.
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
"""A line without any of these is no template."""

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
# What stands beside a bracket in a face or an arrow.
_FACE = frozenset(":;=-^'")

Fill = Callable[[str], str]
"""The text that stands for a slot, by its name; asked once for each place of each sentence."""


class Sentence(NamedTuple):
    """One of the sentences of a template."""

    text: str
    marks: tuple[Mark, ...] = ()


class Flaw(NamedTuple):
    """What is wrong at a position of a text, and how to mend it."""

    position: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Words:
    """Text as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A slot, to be filled in, or with the value that the author gave it."""

    slot: str
    position: int
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A rule."""

    rule: str
    position: int


@dataclass(frozen=True, slots=True)
class Series:
    """Nodes one after the other, by number."""

    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several nodes, by number."""

    items: tuple[int, ...]


Node = Words | Blank | Use | Series | Choice


@dataclass(frozen=True)
class Template:
    """A line that was parsed."""

    text: str
    """As the author wrote it."""
    nodes: tuple[Node, ...]
    """Each behind all that it is made of; the last is the whole."""
    flaw: Flaw | None = None
    """The first mark that is read as text and looks like a mistake."""

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The places of rules."""
        return tuple(node for node in self.nodes if isinstance(node, Use))

    @cached_property
    def blanks(self) -> tuple[Blank, ...]:
        """The places of slots."""
        return tuple(node for node in self.nodes if isinstance(node, Blank))

    @cached_property
    def varied(self) -> bool:
        """Whether the author left anything open but values of slots; then spaces are no longer his to count."""
        return any(isinstance(node, (Choice, Use)) for node in self.nodes)

    def renamed(self, rules: Mapping[str, str]) -> Template:
        """The same with other names of rules."""
        if all(name == new for name, new in rules.items()):
            return self
        nodes = (Use(rules.get(n.rule, n.rule), n.position) if isinstance(n, Use) else n for n in self.nodes)
        return replace(self, nodes=tuple(nodes))

    @cached_property
    def sentence(self) -> Sentence | None:
        """The only sentence that this can be, whatever rules and slots there are; None where there is a choice."""
        if self.varied or any(blank.value is None for blank in self.blanks):
            return None
        return joined(node for node in self.nodes if isinstance(node, (Words, Blank)))


def parse(text: str, *, fragment: bool = False) -> Template:
    """Any text as a template. In a fragment, which is what a rule stands for, `a|b` needs no brackets."""
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
    """A text as a template, or a part of one, that stands for nothing else."""
    return _NEEDS_ESCAPE.sub(r"\\\g<0>", text)


def labelled(text: str, marks: Iterable[Mark] = ()) -> str:
    """A sentence with the values of slots in it as a template; of marks that overlap, the first.

    A mark without text, or with a name that is none (see `is_name`), is left out.
    """
    pieces: list[str] = []
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        if end <= mark.start < mark.end <= len(text) and is_name(mark.slot):
            pieces += [escape(text[end : mark.start]), f"{{{mark.slot}={escape(text[mark.start : mark.end])}}}"]
            end = mark.end
    if not pieces:
        # Most lines need no backslash: a face, an arrow and a lone bracket are no marks.
        found = parse(text)
        return text if found.flaw is None and found.sentence == Sentence(text) else escape(text)
    return "".join([*pieces, escape(text[end:])])


def is_name(text: str) -> bool:
    """Whether a rule or slot can have this name."""
    return re.fullmatch(_NAME, text) is not None


def joined(leaves: Iterable[Words | Blank], fill: Fill | None = None, *, single_spaced: bool = False) -> Sentence:
    """Words and slots as one text; without `fill` a slot is its name. Of single spaces what was left out leaves one."""
    text = ""
    marks: list[Mark] = []
    for leaf in leaves:
        if isinstance(leaf, Words):
            part = leaf.text
        else:
            part = (fill or in_words)(leaf.slot) if leaf.value is None else leaf.value
        if single_spaced:
            part = _SPACE.sub(" ", part)
            part = part.lstrip() if not text or text[-1] == " " else part
        if isinstance(leaf, Blank) and part:
            marks.append(Mark(leaf.slot, len(text), len(text) + len(part)))
        text += part
    if single_spaced and text.endswith(" "):
        text = text[:-1]
        marks = [Mark(m.slot, m.start, min(m.end, len(text))) for m in marks if m.start < len(text)]
    return Sentence(text, tuple(marks))


class _Builder:
    """Puts nodes together, each behind all that it is made of."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._text: list[str] = []
        # Of each open bracket its alternatives so far, each of them a list of nodes.
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
        """All nodes; what was added last is made of all others."""
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
    """The round and square brackets that are one of two: a closing one belongs to the nearest of its kind."""

    groups: frozenset[int]
    """Where those stand that are marks."""
    text: frozenset[int]
    """Where those stand that are text: round ones without a bar between them."""


def _brackets(tokens: Iterable[re.Match[str]]) -> _Brackets:
    groups: set[int] = set()
    text: set[int] = set()
    # Of each bracket that is open its kind, its place, and whether there is a bar behind it.
    waiting: list[tuple[str, int, bool]] = []
    of_kind = Counter[str]()
    for token in tokens:
        if token[0] in ("(", "["):
            waiting.append((token[0], token.start(), False))
            of_kind[token[0]] += 1
        elif token[0] == "|" and waiting:
            waiting[-1] = (*waiting[-1][:2], True)
        elif of_kind[kind := _PAIRS.get(token[0], "")]:
            bracket, position, barred = waiting.pop()
            while bracket != kind:
                of_kind[bracket] -= 1
                bracket, position, outside = waiting.pop()
                barred = barred or outside
            of_kind[kind] -= 1
            (groups if barred or kind == "[" else text).update((position, token.start()))
    return _Brackets(frozenset(groups), frozenset(text))


def _flaw(text: str, lone: Sequence[int], *, marked: bool) -> Flaw | None:
    """The first of the lone marks that nobody would write as text: `:)`, `<3` and `->` are fine."""
    for position in lone:
        mark, before, after = text[position], text[max(position - 1, 0) : position], text[position + 1 : position + 2]
        if mark == "|":
            return Flaw(position, "`|` outside of brackets is read as text", "write `(a|b)`, or `\\|` for the text")
        if before in _FACE or after in _FACE:
            continue
        inside = after if mark in "([{<" else before
        if (marked and mark not in "<>") or (inside.isalpha() and (marked or mark not in ")>")):
            hint = f"write its other half, or `\\{mark}` for the text"
            return Flaw(position, f"`{mark}` is read as text: it is one half of a mark", hint)
    return None
