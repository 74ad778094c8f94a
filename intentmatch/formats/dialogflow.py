"""Shared parts of Dialogflow ES and CX: types with entries by language, phrases in parts, file names."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intentmatch.core.types import Slot, SlotKind
from intentmatch.formats.kit import by_language
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.prebuilt import is_built_in, take_built_in
from intentmatch.formats.kit.slot_draft import SlotDraft
from intentmatch.formats.kit.tree import Value

BUILT_IN: Mapping[SlotKind, str] = {
    "number": "@sys.number",
    "date": "@sys.date",
    "time": "@sys.time",
    "datetime": "@sys.date-time",
    "duration": "@sys.duration",
    "ordinal": "@sys.ordinal",
    "money": "@sys.unit-currency",
    "temperature": "@sys.temperature",
    "email": "@sys.email",
    "phone": "@sys.phone-number",
    "url": "@sys.url",
    "any": "@sys.any",
}
"""Kind of slot to the equivalent built-in type."""
# Signs that Windows allows in no file name, and the sign of the escape itself.
_RESERVED = re.compile(r'[%/\\:*?"<>|\x00-\x1f]')


def type_name(name: str) -> str:
    """Return the name of a type as in its file, without `@`. Built-in types keep theirs."""
    return name if name.startswith("@sys.") else name.removeprefix("@")


def read_entries(type_: SlotDraft, entries: Sequence[Value], language: str | None, draft: Draft) -> None:
    """Read the values of a type in a language. A type whose only value is a built-in type becomes that type."""
    for entry in entries:
        value = (entry["value"].text() or "").strip()
        synonyms = [text.strip() for item in entry["synonyms"].items() if (text := item.text())]
        if len(entries) == 1 and is_built_in(value):
            take_built_in(type_, value, entry.location, draft)
        elif value.startswith("@") or any(text.startswith("@") for text in synonyms):
            draft.not_expressed(
                entry.location, f"values of the type {type_.name!r} that refer to other types are not imported"
            )
        elif value:
            type_.add(value, synonyms, language)


def read_patterns(type_: SlotDraft, entries: Iterable[Value]) -> None:
    """Read the regular expressions of a type. Each entry repeats its pattern as a synonym."""
    for entry in entries:
        patterns = [text for item in (entry["value"], *entry["synonyms"].items()) if (text := item.text())]
        type_.patterns += [text for text in dict.fromkeys(patterns) if text not in type_.patterns]


def joined(parts: Iterable[tuple[str, str | None]]) -> tuple[str, list[Label]]:
    """Join the parts of a phrase, and return the text and the labels of the slots."""
    text = ""
    labels: list[Label] = []
    for part, slot in parts:
        if slot is not None:
            labels.append(Label(slot, len(text), len(text) + len(part)))
        text += part
    return text, labels


def entries(slot: Slot, language: str) -> list[dict[str, Any]]:
    """Return the values or patterns of a slot in a language."""
    values = [(value.value, by_language.synonyms_in(value, language)) for value in slot.values]
    values += [(pattern, []) for pattern in slot.patterns]
    # Dialogflow matches synonyms alone, so the value is one of them.
    return [{"value": value, "synonyms": [value, *synonyms]} for value, synonyms in values]


def slot_type(slot: Slot | None) -> str:
    """Return the type of a slot: a built-in one, or one with the name of the slot."""
    return BUILT_IN["any"] if slot is None else BUILT_IN.get(slot.kind) or f"@{slot.name}"


def file_name(name: str) -> str:
    """Escape a name for a path."""
    return _RESERVED.sub(lambda sign: f"%{ord(sign[0]):02x}", name)


def identity(*names: str) -> str:
    """Return an identifier that is always the same for the same names."""
    # Two exports of one registry should differ in nothing.
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(names)))


def to_json(value: Any) -> str:
    """Return indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
