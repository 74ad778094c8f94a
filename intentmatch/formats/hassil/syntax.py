"""Convert hassil templates to intentmatch templates and back. The two languages are almost equal.

Differences: in hassil, `{list:slot}` names both a list of values and the slot, `(a;b)` is a permutation (a and b in any
order), and top-level alternatives need no brackets. hassil also removes punctuation at the edges of words from a
message, but not from a template: there it must be optional, `hello[,] you[?]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations

from intentmatch.registry.templates.syntax import Blank, Choice, Series, Template, Use, Words, escape

_SIGNS = r"()\[\]{}<>|;@\\"
# Punctuation that hassil removes from a message, except between two letters or digits.
_MARKS = ".。,，?¿？؟!¡！;；:：…—–―"
# An optional mark, as exports write it, is read back as plain punctuation. Between two letters or digits it stays
# optional, because hassil removes no mark there.
_TOKEN = re.compile(
    rf"(?!(?<=\w)\[\\?.\]\w)\[\\?(?P<mark>[{_MARKS}])\]"
    r"|\\(?P<escaped>.)|\{(?P<list>(?:[^{}\\]|\\.)+)\}|<(?P<rule>(?:[^<>\\]|\\.)+)>|[()\[\]{}<>|;]",
    re.DOTALL,
)
_SPECIAL = re.compile(rf"[{_SIGNS}]")
_EDGE_MARK = re.compile(
    rf"\{{[^{{}}]*\}}|<[^<>]*>|\\[^{_MARKS}]|(?P<mark>(?<!\w)\\?[{_MARKS}]|\\?[{_MARKS}](?!\w))|\\?[{_MARKS}]"
)
_PAIRS = {")": "(", "]": "["}
# Four parts have 24 orders, five have 120.
_MAX_PERMUTED_PARTS = 4
# Characters; rules of a block are replaced by their text and may use one another.
_MAX_CHARS = 10_000

Named = Callable[[str], str]
"""Converts a name to its text in an intentmatch template."""


class TemplateError(ValueError):
    """Raised for a template that hassil itself would refuse."""


@dataclass
class _Group:
    """An open bracket, or the whole template."""

    bracket: str
    parts: list[str] = field(default_factory=lambda: [""])
    sign: str | None = None
    """The separator of the parts: `|` or `;`."""
    apart: bool = False
    """Whether the text that was added last already ends with a space."""

    def add(self, text: str) -> None:
        if text:
            self.parts[-1] += text.lstrip(" ") if self.apart else text
            self.apart = False

    def add_group(self, group: _Group, closing: str) -> None:
        """Add a closed group. The parts of a permutation are separate words, so spaces are added around it."""
        written = group.written()
        # Round brackets without alternatives would be text in an intentmatch template.
        if group.bracket == "[" or group.sign is not None:
            written = f"{group.bracket}{written}{closing}"
        if group.sign != ";":
            self.add(written)
            return
        self.parts[-1] = f"{self.parts[-1].rstrip(' ')} {written} ".lstrip(" ")
        self.apart = True

    def part(self, sign: str) -> None:
        if self.sign not in (None, sign):
            raise TemplateError("a group mixes `|` and `;`")
        self.sign = sign
        self._end()
        self.parts.append("")

    def written(self) -> str:
        """Return the alternatives of the group, with permutations written out."""
        self._end()
        if self.sign != ";":
            return "|".join(self.parts)
        if len(self.parts) > _MAX_PERMUTED_PARTS:
            raise TemplateError(f"more than {_MAX_PERMUTED_PARTS} parts in a permutation")
        return "|".join(" ".join(order) for order in permutations(part.strip() for part in self.parts))

    def _end(self) -> None:
        self.parts[-1] = self.parts[-1].rstrip(" ") if self.apart else self.parts[-1]
        self.apart = False


def to_template(text: str, slot: Named, rule: Named, *, fragment: bool = False) -> str:
    """Convert a hassil template, or the text of a rule if `fragment`. Raises `TemplateError`."""
    open_ = [_Group("")]
    end = 0
    for token in _TOKEN.finditer(text):
        open_[-1].add(escape(text[end : token.start()]))
        end = token.end()
        sign = token[0]
        if plain := token["mark"] or token["escaped"]:
            open_[-1].add(escape(plain))
        elif token["list"]:
            open_[-1].add(slot(_unescaped(token["list"])))
        elif token["rule"]:
            open_[-1].add(rule(_unescaped(token["rule"])))
        elif sign in "([":
            open_.append(_Group(sign))
        elif sign in "|;":
            open_[-1].part(sign)
        elif _PAIRS.get(sign) == open_[-1].bracket:
            group = open_.pop()
            open_[-1].add_group(group, sign)
        else:
            raise TemplateError(f"`{sign}` has no matching bracket")
        if len(open_[-1].parts[-1]) > _MAX_CHARS:
            raise TemplateError(f"longer than {_MAX_CHARS:,} characters")
    if len(open_) > 1:
        raise TemplateError(f"`{open_[-1].bracket}` is never closed")
    open_[0].add(escape(text[end:]))
    # At the top level, intentmatch needs brackets around alternatives, except in rules.
    whole = open_[0].written()
    return whole if open_[0].sign is None or fragment else f"({whole})"


def names(text: str) -> tuple[set[str], set[str]]:
    """Return the slots and the rules that a hassil template names. A slot is the text between its braces."""
    found = list(_TOKEN.finditer(text))
    slots = {_unescaped(token["list"]) for token in found if token["list"]}
    return slots, {_unescaped(token["rule"]) for token in found if token["rule"]}


def from_template(template: Template) -> str:
    """Convert an intentmatch template to hassil, without brackets around top-level alternatives."""
    written: list[str] = []
    for node in template.nodes:
        if isinstance(node, Words):
            written.append(literal(node.text))
        elif isinstance(node, Blank):
            written.append(f"{{{node.slot}}}" if node.value is None else literal(node.value))
        elif isinstance(node, Use):
            written.append(f"<{node.rule}>")
        elif isinstance(node, Series):
            written.append("".join(written[item] for item in node.items))
        else:
            written.append(_choice(node, template, written, bare=node is template.nodes[-1]))
    return written[-1]


def literal(text: str) -> str:
    """Escape a text for a hassil template."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def with_optional_marks(template: str) -> str:
    """Make punctuation optional in a hassil template where hassil removes it from messages."""
    return _EDGE_MARK.sub(lambda found: f"[{found[0]}]" if found["mark"] else found[0], template)


def _choice(choice: Choice, template: Template, written: list[str], *, bare: bool) -> str:
    parts = "|".join(filter(None, (written[item] for item in choice.items)))
    optional = any(template.nodes[item] == Series(()) for item in choice.items)
    if not parts or not optional:
        return parts if bare or not parts else f"({parts})"
    return f"[{parts}]"


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
