"""Registries for formats in which everything is said in a language, and has a file or a key for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from intentmatch.core.errors import Problem
from intentmatch.core.types import Intent, Registry, SlotValue, Utterance
from intentmatch.formats.kit.losses import loss


def languages(registry: Registry) -> list[str]:
    """All languages of a registry, that of most lines first; English where there is none."""
    counts = Counter(line.language for line in registry.utterances if line.language)
    first = max(registry.languages, key=lambda code: counts[code], default="en")
    return [first, *(code for code in registry.languages if code != first)]


def with_languages(registry: Registry, problems: list[Problem]) -> Registry:
    """The registry with a language for every line, and a problem where that is a guess."""
    first = languages(registry)[0]
    guessed = [line for line in registry.utterances if line.language is None]
    if guessed:
        problems.append(loss(guessed[0].location, f"utterances without a language (written as {first!r})"))

    def spoken(lines: Iterable[Utterance]) -> tuple[Utterance, ...]:
        return tuple(replace(line, language=line.language or first) for line in lines)

    intents = (replace(intent, utterances=spoken(intent.utterances)) for intent in registry)
    return replace(registry, intents=tuple(intents))


def said_in(intent: Intent, language: str | None) -> list[Utterance]:
    """The lines of an intent in a language."""
    return [line for line in intent.utterances if line.language == language]


def synonyms_in(value: SlotValue, language: str | None) -> list[str]:
    """What else is said for a value in a language, or in all of them."""
    return [synonym.text for synonym in value.synonyms if synonym.language in (None, language)]
