"""What the studio needs from the program that it runs in: bots, and visitors with their roles."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from intentmatch.core.errors import InputError

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.inbox import Inbox
    from intentmatch.matching.matcher import Matcher
    from intentmatch.matching.snapshot import Snapshot

Role = Literal["match", "author", "admin"]
Counted = Literal["sign-in", "page"]

_RANKS: dict[Role, int] = {"match": 0, "author": 1, "admin": 2}


class BotUnavailableError(InputError):
    """There is no such bot, it cannot be loaded, or this visitor may not use it."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who uses the studio."""

    name: str
    """Stands in revisions and in the audit log."""
    key: bytes | None = None
    """Digest of the key that the visitor has presented, for the host to check again; None where no key is needed."""


class Bot(Protocol):
    """One bot, as a server holds it."""

    @property
    def evaluating(self) -> threading.Lock:
        """Held while this process evaluates the bot."""

    @property
    def matcher(self) -> Matcher:
        """The matcher in use. Raises `BotUnavailableError` until it is loaded."""

    @property
    def workspace(self) -> Workspace:
        """The files. Raises `BotUnavailableError` for an artefact or a registry made in code, which have no YAML."""

    @property
    def inbox(self) -> Inbox | None:
        """The messages that were not understood; None if the setting `inbox` is off."""

    def snapshot_for(self) -> AbstractContextManager[Snapshot]:
        """Lend the registry in use, for one answer."""

    async def reload(self) -> Matcher:
        """Read the files again. Raises `BotUnavailableError` if they are invalid; the last registry stays active."""

    def evaluate_soon(self, revision: str) -> None:
        """Queue a revision for evaluation."""


class Host(Protocol):
    """The program that the studio runs in."""

    @property
    def needs_key(self) -> bool:
        """Whether visitors sign in with a key."""

    @property
    def several(self) -> bool:
        """Whether there are several bots, each with a name."""

    def visitor(self, key: str | None, address: str | None) -> Visitor:
        """Return who presents a key. Raises `InputError` for a wrong key, or after too many wrong keys."""

    def role(self, visitor: Visitor, bot: str | None) -> Role | None:
        """Return what a visitor may do with a bot, by the keys that are valid now; None for nothing.

        Where there are several bots, None as the bot means any of them.
        """

    def seconds_to_wait(self, visitor: Visitor, what: Counted) -> int:
        """Count something that a visitor does. Returns 0, or the seconds to wait if it was too often."""

    def names(self, visitor: Visitor) -> Sequence[str]:
        """Return the names of the bots that a visitor may use, if there are several."""

    async def bot(self, name: str | None) -> Bot:
        """Return a bot, loaded; the only one if the name is None. Raises `BotUnavailableError`."""


def reaches(role: Role | None, needed: Role) -> bool:
    """Whether a role may do what another one may."""
    return role is not None and _RANKS[role] >= _RANKS[needed]
