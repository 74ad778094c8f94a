"""Write a registry as training data and domain of Rasa 3.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature, Files
from intentmatch.formats.kit.slot_mentions import all_slots
from intentmatch.formats.kit.yaml_writer import standard_yaml
from intentmatch.formats.rasa.bot import UTTER
from intentmatch.formats.rasa.marks import Annotation, parse, written

SAYS: frozenset[Feature] = frozenset(
    {"marks", "lists", "synonyms", "patterns", "responses", "variants", "questions", "metadata"}
)
_VERSION = "3.1"


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Return `data/nlu.yml`, and `domain.yml` with responses, intents and entities."""
    nlu = [*_intents(registry, problems), *_slots(registry, problems)]
    return {
        "data/nlu.yml": standard_yaml({"version": _VERSION, "nlu": nlu}),
        "domain.yml": standard_yaml(_domain(registry, problems)),
    }


def _intents(registry: Registry, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    for intent in registry:
        lines = [line for utterance in intent.utterances for line in _line(utterance, intent, problems)]
        metadata = {"metadata": dict(intent.metadata)} if intent.metadata else {}
        yield {"intent": intent.name, **metadata, "examples": _block(lines)}


def _line(utterance: Utterance, intent: Intent, problems: list[Problem]) -> Iterator[str]:
    """Yield the line of training data; nothing if Rasa would read it differently."""
    text = _on_one_line(utterance.text)
    annotations = [Annotation(mark.slot, mark.start, mark.end) for mark in utterance.marks]
    line = written(text, annotations)
    if text != utterance.text:
        _report_loss(problems, utterance.location or intent.location, f"line breaks and tabs in “{utterance.text}”")
    if parse(line) == (text, annotations, []):
        yield line
    else:
        _report_loss(
            problems,
            utterance.location or intent.location,
            f"“{utterance.text}”, because Rasa would read its brackets as an entity",
        )


def _slots(registry: Registry, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    synonyms: dict[str, tuple[str, ...]] = {}
    for slot in all_slots(registry).values():
        if slot.values:
            yield {"lookup": slot.name, "examples": _block(_values(slot, problems))}
        if slot.patterns:
            yield {"regex": slot.name, "examples": _block(slot.patterns)}
        for value in slot.values:
            texts = tuple(_on_one_line(synonym.text) for synonym in value.synonyms)
            # Rasa has one table of synonyms for all entities.
            if synonyms.setdefault(value.value, texts) != texts:
                _report_loss(problems, slot.location, f"synonyms of {value.value!r} for the slot {slot.name!r} alone")
    yield from ({"synonym": value, "examples": _block(texts)} for value, texts in synonyms.items() if texts)


def _values(slot: Slot, problems: list[Problem]) -> Iterator[str]:
    for value in slot.values:
        if _on_one_line(value.value) != value.value:
            _report_loss(problems, slot.location, f"line breaks and tabs in {value.value!r}")
        yield _on_one_line(value.value)


def _domain(registry: Registry, problems: list[Problem]) -> dict[str, Any]:
    # `faq/opening_hours` is a response variant of the retrieval intent `faq`.
    intents = dict.fromkeys(intent.name.partition("/")[0] for intent in registry)
    responses = {f"{UTTER}{intent.name}": intent.all_responses.get("", ()) for intent in registry}
    responses = {action: texts for action, texts in responses.items() if texts}
    questions: dict[str, str] = {}
    for slot in (*registry.slots, *(slot for intent in registry for slot in intent.slots)):
        text = slot.questions.get("")
        if text is not None and questions.setdefault(f"{UTTER}ask_{slot.name}", text) != text:
            _report_loss(problems, slot.location, f"a second question for the slot {slot.name!r}")
    domain: dict[str, Any] = {"version": _VERSION, "intents": list(intents)}
    if slots := all_slots(registry):
        domain["entities"] = list(slots)
    if responses or questions:
        texts_of = {**responses, **{action: (text,) for action, text in questions.items()}}
        domain["responses"] = {action: [{"text": text} for text in texts] for action, texts in texts_of.items()}
    return domain


def _block(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _on_one_line(text: str) -> str:
    return "".join(" " if char.isspace() else char for char in text.strip())


def _report_loss(problems: list[Problem], place: Location | None, what: str) -> None:
    problems.append(Problem(place or NOWHERE, "warning", NOT_EXPRESSED, f"this format cannot express {what}"))
