"""Collect the content of a Rasa bot from all its files, and resolve references between them at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intentmatch.core.errors import Location, RegistryError
from intentmatch.formats.kit.draft import Draft, Label, few
from intentmatch.formats.kit.slot_draft import SlotDraft, merge_spellings
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value
from intentmatch.formats.rasa.cases import Tests
from intentmatch.formats.rasa.marks import Annotation, parse
from intentmatch.text.normalize import fold

UTTER = "utter_"
_ASK = "utter_ask_"


class RasaBot:
    """Fills a draft. Synonyms, patterns and responses find their entity or intent when all files are read."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._synonyms: list[tuple[str, Sequence[str], Location]] = []
        self._patterns: list[tuple[str, Sequence[str], Location]] = []
        self._responses: dict[str, list[tuple[str, Location]]] = {}
        self._tests = Tests(draft)

    def say(self, intent: str, line: str, place: Location) -> None:
        """Add a line of training data, which may have entity marks."""
        text, annotations, invalid = parse(line)
        for mark in invalid:
            self.draft.warn(place, "bad-label", f"{mark!r} names no entity; its text is imported without a label")
        self.labelled(intent, text, annotations, place)

    def labelled(self, intent: str, text: str, annotations: Iterable[Annotation], place: Location) -> None:
        """Add a line with known entities."""
        labels = [self._label(annotation, place) for annotation in annotations]
        self.draft.intent(intent, place).say(text, place, labels=labels)

    def declare(self, intent: str, place: Location, metadata: Value | None = None) -> None:
        """Add an intent, which may have no lines, with its metadata."""
        draft = self.draft.intent(intent, place)
        if metadata is not None and metadata.is_mapping:
            draft.metadata.update(metadata.plain())
        elif metadata:
            message = f"the metadata of {intent!r} is not a mapping; it is skipped"
            self.draft.not_expressed(metadata.location, message)

    def test(self, text: str, intent: str, place: Location) -> None:
        """Add a message with the intent that it should get."""
        self._tests.add(text, intent, place)

    def synonyms(self, value: str, synonyms: Sequence[str], place: Location) -> None:
        """Add synonyms of a value. Rasa does not say of which entity."""
        self._synonyms.append((value, synonyms, place))

    def patterns(self, name: str, patterns: Sequence[str], place: Location) -> None:
        """Add regular expressions of an entity, or regex features of an intent."""
        self._patterns.append((name, patterns, place))

    def lookup(self, name: str, values: Iterable[str], place: Location) -> None:
        """Add the values of an entity."""
        entity = self.draft.type(name, place)
        for value in values:
            entity.add(value)

    def lookup_file(self, name: str, path: str, file: File, place: Location) -> None:
        """Add the values of an entity from a file with one value per line.

        The path is relative to the folder in which the bot was trained: the folder of the file, or one above.
        """
        found = (
            file.resolve_reference(path)
            or file.source.find(path)
            or file.resolve_reference(path.replace("\\", "/").rpartition("/")[2])
        )
        if found is None:
            self.draft.warn(place, "not-found", f"the lookup table {path!r} of {name!r} was not found")
            return
        try:
            lines = found.text.splitlines()
        # A file of values that cannot be read is no reason to refuse the whole bot.
        except RegistryError as error:
            self.draft.warn(error.problems[0].location, error.problems[0].rule, error.problems[0].message)
            return
        self.lookup(name, filter(None, map(str.strip, lines)), place)

    def response(self, action: str, text: str, place: Location) -> None:
        """Add one response text of an action."""
        self._responses.setdefault(action, []).append((text, place))

    def finish(self) -> None:
        """Attach synonyms, patterns, responses and tests to their entities and intents."""
        self._tests.finish()
        for name, patterns, place in self._patterns:
            if name in self.draft.intents:
                self.draft.not_expressed(place, f"regex features of the intent {name!r} are not imported")
            else:
                self.draft.type(name, place).patterns += patterns
        self._complete_lookups()
        for value, synonyms, place in self._synonyms:
            # Each entity with this value gets the synonyms; `any` would stop at the first.
            if not sum(entity.merge(value, synonyms) for entity in self.draft.types.values()):
                self.draft.not_expressed(
                    place, f"synonyms of {value!r} are not imported, because no entity has this value"
                )
        orphans = [action for action in self._responses if not self._respond(action)]
        if orphans:
            place = self._responses[orphans[0]][0][1]
            self.draft.not_expressed(
                place, f"responses that belong to no intent or slot are not imported: {few(orphans)}"
            )

    def _complete_lookups(self) -> None:
        """Add marked values that a lookup table lacks: Rasa learns entities from marks, and the table only helps."""
        meant = {fold(synonym): value for value, synonyms, _ in self._synonyms for synonym in synonyms}
        for name, entity in self.draft.types.items():
            # Without a table, the values are those that are marked.
            marked = merge_spellings(entity.labelled) if entity.values else {}
            known = {fold(value): value for value in entity.values}
            added = []
            for text, spellings in marked.items():
                value = meant.get(fold(text), text)
                if fold(value) not in known:
                    known[fold(value)] = value
                    added.append(value)
                entity.add(known[fold(value)], [spelling.text for spelling in spellings])
            if added:
                message = f"the lookup table of the slot {name!r} lacks values that examples mark: {few(added)}"
                self.draft.note(entity.location, "learned-slot", message, "they are added; add any others")

    def _label(self, annotation: Annotation, place: Location) -> Label:
        entity, role = annotation.entity, annotation.role
        if annotation.group is not None:
            self.draft.not_expressed(place, f"groups of the entity {entity!r} are not imported")
        name = f"{entity}_{role}" if role else entity
        slot = self.draft.slot(name, place)
        slot.like = self.draft.type(entity, place)
        return Label(name, annotation.start, annotation.end, annotation.value)

    def _respond(self, action: str) -> bool:
        """Attach the texts of an action to its intent or slot. Return whether there is one."""
        intent = self.draft.intents.get(action.removeprefix(UTTER))
        if intent is not None:
            for text, place in self._responses[action]:
                intent.respond(text, place)
            return True
        slot = self._asked_for(action)
        if slot is not None:
            text, place = self._responses[action][0]
            if slot.questions.setdefault("", text) != text:
                self.draft.not_expressed(
                    place, f"the slot {slot.name!r} has several questions; only the first is imported"
                )
        return slot is not None

    def _asked_for(self, action: str) -> SlotDraft | None:
        """Return the slot that an action asks for, as in `utter_ask_city` or `utter_ask_booking_form_city`."""
        if not action.startswith(_ASK):
            return None
        asked = action.removeprefix(_ASK)
        names = (*self.draft.slots, *self.draft.types)
        # The longest, because `utter_ask_departure_city` also ends with the name of a slot `city`.
        name = max((name for name in names if f"_{asked}".endswith(f"_{name}")), key=len, default=None)
        if name is None:
            return None
        slot = self.draft.slot(name, self._responses[action][0][1])
        slot.like = slot.like or self.draft.types.get(name)
        return slot
