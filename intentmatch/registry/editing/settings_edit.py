"""Edit the `settings:` block of a file, with a comment beside each value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.fields import with_value
from intentmatch.registry.editing.folder import Folder
from intentmatch.registry.editing.quoting import Bare, Value

_KEY = "settings"
_HEAD = ("version", "language")


class Setting(NamedTuple):
    """A value and the comment beside it."""

    value: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Sets settings in one file.

    An existing value keeps its quotes and its comment. Where it is a mapping, a text such as `precision=0.95` sets its
    keys. A comment that starts with `mark` was written by this edit
    before, and is replaced.
    """

    file: Path
    values: Mapping[str, Setting]
    mark: str = ""

    def apply(self, folder: Folder) -> Folder:
        """Change the existing settings, and append the others. Raises `InputError` for a file outside the folder."""
        if self.file not in folder.documents:
            raise InputError(f"{self.file} is not among the files of {folder.path}")
        return folder.replaced(self.file, _changed(folder.documents[self.file], self.values, self.mark))


def with_settings(text: str, values: Mapping[str, Setting], mark: str = "") -> str:
    """Return a YAML text with these settings."""
    return _changed(Document("the settings", text), values, mark).text


def _changed(document: Document, values: Mapping[str, Setting], mark: str) -> Document:
    for name, setting in values.items():
        root = document.root
        block = root.get(_KEY) if root else None
        found = block.get(name) if block else None
        if block is not None and found is not None and found.kind == "mapping":
            document = with_value(document, block, name, _pairs(setting.value) or setting.value)
        elif found is not None:
            document = document.with_text(found, setting.value)
        elif block is not None:
            document = document.with_entry(block, name, setting.value)
        else:
            # Below `version` and `language`, otherwise at the top.
            heads = [n for n, (key, _) in enumerate(root.entries, 1) if key.text in _HEAD] if root else []
            document = document.with_entry(root, _KEY, {name: setting.value}, max(heads, default=0))
        document = _commented(document, name, setting, mark)
    return document


def _pairs(text: str) -> dict[str, Value] | None:
    """Return the mapping that `precision=0.95,give_up=0.02` means; None for another text, such as `balance`."""
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and value.strip() for name, _, value in parts):
        return None
    return {name.strip(): Bare(value.strip()) for name, _, value in parts}


def _commented(document: Document, name: str, setting: Setting, mark: str) -> Document:
    """Write the comment beside a setting, unless the author wrote one there or brackets leave no place."""
    block = document.root.get(_KEY) if document.root else None
    value = block.get(name) if block else None
    # Between brackets, a comment would hide the settings after it.
    if block is None or value is None or block.style:
        return document
    beside = document.comment_beside(value).strip()
    if beside and not (mark and beside.startswith(f"# {mark}")):
        return document
    return document.with_comment(value, f"  # {mark}{setting.comment}" if setting.comment else "")
