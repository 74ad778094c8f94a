"""Limits of what a registry's YAML may make the program read and ask, set by whoever runs the bot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from intentmatch.core.allowed import FOLDER_STARTS, folders, origin, permits
from intentmatch.core.errors import NOWHERE, Location, Problem, SettingsError
from intentmatch.core.settings import FILES, MODELS, NO_FILES, ON_SERVERS, Settings, beside, parse, resolve
from intentmatch.storage.postgres.address import Address, is_address
from intentmatch.storage.regular_files import home_path, is_file, is_folder, is_inside, is_there

RULE = "confined"
_HINT = "move the file into the folder, or let whoever runs the bot allow its folder (`--allow`) or turn `confine` off"
_SUFFIXES = (".yaml", ".yml")
# Models that come with the package.
_SHIPPED = {"encoder": ("static",), "reranker": ("none", "words")}


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What may be read and named for one registry."""

    most: int
    """Bytes of a file."""
    folder: Path | None = None
    """The only folder whose files may be read, beside allowed ones; None: everything may be read and named."""
    allowed: tuple[str, ...] = ()
    """Servers, models and folders that the registry may name besides: entries of `core.allowed`."""

    @classmethod
    def from_settings(cls, path: str | os.PathLike[str] | Address, settings: Settings | None = None) -> ReadLimits:
        """Return the limits for the registry at a path or in a database; without settings, those of the environment.

        A registry in a database has no folder: confined, it reads no file of this machine.
        """
        chosen = resolve() if settings is None else settings
        if not chosen.confine:
            return cls(chosen.max_file_bytes)
        root = Path(path.bot if isinstance(path, Address) else path)
        # A file that is not there yet is known by its suffix: taken for a folder, it would allow no file beside it.
        alone = not isinstance(path, Address) and not is_folder(root) and (is_file(root) or root.suffix in _SUFFIXES)
        folder = root.parent if alone else root
        return cls(chosen.max_file_bytes, folder, chosen.allow)

    def allowing(self, entries: Iterable[str]) -> ReadLimits:
        """Return limits that allow more."""
        return replace(self, allowed=(*self.allowed, *entries))

    def allows(self, path: Path) -> bool:
        """Whether a path lies where files may be read, with symbolic links followed."""
        if self.folder is None or is_inside(path, self.folder):
            return True
        return any(is_inside(path, Path(folder)) for folder in folders(self.allowed))

    def refused(self, path: Path, place: Location) -> Problem:
        """Return the problem of a path that is not allowed."""
        return Problem(place, "error", RULE, f"{path} lies outside of {self.folder}, to which it is confined", _HINT)


def how_to_allow(entry: str) -> str:
    """Say how an entry of the list is given."""
    return f"`--allow {entry}`, or {entry} in INTENTMATCH_ALLOW"


def outside(settings: Mapping[str, Any], locations: Mapping[str, Location], limits: ReadLimits) -> list[Problem]:
    """Return a problem for each setting of the YAML that names what the limits do not allow."""
    if limits.folder is None:
        return []
    found = [_outside(name, value, locations.get(name, NOWHERE), limits) for name, value in _as_used(settings)]
    return [problem for problem in found if problem is not None]


def needed(settings: Mapping[str, Any], locations: Mapping[str, Location] | None = None) -> list[str]:
    """Return the entries that a confined registry with these settings needs, except folders."""
    found = [_needed(name, value, (locations or {}).get(name, NOWHERE)) for name, value in _as_used(settings)]
    return [entry for entry in found if entry is not None]


def _as_used(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the settings that are text, as the program uses them: without spaces around, for example.

    Invalid ones are left out: they are problems of their own, and nothing uses them.
    """
    for name, value in settings.items():
        # A cache with a space before its path named any folder: it was compared as written, and used without the space.
        if isinstance(value, str):
            with suppress(SettingsError):
                parsed = parse(name, value)
                if isinstance(parsed, str):
                    yield name, parsed


def _outside(name: str, value: str, place: Location, limits: ReadLimits) -> Problem | None:
    if name in FILES and is_address(value):
        hint = f"only whoever runs the bot can name one: `--set {name}=postgres://...`"
        return Problem(place, "error", RULE, f"{name} names a database", hint)
    path = _path(name, value, place)
    if path is not None:
        # A link inside a model's folder could lead to files of others.
        files = _within(path) if name in MODELS else iter((path,))
        refused = next((file for file in files if not limits.allows(file)), None)
        return None if refused is None else limits.refused(refused, place)
    entry = _needed(name, value, place)
    if entry is None or permits(limits.allowed, entry):
        return None
    what = "server" if "://" in entry else "model"
    hint = f"whoever runs the bot can allow it: {how_to_allow(entry)}"
    return Problem(place, "error", RULE, f"{name} names the {what} {entry}, which is not allowed", hint)


def _within(model: Path) -> Iterator[Path]:
    """Yield a model's folder, and then what lies in it, where a link may lead out.

    Whoever asks for the next one only if the last is allowed lists no folder of others.
    """
    yield model
    for place, inside, files in os.walk(model):
        yield from (Path(place, name) for name in (*inside, *files))


def _needed(name: str, value: str, place: Location) -> str | None:
    """Return the server or model that a setting names, as an entry of `core.allowed`; None if it names none."""
    if name == "drift_webhook":
        return origin(value)
    if name not in MODELS or value in _SHIPPED[name] or _path(name, value, place) is not None:
        return None
    kind, _, model = value.partition(":")
    if kind in ON_SERVERS:
        # Of an address that is none, the kind: None would mean that there is nothing to allow.
        return origin(model.partition("#")[0]) or kind
    return value if name == "encoder" or ":" in value else f"cross_encoder:{value}"


def _path(name: str, value: str, place: Location) -> Path | None:
    """Return the path that a setting names; None if it names none."""
    if name in FILES:
        return None if value in NO_FILES else home_path(beside(place, value))
    if name not in MODELS or value in _SHIPPED[name]:
        return None
    kind, separator, model = beside(place, value, model=True).partition(":")
    path = model if separator else kind
    return home_path(path) if kind not in ON_SERVERS and _is_local(path) else None


def _is_local(model: str) -> bool:
    """Whether a model is a path and no name of a model hub, such as `org/name`."""
    # Libraries take a folder that exists before a model of a hub with the same name.
    return bool(model) and (os.path.isabs(model) or model.startswith(FOLDER_STARTS) or is_there(model))  # noqa: PTH117
