"""Parse the lines of .lu files and the patterns of LUIS, with nested labels.

`{name=Anna}`, `{@name:first=Anna}` and `{@user={@name=Anna} Bell}` are labels. `{name}`, `[optional]` and `(a|b)` make
a line a pattern. A backslash escapes a sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from intentmatch.formats.kit.draft import Label
from intentmatch.registry.templates.syntax import escape

# Names may contain spaces. The length limits keep matching fast on hostile lines.
_WORD = r"[^\s{}=:|()\[\]\\][^{}=:|()\[\]\\]{0,200}?"
_NAMED = rf"\{{\s{{0,9}}@?\s{{0,9}}(?P<%s>{_WORD})\s{{0,9}}(?::\s{{0,9}}(?P<%s_role>{_WORD})\s{{0,9}})?"
_TOKEN = re.compile(
    r"(?P<escaped>\\[{}\[\]()|\\])"
    rf"|(?P<open>{_NAMED % ('label', 'label')}=\s*)|(?P<slot>{_NAMED % ('name', 'name')}\}})"
    r"|(?P<close>\})|(?P<sign>[\[\]()|])"
)
_SIGNS = re.compile(r"[{}\[\]()|\\]")
_PAIRS = {")": "(", "]": "["}

NameOf = Callable[[str, str | None], str]
"""Returns the slot name of an entity and an optional role; called once for each label that is kept."""


class _Token(NamedTuple):
    """A stretch of a line: a text, a bracket or bar, a slot, or the begin or end of a label."""

    kind: Literal["text", "sign", "syntax", "slot", "open", "close"]
    """A sign that is part of a pattern becomes "syntax"."""
    text: str
    """The text, or the name of the entity for `slot` and `open`."""
    role: str | None = None


class Line(NamedTuple):
    """A parsed line: a template if it is a pattern, otherwise a text with labels."""

    text: str
    labels: tuple[Label, ...]
    template: str | None
    outer: tuple[str, ...]
    """Slots whose labels contain other labels and are dropped."""
    unclosed: bool
    """Whether a label is never closed."""


def parse(line: str, name_of: NameOf) -> Line:
    """Parse a line. Only the innermost labels are kept."""
    tokens, outer, unclosed = _innermost(_with_syntax([*_tokens(line)]))
    tokens = [one._replace(text=name_of(one.text, one.role)) if one.kind in ("slot", "open") else one for one in tokens]
    text = ""
    labels: list[Label] = []
    for token in tokens:
        if token.kind == "open":
            labels.append(Label(token.text, len(text), len(text)))
        elif token.kind == "close":
            labels[-1] = labels[-1]._replace(end=len(text))
        elif token.kind != "slot":
            text += token.text
    is_pattern = any(token.kind in ("syntax", "slot") for token in tokens)
    template = "".join(_template(tokens)).strip() if is_pattern else None
    return Line(text, tuple(labels), template, outer, unclosed)


def escaped(text: str) -> str:
    """Escape all signs in a text."""
    return _SIGNS.sub(r"\\\g<0>", text)


def _tokens(line: str) -> Iterator[_Token]:
    depth = end = 0
    for found in _TOKEN.finditer(line):
        if found.start() > end:
            yield _Token("text", line[end : found.start()])
        end = found.end()
        if found["escaped"]:
            yield _Token("text", found[0][1])
        elif found["open"]:
            depth += 1
            yield _Token("open", found["label"].strip("\"'"), found["label_role"])
        elif found["slot"]:
            yield _Token("slot", found["name"].strip("\"'"), found["name_role"])
        elif found["sign"]:
            yield _Token("sign", found[0])
        # A brace without an open label is text.
        elif depth:
            depth -= 1
            yield _Token("close", "")
        else:
            yield _Token("text", found[0])
    if line[end:]:
        yield _Token("text", line[end:])


def _with_syntax(tokens: Sequence[_Token]) -> list[_Token]:
    """Return the tokens with the brackets that form a pattern, and the bars in them, as syntax.

    In `[(a|b)]`, as LUIS writes optional alternatives, the round brackets are redundant and become empty.
    """
    found = [*tokens]
    ends: dict[int, int] = {}
    waiting: list[tuple[str, int, list[int]]] = []
    for number, sign in ((number, token.text) for number, token in enumerate(tokens) if token.kind == "sign"):
        if sign in "([":
            waiting.append((sign, number, []))
        elif sign == "|" and waiting:
            waiting[-1][2].append(number)
        elif sign != "|" and waiting and waiting[-1][0] == _PAIRS[sign]:
            bracket, start, bars = waiting.pop()
            if bracket == "(" and not bars:
                continue  # they are plain text
            for place in (start, number, *bars):
                found[place] = tokens[place]._replace(kind="syntax")
            if bracket == "(":
                ends[start] = number
            elif ends.get(start + 1) == number - 1:
                found[start + 1] = found[number - 1] = _Token("text", "")
    return found


def _innermost(tokens: Sequence[_Token]) -> tuple[list[_Token], tuple[str, ...], bool]:
    """Return the tokens without the labels around others, the names of these, and whether a label is unclosed."""
    kept: set[int] = set()
    outer: list[str] = []
    waiting: list[int] = []
    last = -1
    for number, token in enumerate(tokens):
        if token.kind in ("open", "slot"):
            last = number
        if token.kind == "open":
            waiting.append(number)
        elif token.kind == "close":
            start = waiting.pop()
            if start == last:
                kept |= {start, number}
            else:
                outer.append(tokens[start].role or tokens[start].text)
    rest = [token for number, token in enumerate(tokens) if token.kind not in ("open", "close") or number in kept]
    return rest, tuple(dict.fromkeys(outer)), bool(waiting)


def _template(tokens: Iterable[_Token]) -> Iterator[str]:
    """Yield the pieces of a template. In a label, everything is text."""
    label: str | None = None
    for token in tokens:
        if token.kind == "open":
            label = ""
            yield f"{{{token.text}="
        elif token.kind == "close" and label is not None:
            yield f"{escape(label.strip())}}}"
            label = None
        elif token.kind == "slot":
            yield f"{{{token.text}}}"
        elif label is not None:
            label += token.text
        else:
            yield token.text if token.kind == "syntax" else escape(token.text)
