"""Other values in a file's `settings:` block, and nothing else in the file: comments, order and quotes stay.

Values are replaced where they stand in the text, so that what is not meant to change is not even read into a tree and
written again.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from intentmatch.errors import InputError
from intentmatch.registry.reader import examine
from intentmatch.types import Registry

_KEY = "settings"
_HEAD = ("version", "language")
_BOM = "\ufeff"


class Setting(NamedTuple):
    """A value and what is to be said of it."""

    value: str
    comment: str = ""


class _Splice(NamedTuple):
    """Text to stand in place of a part of another."""

    start: int
    end: int
    text: str


def with_settings(text: str, values: Mapping[str, Setting], mark: str = "") -> str:
    """The YAML of a file with these settings.

    A value that stands there keeps its quotes and its comment, unless that begins with `mark`: then it is one of ours,
    and told anew. Raises `InputError` for YAML that is written in a way that cannot be edited so.
    """
    bom = _BOM if text.startswith(_BOM) else ""
    body = text.removeprefix(_BOM)
    newline = "\r\n" if "\r\n" in body else "\n"
    for splice in sorted(_splices(body, values, mark, newline), reverse=True):
        body = body[: splice.start] + splice.text + body[splice.end :]
    return bom + body


def unified(old: str, new: str, path: str) -> str:
    """What changes, as `diff -u` shows it."""
    lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    shown = difflib.unified_diff(*lines, fromfile=path, tofile=path)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in shown)


def write_settings(file: Path, text: str, values: Mapping[str, Setting]) -> None:
    """Put `text` in place of a file, whole or not at all, once it was read as the same registry with these settings.

    Raises `InputError` where it is not, or where the file cannot be written.
    """
    target = file.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-", suffix=target.suffix)
        aside = Path(name)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(text.encode("utf-8"))
                out.flush()
                os.fsync(out.fileno())
            _check(file, aside, values)
            shutil.copymode(target, aside)
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror or error}") from error


def _check(file: Path, aside: Path, values: Mapping[str, Setting]) -> None:
    (was, problems), (now, found) = examine(file), examine(aside)
    expected = {**was.settings, **{name: setting.value for name, setting in values.items()}}
    same = _rest(was) == _rest(now) and [p.rule for p in problems] == [p.rule for p in found]
    if not same or dict(now.settings) != expected:
        raise InputError(f"{file} is left as it was: with the new settings it would not read the same. Edit it by hand")


def _rest(registry: Registry) -> tuple[str, list[Any]]:
    bare = replace(registry, settings={})
    return bare.fingerprint, [(case.text, case.expected, case.language) for case in registry.tests]


def _splices(text: str, values: Mapping[str, Setting], mark: str, newline: str) -> list[_Splice]:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return [_Splice(len(text), len(text), f"{_KEY}:{newline}{_block(values, 2, mark, newline)}")]
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise InputError("the file is written in one pair of brackets; add the settings by hand")
    block = next((value for key, value in root.value if key.value == _KEY), None)
    if block is None:
        place = _place(text, root)
        before = "" if not place or text[place - 1] == "\n" else newline
        return [_Splice(place, place, f"{before}{_KEY}:{newline}{_block(values, 2, mark, newline)}")]
    if not isinstance(block, yaml.MappingNode) or not block.value:
        raise InputError("`settings:` is empty; remove the line, or give it a first setting by hand")
    return _in_block(text, block, values, mark, newline)


def _in_block(
    text: str, block: yaml.MappingNode, values: Mapping[str, Setting], mark: str, newline: str
) -> list[_Splice]:
    entries = {key.value: (key, value) for key, value in block.value}
    found = []
    for name, setting in values.items():
        if name in entries:
            found += _replaced(text, *entries[name], setting, mark, in_line=bool(block.flow_style))
    new = {name: setting for name, setting in values.items() if name not in entries}
    if not new:
        return found
    if block.flow_style:
        end = block.end_mark.index - 1
        inside = text[:end].rstrip()
        more = ", ".join(f"{name}: {_written(setting.value, None)}" for name, setting in new.items())
        return [*found, _Splice(len(inside), end, f"{' ' if inside.endswith(',') else ', '}{more}")]
    end = _end_of_line(text, _end(block.value[-1][1]))
    before = "" if text[:end].endswith("\n") else newline
    return [*found, _Splice(end, end, before + _block(new, block.value[0][0].start_mark.column, mark, newline))]


def _replaced(
    text: str, key: yaml.Node, value: yaml.Node, setting: Setting, mark: str, *, in_line: bool
) -> list[_Splice]:
    start, end = value.start_mark.index, value.end_mark.index
    # An alias is read as what it stands for, which is somewhere else.
    here = text[key.end_mark.index : start].strip() == ":"
    if not here or not isinstance(value, yaml.ScalarNode) or value.style not in (None, "'", '"'):
        raise InputError(f"the setting `{key.value}` is written in a way that cannot be edited here; change it by hand")
    # The colon of an empty value needs a space behind it.
    space = " " if text[start - 1] == ":" else ""
    line = len(text) if (n := text.find("\n", end)) < 0 else n - text[:n].endswith("\r")
    behind = text[end:line].strip()
    written = space + (_written(setting.value, value.style) if value.value != setting.value else text[start:end])
    if in_line or (behind and not (mark and behind.startswith(f"# {mark}"))):
        return [_Splice(start, end, written)]
    return [_Splice(start, line, written + _comment(setting, mark))]


def _block(values: Mapping[str, Setting], indent: int, mark: str, newline: str) -> str:
    lines = (f"{name}: {_written(s.value, None)}{_comment(s, mark)}" for name, s in values.items())
    return "".join(f"{' ' * indent}{line}{newline}" for line in lines)


def _comment(setting: Setting, mark: str) -> str:
    return f"  # {mark}{setting.comment}" if setting.comment else ""


def _written(value: str, style: str | None) -> str:
    """A text as YAML: in the quotes that were there, without where none are needed."""
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    plain = style is None and not set(value) & set("{}[],#&*!|>%@`\"'\\")
    try:
        return value if plain and yaml.safe_load(f"key: {value}") == {"key": value} else json.dumps(value)
    except yaml.YAMLError:
        return json.dumps(value)


def _place(text: str, root: yaml.MappingNode) -> int:
    """Where a new block goes: below `version:` and `language:`, otherwise above the first key and its comments."""
    heads = [value for key, value in root.value if key.value in _HEAD]
    if heads:
        return _end_of_line(text, max(map(_end, heads)))
    start = root.start_mark.index - root.start_mark.column
    while start:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def _end(node: yaml.Node) -> int:
    """Where a node's last text ends; the mark of a block stands where the next thing begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _end_of_line(text: str, position: int) -> int:
    """The beginning of the next line; a text that ends in a line break stays on the line it ends."""
    if position and text[position - 1] == "\n":
        return position
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
