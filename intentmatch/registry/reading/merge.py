"""One registry of many files: an intent may be spread over them, but says each thing about itself once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Intent, Registry
from intentmatch.registry.reading.grammar import FileContent
from intentmatch.registry.reading.names import Names


def merged(contents: Sequence[FileContent]) -> tuple[Registry, list[Problem]]:
    """The unexpanded registry, each intent with its slots, and what does not go together."""
    problems: list[Problem] = []
    intents: dict[str, Intent] = {}
    settings: dict[str, tuple[Any, Location]] = {}
    for content in contents:
        for intent in content.intents:
            known = intents.get(intent.name)
            if known is None:
                intents[intent.name] = intent
            else:
                problems += _contradictions(known, intent)
                intents[intent.name] = _joined(known, intent)
        for name, (value, location) in content.settings.items():
            if name in settings:
                hint = f"the first one is at {settings[name][1].short}; keep one of the two"
                message = f"setting {name!r} stands in two files"
                problems.append(Problem(location, "error", "setting-redefined", message, hint))
            settings.setdefault(name, (value, location))
    names = Names(contents)
    registry = Registry(
        tuple(
            replace(intent, slots=slots) if (slots := names.slots_of(name)) else intent
            for name, intent in intents.items()
        ),
        {name: value for name, (value, _) in settings.items()},
        {name: location for name, (_, location) in settings.items()},
        tuple(case for content in contents for case in content.tests),
        names.slots,
        names.rules,
    )
    return registry, problems + names.problems()


def _contradictions(known: Intent, more: Intent) -> Iterator[Problem]:
    said_twice = [
        key
        for key in ("title", "description", "threshold", "when")
        if getattr(known, key) not in (None, ()) and getattr(more, key) not in (None, ())
    ]
    said_twice += [f"response {language}".strip() for language in known.responses if language in more.responses]
    said_twice += [f"metadata {key}" for key in known.metadata if key in more.metadata]
    place = more.location or Location("registry")
    first = known.location.short if known.location else "elsewhere"
    for what in said_twice:
        message = f"intent {more.name!r} is given its {what} a second time"
        hint = f"it is also described at {first}; keep one of the two"
        yield Problem(place, "error", "intent-redefined", message, hint)


def _joined(known: Intent, more: Intent) -> Intent:
    return replace(
        known,
        utterances=known.utterances + more.utterances,
        negatives=known.negatives + more.negatives,
        title=known.title if known.title is not None else more.title,
        description=known.description if known.description is not None else more.description,
        threshold=known.threshold if known.threshold is not None else more.threshold,
        responses={**more.responses, **known.responses},
        metadata={**more.metadata, **known.metadata},
        when=known.when or more.when,
        titles=known.titles if known.title is not None else more.titles,
    )
