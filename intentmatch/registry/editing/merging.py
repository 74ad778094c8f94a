"""Merge two intents that users mean alike."""

from __future__ import annotations

from dataclasses import dataclass

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.edits import AddUtterance, RemoveIntent, RemoveUtterance, expecting
from intentmatch.registry.editing.folder import NEGATIVES, UTTERANCES, Folder, Listing, sentence
from intentmatch.registry.editing.layout import WrittenNode
from intentmatch.runtime.steps import counted
from intentmatch.text.normalize import fold


@dataclass(frozen=True, slots=True)
class MergeIntents:
    """Gives the lines and the tests of an intent to another one; what else the intent has is removed."""

    intent: str
    into: str

    def apply(self, folder: Folder) -> Folder:
        """Merge. What both have is kept once, and no line of either stays in `not:`.

        Raises `UnknownNameError`, and `InputError` for one and the same intent and for a test that expects both.
        """
        folder.require(self.intent)
        folder.require(self.into)
        if self.intent == self.into:
            raise InputError(f"{self.into!r} cannot be merged with itself: choose another intent")
        theirs = {(file, test.start) for file, test, _ in folder.tests_of(self.into)}
        for file, test, part in folder.tests_of(self.intent):
            if (file, test.start) in theirs:
                where = folder.documents[file].at(part).short
                raise InputError(f"a test expects both {self.intent!r} and {self.into!r} at {where}: change it first")
        own, known = (_lines(folder, name, UTTERANCES) for name in (self.intent, self.into))
        refused, theirs_refused = (_lines(folder, name, NEGATIVES) for name in (self.intent, self.into))
        for lines, item in (found for text, found in theirs_refused.items() if text in own):
            folder = RemoveUtterance(item.text, self.into, lines.language, negative=True).apply(folder)
        for text, found in counted("merging", own.items(), len(own)):
            if text not in known:
                folder = self._with(folder, *found, negative=False)
        for text, found in refused.items():
            if text not in {*own, *known, *theirs_refused}:
                folder = self._with(folder, *found, negative=True)
        # The tests first: an intent that a test expects is not removed.
        return RemoveIntent(self.intent).apply(expecting(folder, self.intent, self.into))

    def _with(self, folder: Folder, lines: Listing, item: WrittenNode, *, negative: bool) -> Folder:
        comment = lines.entry.document.comment_beside(item).strip().removeprefix("#").strip()
        return AddUtterance(self.into, item.text, lines.language, negative, True, comment).apply(folder)


def _lines(folder: Folder, intent: str, key: str) -> dict[str, tuple[Listing, WrittenNode]]:
    """Return the lines of an intent by their folded sentences."""
    items = ((lines, item.resolved) for lines in folder.lines(key, intent) for item in lines.part.resolved.items)
    return {fold(sentence(item.text)): (lines, item) for lines, item in items if item.kind == "text"}
