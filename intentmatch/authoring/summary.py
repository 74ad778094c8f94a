"""Say in a few words what edits do, for a revision without a note."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intentmatch.registry.editing.edits import (
    AddIntent,
    AddTest,
    AddUtterance,
    Edit,
    MoveUtterance,
    RemoveIntent,
    RemoveUtterance,
    RenameIntent,
    RewordUtterance,
)
from intentmatch.registry.editing.fields import SetField
from intentmatch.registry.editing.formatting import Format
from intentmatch.registry.editing.merging import MergeIntents
from intentmatch.registry.editing.removal import RemoveItems
from intentmatch.registry.editing.settings_edit import ChangeSettings
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile

_MOST = 5

_WORDS: Mapping[type, Callable[[Any], str]] = {
    AddUtterance: lambda edit: f"add to {edit.intent}",
    AddIntent: lambda edit: f"add the intent {edit.name}",
    AddTest: lambda edit: f"add a test of {edit.intent or 'no intent'}",
    MoveUtterance: lambda edit: f"move a line to {edit.to}",
    RewordUtterance: lambda edit: f"reword a line of {edit.intent}" if edit.intent else "reword a line",
    RemoveUtterance: lambda edit: f"remove a line of {edit.intent}" if edit.intent else "remove a line",
    RemoveIntent: lambda edit: f"remove the intent {edit.name}",
    RenameIntent: lambda edit: f"rename {edit.old} to {edit.new}",
    MergeIntents: lambda edit: f"merge {edit.intent} into {edit.into}",
    SetField: lambda edit: f"set the {edit.field} of {edit.intent}",
    RemoveItems: lambda edit: "remove what is written twice",
    ReplaceFile: lambda edit: f"replace {edit.file.name}",
    RemoveFile: lambda edit: f"remove {edit.file.name}",
    ChangeSettings: lambda edit: f"set {', '.join(edit.values)}",
    Format: lambda edit: "format",
}


def summary(edits: Sequence[Edit]) -> str:
    """Return such as "Add to order_status, rename greet to hello"; the words of the sixth edit and later are counted.

    An empty string if there are no edits.
    """
    words = list(dict.fromkeys(map(_words, edits)))
    more = f" and {len(words) - _MOST} more" if len(words) > _MOST else ""
    text = ", ".join(words[:_MOST]) + more
    return text[:1].upper() + text[1:]


def _words(edit: Edit) -> str:
    say = _WORDS.get(type(edit))
    return type(edit).__name__ if say is None else say(edit)
