"""What a comparison compares: matchers of folders, files, artefacts, or what any of these were in an earlier commit."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from intentmatch.core.errors import IntentMatchError, Location, RegistryError
from intentmatch.core.types import Case, Intent, Registry, Rule, Slot, Utterance
from intentmatch.encoders.encode import Progress
from intentmatch.evaluation.compare.gitref import GitRef, export
from intentmatch.matching.matcher import Matcher
from intentmatch.registry import is_yaml, read_registry

_Placed = TypeVar("_Placed", Utterance, Case, Slot, Rule)


def load_side(what: str | GitRef, settings: Mapping[str, Any], progress: Progress | None = None) -> Matcher:
    """The matcher; the places of an earlier commit read `REF:PATH:LINE`. Raises what `Matcher.load` does."""
    if isinstance(what, str):
        return Matcher.load(what, progress=progress, **settings)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as folder:
        there = export(what, Path(folder))
        begins, shown = str(there), f"{what.ref}:{Path(what.path).as_posix()}"
        try:
            source = relocated(read_registry(there), begins, shown) if is_yaml(there) else there
            return Matcher.load(source, progress=progress, **settings)
        except RegistryError as error:
            moved = (replace(p, location=_moved(p.location, begins, shown)) for p in error.problems)
            raise RegistryError(moved) from None
        except IntentMatchError as error:
            # The folder is gone when the message is read.
            error.args = tuple(str(part).replace(begins, shown) for part in error.args)
            raise


def relocated(registry: Registry, begins: str, shown: str) -> Registry:
    """The registry with every place below a path said to be below another."""

    def place(location: Location | None) -> Location | None:
        return location and _moved(location, begins, shown)

    def placed(lines: tuple[_Placed, ...]) -> tuple[_Placed, ...]:
        return tuple(replace(line, location=place(line.location)) for line in lines)

    def intent(one: Intent) -> Intent:
        lines = placed(one.utterances), placed(one.negatives)
        where = place(one.location)
        return replace(one, utterances=lines[0], negatives=lines[1], slots=placed(one.slots), location=where)

    return Registry(
        tuple(map(intent, registry)),
        registry.settings,
        {name: _moved(location, begins, shown) for name, location in registry.setting_locations.items()},
        placed(registry.tests),
        placed(registry.slots),
        placed(registry.rules),
    )


def _moved(location: Location, begins: str, shown: str) -> Location:
    path = location.path
    inside = path == begins or path.startswith((f"{begins}/", f"{begins}\\"))
    return (
        replace(location, path=shown + Path(path[len(begins) :]).as_posix().removeprefix(".")) if inside else location
    )
