"""Edit the YAML of one file without changing any byte outside the edited lines.

An edit splices text at the position of a node. Writing a parsed tree anew would fold long lines and unify the
indentation, even with a library that keeps comments. After each splice the text is parsed again, and the edit is
refused if anything else has changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from intentmatch.core.errors import InputError, Location
from intentmatch.registry.editing.layout import REMOVED, UNCHANGED, Kind, WrittenNode, bare, dash, layout, read_as
from intentmatch.registry.editing.lines import Lines, Splice
from intentmatch.registry.editing.quoting import Value, in_brackets, in_lines, written
from intentmatch.registry.reading.nodes import line_and_column

WIDTH = 120
"""Columns up to which a list in brackets may grow."""

_BOM = "\ufeff"
_COMMA = re.compile(r"(?:\s|#[^\r\n]*)*,")


class Document:
    """Text and layout of a YAML file. Immutable: each edit takes parts of this document and returns a new one.

    Raises `yaml.YAMLError` for invalid YAML; the edits raise `InputError` if a part cannot be edited.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.mark = _BOM if text.startswith(_BOM) else ""
        self.body = text.removeprefix(_BOM)
        self._lines = Lines(self.body)
        self.root = layout(self.body)
        parts = list(self.root.walk()) if self.root else []
        # By identity, since two parts with equal text are not the same part.
        self._holders = {id(child): part for part in parts if part.kind != "alias" for child in part.children}
        self._aliases = {id(part.resolved): part for part in parts if part.kind == "alias"}

    @property
    def text(self) -> str:
        """The whole text, with its byte order mark."""
        return self.mark + self.body

    def replaced(self, body: str) -> Document:
        """Return the document with another text. Raises `yaml.YAMLError`."""
        return Document(self.path, self.mark + body)

    def at(self, part: WrittenNode) -> Location:
        """Return the location of a part."""
        return Location(self.path, *line_and_column(self.body, part.start))

    def refusal(self, part: WrittenNode, why: str) -> InputError:
        """Return the error for a part that cannot be edited."""
        return InputError(f"{self.at(part).short} cannot be edited automatically: {why}. Edit it by hand")

    def path_to(self, part: WrittenNode) -> tuple[int, ...]:
        """Return the child positions that lead from the root to a part."""
        holder = self._holders.get(id(part))
        if holder is None:
            return ()
        return (*self.path_to(holder), [id(child) for child in holder.children].index(id(part)))

    def follow(self, path: Sequence[int]) -> WrittenNode:
        """Return the part at a path. Raises `LookupError` if there is none."""
        part = self.root
        for number in path:
            part = part.children[number] if part else None
        if part is None:
            raise LookupError(path)
        return part

    def comment_beside(self, part: WrittenNode) -> str:
        """Return the comment after a part, with the space before it; "" for parts inside brackets."""
        return self._lines.comment_after(part.end)

    def with_text(self, part: WrittenNode, text: str) -> Document:
        """Replace a text and keep its quotes."""
        self._refuse_shared(part)
        # A block text has lines of its own, whose indentation and ending a new text would have to follow.
        if part.kind != "text" or part.style in ("|", ">"):
            raise self.refusal(part, "it is not a text on one line")
        if part.text == text and not part.is_empty:
            return self
        start, holder = bare(self.body, part), self._holders.get(id(part))
        # A comma or a bracket ends a text between brackets, so it needs quotes there that it does not need in a line.
        new = written(text, part.style, "brackets" if holder and holder.style else "line")
        # The colon of an empty value needs a space after it.
        space = " " if self.body[start - 1 : start] == ":" else ""
        return self._spliced([Splice(start, part.end, space + new)], {id(part): text})

    def with_item(self, items: WrittenNode, value: Value, style: str = "") -> Document:
        """Append a value to a list; a text in the quotes that all its neighbours use, else in `style`."""
        self._refuse_shared(items)
        if items.kind != "list" and not items.is_empty:
            raise self.refusal(items, "it is not a list")
        styles = {item.style for item in items.items if item.kind == "text"}
        # One neighbour without quotes shows that the author writes quotes only where they are needed.
        style = styles.pop() if len(styles) == 1 and "" not in styles else style
        expected = {id(items): (*read_as(items), _plain(value)) if items.items else (_plain(value),)}
        if items.style:
            piece = written(value, style, "brackets") if isinstance(value, str) else in_brackets(value)
            opened = self._opened_if_wide(items, piece)
            if opened is not None:
                return opened.with_item(opened.follow(self.path_to(items)), value, style)
            return self._spliced(self._in_brackets(items, piece), expected)
        # An empty list has no dash to align with: other lists of the file show how its author indents dashes.
        column, gap = self._indent(items) + self._steps(items)[1], " "
        if items.items:
            number = len(items.items) - 1
            before = dash(self.body, items, number)
            column, gap = self._lines.column(before), self.body[before + 1 : items.items[number].start]
        piece = written(value, style) if isinstance(value, str) else in_brackets(value)
        line = "-" + (gap if gap and not gap.strip(" ") else " ") + piece
        return self._spliced([self._lines.inserted(self._lines.next_line(items.end), column, [line])], expected)

    def with_entry(self, mapping: WrittenNode | None, key: str, value: Value, number: int | None = None) -> Document:
        """Insert a key at position `number` or at the end; in brackets always at the end.

        `mapping` is None for an empty file.
        """
        if mapping is None:
            new = self._lines.inserted(len(self.body), 0, in_lines(key, value, *self._steps(None)))
            return self._spliced([new], {0: _plain({key: value})})
        self._refuse_shared(mapping)
        if mapping.is_empty:
            column = self._indent(mapping) + self._steps(mapping)[0]
            lines = in_lines(key, value, *self._steps(mapping))
            new = self._lines.inserted(self._lines.next_line(mapping.end), column, lines)
            return self._spliced([new], {id(mapping): _plain({key: value})})
        if mapping.kind != "mapping":
            raise self.refusal(mapping, "it is not a mapping")
        last = len(mapping.entries)
        number = last if number is None or mapping.style else number
        old: tuple[Any, ...] = read_as(mapping)
        expected = {id(mapping): (*old[:number], *_plain({key: value}), *old[number:])}
        if mapping.style:
            piece = f"{written(key, place='key')}: {in_brackets(value)}"
            opened = self._opened_if_wide(mapping, piece)
            if opened is not None:
                return opened.with_entry(opened.follow(self.path_to(mapping)), key, value)
            return self._spliced(self._in_brackets(mapping, piece), expected)
        return self._spliced([self._in_block(mapping, key, value, number)], expected)

    def with_comment(self, part: WrittenNode, comment: str) -> Document:
        """Replace or remove the comment beside an item or value; brackets around it are opened into lines."""
        holder = self._holders[id(part)]
        if holder.style:
            # A comment after an item between brackets would hide the rest of its line.
            if not self._can_open(holder):
                raise self.refusal(holder, f"the brackets leave no place for the comment {comment.strip()!r}")
            opened = self._opened(holder)
            return opened.with_comment(opened.follow(self.path_to(part)), comment)
        return self._spliced([Splice(part.end, part.end + len(self.comment_beside(part)), comment)])

    def without(self, part: WrittenNode, within: WrittenNode | None = None, *, comments: bool = False) -> Document:
        """Remove an item, or a key with its value, and parents inside `within` that would become empty.

        Comments on its lines are removed too, and with `comments` also those right above it.
        """
        holder = self._holders[id(part)]
        self._refuse_shared(holder)
        # A key without a value, such as a language whose last line is gone, would be an error.
        while within not in (None, holder) and len(holder.children) == (1 if holder.kind == "list" else 2):
            part, holder = self._key(holder), self._holders[id(holder)]
        spans = holder.entries or tuple((item, item) for item in holder.items)
        number = [id(first) for first, _ in spans].index(id(part))
        self._refuse_if_referenced(*spans[number])
        expected: dict[int, Any] = {id(inner): REMOVED for inner in spans[number]}
        if holder.style:
            return self._spliced([self._out_of_brackets(holder, spans, number)], expected)
        if len(spans) == 1:
            expected = {id(holder): ""}
        begin = dash(self.body, holder, number) if holder.kind == "list" else part.start
        # Removing the whole line would take the other value along: `- - a` or `a: - b`.
        if self._lines.before(begin).strip(" "):
            raise self.refusal(part, "it shares its line with another value")
        start = self._lines.comments_above(begin) if comments else self._lines.start(begin)
        return self._spliced([self._lines.removed(start, self._lines.next_line(spans[number][1].end))], expected)

    def check_removable(self, item: WrittenNode) -> None:
        """Raise `InputError` if a list item cannot be removed: an alias repeats it, or it shares its line."""
        holder = self._holders[id(item)]
        self._refuse_shared(holder)
        self._refuse_if_referenced(item)
        if not holder.style:
            self._start_of_item(holder, item)

    def without_items(self, items: Sequence[WrittenNode]) -> Document:
        """Remove items of block lists at once; none of the lists may become empty."""
        splices = []
        for item in items:
            self.check_removable(item)
            start = self._start_of_item(self._holders[id(item)], item)
            splices.append(self._lines.removed(start, self._lines.next_line(item.end)))
        return self._spliced(splices, {id(item): REMOVED for item in items})

    def _start_of_item(self, holder: WrittenNode, item: WrittenNode) -> int:
        """Return the start of the first line of an item of a block list."""
        begin = dash(self.body, holder, [id(one) for one in holder.items].index(id(item)))
        if self._lines.before(begin).strip(" "):
            raise self.refusal(item, "it shares its line with another value")
        return self._lines.start(begin)

    def nested(self, value: WrittenNode, key: str) -> Document:
        """Move a value below a new key: a list becomes a mapping with one entry."""
        self._refuse_shared(value)
        name = written(key, place="key")
        expected = {id(value): ((key, read_as(value)),)}
        if self._holders[id(value)].style:
            splices = [Splice(value.start, value.start, f"{{{name}: "), Splice(value.end, value.end, "}")]
            return self._spliced(splices, expected)
        step = self._steps(value)[0]
        margin, ending = " " * (self._indent(value) + step), self._lines.ending
        # A list in brackets moves to a line below its key; a list in lines only moves to the right.
        if value.style:
            start = len(self.body[: value.start].rstrip(" "))
            return self._spliced([Splice(start, value.start, f"{ending}{margin}{name}: ")], expected)
        start, end = self._lines.next_line(self._key(value).end), self._lines.next_line(value.end)
        moved = self._lines.moved(start, end, step)
        return self._spliced([Splice(start, end, f"{margin}{name}:{ending}{moved}")], expected)

    def _in_block(self, mapping: WrittenNode, key: str, value: Value, number: int) -> Splice:
        """Insert a key into a block mapping; its value is in brackets if all its neighbours are."""
        column = self._indent(mapping.children[0])
        # A file that has only `settings: {...}` so far still gets its `intents:` in lines.
        alike = [one.resolved for _, one in mapping.entries if one.resolved.children and mapping is not self.root]
        short = f"{written(key, place='key')}: {in_brackets(value)}"
        is_short = not isinstance(value, str) and alike and all(one.style for one in alike)
        fits = is_short and column + len(short) <= WIDTH
        lines = [short] if fits else in_lines(key, value, *self._steps(mapping))
        if not number:
            return self._lines.inserted(self._lines.comments_above(mapping.children[0].start), column, lines)
        above, last = mapping.entries[number - 1]
        before = mapping.entries[number - 2][1] if number > 1 else None
        # An author who parts the last two entries by a blank line parts the new one too.
        if before and self._lines.has_blank(self._lines.next_line(before.end), self._lines.start(above.start)):
            lines = ["", *lines]
        # A comment that is indented below the last entry belongs to that entry.
        return self._lines.inserted(self._lines.comments_below(last.end, column), column, lines)

    def _in_brackets(self, part: WrittenNode, piece: str) -> list[Splice]:
        """Append a piece to a list or mapping in brackets."""
        if not part.children:
            return [Splice(part.end - 1, part.end - 1, piece)]
        starts = [child.start for child in (part.items or part.children[::2])]
        end = part.children[-1].end
        if self._has_own_lines(starts[-1], end, part):
            found = _COMMA.match(self.body, end)
            line = piece + ("," if found else "")
            below = self._lines.next_line(found.end() if found else end)
            new = self._lines.inserted(below, self._lines.column(starts[-1]), [line])
            return [new] if found else [Splice(end, end, ","), new]
        space = self._lines.ending + " " * self._lines.column(starts[0]) if self._is_wide(part, piece) else " "
        return [Splice(end, end, f",{space}{piece}")]

    def _out_of_brackets(
        self, holder: WrittenNode, spans: Sequence[tuple[WrittenNode, WrittenNode]], number: int
    ) -> Splice:
        start, end = spans[number][0].start, spans[number][1].end
        found = _COMMA.match(self.body, end)
        after = found.end() if found else end
        if self._has_own_lines(start, after, holder):
            return Splice(self._lines.start(start), self._lines.next_line(after), "")
        if number + 1 < len(spans):
            following = spans[number + 1][0].start
            # A comment before the next item stays, and so must the line break that ends it.
            return Splice(start, after if "#" in self.body[end:following] else following, "")
        if number:
            before = spans[number - 1][1].end
            return Splice(start if "#" in self.body[before:start] else before, end, "")
        return Splice(start, after, "")

    def _has_own_lines(self, start: int, end: int, holder: WrittenNode) -> bool:
        """Return whether only a comma and a comment share the lines of a span."""
        after = self._lines.rest_of_line(end).strip().removeprefix(",").strip()
        apart = not self._lines.same(holder.start, start) and not self._lines.same(end, holder.end)
        return apart and not self._lines.before(start).strip() and after[:1] in ("", "#")

    def _is_wide(self, part: WrittenNode, piece: str) -> bool:
        """Return whether one more piece in these brackets would make the line too long."""
        return bool(part.children) and len(self._lines.whole(part.children[-1].end)) + len(piece) + 2 > WIDTH

    def _can_open(self, part: WrittenNode) -> bool:
        """Return whether brackets are on one line, below a key, so that they can be opened into lines."""
        holder = self._holders.get(id(part))
        # Lines have no meaning between outer brackets, so only the outermost pair can be opened.
        if holder is not None and holder.style:
            return self._can_open(holder)
        one_line = self._lines.same(part.start, part.end)
        return one_line and bool(part.children) and holder is not None and holder.kind == "mapping"

    def _opened_if_wide(self, part: WrittenNode, piece: str) -> Document | None:
        return self._opened(part) if self._is_wide(part, piece) and self._can_open(part) else None

    def _opened(self, part: WrittenNode) -> Document:
        """Open brackets after a key into lines below it; of nested brackets, the outermost."""
        holder = self._holders[id(part)]
        if holder.style:
            return self._opened(holder)
        indent = self._indent(part) + self._steps(part)[part.kind == "list"]
        lines = [f"- {self.body[item.start : item.end]}" for item in part.items]
        lines += [self.body[key.start : value.end] for key, value in part.entries]
        start = len(self.body[: bare(self.body, part)].rstrip(" "))
        below = self._lines.inserted(self._lines.next_line(part.end), indent, lines)
        return self._spliced([Splice(start, part.end, ""), below])

    def _indent(self, part: WrittenNode) -> int:
        """Return the column of a key, or of a value's key."""
        return self._lines.column(self._key(part).start)

    def _key(self, part: WrittenNode) -> WrittenNode:
        """Return the key of a value; for any other part, the part itself."""
        holder = self._holders.get(id(part))
        return next((key for key, value in (holder.entries if holder else ()) if value is part), part)

    def _steps(self, near: WrittenNode | None) -> tuple[int, int]:
        """Return the indentation of mappings and of list dashes below their keys, as in the nearest examples."""
        step = self._step("mapping", near) or 2
        # YAML lets dashes stand in the column of their key, so lists have a step of their own.
        before_dash = self._step("list", near)
        return step, step if before_dash is None else before_dash

    def _step(self, kind: Kind, near: WrittenNode | None) -> int | None:
        while near is not None:
            for part in near.walk():
                for key, value in () if part.style else part.entries:
                    if value.kind == kind and not value.style:
                        inner = dash(self.body, value, 0) if kind == "list" else value.children[0].start
                        return self._lines.column(inner) - self._lines.column(key.start)
            near = self._holders.get(id(near))
        return None

    def _refuse_shared(self, part: WrittenNode) -> None:
        """Refuse to edit an alias, or a part that an alias elsewhere repeats."""
        if part.kind == "alias":
            target = self.at(part.resolved).short
            raise self.refusal(part, f"it is the alias *{part.text} of the value at {target}")
        above: WrittenNode | None = part
        while above is not None:
            alias = self._aliases.get(id(above))
            if alias is not None:
                raise self.refusal(part, f"it is also used as *{alias.text} at {self.at(alias).short}")
            above = self._holders.get(id(above))

    def _refuse_if_referenced(self, *parts: WrittenNode) -> None:
        """Refuse to remove a part that an alias elsewhere refers to."""
        inside = [inner for part in parts for inner in part.walk()]
        for inner in inside:
            alias = self._aliases.get(id(inner))
            if alias is not None and alias not in inside:
                raise self.refusal(inner, f"it is also used as *{alias.text} at {self.at(alias).short}")

    def _spliced(self, splices: Sequence[Splice], expected: Mapping[int, Any] = UNCHANGED) -> Document:
        """Apply splices and verify the result; `expected` maps the id of each edited part to its new value."""
        body = self.body
        # From the end, so that the positions of the others stay right.
        for splice in sorted(splices, reverse=True):
            body = body[: splice.start] + splice.text + body[splice.end :]
        wanted = read_as(self.root, expected) if self.root else expected[0]
        try:
            new: Document | None = self.replaced(body)
        except yaml.YAMLError:
            new = None
        # Better no edit than one that changes another value: YAML has more layouts than the edits know.
        if new is None or new.root is None or read_as(new.root) != wanted:
            line = line_and_column(self.body, min(splices).start)[0]
            raise InputError(f"{self.path}:{line} cannot be edited automatically in its YAML layout. Edit it by hand")
        return new


def _plain(value: Value) -> Any:
    """Return a new value in the form that `read_as` returns."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return tuple((key, _plain(inner)) for key, inner in value.items())
    return tuple(map(_plain, value))
