"""Load the two sides of a comparison: a folder, file or artefact, on disk or in an earlier commit."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from intentmatch.core.errors import IntentMatchError, Location, RegistryError
from intentmatch.core.types import Case, Intent, Registry, Rule, Slot, TraitQuestion, Utterance
from intentmatch.encoders.encode import Progress
from intentmatch.evaluation.compare.gitref import GitRef, export
from intentmatch.matching.matcher import Matcher
from intentmatch.registry import is_yaml, read_registry

_Placed = TypeVar("_Placed", Utterance, Case, Slot, Rule)


def load_side(what: str | GitRef, settings: Mapping[str, Any], progress: Progress | None = None) -> Matcher:
    """Load a matcher; locations in an earlier commit have the form `REF:PATH:LINE`.

    Raises the errors of `Matcher.load`, and `InputError` for an unknown commit or path.
    """
    if isinstance(what, str):
        return Matcher.load(what, progress=progress, **settings)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as folder:
        exported = export(what, Path(folder))
        prefix, shown = str(exported), f"{what.ref}:{Path(what.path).as_posix()}"
        try:
            source = relocated(read_registry(exported), prefix, shown) if is_yaml(exported) else exported
            return Matcher.load(source, progress=progress, **settings)
        except RegistryError as error:
            moved = (replace(p, location=_relocated(p.location, prefix, shown)) for p in error.problems)
            raise RegistryError(moved) from None
        except IntentMatchError as error:
            # The temporary folder no longer exists when the user reads the message.
            error.args = tuple(str(part).replace(prefix, shown) for part in error.args)
            raise


def relocated(registry: Registry, prefix: str, shown: str) -> Registry:
    """Replace a path prefix in every location of a registry."""

    def place(location: Location | None) -> Location | None:
        return location and _relocated(location, prefix, shown)

    def placed(lines: tuple[_Placed, ...]) -> tuple[_Placed, ...]:
        return tuple(replace(line, location=place(line.location)) for line in lines)

    def relocated_intent(intent: Intent) -> Intent:
        return replace(
            intent,
            utterances=placed(intent.utterances),
            negatives=placed(intent.negatives),
            described=placed(intent.described),
            excluded=placed(intent.excluded),
            slots=placed(intent.slots),
            location=place(intent.location),
        )

    def relocated_question(question: TraitQuestion) -> TraitQuestion:
        answers = {name: placed(lines) for name, lines in question.answers.items()}
        return replace(question, answers=answers, location=place(question.location))

    return Registry(
        tuple(map(relocated_intent, registry)),
        registry.settings,
        {name: _relocated(location, prefix, shown) for name, location in registry.setting_locations.items()},
        placed(registry.tests),
        placed(registry.slots),
        placed(registry.rules),
        registry.own_sections,
        tuple(map(relocated_question, registry.questions)),
    )


def _relocated(location: Location, prefix: str, shown: str) -> Location:
    path = location.path
    # Both separators, since Windows writes either.
    inside = path == prefix or path.startswith((f"{prefix}/", f"{prefix}\\"))
    return (
        replace(location, path=shown + Path(path[len(prefix) :]).as_posix().removeprefix(".")) if inside else location
    )
