"""Split a registry by language, for formats that have a file or a key for each language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from intentmatch.core.errors import Problem
from intentmatch.core.types import Intent, Registry, SlotValue, Utterance
from intentmatch.formats.kit.losses import loss


def languages(registry: Registry) -> list[str]:
    """Return all languages of a registry, the most frequent first; English if there is none."""
    counts = Counter(line.language for line in registry.utterances if line.language)
    first = max(registry.languages, key=lambda code: counts[code], default="en")
    return [first, *(code for code in registry.languages if code != first)]


def with_languages(registry: Registry, problems: list[Problem]) -> Registry:
    """Give every utterance a language. Utterances without one get the most frequent, which is reported."""
    first = languages(registry)[0]
    guessed = [line for line in registry.utterances if line.language is None]
    if guessed:
        problems.append(loss(guessed[0].location, f"utterances without a language (written as {first!r})"))

    def with_language(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        return tuple(replace(line, language=line.language or first) for line in lines)

    intents = (replace(intent, utterances=with_language(intent.utterances)) for intent in registry)
    return replace(registry, intents=tuple(intents))


def utterances_in(intent: Intent, language: str | None) -> list[Utterance]:
    """Return the utterances of an intent in a language."""
    return [line for line in intent.utterances if line.language == language]


def synonyms_in(value: SlotValue, language: str | None) -> list[str]:
    """Return the synonyms of a value that hold in a language, including those without a language."""
    return [synonym.text for synonym in value.synonyms if synonym.language in (None, language)]
