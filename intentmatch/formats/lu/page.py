"""Split a .lu file into sections: intents with lines, entity declarations with items, and imports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.source import File

_SETTING = re.compile(r"\s*>\s*!#\s*@\s*(?P<name>[\w.]+)\s*=\s*(?P<value>.*)")
_HEADING = re.compile(r"\s*#+\s*(?P<name>.*)")
_ITEM = re.compile(r"(?P<indent>\s*)[-*+]\s*(?P<text>.*)")
LINK = re.compile(r"\s*\[[^\]]*\]\((?P<path>[^)]*)\)")
_OLD = re.compile(r"\s*\$(?P<name>[^:=]+):(?P<rest>.*)")
_NEW = re.compile(r"\s*@(?P<rest>.*)")
_OLD_ROLES = re.compile(r"\broles?\s*=", re.IGNORECASE)
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s,=()\"']+")
KINDS = (
    "ml",
    "machine-learned",
    "simple",
    "list",
    "regex",
    "prebuilt",
    "composite",
    "patternany",
    "phraselist",
    "intent",
)
_HAS_ROLES, _USES_FEATURES = ("hasrole", "hasroles"), ("usesfeature", "usesfeatures")
_OPTIONS = ("interchangeable", "disabled", "enabledforallmodels", "disabledforallmodels")
_FENCE = "```"


class LuItem(NamedTuple):
    """A list item."""

    text: str
    indent: int
    place: Location


@dataclass
class LuIntent:
    """An intent heading and the lines below it."""

    name: str
    place: Location
    items: list[LuItem] = field(default_factory=list)


@dataclass
class Declaration:
    """A declaration of an entity. An entity may have several."""

    name: str
    place: Location
    kind: str = ""
    """A known kind, or the name of the entity that this one is an instance of; "" if another declaration states it."""
    roles: Sequence[str] = ()
    definition: str = ""
    """The text after the equals sign."""
    value: str | None = None
    """In the old syntax, the value of a list that this declaration is for."""
    items: list[LuItem] = field(default_factory=list)


@dataclass
class LuPage:
    """The content of one file."""

    language: str | None = None
    intents: list[LuIntent] = field(default_factory=list)
    entities: list[Declaration] = field(default_factory=list)
    imports: list[LuItem] = field(default_factory=list)


def read_page(file: File, draft: Draft) -> LuPage:
    """Split a file into sections. Lines outside of any section are reported."""
    page = LuPage()
    section: list[LuItem] | None = None
    fence: Location | None = None
    for number, whole in enumerate(file.text.split("\n"), 1):
        line = whole.rstrip()
        place = Location(file.place, number, len(line) - len(line.lstrip()) + 1)
        if line.lstrip().startswith(_FENCE):
            fence = place if fence is None else None
        elif fence is not None or not line:
            continue
        elif line.lstrip().startswith(">"):
            _read_comment(line, page)
        elif heading := _HEADING.fullmatch(line):
            section = _open_intent(heading["name"], place, page, draft)
        elif link := LINK.fullmatch(line):
            page.imports.append(LuItem(link["path"].strip(), 0, place))
        elif declaration := _declaration(line, place):
            page.entities.append(declaration)
            section = declaration.items
        elif (item := _ITEM.fullmatch(line)) and section is not None:
            at = Location(file.place, number, item.start("text") + 1)
            section.append(LuItem(item["text"], len(item["indent"].expandtabs(4)), at))
        else:
            draft.warn(place, "unread-line", "a line outside of any section is skipped")
    if fence is not None:
        draft.warn(
            fence, "unread-line", "the code block that begins here is never closed; the rest of the file is skipped"
        )
    return page


def _read_comment(line: str, page: LuPage) -> None:
    setting = _SETTING.fullmatch(line)
    if setting and setting["name"].lower() == "app.culture":
        page.language = setting["value"]


def _open_intent(name: str, place: Location, page: LuPage, draft: Draft) -> list[LuItem]:
    """Start an intent and return the list for its lines. The lines of a question with an answer are dropped."""
    if name.startswith("?"):
        draft.not_expressed(place, "QnA Maker questions and answers are not imported")
        return []
    page.intents.append(LuIntent(name, place))
    return page.intents[-1].items


def _declaration(line: str, place: Location) -> Declaration | None:
    if old := _OLD.fullmatch(line):
        return _old_declaration(old["name"].strip(), old["rest"].strip(), place)
    new = _NEW.fullmatch(line)
    return new_declaration(new["rest"], place) if new else None


def _old_declaration(name: str, rest: str, place: Location) -> Declaration:
    """Parse `$name:simple`, `$name:value=`, `$PREBUILT:number roles=a, b`, `$name:/regex/` or `$name:[a, b]`."""
    roles: Sequence[str] = ()
    if with_roles := _OLD_ROLES.search(rest):
        roles = _words(rest[with_roles.end() :].strip("[] "))
        rest = rest[: with_roles.start()].strip()
    lowered = rest.lower()
    if name.upper() == "PREBUILT":
        return Declaration(rest, place, "prebuilt", roles)
    if rest.startswith("/"):
        return Declaration(name, place, "regex", roles, rest)
    if rest.startswith("["):
        return Declaration(name, place, "composite", roles, rest)
    if lowered.startswith(("phraselist", "qna-alteration")):
        return Declaration(name, place, "phraselist")
    if rest.endswith("="):
        return Declaration(name, place, "list", roles, value=rest[:-1].strip())
    return Declaration(name, place, lowered if lowered in KINDS else rest, roles)


def new_declaration(text: str, place: Location) -> Declaration:
    """Parse `@ list name hasRoles a, b = ...`. `@ name usesFeature x` and `@ name = ...` extend an entity."""
    head, _, definition = text.partition("=")
    words = _words(head)
    kind = ""
    # The first of two names is the kind, unless the second is a keyword: then the kind was left out.
    if words[1:] and words[1].lower() not in (*_HAS_ROLES, *_USES_FEATURES, *_OPTIONS):
        kind = words[0].lower() if words[0].lower() in KINDS else words[0]
        words = words[1:]
    name, *rest = words or [""]
    roles: list[str] = []
    for word in rest:
        if word.lower() in _USES_FEATURES:
            break
        if word.lower() not in (*_HAS_ROLES, *_OPTIONS):
            roles.append(word)
    return Declaration(name, place, kind, roles, definition.strip())


def _words(text: str) -> list[str]:
    return [word.strip("\"'") for word in _WORD.findall(text)]
