"""Templates of hassil as templates of ours, and back. The two are nearly one language.

There, `{list:slot}` names both a list of values and the slot that they are for, `(a;b)` is a and b in any order, and no
brackets are needed around alternatives that are all there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations

from intentmatch.registry.templates.syntax import Blank, Choice, Series, Template, Use, Words, escape

_SIGNS = r"()\[\]{}<>|;@\\"
_TOKEN = re.compile(
    r"\\(?P<escaped>.)|\{(?P<list>(?:[^{}\\]|\\.)+)\}|<(?P<rule>(?:[^<>\\]|\\.)+)>|[()\[\]{}<>|;]", re.DOTALL
)
_SPECIAL = re.compile(rf"[{_SIGNS}]")
_PAIRS = {")": "(", "]": "["}
# Four things can be in any of 24 orders, five in any of 120.
_MOST_IN_ANY_ORDER = 4
# Rules of a block are written out, and may use one another.
_LONGEST = 10_000

Named = Callable[[str], str]
"""What stands for a name in a template of ours."""


class TemplateError(ValueError):
    """A template that hassil itself would not take; the text says why."""


@dataclass
class _Group:
    """An open bracket, or the whole."""

    bracket: str
    parts: list[str] = field(default_factory=lambda: [""])
    sign: str | None = None
    """What stands between the parts."""
    apart: bool = False
    """Whether what was added last has its spaces already."""

    def add(self, text: str) -> None:
        if text:
            self.parts[-1] += text.lstrip(" ") if self.apart else text
            self.apart = False

    def add_group(self, group: _Group, closing: str) -> None:
        """A group that is closed; what may stand in any order is words of their own, whatever stands beside them."""
        written = group.written()
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
        """The alternatives of it."""
        self._end()
        if self.sign != ";":
            return "|".join(self.parts)
        if len(self.parts) > _MOST_IN_ANY_ORDER:
            raise TemplateError(f"more than {_MOST_IN_ANY_ORDER} parts in a permutation")
        return "|".join(" ".join(order) for order in permutations(part.strip() for part in self.parts))

    def _end(self) -> None:
        self.parts[-1] = self.parts[-1].rstrip(" ") if self.apart else self.parts[-1]
        self.apart = False


def to_template(text: str, slot: Named, rule: Named, *, fragment: bool = False) -> str:
    """A template of hassil as one of ours, or as what a rule stands for. Raises `TemplateError`."""
    open_ = [_Group("")]
    end = 0
    for token in _TOKEN.finditer(text):
        open_[-1].add(escape(text[end : token.start()]))
        end = token.end()
        sign = token[0]
        if token["escaped"]:
            open_[-1].add(escape(token["escaped"]))
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
        if len(open_[-1].parts[-1]) > _LONGEST:
            raise TemplateError(f"longer than {_LONGEST:,} characters")
    if len(open_) > 1:
        raise TemplateError(f"`{open_[-1].bracket}` is never closed")
    open_[0].add(escape(text[end:]))
    whole = open_[0].written()
    return whole if open_[0].sign is None or fragment else f"({whole})"


def names(text: str) -> tuple[set[str], set[str]]:
    """The slots and the rules that a template of hassil names; a slot by what stands in its brackets."""
    found = list(_TOKEN.finditer(text))
    slots = {_unescaped(token["list"]) for token in found if token["list"]}
    return slots, {_unescaped(token["rule"]) for token in found if token["rule"]}


def from_template(template: Template) -> str:
    """A template of ours as one of hassil, without brackets around what are alternatives as a whole."""
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
    """A text that stands for nothing else in a template of hassil."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _choice(choice: Choice, template: Template, written: list[str], *, bare: bool) -> str:
    parts = "|".join(filter(None, (written[item] for item in choice.items)))
    optional = any(template.nodes[item] == Series(()) for item in choice.items)
    if not parts or not optional:
        return parts if bare or not parts else f"({parts})"
    return f"[{parts}]"


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
