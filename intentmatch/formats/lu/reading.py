"""The pages of .lu files, put together: which of them belong to it, what their entities are, who says what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.global_entities import attach
from intentmatch.formats.kit.source import File
from intentmatch.formats.lu.entities import NONE, Entities
from intentmatch.formats.lu.lines import Line, NameOf, parse
from intentmatch.formats.lu.page import LINK, Declaration, Item, Page, new_declaration, read_page

_IN_NAME = re.compile(r".*\.(?P<language>[a-z]{2}(?:-[a-z]{2})?)\.lu", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2}-[a-z]{2}", re.IGNORECASE)
_FRAGMENT = re.compile(r"(?P<intent>[^*?]*)(?:\*(?P<what>utterances|patterns|utterancesAndPatterns)\*)?")
_SYNONYM_SIGNS = re.compile(r"[,;]")
_LEARNED = ("ml", "machine-learned", "simple")
_HINTS = "phrase lists and other features are not imported"
_NOT_TAKEN = {
    "phraselist": _HINTS,
    "intent": _HINTS,
    "composite": "composite entities are not imported, but their parts are",
}
"""Kind of declaration to what is said about it."""


def read(files: Sequence[File], draft: Draft) -> None:
    """All files, and those that they import."""
    book = _Book(draft)
    for file in files:
        book.add(file)
    book.read()


class _Book:
    """Pages by path, in the order in which they are named."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._pages: dict[str, tuple[File, Page]] = {}
        self._entities = Entities(draft)

    def add(self, first: File) -> None:
        """A file and all that it imports, however many steps away."""
        waiting = [first]
        for file in waiting:
            if file.path not in self._pages:
                page = read_page(file, self._draft)
                self._pages[file.path] = file, page
                for link in page.imports:
                    waiting += self._imported(file, link)

    def read(self) -> None:
        draft, given = self._draft, self._draft.default_language
        languages = {path: _language(file, page, draft) or given for path, (file, page) in self._pages.items()}
        for path, (_, page) in self._pages.items():
            for declaration in page.entities:
                # What is said in the only language needs no language.
                self._declare(declaration, languages[path] if len(set(languages.values())) > 1 else None)
        for path, (file, page) in self._pages.items():
            draft.default_language = languages[path]
            for section in page.intents:
                intent = draft.intent(section.name, section.place, fallback=section.name == NONE)
                self._say(self._written_out(section.items, file), intent)
        attach(draft)

    def _imported(self, file: File, link: Item) -> list[File]:
        """The files that a link leads to. What is there and no .lu file is of no interest."""
        path = link.text.partition("#")[0]
        if "://" in path:
            self._draft.not_expressed(link.place, "links to web pages are not imported")
            return []
        folder, _, pattern = path.replace("\\", "/").rpartition("/")
        if pattern in ("*", "**"):
            start = _within(file, folder)
            return [
                other for other in file.source if start is not None and _lies_in(other, start, deep=pattern == "**")
            ]
        found = file.beside(path) or _in_other_case(file, path)
        if found is None:
            hint = "import the folder that contains all files, and check upper and lower case"
            self._draft.warn(
                link.place, "not-found", f"{path!r} was not found, or is outside of the imported folder", hint
            )
        elif found.name != PurePosixPath(path).name:
            self._draft.note(
                link.place,
                "not-found",
                f"{path!r} was not found; {found.name!r}, which differs in case, is read instead",
            )
        return [found] if found is not None and found.suffix == ".lu" else []

    def _written_out(self, items: Iterable[Item], file: File) -> Iterator[Item]:
        """Lines, and for a link to another file the lines that it stands for; these may hold no more links."""
        for item in items:
            link = LINK.fullmatch(item.text)
            if link is None:
                yield item
                continue
            fragment = _FRAGMENT.fullmatch(link["path"].partition("#")[2].strip())
            if fragment is None or "#" not in link["path"]:
                self._draft.not_expressed(item.place, "links to questions and answers are not imported")
                continue
            for other in self._imported(file, Item(link["path"].strip(), 0, item.place)):
                page = self._pages[other.path][1] if other.path in self._pages else read_page(other, self._draft)
                for section in page.intents:
                    if fragment["intent"] in ("", section.name):
                        yield from self._chosen(section.items, fragment["what"])

    def _chosen(self, items: Iterable[Item], what: str | None) -> Iterator[Item]:
        for item in items:
            is_pattern = parse(item.text, self._name_of(item.place)).template is not None
            if LINK.fullmatch(item.text) is None and what != ("utterances" if is_pattern else "patterns"):
                yield item

    def _say(self, items: Iterable[Item], intent: IntentDraft) -> None:
        for item in items:
            line = parse(item.text, self._name_of(item.place))
            self._note(line, item.place)
            if line.template is not None:
                intent.template(line.template, item.place)
            else:
                intent.say(line.text, item.place, labels=line.labels)

    def _note(self, line: Line, place: Location) -> None:
        for name in line.outer:
            message = f"labels of {name!r} contain other labels; only the innermost are imported"
            self._draft.not_expressed(place, message)
        if line.flawed:
            self._draft.warn(place, "bad-label", "a label that is never closed is skipped", "add the missing `}`")

    def _name_of(self, place: Location) -> NameOf:
        return lambda entity, role: self._entities.slot(self._entities.name(entity, role), place)

    def _declare(self, declaration: Declaration, language: str | None) -> None:
        entities, name, kind, place = self._entities, declaration.name, declaration.kind, declaration.place
        for role in declaration.roles:
            entities.instance(role, name)
        if kind in _NOT_TAKEN:
            self._draft.not_expressed(place, _NOT_TAKEN[kind])
        elif kind == "prebuilt":
            entities.built_in(name, place)
        elif kind == "patternany":
            entities.entity(name, place).kind = "any"
        elif kind not in ("", "list", "regex", *_LEARNED):
            entities.instance(name, kind)
        if declaration.value is not None:
            entities.entity(name, place).add(declaration.value, [item.text for item in declaration.items], language)
        elif kind in ("list", "", "regex"):
            self._read_list(declaration, language)
        for item in declaration.items:
            self._read_part(item)

    def _read_list(self, declaration: Declaration, language: str | None) -> None:
        """Regular expressions, or values with their synonyms below them, a line for each or several in a line."""
        value, rim = None, min((item.indent for item in declaration.items), default=0)
        definition = Item(declaration.definition, rim, declaration.place)
        for item in (*([definition] if definition.text else []), *declaration.items):
            text = item.text
            # What stands nowhere else: whether these are values, or parts.
            if declaration.kind == "" and text.startswith(("@", "[")):
                continue
            entity = self._entities.entity(declaration.name, declaration.place)
            if len(text) > 2 and text[0] == text[-1] == "/":
                entity.patterns += [text[1:-1]] if text[1:-1] not in entity.patterns else []
            elif value is None or text.endswith(":") or item.indent <= rim:
                value = text.removesuffix(":").strip()
                entity.add(value)
            else:
                synonyms = (synonym.strip() for synonym in _SYNONYM_SIGNS.split(text))
                entity.add(value, [synonym for synonym in synonyms if synonym], language)

    def _read_part(self, item: Item) -> None:
        """A part of a machine-learned entity, learned itself or like an entity."""
        if item.text.startswith("@"):
            part = new_declaration(item.text[1:], item.place)
            if part.kind not in ("", *_LEARNED):
                self._entities.instance(part.name, part.kind)


def _language(file: File, page: Page, draft: Draft) -> str | None:
    """What the file says or, where it says nothing, its name or that of its folder."""
    if page.language:
        return draft.language(page.language, file.location)
    named = _IN_NAME.fullmatch(file.name)
    folder = PurePosixPath(file.place).parent.name
    code = named["language"] if named else folder if _LANGUAGE.fullmatch(folder) else None
    return draft.language(code, file.location)


def _within(file: File, path: str) -> str | None:
    """A folder, as a file names it, by its path in the source; None where that leads out of it."""
    parts = list(PurePosixPath(file.path).parent.parts)
    for part in PurePosixPath(path).parts:
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _lies_in(file: File, folder: str, *, deep: bool) -> bool:
    parent = file.path.rpartition("/")[0]
    return file.suffix == ".lu" and (
        parent == folder or (deep and f"{parent}/".startswith(f"{folder}/" if folder else ""))
    )


def _in_other_case(file: File, path: str) -> File | None:
    """A file of the source whose path differs in nothing but upper and lower case."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    start = _within(file, folder)
    wanted = None if start is None else f"{start}/{name}".lstrip("/").lower()
    return next((other for other in file.source if other.path.lower() == wanted), None)
