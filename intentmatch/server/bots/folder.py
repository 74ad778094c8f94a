"""A folder of bots: which bots it holds, and how they are kept in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from intentmatch.artefact.store import SUFFIX
from intentmatch.authoring.read_limits import limits_for, named_on_disk
from intentmatch.core.bot_names import HOW_TO_NAME, VALID_NAME
from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import check_kind
from intentmatch.inbox.inbox import IN_DATABASE, NEEDS_DATABASE
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.reading.reader import SUFFIXES, own_files
from intentmatch.server.bots.model_pool import ModelPool
from intentmatch.storage.postgres.address import Address, is_address

NAME = "bots"
"""A folder of this name is taken for a folder of bots, unless it has YAML of its own."""


# Inboxes that no two bots share: none, and that of the database which a bot is in.
_SEPARATE = ("off", IN_DATABASE)


@dataclass(frozen=True)
class BotFolder:
    """A folder in which each subfolder with YAML, and each artefact, is one bot; or a database of bots."""

    path: str | os.PathLike[str] | Address
    preload: Collection[str] = ()
    """Names or patterns such as `shop-*`: the bots to load when the server starts."""
    max_megabytes: int | None = None
    """Memory for all loaded bots, without models; the least recently used are unloaded. None: no limit."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every bot, as for `Matcher.load`; each bot gets an inbox of its own."""
    load_encoder: Callable[[Settings], Encoder] | None = None
    """Makes the encoder that settings name, in place of `encoders.load_encoder`. Added in 0.3.0."""
    named: Mapping[str, list[str]] | None = None
    """What the YAML of each bot named when the server started; None to read it. Added in 0.3.0."""

    def bots(self) -> Mapping[str, Path | Address]:
        """Return the path of each bot by name, or its address.

        Raises `RegistryError` with every problem of the folder, and `DatabaseError`.
        """
        return _bots_in_database(self.path) if isinstance(self.path, Address) else self.bots_in_folder(Path(self.path))

    def bots_in_folder(self, path: Path) -> dict[str, Path]:
        """Return the path of each bot by name. Raises `RegistryError` with every problem of the folder.

        Added in 0.3.0.
        """
        found: dict[str, Path] = {}
        problems: list[Problem] = []
        for entry, is_folder in _entries(path):
            name = _bot_name(entry, is_folder)
            if name is None:
                if _is_yaml_file(entry, is_folder):
                    # Left alone, it would look served: whoever adds a bot as a single file
                    # learns here why nothing answers.
                    problems.append(_stray(entry))
            elif not VALID_NAME.fullmatch(name):
                message = f"{name!r} is not a valid name for a bot"
                problems.append(Problem(Location(str(entry)), "error", "bot-name", message, HOW_TO_NAME))
            elif name in found:
                message = f"there are two bots {name!r}; the other is {found[name]}"
                problems.append(Problem(Location(str(entry)), "error", "duplicate-bot", message, "rename one of them"))
            else:
                found[name] = entry
        if not found and not problems:
            hint = f"add a subfolder with .yaml files, or an artefact of `intentmatch build` with the suffix {SUFFIX}"
            problems.append(Problem(Location(str(path)), "error", "no-bots", "the folder holds no bot", hint))
        if problems:
            raise RegistryError(problems)
        return found

    def settings_of(self, name: str) -> Mapping[str, Any]:
        """Return the settings of a bot. An inbox for all bots would show the messages of one bot to authors of others.

        Raises `SettingsError` for an invalid value.

        Added in 0.3.0.
        """
        inbox = resolve(self.settings).inbox
        return self.settings if inbox in _SEPARATE else {**self.settings, "inbox": _inbox_of(inbox, name)}

    def check_settings(self) -> None:
        """Raise `InputError` for settings under which no bot could be loaded: when the server starts, and not later.

        Added in 0.3.0.
        """
        settings = resolve(self.settings)
        if settings.inbox == IN_DATABASE and not isinstance(self.path, Address):
            raise InputError(NEEDS_DATABASE)
        if settings.require_signature != "off" and not Path(settings.require_signature).is_file():
            raise InputError(f"there is no key {settings.require_signature}, which `require_signature` names")
        # An own loader decides itself which encoders there are.
        if self.load_encoder is None:
            check_kind(settings)

    def models_of_all(self, models: ModelPool) -> list[object]:
        """Load the models that the settings of every bot name: one that is not there is an error at the start.

        What another server computes is asked for with the first message: it may come up later. Raises what
        `ModelPool` does.

        Added in 0.3.0.
        """
        settings = resolve(self.settings)
        loaded: list[object] = []
        if "encoder" in self.settings and self.load_encoder is None and settings.encoder.partition(":")[0] != "remote":
            loaded.append(models.encoder(settings))
        if "reranker" in self.settings:
            loaded.append(models.reranker(settings))
        return loaded

    def named_on_disk(self) -> Mapping[str, list[str]]:
        """Return what the YAML of each bot names, see `authoring.read_limits`. Raises as `bots`. Added in 0.3.0."""
        return {name: named_on_disk(path) for name, path in self.bots().items()} if self.named is None else self.named

    def limits_of_new(self, path: Path | Address) -> ReadLimits:
        """Return the limits of a bot that somebody creates: its folder is not there yet. Added in 0.3.0."""
        limits = limits_for(path, self.settings)
        return limits if limits.folder is None or isinstance(path, Address) else replace(limits, folder=path)

    def preloaded(self, names: Collection[str]) -> list[str]:
        """Return the bots to load at the start. Raises `InputError` for a pattern that matches none."""
        for pattern in self.preload:
            # fnmatch would ignore case on Windows, and there alone.
            if not any(fnmatchcase(name, pattern) for name in names):
                raise InputError(f"no bot to load at the start matches {pattern!r}; the bots are {', '.join(names)}")
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in self.preload)]


def _inbox_of(inbox: str, name: str) -> str:
    """Return where a bot has its messages: `misses.sqlite` becomes `misses-NAME.sqlite`."""
    if is_address(inbox):
        url = Address.parse(inbox).url
        return f"{url}{'&' if '?' in url else '?'}bot={name}"
    path = Path(inbox)
    return str(path.with_name(f"{path.stem}-{name}{path.suffix}"))


def _bots_in_database(address: Address) -> dict[str, Address]:
    from intentmatch.storage.postgres.database import Database  # needs psycopg
    from intentmatch.storage.postgres.registries import RegistryStore

    found = {name: address.of(name) for name in RegistryStore(Database(address)).bots()}
    if not found:
        hint = "`intentmatch push FOLDER ADDRESS` adds one; with row-level security, a user sees one bot only"
        raise RegistryError([Problem(Location(str(address)), "error", "no-bots", "the database holds no bot", hint)])
    return found


def is_bot_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is taken for a folder of bots: it is called `bots` and has no YAML of its own.

    Any other folder is one registry, which may have its YAML in subfolders.
    """
    folder = Path(path)
    # The path `.` has no name of its own.
    if (folder.name or folder.absolute().name) != NAME or not folder.is_dir():
        return False
    entries = _entries(folder)
    return not any(_is_yaml_file(*entry) for entry in entries) and any(_bot_name(*entry) for entry in entries)


def _entries(folder: Path) -> list[tuple[Path, bool]]:
    """The visible entries of a folder, sorted, and whether each is a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((Path(entry.path), entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        problem = Problem(Location(str(folder)), "error", "unreadable", error.strerror or str(error))
        raise RegistryError([problem]) from None


def _bot_name(entry: Path, is_folder: bool) -> str | None:
    """The name of the bot that an entry is; None if it is none."""
    if is_folder:
        # An unreadable folder counts as a bot: loading it reports why it fails.
        return entry.name if own_files(entry) or not os.access(entry, os.R_OK | os.X_OK) else None
    return entry.name.removesuffix(SUFFIX) if entry.name.endswith(SUFFIX) else None


def _is_yaml_file(entry: Path, is_folder: bool) -> bool:
    return entry.name.lower().endswith(SUFFIXES) and not is_folder


def _stray(file: Path) -> Problem:
    hint = "move it into a folder of its own, which is then a bot, or serve the whole folder as one registry"
    return Problem(Location(str(file)), "error", "no-bot", "a YAML file beside the bots belongs to none of them", hint)
