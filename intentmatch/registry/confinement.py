"""Limits of what a registry's YAML may make the program read, set by whoever runs the bot."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.settings import FILES, MODELS, NO_FILES, Settings, beside, resolve
from intentmatch.storage.regular_files import home_path, is_folder, is_inside, is_there

RULE = "confined"
_HINT = "move the file into the folder, or turn `confine` off (`serve --no-confine`)"
_SERVERS = ("remote", "chat")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What may be read for one registry."""

    most: int
    """Bytes of a file."""
    folder: Path | None = None
    """The only folder whose files may be read; None for all."""

    @classmethod
    def from_settings(cls, path: str | os.PathLike[str], settings: Settings | None = None) -> ReadLimits:
        """Return the limits for the registry at a path; without settings, those of the environment."""
        chosen = resolve() if settings is None else settings
        root = Path(path)
        folder = (root if is_folder(root) else root.parent) if chosen.confine else None
        return cls(chosen.max_file_bytes, folder)

    def allows(self, path: Path) -> bool:
        """Whether a path lies where files may be read, with symbolic links followed."""
        return self.folder is None or is_inside(path, self.folder)

    def refused(self, path: Path, place: Location) -> Problem:
        """Return the problem of a path that is not allowed."""
        return Problem(place, "error", RULE, f"{path} lies outside of {self.folder}, to which it is confined", _HINT)


def outside(settings: Mapping[str, Any], locations: Mapping[str, Location], limits: ReadLimits) -> list[Problem]:
    """Return a problem for each setting of the YAML that names a local model or file outside of the limits."""
    found = []
    for name, value in settings.items():
        place = locations.get(name, NOWHERE)
        named = _named(name, value, place) if isinstance(value, str) else None
        if named is None:
            continue
        # A link in a model's folder may lead out of it.
        files = (named, *named.rglob("*")) if name in MODELS and limits.folder else (named,)
        refused = next((file for file in files if not limits.allows(file)), None)
        if refused is not None:
            found.append(limits.refused(refused, place))
    return found


def _named(name: str, value: str, place: Location) -> Path | None:
    """Return the path that a setting names; None if it names none."""
    if name in FILES:
        return None if value in NO_FILES else home_path(beside(place, value))
    if name not in MODELS:
        return None
    named = beside(place, value, model=True)
    kind, separator, model = named.partition(":")
    path = home_path(model if separator else named)
    return path if kind not in _SERVERS and _is_local(path) else None


def _is_local(model: Path) -> bool:
    """Whether a model is a path and no name of a model hub, such as `org/name`."""
    return model.is_absolute() or model.parts[:1] in (("..",), (".",)) or is_there(model)
