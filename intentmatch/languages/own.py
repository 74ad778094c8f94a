"""A bot's own form of a language: sections that it adds to the shipped ones, or puts in their place.

Such a form has a code of its own, `en@1f3a5b7c9d0e`, with the digest of its sections. Tables and caches know it by that
code, so bots in one process never share what one of them changes. Regions stay: `en@1f3a5b7c9d0e-GB`.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import yaml

from intentmatch.languages.sections import OWN_SECTIONS, SECTIONS, WORD_LISTS

REPLACES = "replaces"
"""Key beside the sections of a language: the names of those that stand in place of the shipped ones."""
MOST_CHARACTERS = 20_000
"""Characters of a bot's sections of one language. Those of a shipped language have 8,000 at most."""
_DIGEST = re.compile("@[^-]*")
# Shapes ask a node for its place, which a value that was read before no longer has.
_NOWHERE = yaml.Mark("", 0, 0, 0, None, 0)


@dataclass(frozen=True, eq=False)
class OwnForm:
    """Sections of one language, as texts, lists and maps of texts."""

    sections: Mapping[str, Any]
    replaced: frozenset[str]

    def read(self, section: str, shipped: Any) -> Any:
        """Return a section with what is shipped, in its shape; None if neither has it."""
        own = self.sections.get(section)
        if own is not None and shipped is not None and section not in self.replaced:
            own = _joined(section, shipped, own)
        return None if own is None else SECTIONS[section](node_of(own))


# The forms of the bots that a process has: each preview of an edit makes new ones, which go with its registry.
_FORMS: WeakValueDictionary[str, OwnForm] = WeakValueDictionary()
_LOCK = threading.Lock()


class OwnLanguages:
    """The forms of languages that one bot reads; without any, every language is as shipped.

    The forms, and all that tables make of them, last as long as this object.
    """

    def __init__(self, sections: Mapping[str, Mapping[str, Any]], base_of: Callable[[str], str]) -> None:
        """`sections` has the bot's sections by language code, `base_of` gives the language of a code with a region.

        Raises `KeyError` for an unknown section, and `ShapeError` for an invalid one.
        """
        self._sections, self._base_of = sections, base_of
        self._codes = {language: _code(language, own) for language, own in sections.items()}
        self._forms = [_form(self._codes[language], own) for language, own in sections.items()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Read the sections again in another process, which does not know the forms."""
        return OwnLanguages, (self._sections, self._base_of)

    def code(self, language: str | None) -> str | None:
        """Return the code under which a language is read, with its region. Without a language, that is English."""
        if not self._codes:
            return language
        if language is None:
            own = self._codes.get("en")
            return f"{own}-US" if own else None
        own = self._codes.get(self._base_of(language))
        return language if own is None else "-".join([own, *language.split("-")[1:]])


def shipped_code(code: str) -> str:
    """Return the code of a language without what marks a bot's own form of it."""
    return _DIGEST.sub("", code) if "@" in code else code


def with_english(code: str) -> tuple[str, ...]:
    """Return English and a language, or a form of English alone."""
    return (code,) if shipped_code(code) == "en" else ("en", code)


def own_form(code: str) -> OwnForm | None:
    """Return the form that a code is of; None for a shipped language, and for the regions of a form."""
    return _FORMS.get(code) if "@" in code else None


def node_of(value: Any) -> yaml.Node:
    """Return a node of a text, or of a list or a map of such values."""
    if isinstance(value, Mapping):
        pairs = [(node_of(key), node_of(inner)) for key, inner in value.items()]
        return yaml.MappingNode("", pairs, _NOWHERE)
    if isinstance(value, list):
        return yaml.SequenceNode("", [node_of(item) for item in value], _NOWHERE)
    return yaml.ScalarNode("", str(value), _NOWHERE)


def _code(language: str, sections: Mapping[str, Any]) -> str:
    # Sorted, so that another order of the same keys makes no other form.
    text = json.dumps(sections, sort_keys=True)
    return f"{language}@{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _form(code: str, sections: Mapping[str, Any]) -> OwnForm:
    with _LOCK:
        if (known := _FORMS.get(code)) is not None:
            return known
        own = {name: value for name, value in sections.items() if name != REPLACES}
        # Checked before the form is kept: a registry need not come from YAML, where its sections are checked in their
        # places.
        for name, value in own.items():
            OWN_SECTIONS[name](node_of(value))
        form = _FORMS[code] = OwnForm(own, frozenset(sections.get(REPLACES, ())))
        return form


def _joined(section: str, shipped: Any, own: Any) -> Any:
    """Return two values of one section as one: maps key by key, lists one behind the other, texts of `own`."""
    if isinstance(own, Mapping) and isinstance(shipped, Mapping):
        # Without a name, because only whole sections of words grow; a text within a map is replaced.
        both = {key: _joined("", shipped[key], value) if key in shipped else value for key, value in own.items()}
        return {**shipped, **both}
    if isinstance(own, list) and isinstance(shipped, list):
        return [*shipped, *own]
    return f"{shipped} {own}" if section in WORD_LISTS else own
