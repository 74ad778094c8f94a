"""Edit the keys of an intent beside its lines: title, response, threshold, `when`, slots and others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.folder import UTTERANCES, Folder
from intentmatch.registry.editing.layout import WrittenNode, read_as
from intentmatch.registry.editing.quoting import Bare, Value

FIELDS = ("title", "description", "response", "threshold", "when", "slots", "confirm", "metadata")
"""Keys of an intent that `SetField` sets."""

_BLOCK_TEXT = ("|", ">")


@dataclass(frozen=True, slots=True)
class SetField:
    """Sets a key of an intent to a JSON value, or removes the key if the value is None.

    Where the old and the new value are mappings, only the keys that differ are written, so that comments, order and
    quotes of the others stay.
    """

    intent: str
    field: str
    value: Any

    def apply(self, folder: Folder) -> Folder:
        """Return the changed files.

        Raises `UnknownNameError` for an unknown intent or field, and `InputError` for a value that YAML cannot hold.
        """
        if self.field not in FIELDS:
            raise UnknownNameError("field", self.field, FIELDS)
        entries = folder.require(self.intent)
        having = [entry for entry in entries if self.field in _names(entry.value)]
        described = [entry for entry in entries if UTTERANCES in _names(entry.value)]
        # Where the key is, else where the lines are: an intent may be spread over several files.
        entry = (having or described or entries)[0]
        document = entry.document
        if self.value is None:
            if not having:
                raise InputError(f"{self.intent!r} has no {self.field} to remove")
            return folder.replaced(entry.file, document.without(_key(entry.value.resolved, self.field)))
        value = _value(self.value)
        return folder.replaced(entry.file, with_value(document, entry.value.resolved, self.field, value))


def with_value(document: Document, mapping: WrittenNode, key: str, value: Value) -> Document:
    """Set a key of a mapping, with as few changes as possible."""
    found = mapping.get(key)
    if found is None:
        return document.with_entry(mapping, key, value)
    # In place: removing and adding the key would lose the quotes and the comment beside it.
    if found.kind == "text" and isinstance(value, str) and found.style not in _BLOCK_TEXT:
        return document.with_text(found, value)
    if found.kind == "mapping" and isinstance(value, Mapping) and value:
        path = document.path_to(found)
        for name, inner in value.items():
            document = with_value(document, document.follow(path), name, inner)
        # After the additions, so that the mapping is never empty and keeps its layout.
        for name in [name for name in _names(found) if name not in value]:
            document = document.without(_key(document.follow(path), name))
        return document
    if read_as(found) == _content(value):
        return document
    number = [name.text for name, _ in mapping.entries].index(key)
    path = document.path_to(mapping)
    document = document.without(_key(mapping, key))
    return document.with_entry(document.follow(path), key, value, number)


def _key(mapping: WrittenNode, name: str) -> WrittenNode:
    return next(key for key, _ in mapping.entries if key.text == name)


def _names(part: WrittenNode) -> list[str]:
    return [name.text for name, _ in part.resolved.entries]


def _value(value: Any) -> Value:
    """Return a JSON value as YAML writes it. Raises `InputError` for other values."""
    if isinstance(value, str):
        return value
    # As JSON: Python's `True` is no boolean of the grammar.
    if isinstance(value, bool | int | float):
        return Bare(json.dumps(value))
    if isinstance(value, Mapping):
        return {str(name): _value(inner) for name, inner in value.items()}
    if isinstance(value, Sequence):
        return [_value(inner) for inner in value]
    if value is None:
        return Bare("null")
    raise InputError(f"{value!r} is not a JSON value")


def _content(value: Value) -> Any:
    """Return a value as `read_as` reads it."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return tuple((name, _content(inner)) for name, inner in value.items())
    return tuple(map(_content, value))
