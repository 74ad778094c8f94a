"""Write YAML for people: block style, insertion order, Unicode unescaped, quotes only where needed."""

from __future__ import annotations

import json
from typing import Any

import yaml

# Characters of a list that is written on the line of its key.
_MAX_INLINE_CHARS = 80
# Line breaks for YAML that are not kept when it is read back.
_OTHER_BREAKS = set("\x85\u2028\u2029")
_TEXT = "tag:yaml.org,2002:str"
_LIST = "tag:yaml.org,2002:seq"


class InlineList(list[str]):
    """A list that is written on the line of its key if it is short enough."""


class QuotedText(str):
    """A text that is written in quotes, because it would be another type without them."""

    __slots__ = ()


class EmptyValue:
    """An empty value after a key."""


class _Dumper(yaml.SafeDumper):
    """Dumper that indents lists below their keys, writes text of several lines as a block and uses no aliases."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their keys."""
        # PyYAML writes the dashes of a list in the column of its key.
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full."""
        return True


class _NativeDumper(_Dumper):
    """Dumper for intentmatch's own grammar, in which `no` and `12:30` are text without quotes."""


def standard_yaml(value: Any) -> str:
    """Return YAML for any reader: text that looks like a number or a boolean is quoted."""
    return _dump(value, _Dumper)


def native_yaml(value: Any) -> str:
    """Return YAML for intentmatch's reader: only metadata has numbers, booleans and null."""
    return _dump(value, _NativeDumper)


def _dump(value: Any, dumper: type[yaml.SafeDumper]) -> str:
    # PyYAML would fold long lines.
    written: str = yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=float("inf"))
    return written


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if not value.strip() or set(value) & _OTHER_BREAKS:
        return _quoted(dumper, value)
    # A block text that begins with a space would need an indentation indicator.
    in_lines = "\n" in value.strip("\n") and not value[0].isspace()
    return dumper.represent_scalar(_TEXT, value, "|" if in_lines else None)


def _quoted(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, str(value), '"')


def _empty(dumper: yaml.SafeDumper, value: EmptyValue) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, "")


def _json(dumper: yaml.SafeDumper, value: Any) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, json.dumps(value))


def _short(dumper: yaml.SafeDumper, value: InlineList) -> yaml.SequenceNode:
    has_room = sum(len(text) + 2 for text in value) <= _MAX_INLINE_CHARS and not any("\n" in text for text in value)
    return dumper.represent_sequence(_LIST, value, flow_style=has_room)


_Dumper.add_representer(str, _text)
# Without resolvers no text looks like a number or a boolean, and so none is quoted.
_NativeDumper.yaml_implicit_resolvers = {}
_NativeDumper.add_representer(QuotedText, _quoted)
_NativeDumper.add_representer(EmptyValue, _empty)
_NativeDumper.add_representer(InlineList, _short)
for _kind in (int, float, bool, type(None)):
    _NativeDumper.add_representer(_kind, _json)
