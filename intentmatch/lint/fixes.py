"""Fix what needs no decision of the author: `intentmatch lint --fix`.

A fix never changes what the bot answers: it removes only what has no effect beside what stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from intentmatch.core.errors import Problem
from intentmatch.core.types import Registry
from intentmatch.registry.editing.edits import Edit
from intentmatch.registry.editing.removal import RemoveItems

FIXABLE: frozenset[str] = frozenset({"duplicate-utterance", "duplicate-value"})
"""Rules whose findings are fixed: the later one of two equal lines, or of two equal words of a slot, is removed."""


def fixes(problems: Iterable[Problem], registry: Registry) -> list[Edit]:
    """Return the edits that fix problems of a registry; empty if none of them can be fixed without a question.

    The problems must be those of the current files, since their places are used. A template is never removed: it may
    stand for more than the sentence that it shares with another line.
    """
    templates = {line.location for line in registry.utterances if line.template is not None}
    places = frozenset(problem.location for problem in problems if problem.rule in FIXABLE) - templates
    return [RemoveItems(places)] if places else []
