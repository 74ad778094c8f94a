"""Edits of one file's YAML that change no byte outside the lines they are about.

Text is spliced where a node stands: a tree that is read and written anew, be it one that keeps comments, would fold
long lines and settle on one indentation, and what is not written anew cannot come out otherwise. After each splice the
text is read again, and where anything but what was meant has changed, the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from intentmatch.errors import InputError, Location
from intentmatch.registry.layout import Kind, Part, bare, dash, layout
from intentmatch.registry.nodes import line_and_column
from intentmatch.registry.written import Value, in_brackets, in_lines, written

WIDTH = 120
"""Columns that a list in brackets may grow to."""

_BOM = "\ufeff"
_BREAK = re.compile(r"\r\n|\n|\r")
_COMMA = re.compile(r"(?:\s|#[^\r\n]*)*,[ \t]*")
_COMMENT_LINE = re.compile(r"([ \t]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)")
_GONE: Any = object()


class Splice(NamedTuple):
    """Text to stand in place of a part of another."""

    start: int
    end: int
    text: str


class Document:
    """A file's text and the layout of its YAML. Immutable; each edit gives another document.

    Raises `InputError` for what cannot be edited, and `yaml.YAMLError` for what is no YAML.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._mark = _BOM if text.startswith(_BOM) else ""
        self.body = text.removeprefix(_BOM)
        """The text without a byte order mark: what positions count in."""
        self.root = layout(self.body)
        found = _BREAK.search(self.body)
        self._break = found[0] if found else "\n"
        parts = list(self.root.walk()) if self.root else []
        self._parents = {id(child): part for part in parts if part.kind != "alias" for child in part.children}
        self._aliases = {id(part.meant): part for part in parts if part.kind == "alias"}

    @property
    def text(self) -> str:
        """All of it, with the byte order mark where there is one."""
        return self._mark + self.body

    def at(self, part: Part) -> Location:
        """Where a part begins."""
        return Location(self.path, *line_and_column(self.body, part.start))

    def refusal(self, part: Part, why: str) -> InputError:
        """What is raised where a part cannot be edited."""
        return InputError(f"{self.at(part).short} cannot be edited here: {why}. Edit it by hand")

    def with_text(self, part: Part, text: str) -> Document:
        """Another text where one stands, in the quotes that were there."""
        self._own(part)
        if part.kind != "text" or part.style in ("|", ">"):
            raise self.refusal(part, "it is not on a line of its own")
        start = bare(self.body, part)
        parent = self._parents.get(id(part))
        new = written(text, part.style, "brackets" if parent and parent.style else "line")
        return self._spliced([Splice(start, part.end, new)], {id(part): text})

    def with_item(self, items: Part, text: str, style: str = "") -> Document:
        """One more text at the end of a list, in the quotes that all its neighbours have, or else in these."""
        self._own(items)
        styles = {item.style for item in items.items if item.kind == "text"}
        style = styles.pop() if len(styles) == 1 and "" not in styles else style
        expected = {id(items): (*_data(items, {}), text) if items.items else (text,)}
        if items.style:
            piece = written(text, style, "brackets")
            if self._too_wide(items, piece) and self._can_open(items):
                opened = self.opened(items)
                return opened.with_item(opened.follow(self.path_to(items)), text, style)
            return self._spliced(self._in_brackets(items, piece), expected)
        if items.is_empty:
            column, gap = self._indent(items) + self._steps(items)[1], " "
        elif items.kind == "list":
            number = len(items.items) - 1
            before = dash(self.body, items, number)
            column, gap = before - self._line(before), self.body[before + 1 : items.items[number].start]
        else:
            raise self.refusal(items, "it is no list")
        line = "-" + (gap if gap and not gap.strip(" ") else " ") + written(text, style)
        return self._spliced([self._inserted(items.end, column, [line])], expected)

    def with_comment(self, item: Part, comment: str) -> Document:
        """A comment beside an item of a list, which for that must stand in lines."""
        items = self._parents[id(item)]
        if items.style:
            if not self._can_open(items):
                raise self.refusal(items, f"the comment {comment.strip()!r} has no place in it")
            opened = self.opened(items)
            return opened.with_comment(opened.follow(self.path_to(item)), comment)
        return self._spliced([Splice(item.end, item.end, comment)], {})

    def opened(self, part: Part) -> Document:
        """What stands in brackets behind a key, in lines below it; first what stands in brackets around it."""
        holder = self._parents[id(part)]
        if holder.style:
            return self.opened(holder)
        step, before_dash = self._steps(part)
        if part.kind == "list":
            lines, indent = [f"- {self.body[item.start : item.end]}" for item in part.items], before_dash
        else:
            lines, indent = [self.body[key.start : value.end] for key, value in part.entries], step
        start = bare(self.body, part)
        start -= len(self.body[:start]) - len(self.body[:start].rstrip(" "))
        below = self._inserted(part.end, self._indent(part) + indent, lines)
        return self._spliced([Splice(start, part.end, ""), below], {})

    def with_entry(self, mapping: Part | None, key: str, value: Value, after: str | None = None) -> Document:
        """One more key, at the end of a mapping or below one of its keys; None is a file without anything."""
        if mapping is None:
            lines = in_lines(key, value, *self._steps(mapping))
            return self._spliced([self._inserted(len(self.body), 0, lines)], {0: _plain({key: value})})
        self._own(mapping)
        if mapping.is_empty:
            column = self._indent(mapping) + self._steps(mapping)[0]
            splice = self._inserted(mapping.end, column, in_lines(key, value, *self._steps(mapping)))
            return self._spliced([splice], {id(mapping): _plain({key: value})})
        keys = [name.text for name, _ in mapping.entries]
        number = keys.index(after) + 1 if after in keys else len(keys)
        expected: dict[int, Any] = {id(mapping): _plain({key: value}, _data(mapping, {}), number)}
        flow = f"{written(key, place='key')}: {in_brackets(value)}"
        if mapping.style:
            expected = {id(mapping): _plain({key: value}, _data(mapping, {}), len(keys))}
            return self._spliced(self._in_brackets(mapping, flow), expected)
        column = self._indent(mapping.children[0])
        alike = [v for _, v in mapping.entries if v.meant.kind != "text"]
        short = not isinstance(value, str) and alike and all(v.meant.style for v in alike)
        fits = short and column + len(flow) <= WIDTH
        lines = [flow] if fits else in_lines(key, value, *self._steps(mapping))
        above, last = mapping.entries[number - 1]
        if number > 1 and self._blank_between(mapping.entries[number - 2][1], above):
            lines = ["", *lines]
        return self._spliced([self._inserted(last.end, column, lines, below=column)], expected)

    def without(self, part: Part, within: Part, *, comments: bool = False) -> Document:
        """All but an item, or a key with its value; of what is left empty by that, as far as `within`, nothing stays.

        What stands beside it on its lines goes with it; so does, if asked for, a block of comments right above it.
        """
        holder = self._parents[id(part)]
        self._own(part)
        while holder is not within and len(holder.children) == (1 if holder.kind == "list" else 2):
            part, holder = self._key(holder), self._parents[id(holder)]
        spans = [(key, value) for key, value in holder.entries] or [(item, item) for item in holder.items]
        number = [id(first) for first, _ in spans].index(id(part))
        self._unused(*spans[number])
        size = 2 if holder.kind == "mapping" else 1
        expected: Any = {id(child): _GONE for child in holder.children[size * number : size * (number + 1)]}
        if holder.style:
            return self._spliced(self._out_of_brackets(holder, spans, number), expected)
        if len(spans) == 1:
            expected = {id(holder): ""}
        begin = dash(self.body, holder, number) if holder.kind == "list" else part.start
        start, end = self._line(begin), self._next_line(spans[number][1].end)
        if self.body[start:begin].strip(" "):
            raise self.refusal(part, "it shares its line with something else")
        while comments and start:
            above = self._line(start - 1)
            found = _COMMENT_LINE.fullmatch(self.body, above, start)
            if found is None or len(found[1]) != begin - self._line(begin):
                break
            start = above
        if end == len(self.body) and start and not self._ends_line(end):
            start -= 2 if self.body[:start].endswith("\r\n") else 1
        return self._spliced([Splice(start, end, "")], expected)

    def nested(self, value: Part, key: str) -> Document:
        """What stands under a key, under another key inside it: a list becomes a mapping of one."""
        self._own(value)
        name = written(key, place="key")
        expected = {id(value): ((key, _data(value, {})),)}
        if self._parents[id(value)].style:
            splices = [Splice(value.start, value.start, f"{{{name}: "), Splice(value.end, value.end, "}")]
            return self._spliced(splices, expected)
        step = self._steps(value)[0]
        margin = " " * (self._indent(value) + step)
        if value.style:
            start = len(self.body[: value.start].rstrip(" "))
            return self._spliced([Splice(start, value.start, f"{self._break}{margin}{name}: ")], expected)
        start, end = self._next_line(self._key(value).end), self._next_line(value.end)
        lines = self.body[start:end].splitlines(keepends=True)
        moved = "".join(" " * step + line if line.strip() else line for line in lines)
        return self._spliced([Splice(start, end, f"{margin}{name}:{self._break}{moved}")], expected)

    def comment_beside(self, part: Part) -> str:
        """What stands behind an item on its line, with the space before it; in brackets it is about all of them."""
        behind = self.body[part.end : self._next_line(part.end)].rstrip("\r\n")
        return behind if behind.lstrip(" \t").startswith("#") else ""

    def path_to(self, part: Part) -> tuple[int, ...]:
        """The way to a part from the root, by positions."""
        holder = self._parents.get(id(part))
        if holder is None:
            return ()
        return (*self.path_to(holder), [id(child) for child in holder.children].index(id(part)))

    def follow(self, path: Sequence[int]) -> Part:
        """The part at the end of a path."""
        assert self.root is not None  # noqa: S101 - there is a path
        part = self.root
        for number in path:
            part = part.children[number]
        return part

    def _in_brackets(self, part: Part, piece: str) -> list[Splice]:
        """One more piece in a list or mapping in brackets."""
        if not part.children:
            return [Splice(part.end - 1, part.end - 1, piece)]
        starts = part.children if part.kind == "list" else part.children[::2]
        first, last, end = starts[0].start, starts[-1].start, part.children[-1].end
        if self._alone(last, end, part):
            found = _COMMA.match(self.body, end)
            column, comma = last - self._line(last), "," if found else ""
            new = self._inserted(found.end() - 1 if found else end, column, [piece + comma])
            return [new] if found else [Splice(end, end, ","), new]
        wide = self._too_wide(part, piece)
        space = self._break + " " * (first - self._line(first)) if wide else " "
        return [Splice(end, end, f",{space}{piece}")]

    def _too_wide(self, part: Part, piece: str) -> bool:
        """Whether a line would be, with one more piece."""
        line = self.body[self._line(part.children[-1].end) : self._next_line(part.end)] if part.children else ""
        return len(line.rstrip()) + len(piece) + 2 > WIDTH

    def _can_open(self, part: Part) -> bool:
        """Whether what stands in brackets is on one line, and could as well stand in lines."""
        holder = self._parents.get(id(part))
        if holder is not None and holder.style:
            return self._can_open(holder)
        one_line = self._line(part.start) == self._line(part.end)
        return one_line and bool(part.children) and holder is not None and holder.kind == "mapping"

    def _out_of_brackets(self, holder: Part, spans: Sequence[tuple[Part, Part]], number: int) -> list[Splice]:
        start, end = spans[number][0].start, spans[number][1].end
        found = _COMMA.match(self.body, end)
        behind = found.end() if found else end
        if self._alone(start, behind, holder) and self._line(holder.start) != self._line(start):
            return [Splice(self._line(start), self._next_line(behind), "")]
        following = spans[number + 1][0].start if number + 1 < len(spans) else None
        if following is not None:
            between = self.body[end:following]
            return [Splice(start, behind if "#" in between else following, "")]
        if number:
            before = spans[number - 1][1].end
            return [Splice(start if "#" in self.body[before:start] else before, end, "")]
        return [Splice(start, behind, "")]

    def _alone(self, start: int, end: int, holder: Part) -> bool:
        """Whether what stands here in brackets has its lines for itself."""
        before = self.body[self._line(start) : start]
        behind = self.body[end : self._next_line(end)].strip().removeprefix(",").strip()
        return not before.strip() and holder.end > self._next_line(end) - 1 and behind[:1] in ("", "#")

    def _inserted(self, position: int, column: int, lines: Sequence[str], below: int | None = None) -> Splice:
        """Lines below the one with this position, and below the comments there that stand deeper than a column."""
        place = self._next_line(position)
        while below is not None and (found := _COMMENT_LINE.match(self.body, place)) and len(found[1]) > below:
            place = found.end()
        text = self._break.join(" " * column + line if line else "" for line in lines)
        if place and not self._ends_line(place):
            return Splice(place, place, self._break + text)
        return Splice(place, place, text + self._break)

    def _ends_line(self, position: int) -> bool:
        return self.body[position - 1 : position] in ("\n", "\r")

    def _line(self, position: int) -> int:
        """Where the line with this position begins."""
        return max(self.body.rfind("\n", 0, position), self.body.rfind("\r", 0, position)) + 1

    def _next_line(self, position: int) -> int:
        """Where the next line begins; a text that ends in a line break stays on the line it ends."""
        found = _BREAK.search(self.body, position)
        return found.end() if found else len(self.body)

    def _indent(self, part: Part) -> int:
        """The column of a key, or of the key that a value belongs to."""
        key = self._key(part)
        return key.start - self._line(key.start)

    def _key(self, part: Part) -> Part:
        """The key of a value; anything else as it is."""
        holder = self._parents.get(id(part))
        entries = holder.entries if holder is not None else ()
        return next((key for key, value in entries if value is part), part)

    def _steps(self, near: Part | None) -> tuple[int, int]:
        """How far mappings, and the dashes of lists, stand to the right of their keys: as the nearest ones do."""
        step = self._step("mapping", near) or 2
        before_dash = self._step("list", near)
        return step, step if before_dash is None else before_dash

    def _step(self, kind: Kind, near: Part | None) -> int | None:
        while near is not None:
            for part in near.walk():
                for key, value in () if part.style else part.entries:
                    if value.kind == kind and not value.style and value.children:
                        inner = dash(self.body, value, 0) if kind == "list" else value.children[0].start
                        return inner - self._line(inner) - self._indent(key)
            near = self._parents.get(id(near))
        return None

    def _blank_between(self, above: Part, below: Part) -> bool:
        lines = _BREAK.split(self.body[self._next_line(above.end) : self._line(below.start)])
        return any(not line.strip() for line in lines[:-1])

    def _own(self, part: Part) -> None:
        """Refuse to edit what stands for something elsewhere too."""
        if part.kind == "alias":
            there = self.at(part.meant).short
            raise self.refusal(part, f"it is written as *{part.text}, which stands for what is at {there}")
        above: Part | None = part
        while above is not None:
            alias = self._aliases.get(id(above))
            if alias is not None:
                raise self.refusal(part, f"as *{alias.text} it is also used at {self.at(alias).short}")
            above = self._parents.get(id(above))

    def _unused(self, *parts: Part) -> None:
        """Refuse to take away what something elsewhere stands for."""
        inside = [inner for part in parts for inner in part.walk()]
        for inner in inside:
            alias = self._aliases.get(id(inner))
            if alias is not None and alias not in inside:
                raise self.refusal(inner, f"as *{alias.text} it is also used at {self.at(alias).short}")

    def _spliced(self, splices: Sequence[Splice], expected: Mapping[int, Any]) -> Document:
        body = self.body
        for splice in sorted(splices, reverse=True):
            body = body[: splice.start] + splice.text + body[splice.end :]
        wanted = _data(self.root, expected) if self.root else expected[0]
        try:
            new = Document(self.path, self._mark + body)
            same = new.root is not None and _data(new.root, {}) == wanted
        except yaml.YAMLError:
            same = False
        if not same:
            line = line_and_column(self.body, min(splices).start)[0]
            raise InputError(f"{self.path}:{line} is written in a way that cannot be edited here. Edit it by hand")
        return new


class _Alias(NamedTuple):
    name: str


def _data(part: Part, instead: Mapping[int, Any]) -> Any:
    """What is read: texts, tuples of items, and tuples of key and value; `instead` by the identity of a part."""
    if id(part) in instead:
        return instead[id(part)]
    if part.kind == "text":
        return part.text
    if part.kind == "alias":
        return _Alias(part.text)
    read = [_data(child, instead) for child in part.children]
    if part.kind == "list":
        return tuple(one for one in read if one is not _GONE)
    return tuple((key, value) for key, value in zip(read[::2], read[1::2], strict=True) if key is not _GONE)


def _plain(value: Value, entries: tuple[Any, ...] = (), number: int = 0) -> Any:
    """A new value as `_data` gives it; of a mapping, among other entries."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        new = tuple((key, _plain(inner)) for key, inner in value.items())
        return (*entries[:number], *new, *entries[number:])
    return tuple(map(_plain, value))
