"""Read .lu files and their imports into a draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, IntentDraft
from intentmatch.formats.kit.global_entities import attach_global_entities
from intentmatch.formats.kit.source import File
from intentmatch.formats.lu.entities import NONE, Entities
from intentmatch.formats.lu.lines import Line, NameOf, parse
from intentmatch.formats.lu.page import LINK, Declaration, LuItem, LuPage, new_declaration, read_page

_IN_NAME = re.compile(r".*\.(?P<language>[a-z]{2}(?:-[a-z]{2})?)\.lu", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2}-[a-z]{2}", re.IGNORECASE)
_FRAGMENT = re.compile(r"(?P<intent>[^*?]*)(?:\*(?P<what>utterances|patterns|utterancesAndPatterns)\*)?")
_SYNONYM_SIGNS = re.compile(r"[,;]")
_LEARNED = ("ml", "machine-learned", "simple")
_HINTS = "phrase lists and other features are not imported"
_NOT_IMPORTED = {
    "phraselist": _HINTS,
    "intent": _HINTS,
    "composite": "composite entities are not imported, but their parts are",
}
"""Kind of declaration that is not imported to its message."""


def read(files: Sequence[File], draft: Draft) -> None:
    """Read all files and the files that they import."""
    reader = _Reader(draft)
    for file in files:
        reader.add(file)
    reader.read()


class _Reader:
    """Pages by path, in the order of their first mention."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._pages: dict[str, tuple[File, LuPage]] = {}
        self._entities = Entities(draft)

    def add(self, first: File) -> None:
        """Add a file and everything that it imports, directly or indirectly."""
        waiting = [first]
        for file in waiting:
            # Files may import each other.
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
                # In files of one language, synonyms need no language.
                self._declare(declaration, languages[path] if len(set(languages.values())) > 1 else None)
        for path, (file, page) in self._pages.items():
            # Each file has a language of its own.
            draft.default_language = languages[path]
            for section in page.intents:
                intent = draft.intent(section.name, section.place, fallback=section.name == NONE)
                self._say(self._with_links_resolved(section.items, file), intent)
        attach_global_entities(draft)

    def _imported(self, file: File, link: LuItem) -> list[File]:
        """Return the .lu files that a link points to."""
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
        # Links written on Windows may differ from the file's name in case.
        found = file.resolve_reference(path) or _in_other_case(file, path)
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

    def _with_links_resolved(self, items: Iterable[LuItem], file: File) -> Iterator[LuItem]:
        """Yield lines, with each link to another file replaced by the lines of that file. Links do not nest."""
        for item in items:
            link = LINK.fullmatch(item.text)
            if link is None:
                yield item
                continue
            fragment = _FRAGMENT.fullmatch(link["path"].partition("#")[2].strip())
            if fragment is None or "#" not in link["path"]:
                self._draft.not_expressed(item.place, "links to questions and answers are not imported")
                continue
            for other in self._imported(file, LuItem(link["path"].strip(), 0, item.place)):
                page = self._pages[other.path][1] if other.path in self._pages else read_page(other, self._draft)
                for section in page.intents:
                    if fragment["intent"] in ("", section.name):
                        yield from self._chosen(section.items, fragment["what"])

    def _chosen(self, items: Iterable[LuItem], what: str | None) -> Iterator[LuItem]:
        for item in items:
            is_pattern = parse(item.text, self._name_of(item.place)).template is not None
            if LINK.fullmatch(item.text) is None and what != ("utterances" if is_pattern else "patterns"):
                yield item

    def _say(self, items: Iterable[LuItem], intent: IntentDraft) -> None:
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
        if line.unclosed:
            self._draft.warn(place, "bad-label", "a label that is never closed is skipped", "add the missing `}`")

    def _name_of(self, place: Location) -> NameOf:
        return lambda entity, role: self._entities.slot(self._entities.name(entity, role), place)

    def _declare(self, declaration: Declaration, language: str | None) -> None:
        entities, name, kind, place = self._entities, declaration.name, declaration.kind, declaration.place
        for role in declaration.roles:
            entities.add_instance(role, name)
        if kind in _NOT_IMPORTED:
            self._draft.not_expressed(place, _NOT_IMPORTED[kind])
        elif kind == "prebuilt":
            entities.built_in(name, place)
        elif kind == "patternany":
            entities.entity(name, place).kind = "any"
        elif kind not in ("", "list", "regex", *_LEARNED):
            entities.add_instance(name, kind)
        if declaration.value is not None:
            entities.entity(name, place).add(declaration.value, [item.text for item in declaration.items], language)
        elif kind in ("list", "", "regex"):
            self._read_list(declaration, language)
        for item in declaration.items:
            self._read_part(item)

    def _read_list(self, declaration: Declaration, language: str | None) -> None:
        """Read regular expressions, or values with their synonyms on the lines below."""
        value, base_indent = None, min((item.indent for item in declaration.items), default=0)
        definition = LuItem(declaration.definition, base_indent, declaration.place)
        for item in (*([definition] if definition.text else []), *declaration.items):
            text = item.text
            # Without a kind, `@` and `[` mark parts of the entity instead of values.
            if declaration.kind == "" and text.startswith(("@", "[")):
                continue
            entity = self._entities.entity(declaration.name, declaration.place)
            if len(text) > 2 and text[0] == text[-1] == "/":
                entity.patterns += [text[1:-1]] if text[1:-1] not in entity.patterns else []
            elif value is None or text.endswith(":") or item.indent <= base_indent:
                value = text.removesuffix(":").strip()
                entity.add(value)
            else:
                synonyms = (synonym.strip() for synonym in _SYNONYM_SIGNS.split(text))
                entity.add(value, [synonym for synonym in synonyms if synonym], language)

    def _read_part(self, item: LuItem) -> None:
        """Read a part of a machine-learned entity, which may be an instance of another entity."""
        if item.text.startswith("@"):
            part = new_declaration(item.text[1:], item.place)
            if part.kind not in ("", *_LEARNED):
                self._entities.add_instance(part.name, part.kind)


def _language(file: File, page: LuPage, draft: Draft) -> str | None:
    """Return the language that the file states, or the one in its name or in the name of its folder."""
    if page.language:
        return draft.language(page.language, file.location)
    named = _IN_NAME.fullmatch(file.name)
    folder = PurePosixPath(file.place).parent.name
    code = named["language"] if named else folder if _LANGUAGE.fullmatch(folder) else None
    return draft.language(code, file.location)


def _within(file: File, path: str) -> str | None:
    """Return the path in the source of a folder named relative to a file; None if it is outside of the source."""
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
    """Return the file of the source whose path differs only in upper and lower case."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    start = _within(file, folder)
    wanted = None if start is None else f"{start}/{name}".lstrip("/").lower()
    return next((other for other in file.source if other.path.lower() == wanted), None)
