"""What the files hold now: read once for all pages of a process, and again when they have changed."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from intentmatch.authoring.revisions import Files, digest_of
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import Problem
from intentmatch.core.types import Intent, Registry

_FEW = 5


@dataclass(frozen=True, slots=True)
class Health:
    """How an intent is doing, by the checks of its files."""

    errors: int = 0
    warnings: int = 0
    few: bool = False
    """Whether it has fewer than five utterances."""


@dataclass(frozen=True)
class Held:
    """The files of one registry at one moment."""

    files: Files
    digest: str
    registry: Registry
    """One utterance per line, templates as they are written."""
    problems: tuple[Problem, ...]
    names: Mapping[str, str] = field(repr=False)
    """Path of a location to the name of its file."""
    health: Mapping[str, Health] = field(repr=False)
    """By intent."""

    def file_of(self, intent: Intent) -> str | None:
        """Return the name of the file that declares an intent."""
        return None if intent.location is None else self.names.get(intent.location.path)


_newest: WeakKeyDictionary[Workspace, Held] = WeakKeyDictionary()


async def held(workspace: Workspace) -> Held:
    """Return what the files hold. Raises `InputError` if one cannot be read."""
    return await asyncio.to_thread(_held, workspace)


def languages_of(intent: Intent) -> dict[str, int]:
    """Return how many utterances an intent has by language, in the order of the file; the key "" has no language."""
    return dict(Counter(utterance.language or "" for utterance in intent.utterances))


def _held(workspace: Workspace) -> Held:
    files = workspace.files()
    digest = digest_of(files)
    kept = _newest.get(workspace)
    # Two threads may read the same files at once: the result is the same, so that no lock is needed.
    if kept is not None and kept.digest == digest:
        return kept
    registry, problems = workspace.examine(dict(files))
    names = {str(workspace.place(name)): name for name in files}
    found = Held(files, digest, registry, tuple(problems), names, _health(registry, problems))
    _newest[workspace] = found
    return found


def _health(registry: Registry, problems: list[Problem]) -> dict[str, Health]:
    """Give each problem to the intent that begins before it in its file."""
    starts: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for intent in registry:
        if intent.location is not None:
            starts[intent.location.path].append((intent.location.line, intent.name))
    for found in starts.values():
        found.sort()
    counts: Counter[tuple[str, str]] = Counter()
    for problem in problems:
        found = starts.get(problem.location.path, [])
        place = bisect_right(found, problem.location.line, key=lambda start: start[0])
        if place:
            counts[found[place - 1][1], problem.severity] += 1
    return {
        intent.name: Health(counts[intent.name, "error"], counts[intent.name, "warning"], len(intent.utterances) < _FEW)
        for intent in registry
    }
