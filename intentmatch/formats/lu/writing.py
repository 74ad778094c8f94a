"""Write a registry as .lu files, one for each language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit import by_language, losses
from intentmatch.formats.kit.format import Feature, Files
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.spans import split_at_marks
from intentmatch.formats.lu.lines import escaped, parse
from intentmatch.formats.lu.page import LINK
from intentmatch.registry.templates.syntax import Blank, Choice, Series, Words
from intentmatch.registry.templates.syntax import parse as parse_template

SAYS: frozenset[Feature] = frozenset(
    {"languages", "marks", "templates", "blanks", "lists", "synonyms", "patterns", "kinds"}
)
_BUILT_IN: Mapping[SlotKind, str] = {
    "number": "number",
    "ordinal": "ordinal",
    "money": "money",
    "temperature": "temperature",
    "date": "datetimeV2",
    "time": "datetimeV2",
    "datetime": "datetimeV2",
    "duration": "datetimeV2",
    "email": "email",
    "phone": "phonenumber",
    "url": "url",
}
_BREAKS = re.compile(r"\s*[\r\n]\s*")
# Braces are always special, and a backslash is before a sign or at the end of a label.
_BRACES = re.compile(r"[{}]|\\(?=[{}\[\]()|\\]|$)")


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Return one file per language."""
    codes = list(dict.fromkeys(line.language for line in registry.utterances)) or [None]
    writer = _Writer(registry, problems)
    if len(codes) == 1:
        return {"intents.lu": writer.page(codes[0])}
    return {f"intents.{(code or 'none').lower()}.lu": writer.page(code) for code in codes}


class _Writer:
    """Writes the pages of one registry and appends losses to `problems`."""

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._registry = registry
        self._problems = problems
        self._slots = all_slots(registry)
        self._labelled = {mark.slot for line in registry.utterances for mark in line.marks}
        self._problems += losses.unused_slot_losses(registry, _BUILT_IN)
        for slot in self._slots.values():
            if slot.kind in ("time", "duration") or (slot.kind == "any" and slot.name in self._labelled):
                self._report_loss(
                    slot.location, f"the slot {slot.name!r} ({slot.kind}) exactly; the nearest type is written"
                )

    def page(self, language: str | None) -> str:
        blocks = [f"> !# @app.culture = {language.lower()}"] if language else []
        for intent in self._registry:
            utterances = by_language.utterances_in(intent, language)
            if utterances or not intent.utterances:
                lines = [f"- {self._line(line, intent)}" for line in utterances]
                blocks.append("\n".join([f"# {self._name(intent)}", *lines]))
        blocks += ["\n".join(self._entity(slot, language)) for slot in self._slots.values()]
        return "\n\n".join(blocks) + "\n"

    def _name(self, intent: Intent) -> str:
        if intent.name.startswith("?") or _BREAKS.search(intent.name):
            self._report_loss(
                intent.location, f"the intent name {intent.name!r}; it is written without a leading `?` or line breaks"
            )
        return _BREAKS.sub(" ", intent.name).lstrip("?")

    def _line(self, line: Utterance, intent: Intent) -> str:
        if _BREAKS.search(line.text):
            self._report_loss(line.location or intent.location, f"line breaks in utterances of {intent.name!r}")
        if line.template is not None and not line.marks:
            written = _pattern(line.template)
        else:
            parts = ((_plain(text), slot) for text, slot in split_at_marks(line))
            written = "".join(text if slot is None else f"{{@{slot}={text}}}" for text, slot in parts)
            if parse(written, lambda entity, role: entity).template is not None or LINK.fullmatch(written):
                parts = ((escaped(text), slot) for text, slot in split_at_marks(line))
                written = "".join(text if slot is None else f"{{@{slot}={text}}}" for text, slot in parts)
        return _BREAKS.sub(" ", written)

    def _entity(self, slot: Slot, language: str | None) -> Iterator[str]:
        if slot.kind == "list":
            yield f"@ list {slot.name} ="
            for value in slot.values:
                yield f"\t- {value.value} :"
                for synonym in self._synonyms(value, slot, language):
                    yield f"\t\t- {synonym}"
        elif slot.kind == "pattern":
            if len(slot.patterns) > 1:
                self._report_loss(
                    slot.location, f"several patterns of the slot {slot.name!r}; they are joined into one"
                )
            joined = "|".join(f"(?:{pattern})" for pattern in slot.patterns)
            yield f"@ regex {slot.name} = /{slot.patterns[0] if len(slot.patterns) == 1 else joined}/"
        elif slot.kind in _BUILT_IN:
            yield f"@ prebuilt {_BUILT_IN[slot.kind]} {slot.name}"
        else:
            yield f"@ {'ml' if slot.name in self._labelled else 'patternany'} {slot.name}"

    def _synonyms(self, value: SlotValue, slot: Slot, language: str | None) -> Iterator[str]:
        for synonym in by_language.synonyms_in(value, language):
            if re.search(r"[,;\r\n]|:\s*$", synonym):
                self._report_loss(slot.location, f"the synonym {synonym!r} of the slot {slot.name!r}")
            else:
                yield synonym

    def _report_loss(self, place: Location | None, what: str) -> None:
        problem = losses.loss(place, what)
        if problem not in self._problems:
            self._problems.append(problem)


def _plain(text: str) -> str:
    """Escape a text of a line that is not a pattern, with as few backslashes as possible."""
    return _BRACES.sub(r"\\\g<0>", text)


def _pattern(template: str) -> str:
    """Convert a template to a LUIS pattern, in which alternatives need round brackets."""
    pieces: list[str] = []
    for node in parse_template(template).nodes:
        if isinstance(node, Words):
            pieces.append(escaped(node.text))
        elif isinstance(node, Blank):
            pieces.append(f"{{@{node.slot}}}" if node.value is None else f"{{@{node.slot}={escaped(node.value)}}}")
        elif isinstance(node, Series):
            pieces.append("".join(pieces[item] for item in node.items))
        elif isinstance(node, Choice):
            alternatives = [pieces[item] for item in node.items if pieces[item]]
            choice = f"({'|'.join(alternatives)})" if len(alternatives) > 1 else "".join(alternatives)
            pieces.append(choice if len(alternatives) == len(node.items) else f"[{choice}]")
        else:
            pieces.append(escaped(f"<{node.rule}>"))
    return pieces[-1]
