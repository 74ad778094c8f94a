"""Limits of what a registry's YAML may make the program read, set by whoever runs the bot."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.settings import Settings, resolve
from intentmatch.storage.regular_files import is_inside

RULE = "confined"
_ADVICE = "or turn `confine` off (`serve --no-confine`)"
# Settings that name a model as `KIND:MODEL` or `MODEL`, and those that name a file or a folder.
_MODELS, _FILES = ("encoder", "reranker"), ("cache", "inbox")
_NO_FILES = ("auto", "off", "database")
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
        folder = (root if root.is_dir() else root.parent) if chosen.confine else None
        return cls(chosen.max_file_bytes, folder)

    def allows(self, path: Path) -> bool:
        """Whether a path lies where files may be read, with symbolic links followed."""
        return self.folder is None or is_inside(path, self.folder)

    def refused(self, path: Path, place: Location) -> Problem:
        """Return the problem of a path that is not allowed."""
        text = f"{path} lies outside of {self.folder}, to which it is confined"
        return Problem(place, "error", RULE, text, f"move the file into the folder, {_ADVICE}")

    def named_outside(self, path: Path, place: Location) -> Problem:
        """Return the problem of a path in a setting, which counts from where the program was started."""
        problem = self.refused(path, place)
        if path.is_absolute() or self.folder is None:
            return problem
        inside = self.folder / path.name
        return replace(problem, hint=f"paths count from where the program was started: write {inside}, {_ADVICE}")


def outside(settings: Mapping[str, Any], locations: Mapping[str, Location], limits: ReadLimits) -> list[Problem]:
    """Return a problem for each setting of the YAML that names a local model or file outside of the limits."""
    found = []
    for name in (*_MODELS, *_FILES):
        value = settings.get(name)
        if not isinstance(value, str) or value in _NO_FILES:
            continue
        kind, separator, model = value.partition(":")
        named = Path(model if name in _MODELS and separator else value).expanduser()
        if name in _MODELS and (kind in _SERVERS or not _is_local(named)):
            continue
        if not limits.allows(named):
            found.append(limits.named_outside(named, locations.get(name, NOWHERE)))
    return found


def _is_local(model: Path) -> bool:
    """Whether a model is a path and no name of a model hub, such as `org/name`."""
    return model.is_absolute() or model.parts[:1] in (("..",), (".",)) or model.exists()
