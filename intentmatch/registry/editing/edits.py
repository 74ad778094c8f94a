"""The edits there are. Each finds its lines in the files of a registry and changes them there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from intentmatch.core.errors import InputError
from intentmatch.core.types import checked_language_code
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.folder import (
    INTENTS,
    NEGATIVES,
    UTTERANCES,
    Entry,
    Folder,
    Listing,
    file_language,
    sentence,
    under,
)
from intentmatch.registry.editing.layout import Part
from intentmatch.registry.editing.quoting import Value
from intentmatch.registry.reading.grammar import OUT_OF_SCOPE
from intentmatch.registry.reading.reader import SUFFIXES
from intentmatch.registry.templates.syntax import labelled
from intentmatch.text.normalize import fold


class Edit(Protocol):
    """Something to be changed in the files of a registry."""

    def apply(self, folder: Folder) -> Folder:
        """The files with the change. Raises `InputError` where it cannot be made."""


@dataclass(frozen=True, slots=True)
class AddIntent:
    """A new intent with a first utterance."""

    name: str
    text: str
    language: str | None = None
    file: Path | None = None
    """Where to put it, perhaps a new file; None where there is one to choose from."""
    template: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Put it at the end of its file."""
        name = _new_name(folder, self.name)
        file = self._file(folder)
        document = folder.documents.get(file) or Document(str(file), "version: 1\n")
        language = _canonical(self.language)
        plain = language in (None, file_language(document))
        value: Value = {UTTERANCES: _lines(_authored(self.text, self.template), None if plain else language)}
        intents = under(document.root, INTENTS)
        if intents is None:
            return folder.replaced(file, document.with_entry(document.root, INTENTS, {name: value}))
        return folder.replaced(file, document.with_entry(intents, name, value))

    def _file(self, folder: Folder) -> Path:
        """Where it goes, named as the reader will name it."""
        files = list(folder.documents)
        if self.file is None:
            if len(files) == 1:
                return files[0]
            places = " or ".join(map(str, files)) or "a file that is not there yet"
            raise InputError(f"the intent {self.name!r} could go into {places}: name the file")
        target = _place(self.file)
        for file in files:
            if file.resolve() == target:
                return file
        root = folder.path.resolve()
        inside = target.relative_to(root) if target.is_relative_to(root) and not root.is_file() else None
        if inside is None or target.suffix not in SUFFIXES or any(part.startswith(".") for part in inside.parts):
            raise InputError(f"{self.file} would not be read: name a .yaml file in {folder.path}")
        return folder.path / inside


@dataclass(frozen=True, slots=True)
class AddUtterance:
    """One more line of an intent."""

    intent: str
    text: str
    language: str | None = None
    """BCP-47 code; None is that of the file, or the only one that the intent has."""
    negative: bool = False
    """Whether it belongs to `not`."""
    template: bool = False
    """Whether brackets are marks; otherwise the text is, to the letter, what users say."""

    def apply(self, folder: Folder) -> Folder:
        """Put it where the intent has lines of its language, otherwise where it is first described."""
        key = NEGATIVES if self.negative else UTTERANCES
        return _added(folder, self.intent, key, _canonical(self.language), _authored(self.text, self.template))


@dataclass(frozen=True, slots=True)
class MoveUtterance:
    """A line of one intent to another, in its language, with the comment beside it."""

    text: str
    to: str
    source: str | None = None
    """The intent that it is to leave; None where only one has it."""
    language: str | None = None
    negative: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Take it out of the one and put it at the end of the other."""
        key = NEGATIVES if self.negative else UTTERANCES
        folder.known(self.to)
        if self.source is not None:
            folder.known(self.source)
        lines, item = folder.find(self.text, key, self.source, _canonical(self.language))
        if lines.entry.name.text.strip() == self.to:
            raise InputError(f"“{item.meant.text}” stands in {self.to!r} already")
        comment = lines.entry.document.comment_beside(item)
        folder = _removed(folder, lines, item)
        return _added(folder, self.to, key, lines.language, item.meant.text, style=item.style, comment=comment)


@dataclass(frozen=True, slots=True)
class RemoveUtterance:
    """A line less."""

    text: str
    intent: str | None = None
    language: str | None = None
    negative: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Take it out; comments above it stay."""
        if self.intent is not None:
            folder.known(self.intent)
        key = NEGATIVES if self.negative else UTTERANCES
        return _removed(folder, *folder.find(self.text, key, self.intent, _canonical(self.language)))


@dataclass(frozen=True, slots=True)
class RenameIntent:
    """Another name for an intent, in `intents:` and `tests:`."""

    old: str
    new: str

    def apply(self, folder: Folder) -> Folder:
        """Change it wherever it stands."""
        folder.known(self.old)
        name = _new_name(folder, self.new)
        for file in folder.documents:
            while names := _names(folder.documents[file], self.old):
                folder = folder.replaced(file, folder.documents[file].with_text(names[0], name))
        return folder


@dataclass(frozen=True, slots=True)
class RemoveIntent:
    """An intent less."""

    name: str

    def apply(self, folder: Folder) -> Folder:
        """Take it out of every file, with the comments right above it. Raises `InputError` while a test expects it."""
        folder.known(self.name)
        tests = [d.at(part).short for d in folder.documents.values() for part in _expected(d, self.name)]
        if tests:
            raise InputError(f"{self.name!r} is expected by tests at {', '.join(tests)}: change or remove them first")
        while entry := next(folder.entries(self.name), None):
            folder = folder.replaced(entry.file, entry.document.without(entry.name, comments=True))
        return folder


def additions(
    intent: str,
    utterances: Sequence[str],
    *,
    language: str | None = None,
    negative: bool = False,
    template: bool = False,
    new: bool = False,
    file: Path | None = None,
) -> list[Edit]:
    """The edits that add utterances to an intent, or begin a `new` one with them, perhaps in another file."""
    edits: list[Edit] = [AddUtterance(intent, text, language, negative, template) for text in utterances]
    if new:
        edits[:1] = [AddIntent(intent, text, language, file, template) for text in utterances[:1]]
    return edits


def _place(file: Path) -> Path:
    """Where a file is, or could be. Raises `InputError` where none can."""
    try:
        target = file.resolve()
        with suppress(FileNotFoundError):
            target.lstat()
    except (OSError, ValueError) as error:
        raise InputError(f"{str(file)!r} cannot be the name of a file: {error}") from error
    return target


def _canonical(language: str | None) -> str | None:
    """Return a BCP-47 code in its usual case. Raises `InputError` if it is none."""
    return None if language is None else checked_language_code(language)


def _added(
    folder: Folder, intent: str, key: str, language: str | None, text: str, *, style: str = "", comment: str = ""
) -> Folder:
    """With one more line, which brings quotes and a comment along if it comes from somewhere else."""
    entries = folder.known(intent)
    wanted = language or _usual_language(folder, intent)
    lists = [lines for lines in folder.lines(key, intent) if lines.language == wanted]
    for lines in lists:
        for item in lines.part.meant.items:
            if fold(sentence(item.meant.text)) == fold(sentence(text)):
                raise InputError(f"“{text}” already stands at {lines.entry.document.at(item).short}")
    if lists:
        entry = lists[0].entry
        document = entry.document.with_item(lists[0].part, text, style)
    else:
        described = [lines.entry for lines in folder.lines(UTTERANCES, intent)] or entries
        entry = next((one for one in entries if one.language == wanted), described[0])
        document = _begun(entry, key, wanted, text)
    folder = folder.replaced(entry.file, document)
    if not comment:
        return folder
    there, item = folder.find(text, key, intent, wanted)
    return folder.replaced(entry.file, there.entry.document.with_comment(item, comment))


def _begun(entry: Entry, key: str, language: str | None, text: str) -> Document:
    """A first line of a language in the entry of an intent."""
    document, value = entry.document, under(entry.value, key)
    if value is None:
        begun = _lines(text, None if language == entry.language else language)
        keys = [name.text for name, _ in entry.value.entries]
        below = keys.index(UTTERANCES) + 1 if key == NEGATIVES and UTTERANCES in keys else None
        return document.with_entry(entry.value, key, begun, below)
    if value.is_empty and language in (None, entry.language):
        return document.with_item(value, text)
    if language is None:
        raise document.refusal(value, "say which language the line is in")
    if value.meant.kind == "list":
        if entry.language is None:
            why = "its lines are in no stated language; write `language:` at the top of the file"
            raise document.refusal(value, why)
        document = document.nested(value, entry.language)
        value = document.follow(entry.document.path_to(value))
    return document.with_entry(value, language, [text])


def _lines(text: str, language: str | None) -> Value:
    """What stands below `utterances:` or `not:` where there is but one line."""
    return [text] if language is None else {language: [text]}


def _usual_language(folder: Folder, intent: str) -> str | None:
    """The language of a line that is given without one."""
    entries = folder.known(intent)
    found = {lines.language for lines in folder.lines(UTTERANCES, intent)} or {entries[0].language}
    if len(found) == 1:
        return found.pop()
    if entries[0].language in found:
        return entries[0].language
    languages = ", ".join(sorted(filter(None, found)))
    raise InputError(f"{intent!r} has utterances in {languages}: say which language this one is in")


def _removed(folder: Folder, lines: Listing, item: Part) -> Folder:
    entry = lines.entry
    return folder.replaced(entry.file, entry.document.without(item, entry.value))


def _new_name(folder: Folder, name: str) -> str:
    """A name for an intent. Raises `InputError` where it cannot be one."""
    bare = name.strip()
    if not bare or bare == OUT_OF_SCOPE:
        raise InputError(f"{name!r} cannot be the name of an intent")
    if known := list(folder.entries(bare)):
        raise InputError(f"there is an intent {bare!r} already, at {known[0].document.at(known[0].name).short}")
    return bare


def _names(document: Document, name: str) -> list[Part]:
    """Where an intent is named in a file."""
    intents = under(document.root, INTENTS)
    entries = intents.meant.entries if intents else ()
    return [key for key, _ in entries if key.text.strip() == name] + _expected(document, name)


def _expected(document: Document, name: str) -> list[Part]:
    """Where the tests of a file name an intent."""
    tests = under(document.root, "tests")
    found = [under(test, "intent") for test in (tests.meant.items if tests else ())]
    named = [part for one in found if one for part in (one.meant.items or (one,))]
    return [part for part in named if part.meant.kind == "text" and part.meant.text.strip() == name]


def _authored(text: str, template: bool) -> str:
    """What stands in the YAML for a text."""
    if not fold(text):
        raise InputError(f"{text!r} has no words")
    return text if template else labelled(text)
