"""A Rasa bot in the making: what its files say in whatever form, put together when all of them are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from intentmatch.core.errors import Location, RegistryError
from intentmatch.formats.kit.draft import Draft, Label, SlotDraft, few
from intentmatch.formats.kit.source import File
from intentmatch.formats.rasa.marks import Annotation, parse

UTTER = "utter_"
_ASK = "utter_ask_"


class Bot:
    """Fills a draft. Synonyms and responses name no entity and no intent, and find theirs in the end."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._synonyms: list[tuple[str, Sequence[str], Location]] = []
        self._patterns: list[tuple[str, Sequence[str], Location]] = []
        self._responses: dict[str, list[tuple[str, Location]]] = {}

    def say(self, intent: str, line: str, place: Location) -> None:
        """A line of training data, perhaps with entity marks."""
        text, annotations, odd = parse(line)
        for mark in odd:
            self.draft.warn(place, "bad-label", f"{mark!r} names no entity; its text is imported without a label")
        self.labelled(intent, text, annotations, place)

    def labelled(self, intent: str, text: str, annotations: Iterable[Annotation], place: Location) -> None:
        """A line whose entities are known."""
        labels = [self._label(annotation, place) for annotation in annotations]
        self.draft.intent(intent, place).say(text, place, labels=labels)

    def synonyms(self, value: str, synonyms: Sequence[str], place: Location) -> None:
        """What else users say for a value, of whatever entity."""
        self._synonyms.append((value, synonyms, place))

    def patterns(self, name: str, patterns: Sequence[str], place: Location) -> None:
        """Regular expressions of an entity; some are only a hint for an intent."""
        self._patterns.append((name, patterns, place))

    def lookup(self, name: str, values: Iterable[str], place: Location) -> None:
        """The values of an entity."""
        entity = self.draft.type(name, place)
        for value in values:
            entity.add(value)

    def lookup_file(self, name: str, path: str, file: File, place: Location) -> None:
        """The same, one a line of a file whose path starts where the bot was trained: here, or in a folder above."""
        found = file.beside(path) or file.source.find(path) or file.beside(path.replace("\\", "/").rpartition("/")[2])
        if found is None:
            self.draft.warn(place, "not-found", f"the lookup table {path!r} of {name!r} was not found")
            return
        try:
            lines = found.text.splitlines()
        except RegistryError as error:
            self.draft.warn(error.problems[0].location, error.problems[0].rule, error.problems[0].message)
            return
        self.lookup(name, filter(None, map(str.strip, lines)), place)

    def response(self, action: str, text: str, place: Location) -> None:
        """One of the texts that an action says."""
        self._responses.setdefault(action, []).append((text, place))

    def finish(self) -> None:
        """Give synonyms, patterns and responses to whom they belong."""
        for name, patterns, place in self._patterns:
            if name in self.draft.intents:
                self.draft.not_expressed(place, f"regex features of the intent {name!r} are not imported")
            else:
                self.draft.type(name, place).patterns += patterns
        for value, synonyms, place in self._synonyms:
            if not sum(entity.unite(value, synonyms) for entity in self.draft.types.values()):
                self.draft.not_expressed(
                    place, f"synonyms of {value!r} are not imported, because no entity has this value"
                )
        orphans = [action for action in self._responses if not self._respond(action)]
        if orphans:
            place = self._responses[orphans[0]][0][1]
            self.draft.not_expressed(
                place, f"responses that belong to no intent or slot are not imported: {few(orphans)}"
            )

    def _label(self, annotation: Annotation, place: Location) -> Label:
        entity, role = annotation.entity, annotation.role
        if annotation.group is not None:
            self.draft.not_expressed(place, f"groups of the entity {entity!r} are not imported")
        name = f"{entity}_{role}" if role else entity
        slot = self.draft.slot(name, place)
        slot.like = self.draft.type(entity, place)
        return Label(name, annotation.start, annotation.end, annotation.value)

    def _respond(self, action: str) -> bool:
        """Whether the action belongs to an intent or asks for a slot."""
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
        """The slot that an action asks for: `utter_ask_city`, or `utter_ask_booking_form_city`."""
        if not action.startswith(_ASK):
            return None
        asked = action.removeprefix(_ASK)
        for name in (*self.draft.slots, *self.draft.types):
            if asked == name or asked.endswith(f"_{name}"):
                slot = self.draft.slot(name, self._responses[action][0][1])
                slot.like = slot.like or self.draft.types.get(name)
                return slot
        return None
