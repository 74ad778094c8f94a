"""Remove many list items at once, such as duplicate utterances, without losing a comment or an anchor."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from intentmatch.core.errors import InputError, Location
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.folder import NEGATIVES, UTTERANCES, Folder
from intentmatch.registry.editing.layout import WrittenNode


@dataclass(frozen=True, slots=True)
class RemoveItems:
    """Removes the list items at these places.

    An item stays if it has a comment on its line, which would be lost, if YAML repeats it elsewhere by an alias, or if
    it is the last of a list, unless the list holds utterances of an intent.
    """

    places: Collection[Location]

    def apply(self, folder: Folder) -> Folder:
        """Remove the items; a place without a list item is left out."""
        for file, document in folder.documents.items():
            lines = set(self._at(document))
            if lines:
                folder = folder.replaced(file, _without(folder, file, lines))
        return folder

    def _at(self, document: Document) -> Iterator[tuple[int, int]]:
        return ((place.line, place.column) for place in self.places if place.path == document.path)


class _Target(NamedTuple):
    """An item to remove, by its path in the document."""

    path: tuple[int, ...]
    within: tuple[int, ...]
    """Path of the part whose children may be removed if they become empty; () to keep all."""


def _without(folder: Folder, file: Path, places: Collection[tuple[int, int]]) -> Document:
    document = folder.documents[file]
    intents = _values_of_intents(folder, file)
    alone: list[_Target] = []
    together: list[WrittenNode] = []
    for holder, items in _found(document, places):
        whole = len(items) == len(holder.items)
        intent = intents.get(id(holder)) if whole else None
        if holder.style or whole:
            within = document.path_to(intent) if intent is not None else ()
            # Without a parent that may go with it, the first item stays.
            alone += [_Target(document.path_to(item), within) for item in items[whole and intent is None :]]
        else:
            together += items
    # Items in lines of their own are removed in one step: a long file takes as long to parse for one as for all.
    document = document.without_items(together) if together else document
    # From the end, so that the paths of the others stay right.
    for target in sorted(alone, reverse=True):
        value = document.follow(target.within) if target.within else None
        document = document.without(document.follow(target.path), value)
    return document


def _found(document: Document, places: Collection[tuple[int, int]]) -> Iterator[tuple[WrittenNode, list[WrittenNode]]]:
    """Yield each list with its items at the places that can be removed."""
    for holder in document.root.walk() if document.root else ():
        if holder.kind != "list":
            continue
        items = []
        for item in holder.items:
            place = document.at(item)
            if (place.line, place.column) in places and _can_go(document, item):
                items.append(item)
        if items:
            yield holder, items


def _can_go(document: Document, item: WrittenNode) -> bool:
    if item.kind != "text" or document.comment_beside(item).strip():
        return False
    try:
        document.check_removable(item)
    except InputError:
        return False
    return True


def _values_of_intents(folder: Folder, file: Path) -> dict[int, WrittenNode]:
    """Return the value of the intent by the id of each list of utterances or negatives in a file."""
    return {
        id(lines.part): lines.entry.value
        for key in (UTTERANCES, NEGATIVES)
        for lines in folder.lines(key)
        if lines.entry.file == file
    }
