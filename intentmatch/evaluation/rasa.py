"""The `nlu:` block of Rasa training and test data as cases; entity marks are taken out of the texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from intentmatch import formats
from intentmatch.core.errors import NOWHERE, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.formats.kit.source import Source
from intentmatch.registry.reading.grammar import OUT_OF_SCOPE

# What Rasa calls a message that no intent should answer.
_NO_INTENT = frozenset({OUT_OF_SCOPE, "nlu_fallback"})
# What matters to a bot, and not to its tests.
_OF_SLOTS = frozenset({"not-expressed", "learned-slot", "renamed-slot", "bad-label", "language"})


def is_rasa(file: Path) -> bool:
    """Whether a YAML file has an `nlu:` block; what is no YAML has none, and is for others to complain about."""
    return any("nlu" in found.root.keys for found in Source(file))


def read_rasa(file: Path) -> tuple[Case, ...]:
    """The examples of every intent, in their order. Synonyms, lookups and patterns hold no cases.

    Raises `RegistryError` with everything that could not be read: an importer may leave it out, a test may not.
    """
    found = formats.read(file, "rasa")
    problems = [_problem(problem) for problem in found.problems if problem.rule not in _OF_SLOTS]
    if problems:
        raise RegistryError(problems)
    cases = [
        Case(line.text, None if intent.name in _NO_INTENT else intent.name, None, line.location)
        for intent in found.registry
        for line in intent.utterances
    ]
    return tuple(sorted(cases, key=lambda case: case.location or NOWHERE))


def _problem(problem: Problem) -> Problem:
    hint = problem.hint or "write `- intent: NAME`, `examples: |` and lines of `- ` below `nlu:`"
    return replace(problem, severity="error", rule="test-case", hint=hint)
