"""Guess at mistakes in lines of YAML: each finder yields the repairs of one kind of mistake.

A finder takes the lines of a file and the number of one of them. Its repairs are guesses: `syntax_causes` keeps those
with which the parser gets further.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from intentmatch.registry.reading.comma_repairs import COMMA_FINDERS
from intentmatch.registry.reading.grammar import FILE_KEYS, INTENT_KEYS, TEST_KEYS
from intentmatch.registry.reading.line_parts import LineParts, columns, quoted, shown, take_apart
from intentmatch.registry.reading.repair import Finder, Repair
from intentmatch.registry.reading.sign_repairs import SIGN_FINDERS
from intentmatch.registry.reading.slot_grammar import SLOT_KEYS
from intentmatch.text.normalize import language_code

_STEP = 2
_DEEPEST = 1 << 30
# Lines with content around a line, in which its neighbours in a list are looked for.
_LINES_AROUND = 3
_LONGEST_KEY = 40

_KEYS = frozenset({*FILE_KEYS, *INTENT_KEYS, *TEST_KEYS, *SLOT_KEYS})
_STARTS = {
    "[": "a text that begins with `[` is a list in YAML",
    "{": "a text that begins with `{` is a mapping in YAML",
    "'": "the apostrophe at the start opens a quoted text",
    '"': "the quote at the start ends before the text does",
    "*": "a text that begins with `*` is an alias in YAML",
    "&": "a text that begins with `&` is an anchor in YAML",
    "!": "a text that begins with `!` is a tag in YAML",
    "|": "a text that begins with `|` is a block text in YAML",
    ">": "a text that begins with `>` is a block text in YAML",
    "%": "YAML reserves `%` at the start of a text",
    "@": "YAML reserves `@` at the start of a text",
    "`": "YAML reserves ` at the start of a text",
    ",": "a text cannot begin with `,` in YAML",
    "]": "a text cannot begin with `]` in YAML",
    "}": "a text cannot begin with `}` in YAML",
    "?": "a text that begins with `? ` is a key in YAML",
}


# A text without quotes, among others in brackets, with the name of a slot in braces.
_SLOT_IN_BRACKETS = re.compile(
    r"""(?P<before>[\[,]\s*)(?=[^\s\[\]{},"'])(?P<text>(?![^\[\]{},]*:\s)[^\[\]{},]*\{[\w.-]+\}[^\[\],]*)(?=[\],])"""
)


def opens_quote(value: str) -> bool:
    """Return whether a text begins with a quote that does not end with it."""
    if value[:1] == "'":
        return re.fullmatch(r"'(?:[^']|'')*'", value) is None
    return value[:1] == '"' and re.fullmatch(r'"(?:[^"\\]|\\.)*"', value) is None


def tab(lines: Sequence[str], number: int, column: int) -> Iterator[Repair]:
    """Yield repairs of a tab that indents a line or follows a dash; none if there is no such tab at the column."""
    line = lines[number] if number < len(lines) else ""
    found = re.match(r"[ ]*(?:-[ ]*)*\t", line)
    if found is None or found.end() - 1 != column:
        return
    message = "a tab indents this line; YAML allows only spaces"
    if "-" in line[:column]:
        message = "a tab follows the dash; YAML allows only spaces"
    # The lines below may be indented by tabs as well.
    rest = [each.expandtabs(2) for each in lines[number + 1 :]]
    guesses = [line.expandtabs(2)]
    if "-" in line[:column]:
        guesses = [re.sub(r"^( *-)[ \t]+", r"\1 ", line)]
    else:
        above = next((take_apart(each) for each in reversed(lines[:number]) if each.strip()), None)
        depth = above.indent if above else 0
        opens = above is not None and above.key is not None and not above.value
        guesses = [" " * indent + line.lstrip(" \t") for indent in (depth + 2 if opens else depth, 0)] + guesses
    for repaired in guesses:
        yield Repair(number, [repaired, *rest], column, message, "replace the tab by spaces")


def _two_keys(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A second key on the line of the first."""
    line = take_apart(lines[number])
    if line.key is None:
        return
    if line.value.endswith(":") and line.value[:-1] in INTENT_KEYS and line.key not in _KEYS:
        second = line.value[:-1]
        message = f"two keys are on one line: `{line.key}` and `{second}`"
        hint = f"begin a new line before `{second}`, indented two columns further right than `{line.key}`"
        # Without the first key, so that the lines below stay at their depth.
        repaired = f"{' ' * (line.indent + _STEP)}{line.value}{line.comment}"
        yield Repair(number, [repaired], line.start, message, hint)
    if not (line.key in _KEYS or language_code(line.key)):
        return
    for found in re.finditer(r"(?<=\s)([\w-]+):(?=\s|$)", line.value):
        second = found[1]
        if second in _KEYS or (language_code(second) == second and language_code(line.key)):
            column = line.start + found.start()
            depth = line.indent + len(line.dashes)
            first = lines[number][:column].rstrip().rstrip(",")
            message = f"two keys are on one line: `{line.key}` and `{second}`"
            hint = f"begin a new line before `{second}`, indented like `{line.key}`"
            # As one line, so that the numbers of the other lines stay.
            key = f"{' ' * line.indent}{line.dashes}{line.key}: "
            yield Repair(number, [key + quoted(first[depth:] + lines[number][column:])], column, message, hint)


def _start(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A text that begins with a character of YAML's own."""
    line = take_apart(lines[number])
    sign, value = line.value[:1], line.value
    if sign in "[{":
        # After a key, a list or mapping is what is expected.
        closed = re.match(r"\[[^\]]*\]|\{[^}]*\}", value)
        after = value[closed.end() :].strip() if closed else ""
        if not sign or (line.key is not None and not after) or after[:1] == ",":
            return
    elif (
        sign not in _STARTS
        or re.match(r"\?\S|[&!]\S*\s+[\[{]", value)
        or (sign in ("'", '"') and not opens_quote(value))
    ):
        return
    if sign == '"' and value.count('"') == 1:
        fixed = f"{value}{sign}"
        message, hint = "the quote opened here is never closed", 'write a `"` at the end of the text'
    else:
        fixed = quoted(value)
        message, hint = _STARTS[sign], ""
    repaired = lines[number][: line.start] + fixed + line.comment
    quotes = "single" if fixed[0] == "'" else "double"
    hint = hint or f"put the text in {quotes} quotes{shown(repaired)}"
    yield Repair(number, [repaired], line.start, message, hint)


def _colons(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A text with a colon and a space, which make a key of what stands before them."""
    line = take_apart(lines[number])
    if line.key is None:
        return
    alone = bool(line.dashes) and line.key not in _KEYS
    start = line.indent + len(line.dashes) if alone else line.start
    text = lines[number][start:].removesuffix(line.comment)
    found = re.search(r":(?=\s|$)", line.value)
    if found is not None and text[:1] not in "\"'[{":
        column = line.start + found.start()
        repaired = lines[number][:start] + quoted(text) + line.comment
        message = "a colon and a space make a key of the text before them"
        yield Repair(number, [repaired], column, message, f"put the text in double quotes{shown(repaired)}")


def _list_beside_key(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A list that begins on the line of its key."""
    line = take_apart(lines[number])
    if line.key is not None and line.value.startswith("- "):
        repaired = lines[number][: line.start] + f"[{quoted(line.value[2:])}]" + line.comment
        message = f"a list begins on the line of its key `{line.key}`"
        yield Repair(number, [repaired], line.start, message, "begin the list on the next line")
        # The list may go on below.
        indent = " " * (line.indent + len(line.dashes))
        below = next((take_apart(each) for each in lines[number + 1 :] if each.strip()), None)
        if below is not None and below.dashes:
            end = number + 1
            while end < len(lines) and (not lines[end].strip() or take_apart(lines[end]).dashes):
                end += 1
            items = [quoted(take_apart(each).value) for each in lines[number + 1 : end] if each.strip()]
            listed = ", ".join([quoted(line.value[2:]), *items])
            merged = [f"{indent}{line.key}: [{listed}]", *[""] * (end - number - 1)]
            yield Repair(number, merged, line.start, message, "begin the list on the next line")


def _dash(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A list item without its dash, or without the space after it."""
    line = take_apart(lines[number])
    if line.key is not None or line.dashes or not line.value or line.value == "-":
        return
    indent = " " * line.indent
    around = [take_apart(each) for each in (*reversed(lines[:number]), *lines[number + 1 :]) if each.strip()]
    if line.value[0] == "-" and line.value[1] not in "- ":
        repaired = f"{indent}- {line.value[1:]}{line.comment}"
        hint = f"write a space after the dash{shown(repaired)}"
        yield Repair(number, [repaired], line.indent + 1, "a space is missing after the dash", hint)
    elif line.value not in _KEYS and not _opens_block(line, lines[number + 1 :]):
        for depth in dict.fromkeys(each.indent for each in around[:_LINES_AROUND] if each.dashes):
            repaired = f"{' ' * depth}- {line.value}{line.comment}"
            hint = f"begin the line with a dash and a space{shown(repaired)}"
            yield Repair(number, [repaired], line.indent, "the dash of this line is missing", hint)


def _opens_block(line: LineParts, below: Sequence[str]) -> bool:
    """Whether a line of one word is followed by a key further right, so that it is a key without its colon."""
    following = next((take_apart(each) for each in below if each.strip()), None)
    deeper = following is not None and following.key is not None and following.indent > line.indent
    return deeper and re.fullmatch(r"[\w.-]+", line.value) is not None


def _colon(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A key without its colon, or without the space after it."""
    line = take_apart(lines[number])
    glued = re.match(r"(\w+):(?=\S)", line.value) if line.key is None else None
    start = lines[number][: line.start]
    if glued is not None and glued[1] in _KEYS:
        column = line.start + glued.end()
        repaired = f"{lines[number][:column]} {lines[number][column:]}"
        message, hint = "a space is missing after the colon", f"write a space there{shown(repaired)}"
        yield Repair(number, [repaired], column, message, hint)
    elif line.key is None and line.value and len(line.value) <= _LONGEST_KEY and line.value[0] not in "-[{'\"":
        first, _, rest = line.value.partition(" ")
        if rest and first in _KEYS:
            repaired = f"{start}{first}: {quoted(rest)}{line.comment}"
            hint = f"write a colon after `{first}`: `{first}: {rest}`"
            yield Repair(number, [repaired], line.start + len(first), f"the colon after `{first}` is missing", hint)
        message = f"the colon after `{line.value}` is missing"
        column = line.start + len(line.value)
        repaired = f"{start}{line.value}:{line.comment}"
        yield Repair(number, [repaired], column, message, f"write `{line.value}:`")


def indentation(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A line that is indented like no line above it, or makes the lines below it so.

    `number` is the line in which the parser gave up. Of this line and those that open its blocks, the likeliest to be
    wrong is one with an odd indentation, then one nearby, then the one whose indentation is rarest in the file.
    """
    depths = Counter(take_apart(line).indent for line in lines if line.strip())

    def unlikely(suspect: int) -> tuple[bool, bool, int]:
        indent = take_apart(lines[suspect]).indent
        return indent % _STEP == 0, suspect < number - 1, depths[indent]

    for suspect in sorted(_openers(lines, number), key=unlikely):
        yield from _reindented(lines, suspect, number if suspect < number else len(lines))


def _openers(lines: Sequence[str], number: int) -> list[int]:
    """Return a line, the line above it, and the lines above that are indented less than all lines in between."""
    found, least = [number], _DEEPEST
    for each in range(number - 1, -1, -1):
        line = lines[each].strip()
        indent = take_apart(lines[each]).indent
        if line and line[0] != "#" and indent < least:
            found.append(each)
            least = indent
        if len(found) == _LINES_AROUND + 2 or not least:
            break
    return found


def _reindented(lines: Sequence[str], number: int, last: int) -> Iterator[Repair]:
    """Move a line with its block, up to the line `last`, to the depths of other lines, the nearest first."""
    line = take_apart(lines[number])
    above = [take_apart(each) for each in lines[:number] if each.strip() and each.lstrip()[0] != "#"]
    below = next((take_apart(each) for each in lines[number + 1 :] if each.strip()), None)
    # Lines far above are hardly siblings of this one.
    known = {column for each in above[-40:] for column in (each.indent, each.indent + len(each.dashes))}
    # A key without a value opens a block.
    if above and above[-1].key is not None and not above[-1].value:
        known.add(above[-1].indent + _STEP)
    if below is not None:
        known.add(below.indent)
    end = number + 1
    while end < last and (not lines[end].strip() or take_apart(lines[end]).indent > line.indent):
        end += 1
    name = f"`{line.key}`" if line.key else "this line"
    # Six at most, since each guess costs a parse of the file.
    for depth in sorted(known - {line.indent}, key=lambda depth: (abs(depth - line.indent), -depth))[:6]:
        shift = depth - line.indent
        moved = [_shifted(each, shift) for each in lines[number:end]]
        parent = next((each.key for each in reversed(above) if each.indent < depth and each.key), None)
        advice = f"{name} belongs {columns(shift)}" + (f", below `{parent}`" if parent else "")
        message = "the indentation of this line does not fit the lines around it"
        yield Repair(number, moved, line.indent, message, advice)


def _shifted(line: str, columns: int) -> str:
    bare = line.lstrip(" ")
    return " " * max(0, len(line) - len(bare) + columns) + bare


def _comment_in_brackets(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A `#` between brackets, which hides the closing bracket."""
    for found in re.finditer(r"(?<=[\s])#\S*", lines[number]):
        before, after = lines[number][: found.start()], lines[number][found.start() + 1 :]
        if re.search(r"[\[{][^\]}]*$", before):
            message = f"`{found[0].rstrip(',]}')}` and the rest of the line are a comment in YAML"
            yield Repair(number, [before + after], found.start(), message, "put the text with `#` in double quotes")


def _stray(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A character that does not belong there, before a key or after its colon."""
    line = lines[number]
    if found := re.match(r"([ ]*(?:- +)*)([^\w\s#])([ ]*[\w-]+:(?:\s.*)?)$", line):
        message = f"the {found[2]!r} before the key does not belong there"
        yield Repair(number, [found[1] + found[3]], found.start(2), message, "remove it, or write the key in quotes")
    if found := re.match(r"([ ]*(?:- +)*[\w-]+:)([^\w\s])([ ].*)?$", line):
        message = f"the {found[2]!r} after the colon does not belong there"
        yield Repair(number, [found[1] + (found[3] or "")], found.start(2), message, "remove it")


def _slot_in_brackets(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """Texts with slots in lists in brackets, which may stand in braces."""
    line = lines[number]
    if found := _SLOT_IN_BRACKETS.search(line):
        repaired = _SLOT_IN_BRACKETS.sub(lambda it: it["before"] + quoted(it["text"].rstrip()), line)
        yield _bracket_repair(number, repaired, found.start("text"), found["text"].rstrip())


def _bracket_repair(number: int, repaired: str, column: int, text: str) -> Repair:
    message = f"this text holds a bracket, and stands in a list in brackets: `{text}`"
    return Repair(number, [repaired], column, message, f"put the text in double quotes: `{quoted(text)}`")


def _bracket_in_brackets(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A text with a bracket in a list in brackets."""
    line = take_apart(lines[number])
    found = re.fullmatch(r"(.*?)\[(.*)\](\W*)", line.value)
    if found is None:
        return
    items = re.split(r"(,\s*)", found[2])
    marked = [item for item in items if re.search(r"[\[\]{}]", item) and item[:1] not in ("'", '"', "")]
    if marked:
        column = line.start + line.value.index(marked[0])
        inner = "".join(quoted(item) if item in marked else item for item in items)
        repaired = f"{lines[number][: line.start]}{found[1]}[{inner}]{found[3]}{line.comment}"
        yield _bracket_repair(number, repaired, column, marked[0])


def _open_bracket(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A bracket after a key that no later line closes."""
    line = take_apart(lines[number])
    opening = line.value[:1]
    closing = {"[": "]", "{": "}"}.get(opening, "")
    if line.key is not None and closing and line.value.count(opening) > line.value.count(closing):
        repaired = f"{lines[number][: line.start]}{line.value}{closing}{line.comment}"
        message = f"the `{line.value[0]}` opened here is never closed"
        yield Repair(number, [repaired], line.start, message, f"write a `{closing}` at the end of the list")


# The first repair that helps is believed: signs that cannot be mistaken come first, and indentation, which fits almost
# any line, last.
FINDERS: tuple[Finder, ...] = (
    *SIGN_FINDERS,
    *COMMA_FINDERS,
    _comment_in_brackets,
    _two_keys,
    _stray,
    _slot_in_brackets,
    _start,
    _colons,
    _list_beside_key,
    _dash,
    _colon,
    _bracket_in_brackets,
    _open_bracket,
    indentation,
)
