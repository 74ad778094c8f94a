"""Parse the lines of .lu files and the patterns of LUIS, with nested labels.

`{name=Anna}`, `{@name:first=Anna}` and `{@user={@name=Anna} Bell}` are labels. `{name}`, `[optional]` and `(a|b)` make
a line a pattern. A backslash escapes a sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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


class _Part(NamedTuple):
    kind: Literal["text", "sign", "slot", "open", "close"]
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
    parts = list(_parts(line))
    paired = _paired(parts)
    kept, outer, unclosed = _innermost(parts)
    for number, part in enumerate(parts):
        if part.kind == "slot" or (part.kind == "open" and number in kept):
            parts[number] = part._replace(text=name_of(part.text, part.role))
    is_pattern = bool(paired) or any(part.kind == "slot" for part in parts)
    text = ""
    labels: list[Label] = []
    for number, part in enumerate(parts):
        if part.kind == "open" and number in kept:
            labels.append(Label(part.text, len(text), len(text)))
        elif part.kind == "close" and number in kept:
            labels[-1] = labels[-1]._replace(end=len(text))
        elif part.kind in ("text", "sign"):
            text += part.text
    template = "".join(_written(parts, kept, paired)).strip() if is_pattern else None
    return Line(text, tuple(labels), template, outer, unclosed)


def escaped(text: str) -> str:
    """Escape all signs in a text."""
    return _SIGNS.sub(r"\\\g<0>", text)


def _parts(line: str) -> Iterator[_Part]:
    depth = end = 0
    for token in _TOKEN.finditer(line):
        if token.start() > end:
            yield _Part("text", line[end : token.start()])
        end = token.end()
        if token["escaped"]:
            yield _Part("text", token[0][1])
        elif token["open"]:
            depth += 1
            yield _Part("open", token["label"].strip("\"'"), token["label_role"])
        elif token["slot"]:
            yield _Part("slot", token["name"].strip("\"'"), token["name_role"])
        elif token["sign"]:
            yield _Part("sign", token[0])
        elif depth:
            depth -= 1
            yield _Part("close", "")
        else:
            yield _Part("text", token[0])
    if line[end:]:
        yield _Part("text", line[end:])


def _paired(parts: list[_Part]) -> frozenset[int]:
    """Return the positions of the brackets that form a pattern, and of the bars in them.

    In `[(a|b)]`, as LUIS writes optional alternatives, the round brackets are redundant and removed from `parts`.
    """
    found: set[int] = set()
    inner: dict[int, int] = {}
    waiting: list[tuple[str, int, list[int]]] = []
    for number, part in enumerate(parts):
        if part.kind != "sign":
            continue
        if part.text in "([":
            waiting.append((part.text, number, []))
        elif not waiting:
            continue
        elif part.text == "|":
            waiting[-1][2].append(number)
        elif waiting[-1][0] == _PAIRS[part.text]:
            bracket, start, bars = waiting.pop()
            # Round brackets without a bar are plain text.
            if bracket == "[" or bars:
                found |= {start, number, *bars}
            if bracket == "(" and bars:
                inner[start] = number
            elif inner.get(start + 1) == number - 1:
                parts[start + 1] = parts[number - 1] = _Part("text", "")
    return frozenset(found)


def _innermost(parts: list[_Part]) -> tuple[frozenset[int], tuple[str, ...], bool]:
    """Return the positions of the innermost labels, the names of the outer ones, and whether a label is unclosed."""
    kept: set[int] = set()
    outer: list[str] = []
    waiting: list[int] = []
    last = -1
    for number, part in enumerate(parts):
        if part.kind in ("open", "slot"):
            last = number
        if part.kind == "open":
            waiting.append(number)
        elif part.kind == "close":
            start = waiting.pop()
            if start == last:
                kept |= {start, number}
            else:
                outer.append(parts[start].role or parts[start].text)
    return frozenset(kept), tuple(dict.fromkeys(outer)), bool(waiting)


def _written(parts: list[_Part], kept: frozenset[int], paired: frozenset[int]) -> Iterator[str]:
    """Yield the pieces of a template."""
    label: list[str] | None = None
    for number, part in enumerate(parts):
        if part.kind == "open" and number in kept:
            label = []
            yield f"{{{part.text}="
        elif part.kind == "close" and number in kept and label is not None:
            yield f"{escape(''.join(label).strip())}}}"
            label = None
        elif label is not None and part.kind in ("text", "sign"):
            label.append(part.text)
        elif part.kind == "slot":
            yield f"{{{part.text}}}"
        elif part.kind == "sign" and number in paired:
            yield part.text
        elif part.kind in ("text", "sign"):
            yield escape(part.text)
