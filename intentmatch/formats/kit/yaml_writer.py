"""YAML that people like to read: in blocks, in the order it was given, in its own script, quoted where it must be."""

from __future__ import annotations

import json
from typing import Any

import yaml

# A short list stands on the line of its key.
_SHORT = 80
# YAML takes them for the end of a line, and gives it back as another.
_OTHER_BREAKS = set("\x85\u2028\u2029")
_TEXT = "tag:yaml.org,2002:str"
_LIST = "tag:yaml.org,2002:seq"


class Short(list[str]):
    """A list that stands on the line of its key, if it has room there."""


class Quoted(str):
    """A text that would be something else without quotes."""

    __slots__ = ()


class Nothing:
    """What stands behind a key that says all."""


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than their keys, and a text of several lines has them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent."""
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """What is the same twice is written twice."""
        return True


class _NativeDumper(_Dumper):
    """For our own grammar, in which `no` and `12:30` are text without any quotes."""


def standard(value: Any) -> str:
    """YAML for any reader: what could be taken for a number or a truth value is quoted."""
    return _dumped(value, _Dumper)


def native(value: Any) -> str:
    """YAML for our own reader: numbers, truth values and null are for metadata alone."""
    return _dumped(value, _NativeDumper)


def _dumped(value: Any, dumper: type[yaml.SafeDumper]) -> str:
    written: str = yaml.dump(value, Dumper=dumper, allow_unicode=True, sort_keys=False, width=float("inf"))
    return written


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if not value.strip() or set(value) & _OTHER_BREAKS:
        return _quoted(dumper, value)
    in_lines = "\n" in value.strip("\n") and not value[0].isspace()
    return dumper.represent_scalar(_TEXT, value, "|" if in_lines else None)


def _quoted(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, str(value), '"')


def _nothing(dumper: yaml.SafeDumper, value: Nothing) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, "")


def _json(dumper: yaml.SafeDumper, value: Any) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TEXT, json.dumps(value))


def _short(dumper: yaml.SafeDumper, value: Short) -> yaml.SequenceNode:
    has_room = sum(len(text) + 2 for text in value) <= _SHORT and not any("\n" in text for text in value)
    return dumper.represent_sequence(_LIST, value, flow_style=has_room)


_Dumper.add_representer(str, _text)
_NativeDumper.yaml_implicit_resolvers = {}
_NativeDumper.add_representer(Quoted, _quoted)
_NativeDumper.add_representer(Nothing, _nothing)
_NativeDumper.add_representer(Short, _short)
for _kind in (int, float, bool, type(None)):
    _NativeDumper.add_representer(_kind, _json)
