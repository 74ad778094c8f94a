"""Files of a registry during an edit, and the positions of intents and lines in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.layout import WrittenNode
from intentmatch.registry.templates.syntax import parse
from intentmatch.text.normalize import fold, language_code

INTENTS, UTTERANCES, NEGATIVES, TESTS = "intents", "utterances", "not", "tests"


class IntentEntry(NamedTuple):
    """The description of an intent in one file."""

    file: Path
    document: Document
    name: WrittenNode
    value: WrittenNode

    @property
    def language(self) -> str | None:
        """Language of the lines that do not declare their own."""
        return file_language(self.document)


class Listing(NamedTuple):
    """The utterances or negatives of an intent in one language and file."""

    entry: IntentEntry
    key: str
    language: str | None
    part: WrittenNode


@dataclass(frozen=True)
class Folder:
    """The files of a registry during an edit. Immutable."""

    path: Path
    documents: Mapping[Path, Document]

    def replaced(self, file: Path, document: Document) -> Folder:
        """Return the folder with a file replaced or added."""
        return replace(self, documents={**self.documents, file: document})

    def entries(self, intent: str | None = None) -> Iterator[IntentEntry]:
        """Yield the descriptions of all intents, or of one."""
        for file, document in self.documents.items():
            intents = under(document.root, INTENTS)
            for name, value in intents.resolved.entries if intents else ():
                # The reader ignores spaces around a name in quotes.
                if intent in (None, name.text.strip()):
                    yield IntentEntry(file, document, name, value)

    def require(self, intent: str) -> list[IntentEntry]:
        """Return the descriptions of an intent. Raises `UnknownNameError` if there are none."""
        found = list(self.entries(intent))
        if not found:
            raise UnknownNameError("intent", intent, [entry.name.text.strip() for entry in self.entries()])
        return found

    def lines(self, key: str, intent: str | None = None) -> Iterator[Listing]:
        """Yield the lists of utterances or negatives, of one intent or of all."""
        for entry in self.entries(intent):
            value = under(entry.value, key)
            if value is None:
                continue
            if value.resolved.kind == "list":
                yield Listing(entry, key, entry.language, value)
            for code, inner in value.resolved.entries:
                yield Listing(entry, key, language_code(code.text), inner)

    def tests_of(self, intent: str) -> Iterator[tuple[Path, WrittenNode, WrittenNode]]:
        """Yield the tests that name an intent, each with its file and the part that is the name."""
        for file, document in self.documents.items():
            tests = under(document.root, TESTS)
            for test in tests.resolved.items if tests else ():
                named = under(test, "intent")
                for part in (named.resolved.items or (named,)) if named else ():
                    if part.resolved.kind == "text" and part.resolved.text.strip() == intent:
                        yield file, test, part

    def find(
        self, text: str, key: str, intent: str | None = None, language: str | None = None
    ) -> tuple[Listing, WrittenNode]:
        """Find the one line with a text: exact, else as a sentence, else ignoring case and punctuation.

        Raises `InputError` for no match or several.
        """
        lists = [lines for lines in self.lines(key, intent) if language in (None, lines.language)]
        texts = [(lines, item) for lines in lists for item in lines.part.resolved.items if item.resolved.kind == "text"]
        found = (
            # Exact first: lines may differ only in punctuation, and each must remain reachable.
            [pair for pair in texts if pair[1].resolved.text == text]
            or [pair for pair in texts if sentence(pair[1].resolved.text) == text]
            or [pair for pair in texts if fold(sentence(pair[1].resolved.text)) == fold(text) != ""]
        )
        if not found:
            kind = "negatives" if key == NEGATIVES else key
            owner = (f" of {intent!r}" if intent else "") + (f" in {language}" if language else "")
            raise InputError(f"“{text}” is not among the {kind}{owner}")
        if len(found) > 1:
            places = ", ".join(lines.entry.document.at(item).short for lines, item in found)
            raise InputError(f"“{text}” occurs more than once: {places}. Specify the intent and the language")
        return found[0]


def file_language(document: Document) -> str | None:
    """Return the `language:` of a file."""
    found = under(document.root, "language")
    return language_code(found.resolved.text) if found else None


def under(part: WrittenNode | None, key: str) -> WrittenNode | None:
    """Return the value under a key of a mapping or of its alias, None without one."""
    return part.resolved.get(key) if part is not None else None


def sentence(line: str) -> str:
    """Return the sentence of a template that has only one, otherwise the line itself."""
    found = parse(line).sentence
    return line if found is None else found.text
