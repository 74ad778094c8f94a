"""The one door through which servers get the limits of what registries may read and name.

A server confines each registry unless its operator turns that off. What YAML on disk names when the server starts is
the operator's: it stays allowed. What comes later, in an edit, a new bot, a restored revision, a changed file or a
database, may only name what is allowed by then.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from intentmatch.core.settings import Settings, resolve
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.confinement import ReadLimits, needed
from intentmatch.registry.reading.reader import is_yaml, settings_on_disk
from intentmatch.storage.postgres.address import Address, is_address


def named_on_disk(path: str | os.PathLike[str] | Address) -> list[str]:
    """Return the servers and models that the YAML at a path names now; none in a database or an artefact."""
    if isinstance(path, Address) or is_address(str(path)) or not is_yaml(path):
        return []
    return needed(*settings_on_disk(path))


def served_settings(settings: Mapping[str, Any], allowed: Iterable[str]) -> dict[str, Any]:
    """Return explicit settings as a server uses them: confined, and with what else is allowed."""
    chosen = _confined(resolve(settings))
    return {**settings, "confine": chosen.confine, "allow": (*chosen.allow, *allowed)}


def limits_for(path: str | os.PathLike[str] | Address, settings: Mapping[str, Any]) -> ReadLimits:
    """Return the limits of a registry that is new to the server, under its explicit settings."""
    return ReadLimits.from_settings(path, _confined(resolve(settings)))


def limits_of(matcher: Matcher, path: str | os.PathLike[str] | None = None) -> ReadLimits:
    """Return the limits of what may replace the registry of a matcher, which goes on naming what it names.

    `path` is another place than the matcher's own. A matcher that was loaded outside of the server is confined too.
    """
    place = path or matcher.address or matcher.path
    assert place is not None  # noqa: S101 - nobody edits a registry made in code
    registry = matcher.registry
    limits = ReadLimits.from_settings(place, _confined(matcher.settings))
    return limits.allowing(needed(registry.settings, registry.setting_locations))


def _confined(settings: Settings) -> Settings:
    """Return settings that are confined unless the operator has chosen."""
    return settings if "confine" in settings.by_operator else replace(settings, confine=True)
