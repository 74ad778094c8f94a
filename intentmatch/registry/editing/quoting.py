"""A text, a list or a mapping as YAML: without quotes where none are needed, in lines or in brackets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import yaml

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.layout import layout

Value = str | Sequence["Value"] | Mapping[str, "Value"]

Place = Literal["line", "brackets", "key"]
"""Where a text is to stand: behind a dash or a colon, between brackets, in front of a colon."""

_PROBES: Mapping[Place, str] = {"line": "- {}\n", "brackets": "[{}]\n", "key": "{{{}: }}\n"}
_RESOLVER: Any = yaml.resolver.Resolver()
_STRING = "tag:yaml.org,2002:str"
# Control characters, and what YAML takes for the end of a line or the beginning of a file.
_TO_ESCAPE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Numbers and truth values for readers of YAML 1.2, and for some of 1.1.
_NO_TEXT = re.compile(r"[yYnN]|0o[0-7]+|[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")


def written(text: str, style: str = "", place: Place = "line") -> str:
    """A text on one line, in these quotes or without any if that can be; otherwise in double ones.

    Raises `InputError` for what is no Unicode text.
    """
    if _SURROGATE.search(text):
        raise InputError(f"{text!r} cannot be written: it holds half a character")
    if style == "'" and not _TO_ESCAPE.search(text):
        return "'" + text.replace("'", "''") + "'"
    if not style and is_plain(text, place):
        return text
    return _TO_ESCAPE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(text, ensure_ascii=False))


def is_plain(text: str, place: Place = "line") -> bool:
    """Whether a text needs no quotes: every reader of YAML takes it for this text, and for no number or truth value."""
    if _TO_ESCAPE.search(text) or "\t" in text or _NO_TEXT.fullmatch(text):
        return False
    if _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) != _STRING:
        return False
    try:
        root = layout(_PROBES[place].format(text))
    except yaml.YAMLError:
        return False
    return root is not None and [child.text for child in root.children][: None if place != "key" else 1] == [text]


def in_brackets(value: Value) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return written(value, place="brackets")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key, place='key')}: {in_brackets(v)}" for key, v in value.items()) + "}"
    return "[" + ", ".join(map(in_brackets, value)) + "]"


def in_lines(key: str, value: Value, step: int, before_dash: int) -> list[str]:
    """A key and its value on lines of their own, the key at the margin."""
    name = written(key, place="key")
    if isinstance(value, str):
        return [f"{name}: {written(value)}"]
    if not value:
        return [f"{name}: {in_brackets(value)}"]
    if isinstance(value, Mapping):
        below = [" " * step + line for k, v in value.items() for line in in_lines(k, v, step, before_dash)]
    else:
        below = [" " * before_dash + f"- {in_brackets(v) if not isinstance(v, str) else written(v)}" for v in value]
    return [f"{name}:", *below]
