"""What edits do, in sentences that show the old and the new line, for readers who do not know YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from intentmatch.authoring.summary import summary
from intentmatch.registry.editing.edits import (
    AddIntent,
    AddTest,
    AddUtterance,
    MoveUtterance,
    RemoveUtterance,
    RewordUtterance,
)
from intentmatch.registry.editing.plan import Changes
from intentmatch.registry.editing.whole_files import ReplaceFile


class Sentence(NamedTuple):
    """One thing that changes."""

    says: str
    old: tuple[str, ...] = ()
    """Lines as they were."""
    new: tuple[str, ...] = ()
    """Lines as they will be."""


def _line(edit: Any, intent: str | None) -> str:
    if edit.negative:
        return f"a line that does not mean {intent}" if intent else "a line that does not mean an intent"
    return f"an example of {intent}" if intent else "an example"


_SENTENCES: Mapping[type, Callable[[Any], Sentence]] = {
    AddIntent: lambda edit: Sentence(
        f"Begin {edit.name} with {'a description' if edit.text is None else 'an example'}",
        new=tuple(text for text in (edit.description, edit.text) if text is not None),
    ),
    AddUtterance: lambda edit: Sentence(f"Add {_line(edit, edit.intent)}", new=(edit.text,)),
    AddTest: lambda edit: Sentence(
        f"Expect {edit.intent} for a message" if edit.intent else "Expect no intent for a message", new=(edit.text,)
    ),
    MoveUtterance: lambda edit: Sentence(f"Move {_line(edit, edit.source)} to {edit.to}", new=(edit.text,)),
    RewordUtterance: lambda edit: Sentence(f"Reword {_line(edit, edit.intent)}", (edit.text,), (edit.new,)),
    RemoveUtterance: lambda edit: Sentence(f"Remove {_line(edit, edit.intent)}", old=(edit.text,)),
}


def sentences(changes: Changes) -> list[Sentence]:
    """Return what changes do. Of edits that are no single lines, the lines of the files that go and come are shown."""
    others = [edit for edit in changes.edits if type(edit) not in _SENTENCES]
    told = [_SENTENCES[type(edit)](edit) for edit in changes.edits if type(edit) in _SENTENCES]
    if not others:
        return told
    old, new = (_lines(changes.diff, sign) for sign in "-+")
    known = {line for one in told for line in (*one.old, *one.new)}
    whole = [edit.file.name for edit in others if isinstance(edit, ReplaceFile)]
    says = f"Change {', '.join(whole)}" if len(whole) == len(others) else summary(others)
    return [*told, Sentence(says, *(tuple(x for x in lines if x not in known) for lines in (old, new)))]


def _lines(diff: str, sign: str) -> Sequence[str]:
    """Return the lines of a diff with a sign, without the marks of a list."""
    found = (line[1:].strip() for line in diff.splitlines() if line.startswith(sign) and not line.startswith(sign * 3))
    return [line.removeprefix("- ") for line in found if line]
