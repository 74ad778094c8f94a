"""The files of a registry as they are edited, and where in them an intent and its lines stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.layout import Part
from intentmatch.registry.templates.syntax import parse
from intentmatch.text.normalize import fold, language_code

INTENTS, UTTERANCES, NEGATIVES = "intents", "utterances", "not"


class Entry(NamedTuple):
    """Where a file describes an intent."""

    file: Path
    document: Document
    name: Part
    value: Part

    @property
    def language(self) -> str | None:
        """Of the lines of the file that do not say their own."""
        return file_language(self.document)


class Listing(NamedTuple):
    """The utterances or the negatives of an intent in one language and file."""

    entry: Entry
    key: str
    language: str | None
    part: Part


@dataclass(frozen=True)
class Folder:
    """The files of a registry, in the middle of being edited."""

    path: Path
    documents: Mapping[Path, Document]

    def replaced(self, file: Path, document: Document) -> Folder:
        """With a file in place of what had its name, or added."""
        return replace(self, documents={**self.documents, file: document})

    def entries(self, intent: str | None = None) -> Iterator[Entry]:
        """Where intents, or one of them, are described."""
        for file, document in self.documents.items():
            intents = under(document.root, INTENTS)
            for name, value in intents.meant.entries if intents else ():
                if intent in (None, name.text.strip()):
                    yield Entry(file, document, name, value)

    def known(self, intent: str) -> list[Entry]:
        """Where an intent is described. Raises `UnknownNameError` where it is nowhere."""
        found = list(self.entries(intent))
        if not found:
            raise UnknownNameError("intent", intent, [entry.name.text.strip() for entry in self.entries()])
        return found

    def lines(self, key: str, intent: str | None = None) -> Iterator[Listing]:
        """The lists of utterances or negatives."""
        for entry in self.entries(intent):
            value = under(entry.value, key)
            if value is None:
                continue
            if value.meant.kind == "list":
                yield Listing(entry, key, entry.language, value)
            for code, inner in value.meant.entries:
                yield Listing(entry, key, language_code(code.text), inner)

    def find(self, text: str, key: str, intent: str | None = None, language: str | None = None) -> tuple[Listing, Part]:
        """The one line that reads so, if need be but for case and punctuation. Raises `InputError` for none or many."""
        lists = [lines for lines in self.lines(key, intent) if language in (None, lines.language)]
        there = [(lines, item) for lines in lists for item in lines.part.meant.items if item.meant.kind == "text"]
        found = (
            [pair for pair in there if pair[1].meant.text == text]
            or [pair for pair in there if sentence(pair[1].meant.text) == text]
            or [pair for pair in there if fold(sentence(pair[1].meant.text)) == fold(text) != ""]
        )
        if not found:
            kind = "negatives" if key == NEGATIVES else key
            owner = (f" of {intent!r}" if intent else "") + (f" in {language}" if language else "")
            raise InputError(f"“{text}” is none of the {kind}{owner}")
        if len(found) > 1:
            places = ", ".join(lines.entry.document.at(item).short for lines, item in found)
            raise InputError(f"“{text}” stands more than once: {places}. Say of which intent, and in which language")
        return found[0]


def file_language(document: Document) -> str | None:
    """The language of what a file says without naming one."""
    found = under(document.root, "language")
    return language_code(found.meant.text) if found else None


def under(part: Part | None, key: str) -> Part | None:
    """What stands under a key, if there is anything; an alias is looked through."""
    return part.meant.get(key) if part is not None else None


def sentence(line: str) -> str:
    """What a line says: of a template that stands for one sentence, that."""
    found = parse(line).sentence
    return line if found is None else found.text
