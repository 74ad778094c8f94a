"""Merge files into one registry. An intent may span files, but declares each property only once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from intentmatch.core.errors import Location, Problem
from intentmatch.core.types import Intent, Registry, TraitQuestion
from intentmatch.languages.own import MOST_CHARACTERS, REPLACES
from intentmatch.registry.reading.file_content import FileContent
from intentmatch.registry.reading.names import Names


def merge_files(contents: Sequence[FileContent]) -> tuple[Registry, list[Problem]]:
    """Return the unexpanded registry, with slots resolved for each intent, and the conflicts between files."""
    problems: list[Problem] = []
    intents: dict[str, Intent] = {}
    settings: dict[str, tuple[Any, Location]] = {}
    for content in contents:
        for intent in content.intents:
            known = intents.get(intent.name)
            if known is None:
                intents[intent.name] = intent
            else:
                problems += _redefinitions(known, intent)
                intents[intent.name] = _merged(known, intent)
        for name, (value, location) in content.settings.items():
            if name in settings:
                message = f"setting {name!r} is set in two files"
                problems.append(Problem(location, "error", "setting-redefined", message, _keep_one(settings[name][1])))
            settings.setdefault(name, (value, location))
    own_sections, repeated = _own_sections(contents)
    problems += repeated
    questions, repeated = _questions(contents)
    problems += repeated
    names = Names(contents)
    for question in questions:
        names.check_lines_of(question.name)
    registry = Registry(
        tuple(
            replace(intent, slots=slots) if (slots := names.intent_slots(name)) else intent
            for name, intent in intents.items()
        ),
        {name: value for name, (value, _) in settings.items()},
        {name: location for name, (_, location) in settings.items()},
        tuple(case for content in contents for case in content.tests),
        names.slots,
        names.rules,
        own_sections,
        questions=questions,
    )
    return registry, problems + names.problems()


def _own_sections(contents: Sequence[FileContent]) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    """Return the bot's sections by language, and a problem for each that two files have or that is too long."""
    problems: list[Problem] = []
    found: dict[str, dict[str, Any]] = {}
    first: dict[tuple[str, str], Location] = {}
    characters: Counter[str] = Counter()
    for section in (section for content in contents for section in content.own_sections):
        known = first.setdefault(section[:2], section.location)
        if known != section.location:
            message = f"the section {section.name!r} of {section.language!r} is given twice"
            problems.append(Problem(section.location, "error", "language-section", message, _keep_one(known)))
            continue
        before = characters[section.language]
        characters[section.language] += len(json.dumps(section.value, ensure_ascii=False))
        if before <= MOST_CHARACTERS < characters[section.language]:
            message = f"the sections of {section.language!r} have more than {MOST_CHARACTERS:,} characters"
            hint = "values of a list belong below `slots:`, and formats into a `pattern` of a slot"
            problems.append(Problem(section.location, "error", "language-section", message, hint))
        language = found.setdefault(section.language, {})
        language[section.name] = section.value
        if section.replaces:
            language.setdefault(REPLACES, []).append(section.name)
    return found, problems


def _questions(contents: Sequence[FileContent]) -> tuple[tuple[TraitQuestion, ...], list[Problem]]:
    """Return all questions, and a problem for each that two files have."""
    problems: list[Problem] = []
    found: dict[str, TraitQuestion] = {}
    for question in (question for content in contents for question in content.questions):
        known = found.setdefault(question.name, question)
        if known is not question and known.location and question.location:
            message = f"there are two questions {question.name!r}"
            hint = f"{_keep_one(known.location)}, with the lines of both"
            problems.append(Problem(question.location, "error", "question-redefined", message, hint))
    return tuple(found.values()), problems


def _keep_one(first: Location) -> str:
    return f"the first one is at {first.short}; keep one of the two"


def _redefinitions(known: Intent, more: Intent) -> Iterator[Problem]:
    repeated = [
        key
        for key in ("title", "description", "threshold", "when")
        if getattr(known, key) not in (None, ()) and getattr(more, key) not in (None, ())
    ]
    repeated += [f"response {language}".strip() for language in known.responses if language in more.responses]
    repeated += [f"metadata {key}" for key in known.metadata if key in more.metadata]
    place = more.location or Location("registry")
    first = known.location.short if known.location else "elsewhere"
    for what in repeated:
        message = f"intent {more.name!r} declares its {what} twice"
        hint = f"the intent is also described at {first}; keep one of the two"
        yield Problem(place, "error", "intent-redefined", message, hint)


def _merged(known: Intent, more: Intent) -> Intent:
    return replace(
        known,
        utterances=known.utterances + more.utterances,
        negatives=known.negatives + more.negatives,
        title=known.title if known.title is not None else more.title,
        description=known.description if known.description is not None else more.description,
        threshold=known.threshold if known.threshold is not None else more.threshold,
        responses={**more.responses, **known.responses},
        more_responses={
            **{code: texts for code, texts in more.more_responses.items() if code not in known.responses},
            **known.more_responses,
        },
        metadata={**more.metadata, **known.metadata},
        when=known.when or more.when,
        # Translations stay with the title that they translate.
        titles=known.titles if known.title is not None else more.titles,
        confirm=known.confirm or more.confirm,
    )
