"""Write a registry as .lu files, one for each language, such as Microsoft's own parser accepts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit import by_language, losses
from intentmatch.formats.kit.format import Feature, Files
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.spans import split_at_marks
from intentmatch.formats.lu.entities import BUILT_IN
from intentmatch.formats.lu.lines import escaped, parse
from intentmatch.formats.lu.page import KINDS, LINK
from intentmatch.registry.templates.syntax import Blank, Choice, Series, Words
from intentmatch.registry.templates.syntax import parse as parse_template

SAYS: frozenset[Feature] = frozenset(
    {"languages", "marks", "templates", "blanks", "lists", "synonyms", "patterns", "kinds"}
)
_PREBUILT: Mapping[SlotKind, str] = {
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
_BRACKETS = re.compile(r"[\[\]()]")
# Microsoft's parser refuses these signs in the name of an intent.
_NOT_IN_NAME = re.compile(r"[<>*%&:\\$]")
# An entity of such a name would be read as built-in, or is refused.
_RESERVED = frozenset((*BUILT_IN, *KINDS))
# Limits of a LUIS app, which the parser checks: patterns, characters, entities, roles of an entity.
_MOST_PATTERNS, _PATTERN_CHARS, _UTTERANCE_CHARS = 500, 400, 500
_MOST_LISTS, _MOST_REGEXES, _REGEX_CHARS, _MOST_ROLES = 50, 20, 500, 10


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Return one file per language."""
    codes = list(dict.fromkeys(line.language for line in registry.utterances)) or [None]
    writer = _Writer(registry, problems)
    if len(codes) == 1:
        return {"intents.lu": writer.page(codes[0])}
    return {f"intents.{(code or 'none').lower()}.lu": writer.page(code) for code in codes}


class _Entity(NamedTuple):
    """The entity that a slot is written as."""

    kind: str
    name: str
    is_role: bool
    """Whether the slot is a role of the entity."""
    labelled: bool = True
    """Whether utterances may label it."""


class _Writer:
    """Writes the pages of one registry and appends losses to `problems`.

    LUIS finds the values of list, regex and prebuilt entities itself and lets nobody label them, except as roles. So a
    labelled slot of these kinds is a role of its entity: `@ list cityValues hasRoles city`.
    """

    def __init__(self, registry: Registry, problems: list[Problem]) -> None:
        self._registry = registry
        self._problems = problems
        self._slots = all_slots(registry)
        self._labelled = {mark.slot for line in registry.utterances for mark in line.marks}
        self._problems += losses.unused_slot_losses(registry, _PREBUILT)
        for slot in self._slots.values():
            if slot.kind in ("date", "time", "duration") or (slot.kind == "any" and slot.name in self._labelled):
                self._report_loss(
                    slot.location, f"the slot {slot.name!r} ({slot.kind}) exactly; the nearest type is written"
                )
        self._counts: Counter[str] = Counter()
        self._entities: dict[str, _Entity] = {}
        for name, slot in self._slots.items():
            self._entities[name] = self._entity_of(slot)
        self._names = self._intent_names()

    def page(self, language: str | None) -> str:
        blocks = [f"> !# @app.culture = {language.lower()}"] if language else []
        patterns = 0
        for intent in self._registry:
            utterances = by_language.utterances_in(intent, language)
            lines: list[str] = []
            for utterance in utterances:
                line = self._line(utterance, intent)
                patterns += _is_pattern(utterance)
                too_much = self._over_limit(utterance, line, patterns)
                if too_much:
                    self._report_loss(utterance.location or intent.location, too_much)
                else:
                    lines.append(f"- {line}")
            if lines or not intent.utterances:
                blocks.append("\n".join([f"# {self._names[intent.name]}", *lines]))
        blocks += ["\n".join(self._declaration(slot, language)) for slot in self._slots.values()]
        return "\n\n".join(blocks) + "\n"

    def _intent_names(self) -> dict[str, str]:
        """Return the name that is written for each intent."""
        written: dict[str, str] = {}
        for intent in self._registry:
            # A heading that begins with a question mark is a question of QnA Maker.
            name = _NOT_IN_NAME.sub("_", _BREAKS.sub(" ", intent.name)).lstrip("?")
            while name in written.values():
                name += "_"
            if name != intent.name:
                self._report_loss(intent.location, f"the intent name {intent.name!r}; it is written as {name!r}")
            written[intent.name] = name
        return written

    def _entity_of(self, slot: Slot) -> _Entity:
        """Choose the entity for a slot. What exceeds a limit of LUIS becomes an entity without values."""
        labelled, reserved = slot.name in self._labelled, slot.name.lower() in _RESERVED
        if slot.kind in _PREBUILT:
            name = _PREBUILT[slot.kind]
            if slot.name.lower() == name.lower():
                return _Entity("prebuilt", name, is_role=False, labelled=False)
            if self._counted(name) <= _MOST_ROLES:
                return _Entity("prebuilt", name, is_role=True)
        elif slot.kind == "list" and self._counted("list") <= _MOST_LISTS:
            return self._own_entity("list", slot, "Values", as_role=labelled or reserved)
        elif slot.kind == "pattern" and len(_regex(slot)) <= _REGEX_CHARS and self._counted("regex") <= _MOST_REGEXES:
            return self._own_entity("regex", slot, "Pattern", as_role=labelled or reserved)
        kind = "ml" if labelled else "patternany"
        if slot.kind != "any":
            self._report_loss(slot.location, f"the slot {slot.name!r} ({slot.kind}) within the limits of LUIS")
        return self._own_entity(kind, slot, "Any", as_role=reserved)

    def _counted(self, kind: str) -> int:
        """Count one more entity or role of a kind."""
        self._counts[kind] += 1
        return self._counts[kind]

    def _own_entity(self, kind: str, slot: Slot, suffix: str, *, as_role: bool) -> _Entity:
        name = slot.name + (suffix if as_role else "")
        taken = {*self._slots, *(entity.name for entity in self._entities.values())}
        while as_role and name in taken:
            name += "_"
        return _Entity(kind, name, as_role)

    def _over_limit(self, utterance: Utterance, line: str, patterns: int) -> str:
        """Return what LUIS has no room for; "" if the line is within the limits."""
        if not _is_pattern(utterance):
            too_long = len(utterance.text) > _UTTERANCE_CHARS
            return f"utterances of more than {_UTTERANCE_CHARS} characters" if too_long else ""
        # In the app, the entity stands before its role.
        roles = {f"{{@{name}}}": len(entity.name) + 1 for name, entity in self._entities.items() if entity.is_role}
        length = len(line) + sum(line.count(role) * more for role, more in roles.items())
        if length > _PATTERN_CHARS:
            return f"templates of more than {_PATTERN_CHARS} characters"
        return f"more than {_MOST_PATTERNS} templates" if patterns > _MOST_PATTERNS else ""

    def _line(self, line: Utterance, intent: Intent) -> str:
        place = line.location or intent.location
        if _BREAKS.search(line.text):
            self._report_loss(place, f"line breaks in utterances of {intent.name!r}")
        if line.template is not None and not line.marks:
            written = self._pattern(line.template, place)
        else:
            parts = list(split_at_marks(line))
            written = "".join(self._label(_plain(text), slot, place) for text, slot in parts)
            # Brackets are escaped only where the line would be read as a pattern.
            if parse(written, lambda entity, role: entity).template is not None or LINK.fullmatch(written):
                written = "".join(self._label(_unlike_pattern(text), slot, place) for text, slot in parts)
        return _BREAKS.sub(" ", written)

    def _label(self, text: str, slot: str | None, place: Location | None) -> str:
        if slot is None:
            return text
        entity = self._entities.get(slot)
        if entity is not None and not entity.labelled:
            self._report_loss(place, f"labels of the slot {slot!r}, which has the name of a built-in entity")
            return text
        if "\\{" in text or "\\}" in text:
            self._report_loss(place, f"labels of the slot {slot!r} with braces in their text")
            return text
        return f"{{@{slot}={text}}}"

    def _pattern(self, template: str, place: Location | None) -> str:
        """Convert a template to a LUIS pattern, in which alternatives need round brackets."""
        pieces: list[str] = []
        for node in parse_template(template).nodes:
            if isinstance(node, Words):
                pieces.append(escaped(node.text))
            elif isinstance(node, Blank):
                if node.value is not None:
                    self._report_loss(place, f"values of the slot {node.slot!r} in templates")
                pieces.append(f"{{@{node.slot}}}" if node.value is None else escaped(node.value))
            elif isinstance(node, Series):
                pieces.append("".join(pieces[item] for item in node.items))
            elif isinstance(node, Choice):
                alternatives = [pieces[item] for item in node.items if pieces[item]]
                choice = f"({'|'.join(alternatives)})" if len(alternatives) > 1 else "".join(alternatives)
                pieces.append(choice if len(alternatives) == len(node.items) else f"[{choice}]")
            else:
                pieces.append(escaped(f"<{node.rule}>"))
        return pieces[-1]

    def _declaration(self, slot: Slot, language: str | None) -> Iterator[str]:
        entity = self._entities[slot.name]
        head = f"@ {entity.kind} {entity.name}" + (f" hasRoles {slot.name}" if entity.is_role else "")
        if entity.kind == "list":
            yield f"{head} ="
            for value in slot.values:
                yield f"\t- {value.value} :"
                for synonym in self._synonyms(value, slot, language):
                    yield f"\t\t- {synonym}"
        elif entity.kind == "regex":
            if len(slot.patterns) > 1:
                self._report_loss(
                    slot.location, f"several patterns of the slot {slot.name!r}; they are joined into one"
                )
            yield f"{head} = /{_regex(slot)}/"
        else:
            yield head

    def _synonyms(self, value: SlotValue, slot: Slot, language: str | None) -> Iterator[str]:
        for synonym in by_language.synonyms_in(value, language):
            # A comma or a semicolon parts synonyms, and a colon at the end makes a value.
            if re.search(r"[,;\r\n]|:\s*$", synonym):
                self._report_loss(slot.location, f"the synonym {synonym!r} of the slot {slot.name!r}")
            else:
                yield synonym

    def _report_loss(self, place: Location | None, what: str) -> None:
        problem = losses.loss(place, what)
        if problem not in self._problems:
            self._problems.append(problem)


def _is_pattern(line: Utterance) -> bool:
    return line.template is not None and not line.marks


def _regex(slot: Slot) -> str:
    """Return the patterns of a slot as one."""
    return slot.patterns[0] if len(slot.patterns) == 1 else "|".join(f"(?:{pattern})" for pattern in slot.patterns)


def _unlike_pattern(text: str) -> str:
    """Escape a text that would be a pattern or a link without it. A bar is special in brackets alone."""
    return _BRACKETS.sub(r"\\\g<0>", _plain(text))


def _plain(text: str) -> str:
    """Escape a text of a line that is not a pattern, with as few backslashes as possible."""
    return _BRACES.sub(r"\\\g<0>", text)
