"""Write texts, lists and mappings as YAML, in lines or in brackets, with quotes only where needed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import yaml

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.layout import layout

Value = str | Sequence["Value"] | Mapping[str, "Value"]


class Bare(str):
    """A number or a boolean, which is written without quotes."""

    __slots__ = ()


Place = Literal["line", "brackets", "key"]
"""Position of a text: after a dash or a colon, between brackets, or before a colon."""

_PROBES: Mapping[Place, str] = {"line": "- {}\n", "brackets": "[{}]\n", "key": "{{{}: }}\n"}
_RESOLVER: Any = yaml.resolver.Resolver()
_STRING = "tag:yaml.org,2002:str"
# Control characters, line breaks of YAML, and byte order marks.
_TO_ESCAPE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Numbers and booleans of YAML 1.2, and of some YAML 1.1 parsers.
_NO_TEXT = re.compile(r"[yYnN]|0o[0-7]+|[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")


def written(text: str, style: str = "", place: Place = "line") -> str:
    """Write a text on one line, in the quotes `style` if possible, otherwise in double quotes.

    Raises `InputError` for a lone surrogate, which UTF-8 cannot encode.
    """
    if isinstance(text, Bare):
        return str(text)
    if _SURROGATE.search(text):
        raise InputError(f"{text!r} cannot be written: it contains a lone surrogate")
    # Single quotes know no escapes, so a control character needs double ones.
    if style == "'" and not _TO_ESCAPE.search(text):
        return "'" + text.replace("'", "''") + "'"
    if not style and is_plain(text, place):
        return text
    return _TO_ESCAPE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", json.dumps(text, ensure_ascii=False))


def is_plain(text: str, place: Place = "line") -> bool:
    """Return whether a text needs no quotes: no YAML parser reads it as a number, a boolean or another text."""
    if _TO_ESCAPE.search(text) or "\t" in text or _NO_TEXT.fullmatch(text):
        return False
    if _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) != _STRING:
        return False
    # The parser itself decides: a list of special characters would miss what depends on the place, such as `a: b`.
    try:
        root = layout(_PROBES[place].format(text))
    except yaml.YAMLError:
        return False
    return root is not None and [child.text for child in root.children][: None if place != "key" else 1] == [text]


def in_brackets(value: Value) -> str:
    """Write a value on one line."""
    if isinstance(value, str):
        return written(value, place="brackets")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key, place='key')}: {in_brackets(v)}" for key, v in value.items()) + "}"
    return "[" + ", ".join(map(in_brackets, value)) + "]"


def in_lines(key: str, value: Value, step: int, before_dash: int) -> list[str]:
    """Write a key and its value as lines; the key is in column 0."""
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
