"""Edits of a registry: add, move, remove and rename intents and utterances in their files."""

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
    TESTS,
    UTTERANCES,
    Folder,
    IntentEntry,
    Listing,
    file_language,
    sentence,
    under,
)
from intentmatch.registry.editing.layout import WrittenNode
from intentmatch.registry.editing.quoting import Value
from intentmatch.registry.reading.grammar import OUT_OF_SCOPE
from intentmatch.registry.reading.reader import SUFFIXES
from intentmatch.registry.templates.syntax import labelled
from intentmatch.storage.contents import checked_name
from intentmatch.text.normalize import fold


class Edit(Protocol):
    """A change to the files of a registry."""

    def apply(self, folder: Folder) -> Folder:
        """Return the changed files. Raises `InputError` if the change is impossible."""


@dataclass(frozen=True, slots=True)
class AddIntent:
    """Adds an intent with a first utterance, a description, or both."""

    name: str
    text: str | None = None
    """The utterance; None to begin with the description alone."""
    language: str | None = None
    file: Path | None = None
    """The file to add it to, which may be new; None if the registry has only one file."""
    template: bool = False
    """Whether brackets in the text are template marks."""
    description: str | None = None

    def apply(self, folder: Folder) -> Folder:
        """Append the intent to its file. Raises `InputError` for a name that is taken, and for an intent of nothing."""
        name = _new_name(folder, self.name)
        file = target_file(folder, self.file, f"the intent {self.name!r}")
        document = folder.documents.get(file) or Document(str(file), "version: 1\n")
        language = _canonical(self.language)
        plain = language in (None, file_language(document))
        value: dict[str, Value] = {}
        if self.description is not None:
            if not fold(self.description):
                raise InputError(f"the description of {self.name!r} has no words: say what users want")
            value["description"] = self.description.strip()
        if self.text is not None:
            value[UTTERANCES] = _lines(_template_text(self.text, self.template), None if plain else language)
        if not value:
            raise InputError(f"the new intent {self.name!r} needs an utterance or a description")
        intents = under(document.root, INTENTS)
        if intents is None:
            return folder.replaced(file, document.with_entry(document.root, INTENTS, {name: value}))
        return folder.replaced(file, document.with_entry(intents, name, value))


@dataclass(frozen=True, slots=True)
class AddUtterance:
    """Adds an utterance or a negative to an intent."""

    intent: str
    text: str
    language: str | None = None
    """BCP-47 code; None for the only language of the intent, or the language of the file."""
    negative: bool = False
    """Whether to add it to `not`."""
    template: bool = False
    """Whether brackets in the text are template marks; otherwise the text is literal."""
    comment: str = ""
    """What to write beside the line as a comment, in one line and without the `#`."""

    def apply(self, folder: Folder) -> Folder:
        """Append it to the intent's lines of its language, or else start a list where the intent is first described."""
        key = _key(negative=self.negative)
        # After a line break, the rest would be YAML.
        if not self.comment.isprintable():
            raise InputError(f"{self.comment!r} cannot be a comment: write one line without control characters")
        text, comment = _template_text(self.text, self.template), f"  # {self.comment}" if self.comment else ""
        return _with_line(folder, self.intent, key, _canonical(self.language), text, comment=comment)


@dataclass(frozen=True, slots=True)
class AddTest:
    """Adds a message with its expected intent to `tests:`."""

    text: str
    intent: str | None
    """The expected intent; None if the message is out of scope."""
    language: str | None = None
    file: Path | None = None
    """The file to add it to, which may be new; None for the first file with tests, or the only file."""

    def apply(self, folder: Folder) -> Folder:
        """Append it to the tests of the file. Raises `InputError` if a test of the registry has the same text."""
        text, language = _template_text(self.text, template=True), _canonical(self.language)
        if self.intent is not None:
            folder.require(self.intent)
        with_tests = []
        for file, document in folder.documents.items():
            tests = under(document.root, TESTS)
            with_tests += [file] if tests is not None else []
            for test in tests.resolved.items if tests else ():
                known = under(test, "text")
                if known is not None and fold(known.resolved.text) == fold(text):
                    raise InputError(f"“{text}” is already a test at {document.at(test).short}")
        file = with_tests[0] if with_tests and self.file is None else target_file(folder, self.file, "the tests")
        document = folder.documents.get(file) or Document(str(file), "version: 1\n")
        row = {"text": text, "intent": self.intent or OUT_OF_SCOPE}
        row |= {"language": language} if language not in (None, file_language(document)) else {}
        tests = under(document.root, TESTS)
        if tests is None:
            return folder.replaced(file, document.with_entry(document.root, TESTS, [row]))
        return folder.replaced(file, document.with_item(tests, row))


@dataclass(frozen=True, slots=True)
class MoveUtterance:
    """Moves a line from one intent to another, with its language and the comment beside it."""

    text: str
    to: str
    source: str | None = None
    """The intent that has the line; None if only one intent has it."""
    language: str | None = None
    negative: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Remove the line from its intent and append it to the other."""
        folder.require(self.to)
        lines, item = _found(folder, self.text, self.source, self.language, negative=self.negative)
        if lines.entry.name.text.strip() == self.to:
            raise InputError(f"“{item.resolved.text}” is already in {self.to!r}")
        comment = lines.entry.document.comment_beside(item)
        folder = _without_line(folder, lines, item)
        key, text = _key(negative=self.negative), item.resolved.text
        return _with_line(folder, self.to, key, lines.language, text, style=item.style, comment=comment)


@dataclass(frozen=True, slots=True)
class RewordUtterance:
    """Replaces the text of a line, which keeps its place, its quotes and its comment."""

    text: str
    new: str
    intent: str | None = None
    """The intent that has the line; None if only one intent has it."""
    language: str | None = None
    negative: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Replace it. Brackets in the new text are template marks if the line is a template, and literal otherwise."""
        lines, item = _found(folder, self.text, self.intent, self.language, negative=self.negative)
        old = item.resolved.text
        new = _template_text(self.new, template=labelled(sentence(old)) != old)
        for other in lines.part.resolved.items:
            if other is not item and fold(sentence(other.resolved.text)) == fold(sentence(new)):
                raise InputError(f"“{self.new}” is already at {lines.entry.document.at(other).short}")
        return folder.replaced(lines.entry.file, lines.entry.document.with_text(item, new))


@dataclass(frozen=True, slots=True)
class RemoveUtterance:
    """Removes an utterance or a negative."""

    text: str
    intent: str | None = None
    language: str | None = None
    negative: bool = False

    def apply(self, folder: Folder) -> Folder:
        """Remove the line; comments above it remain."""
        return _without_line(folder, *_found(folder, self.text, self.intent, self.language, negative=self.negative))


@dataclass(frozen=True, slots=True)
class RenameIntent:
    """Renames an intent in `intents:` and `tests:`."""

    old: str
    new: str

    def apply(self, folder: Folder) -> Folder:
        """Replace every occurrence of the name."""
        folder.require(self.old)
        name = _new_name(folder, self.new)
        while entry := next(folder.entries(self.old), None):
            folder = folder.replaced(entry.file, entry.document.with_text(entry.name, name))
        return expecting(folder, self.old, name)


@dataclass(frozen=True, slots=True)
class RemoveIntent:
    """Removes an intent."""

    name: str

    def apply(self, folder: Folder) -> Folder:
        """Remove it from every file, with the comments right above it. Raises `InputError` if a test expects it."""
        folder.require(self.name)
        tests = [folder.documents[file].at(part).short for file, _, part in folder.tests_of(self.name)]
        if tests:
            raise InputError(f"tests expect {self.name!r} at {', '.join(tests)}: change or remove them first")
        while entry := next(folder.entries(self.name), None):
            folder = folder.replaced(entry.file, entry.document.without(entry.name, comments=True))
        return folder


def expecting(folder: Folder, old: str, new: str) -> Folder:
    """Return the files with another intent in the tests that expect one."""
    while found := next(folder.tests_of(old), None):
        file, _, part = found
        folder = folder.replaced(file, folder.documents[file].with_text(part, new))
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
    description: str | None = None,
) -> list[Edit]:
    """Return the edits that add utterances to an intent, or create a `new` intent with them, in `file` if given.

    Raises `InputError` for a new intent that starts with a negative, and for a file or a `description` without a new
    intent.
    """
    if new and negative:
        raise InputError(f"the new intent {intent!r} cannot start with a negative: add an utterance first")
    if file is not None and not new:
        raise InputError(f"only a new intent takes a file, not an existing one: {file}")
    if description is not None and not new:
        raise InputError(f"the description is for a new intent, and {intent!r} is not: change its file")
    edits: list[Edit] = [AddUtterance(intent, text, language, negative, template) for text in utterances]
    if new and (utterances or description is not None):
        edits[:1] = [AddIntent(intent, next(iter(utterances), None), language, file, template, description)]
    return edits


def target_file(folder: Folder, file: Path | None, what: str) -> Path:
    """Return the file to add something to, spelled as the reader spells it; None is the only file."""
    files = list(folder.documents)
    if file is None:
        if len(files) == 1:
            return files[0]
        if not files:
            raise InputError(f"the registry has no file yet: choose a new file for {what}")
        raise InputError(f"several files could hold {what}: choose {' or '.join(map(str, files))}")
    target = _resolved_path(file)
    places = {known.resolve(): known for known in files}
    if target in places:
        return places[target]
    root = folder.path.resolve()
    inside = target.relative_to(root) if target.is_relative_to(root) and not root.is_file() else None
    if inside is None or target.suffix not in SUFFIXES or any(part.startswith(".") for part in inside.parts):
        raise InputError(f"{file} is not part of the registry: choose a .yaml file in {folder.path}")
    for place, known in places.items():
        if target.is_relative_to(place) or place.is_relative_to(target):
            raise InputError(f"{file} and {known} cannot both be there: a file has no files below it")
    return folder.path / checked_name(inside.as_posix())


def _resolved_path(file: Path) -> Path:
    """Resolve a file that may not exist yet. Raises `InputError` if its name is invalid."""
    try:
        target = file.resolve()
        with suppress(FileNotFoundError):
            target.lstat()
    except NotADirectoryError:
        raise InputError(f"{file} cannot be there: one of its folders is a file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(file)!r} is not a valid file name: {error}") from error
    return target


def _canonical(language: str | None) -> str | None:
    """Return a BCP-47 code in its usual case. Raises `InputError` if it is invalid."""
    return None if language is None else checked_language_code(language)


def _with_line(
    folder: Folder, intent: str, key: str, language: str | None, text: str, *, style: str = "", comment: str = ""
) -> Folder:
    """Add a line to an intent, with the quotes and the comment that it had elsewhere."""
    entries = folder.require(intent)
    wanted = language or _usual_language(folder, intent)
    lists = [lines for lines in folder.lines(key, intent) if lines.language == wanted]
    for lines in lists:
        for item in lines.part.resolved.items:
            if fold(sentence(item.resolved.text)) == fold(sentence(text)):
                raise InputError(f"“{text}” is already at {lines.entry.document.at(item).short}")
    if lists:
        entry = lists[0].entry
        document = entry.document.with_item(lists[0].part, text, style)
    else:
        described = [lines.entry for lines in folder.lines(UTTERANCES, intent)] or entries
        entry = next((one for one in entries if one.language == wanted), described[0])
        document = _with_first_line(entry, key, wanted, text)
    folder = folder.replaced(entry.file, document)
    if not comment:
        return folder
    there, item = folder.find(text, key, intent, wanted)
    return folder.replaced(entry.file, there.entry.document.with_comment(item, comment))


def _with_first_line(entry: IntentEntry, key: str, language: str | None, text: str) -> Document:
    """Add the first line of a language to an intent."""
    document, value = entry.document, under(entry.value, key)
    if value is None:
        begun = _lines(text, None if language == entry.language else language)
        keys = [name.text for name, _ in entry.value.entries]
        below = keys.index(UTTERANCES) + 1 if key == NEGATIVES and UTTERANCES in keys else None
        return document.with_entry(entry.value, key, begun, below)
    if value.is_empty and language in (None, entry.language):
        return document.with_item(value, text)
    if language is None:
        raise document.refusal(value, "its lines are grouped by language, and the new line has none")
    if value.resolved.kind == "list":
        if entry.language is None:
            why = "the language of its lines is not declared; write `language:` at the top of the file"
            raise document.refusal(value, why)
        # The lines so far get the language of the file as their key, so that the new language can stand beside it.
        document = document.nested(value, entry.language)
        value = document.follow(entry.document.path_to(value))
    return document.with_entry(value, language, [text])


def _lines(text: str, language: str | None) -> Value:
    """Return the value of `utterances:` or `not:` with a single line."""
    return [text] if language is None else {language: [text]}


def _usual_language(folder: Folder, intent: str) -> str | None:
    """Return the language for a new line without one. Raises `InputError` if it is ambiguous."""
    entries = folder.require(intent)
    found = {lines.language for lines in folder.lines(UTTERANCES, intent)} or {entries[0].language}
    if len(found) == 1:
        return found.pop()
    if entries[0].language in found:
        return entries[0].language
    languages = ", ".join(sorted(filter(None, found)))
    raise InputError(f"{intent!r} has utterances in {languages}: specify the language of this one")


def _key(*, negative: bool) -> str:
    return NEGATIVES if negative else UTTERANCES


def _found(
    folder: Folder, text: str, intent: str | None, language: str | None, *, negative: bool
) -> tuple[Listing, WrittenNode]:
    """Find a line. Raises `InputError` if the intent does not exist, and for no line or several."""
    if intent is not None:
        folder.require(intent)
    return folder.find(text, _key(negative=negative), intent, _canonical(language))


def _without_line(folder: Folder, lines: Listing, item: WrittenNode) -> Folder:
    entry = lines.entry
    return folder.replaced(entry.file, entry.document.without(item, entry.value))


def _new_name(folder: Folder, name: str) -> str:
    """Return the name for a new intent. Raises `InputError` if it is invalid or taken."""
    bare = name.strip()
    # In a test, this name says that no intent is expected.
    if not bare or bare == OUT_OF_SCOPE:
        raise InputError(f"{name!r} is not a valid intent name")
    if known := list(folder.entries(bare)):
        raise InputError(f"the intent {bare!r} already exists at {known[0].document.at(known[0].name).short}")
    return bare


def _template_text(text: str, template: bool) -> str:
    """Return the template to write for a text. Raises `InputError` for a text without words."""
    if not fold(text):
        raise InputError(f"{text!r} has no words")
    # A plain text may hold brackets, which the reader would take for marks.
    return text if template else labelled(text)
