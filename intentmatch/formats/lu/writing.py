"""Registries as .lu files, one for each language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from intentmatch.errors import Location, Problem
from intentmatch.formats import dialogflow
from intentmatch.formats.draft import NOT_EXPRESSED
from intentmatch.formats.format import Feature, Files
from intentmatch.formats.lu.lines import escaped, parse
from intentmatch.registry.rules import NOWHERE
from intentmatch.registry.templates import Blank, Choice, Series, Template, Use, Words
from intentmatch.registry.templates import parse as parse_template
from intentmatch.types import Intent, Registry, Slot, Utterance

SAYS: frozenset[Feature] = frozenset({"languages", "marks", "templates", "lists", "synonyms", "patterns", "kinds"})
_BUILT_IN = {"number": "number", "date": "datetimeV2", "time": "datetimeV2"}


def write(registry: Registry, problems: list[Problem]) -> Files:
    """The file of the only language, or one for each."""
    codes = list(dict.fromkeys(line.language for line in registry.utterances)) or [None]
    writer = _Writer(registry, problems)
    if len(codes) == 1:
        return {"intents.lu": writer.page(codes[0])}
    return {f"intents.{(code or 'none').lower()}.lu": writer.page(code) for code in codes}


class _Writer:
    """Writes pages; `problems` fills up as it goes."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._registry = registry
        self._problems = problems
        self._slots = dialogflow.slots_of(registry)
        self._labelled = {mark.slot for line in registry.utterances for mark in line.marks}

    def page(self, language: str | None) -> str:
        blocks = [f"> !# @app.culture = {language.lower()}"] if language else []
        for intent in self._registry:
            said = [line for line in intent.utterances if line.language == language]
            if said or not intent.utterances:
                blocks.append("\n".join([f"# {self._name(intent)}", *(f"- {self._line(line)}" for line in said)]))
        blocks += ["\n".join(self._entity(slot, language)) for slot in self._slots.values()]
        return "\n\n".join(blocks) + "\n"
