"""What Dialogflow ES and CX have in common: types with entries by language, phrases in parts, names as files."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from intentmatch.core.types import Slot, SlotKind
from intentmatch.formats.kit import by_language
from intentmatch.formats.kit.draft import Draft, Label, SlotDraft
from intentmatch.formats.kit.prebuilt import is_built_in, take_built_in
from intentmatch.formats.kit.tree import Value

BUILT_IN: Mapping[SlotKind, str] = {
    "number": "@sys.number",
    "date": "@sys.date",
    "time": "@sys.time",
    "any": "@sys.any",
}
"""Kind of slot to the type that says the same."""
_RESERVED = re.compile(r'[%/\\:*?"<>|\x00-\x1f]')


def type_name(name: str) -> str:
    """The name of a type as the files of types have it; built-in ones keep the sign in front."""
    return name if name.startswith("@sys.") else name.removeprefix("@")


def read_entries(type_: SlotDraft, entries: Sequence[Value], language: str | None, draft: Draft) -> None:
    """The values of a type in a language. One that is nothing but a built-in type is like that."""
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
    """The regular expressions of a type; each entry holds its own once more as a synonym."""
    for entry in entries:
        patterns = [text for item in (entry["value"], *entry["synonyms"].items()) if (text := item.text())]
        type_.patterns += [text for text in dict.fromkeys(patterns) if text not in type_.patterns]


def joined(parts: Iterable[tuple[str, str | None]]) -> tuple[str, list[Label]]:
    """A phrase of parts, some of which stand for a slot."""
    text = ""
    labels: list[Label] = []
    for part, slot in parts:
        if slot is not None:
            labels.append(Label(slot, len(text), len(text) + len(part)))
        text += part
    return text, labels


def entries(slot: Slot, language: str) -> list[dict[str, Any]]:
    """The values or patterns of a slot in a language."""
    said = [(value.value, by_language.synonyms_in(value, language)) for value in slot.values]
    said += [(pattern, []) for pattern in slot.patterns]
    return [{"value": value, "synonyms": [value, *synonyms]} for value, synonyms in said]


def slot_type(slot: Slot | None) -> str:
    """The type that a slot takes its values from: one of its own name, or a built-in one."""
    return BUILT_IN["any"] if slot is None else BUILT_IN.get(slot.kind) or f"@{slot.name}"


def file_name(name: str) -> str:
    """A name as a part of a path."""
    return _RESERVED.sub(lambda sign: f"%{ord(sign[0]):02x}", name)


def identity(*names: str) -> str:
    """An identifier that is always the same for the same names."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(names)))


def dumped(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
