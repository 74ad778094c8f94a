"""A folder of bots: which there are, and what may be said of how they are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from intentmatch.artefact.store import SUFFIX
from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.registry.reading.reader import SUFFIXES, own_files

NAME = "bots"
"""A folder of this name is one of bots without being said to be, unless there is YAML in it itself."""

# In a URL as it is, and in front of the colon of a key.
_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HOW_TO_NAME = "use ASCII letters, digits, `-`, `_` and `.`, beginning with a letter or digit; 100 at most"


@dataclass(frozen=True)
class BotFolder:
    """A folder in which each subfolder with YAML, and each artefact, is a bot of its own."""

    path: str | os.PathLike[str]
    preload: Collection[str] = ()
    """Names, or patterns such as `shop-*`, of the bots that are loaded when the server starts."""
    max_megabytes: int | None = None
    """Of all loaded bots, their models not counted; those asked least recently make room."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As for `Matcher.load`, for every bot."""

    def bots(self) -> dict[str, Path]:
        """Where each bot is, by its name. Raises `RegistryError` with all that keeps the folder from being used."""
        found: dict[str, Path] = {}
        problems: list[Problem] = []
        for entry, is_folder in _entries(Path(self.path)):
            name = _bot_name(entry, is_folder)
            if name is None:
                if _is_yaml_file(entry, is_folder):
                    problems.append(_stray(entry))
            elif not _SANE.fullmatch(name):
                message = f"{name!r} cannot be the name of a bot"
                problems.append(Problem(Location(str(entry)), "error", "bot-name", message, _HOW_TO_NAME))
            elif name in found:
                message = f"there are two bots {name!r}: {found[name]} is one too"
                problems.append(Problem(Location(str(entry)), "error", "duplicate-bot", message, "rename one of them"))
            else:
                found[name] = entry
        if not found and not problems:
            hint = f"add a subfolder with .yaml files, or a file of `intentmatch build` with the suffix {SUFFIX}"
            problems.append(Problem(Location(str(self.path)), "error", "no-bots", "there is no bot here", hint))
        if problems:
            raise RegistryError(problems)
        return found

    def preloaded(self, names: Collection[str]) -> list[str]:
        """Those of the bots that are loaded at the start. Raises `InputError` for a pattern of none."""
        for pattern in self.preload:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise InputError(f"there is no bot {pattern!r} to load at the start; there are {', '.join(names)}")
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in self.preload)]


def is_bot_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is one of bots without being said to be: by its name, and because no YAML stands in it itself.

    Any other folder is one registry, whose YAML may well stand in subfolders.
    """
    folder = Path(path)
    if (folder.name or folder.absolute().name) != NAME or not folder.is_dir():
        return False
    entries = _entries(folder)
    return not any(_is_yaml_file(*entry) for entry in entries) and any(_bot_name(*entry) for entry in entries)


def _entries(folder: Path) -> list[tuple[Path, bool]]:
    """What stands in a folder, sorted, but for what is hidden, and whether it is a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((Path(entry.path), entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        problem = Problem(Location(str(folder)), "error", "unreadable", error.strerror or str(error))
        raise RegistryError([problem]) from None


def _bot_name(entry: Path, is_folder: bool) -> str | None:
    """The name of a bot; None for what is none."""
    if is_folder:
        # One that cannot be looked into is a bot that cannot be loaded, and says why.
        return entry.name if own_files(entry) or not os.access(entry, os.R_OK | os.X_OK) else None
    return entry.name.removesuffix(SUFFIX) if entry.name.endswith(SUFFIX) else None


def _is_yaml_file(entry: Path, is_folder: bool) -> bool:
    return entry.name.lower().endswith(SUFFIXES) and not is_folder


def _stray(file: Path) -> Problem:
    hint = "move it into a folder of its own name, which is then a bot, or serve the folder as one registry"
    return Problem(Location(str(file)), "error", "no-bot", "a file of YAML beside bots belongs to none of them", hint)
