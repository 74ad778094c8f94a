"""The studio inside the server: it gets the server's bots, and its visitors sign in with the server's keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.inbox import Inbox
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.snapshot import Snapshot
from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.server.auth.access import Access
from intentmatch.server.auth.api_keys import digest_of_key
from intentmatch.server.auth.rate_limit import RateLimiter
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.pool import BotPool
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.middleware.request_log import LoggedRoute
from intentmatch.studio.host import BotUnavailableError, Counted, Role, Visitor

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace

PATH = "/studio"
"""Where `intentmatch serve --studio` has it."""
SECONDS_BEFORE_PREPARING = 3.0
"""The first page comes before what its visitor may want later."""

# Of one key, which many people may share.
_LIMITS: dict[Counted, str] = {"sign-in": "30/minute", "page": "120/minute"}

_NOBODY_ELSE = "you"
"""Who writes where no key is needed."""


def studio_routes(served: Bot | BotPool, access: Access, *, without_keys: bool) -> list[BaseRoute]:
    """Return the studio for the bots of an app. Raises `MissingExtraError` without NiceGUI.

    Without keys, the app belongs to one person at this computer, and its root address opens the studio too.
    """
    plugins.check_installed("nicegui", what="The studio", extra="studio")
    from intentmatch.studio.app import studio_app

    async def start(request: Request) -> Response:
        root = str(request.scope.get("root_path", "")).rstrip("/")
        # A mount begins behind the slash, and the app redirects nothing by itself. The address is relative to the host,
        # so that no forged Host header gets into it.
        return RedirectResponse(f"{root}{PATH}/", 303)

    pages = studio_app(ServedBots(served, access, without_keys=without_keys))
    entrances = [PATH, "/"] if without_keys else [PATH]
    return [
        *(LoggedRoute(path, start, methods=["GET"], include_in_schema=False) for path in entrances),
        Mount(PATH, pages),
    ]


@asynccontextmanager
async def running(served: Bot | BotPool) -> AsyncIterator[None]:
    """Start and stop the studio with the server. What its screens show about a single bot is prepared at the start."""
    from intentmatch.studio import app

    # Of several bots, each is prepared once a page of it is open.
    preparing = asyncio.create_task(_prepare_soon(served)) if isinstance(served, Bot) else None
    try:
        async with app.running():
            yield
    finally:
        if preparing is not None:
            preparing.cancel()


async def _prepare_soon(bot: Bot) -> None:
    await asyncio.sleep(SECONDS_BEFORE_PREPARING)
    await asyncio.to_thread(_prepare, bot)


def _prepare(bot: Bot) -> None:
    from intentmatch.authoring.insights import prepare  # needed by few servers

    embedded_tokenizer().texts_of(())  # the first call takes 50 ms, for which Try would wait
    with suppress(IntentMatchError):  # whoever opens the screen is told
        try:
            workspace = bot.editing.workspace
        except ProblemError:
            workspace = None  # an artefact
        prepare(bot.matcher, workspace)


class ServedBots:
    """The bots and keys of an app, as the studio wants them."""

    def __init__(self, served: Bot | BotPool, access: Access, *, without_keys: bool) -> None:
        self._served, self._access, self._open = served, access, without_keys
        self._limiters = {what: RateLimiter(limit) for what, limit in _LIMITS.items()}

    @property
    def needs_key(self) -> bool:
        """Whether visitors sign in with a key."""
        return not self._open

    @property
    def several(self) -> bool:
        """Whether there are several bots, each with a name."""
        return isinstance(self._served, BotPool)

    def visitor(self, key: str | None, address: str | None) -> Visitor:
        """Return who presents a key. Raises `InputError` for a wrong key, or after too many wrong keys."""
        if self._open:
            return Visitor(_NOBODY_ELSE)
        try:
            known = self._access.knows_from(address, key)
        except ProblemError as error:
            raise InputError(error.details.detail or error.details.title) from error
        if not known or key is None:
            # The same sentence for a wrong key and for none: a visitor learns nothing about keys.
            raise InputError("This key is not valid.")
        return Visitor(self._access.author(key) or "match", digest_of_key(key))

    def seconds_to_wait(self, visitor: Visitor, what: Counted) -> int:
        """Count something that a visitor does. Returns 0, or the seconds to wait if it was too often."""
        # Without keys there is one visitor, who owns the computer.
        return 0 if visitor.key is None else self._limiters[what].take(visitor.key)

    def role(self, visitor: Visitor, bot: str | None) -> Role | None:
        """Return what a visitor may do with a bot, or with any of them; None for nothing."""
        if self._open:
            return "admin"
        if self._access.is_admin(visitor.key, bot):
            return "admin"
        if self._access.author(visitor.key, bot) is not None:
            return "author"
        return "match" if self._access.is_known(visitor.key, bot) else None

    def names(self, visitor: Visitor) -> Sequence[str]:
        """Return the names of the bots that a visitor may use."""
        if not isinstance(self._served, BotPool):
            return ()
        return [name for name in self._served.names if self.role(visitor, name) is not None]

    async def bot(self, name: str | None) -> ServedBot:
        """Return a bot, loaded. Raises `BotUnavailableError`."""
        with _explained():
            if isinstance(self._served, Bot):
                self._served.matcher  # noqa: B018 - raises until it is loaded
                return ServedBot(self._served)
            return ServedBot(await self._served.bot(name or ""))


class ServedBot:
    """A bot of the server, whose errors the studio understands."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    @property
    def evaluating(self) -> threading.Lock:
        """Held while this process evaluates the bot."""
        return self._bot.editing.evaluating

    @property
    def matcher(self) -> Matcher:
        """The matcher in use."""
        with _explained():
            return self._bot.matcher

    @property
    def workspace(self) -> Workspace:
        """The files."""
        with _explained():
            return self._bot.editing.workspace

    @property
    def inbox(self) -> Inbox | None:
        """The inbox; None if it is off."""
        return self._bot.inbox

    @contextmanager
    def snapshot_for(self) -> Iterator[Snapshot]:
        """Lend the registry in use, for one answer."""
        with _explained(), self._bot.snapshot_for() as snapshot:
            yield snapshot

    async def reload(self) -> Matcher:
        """Read the files again, here and in the other workers."""
        with _explained():
            return await self._bot.files.reload()

    def evaluate_soon(self, revision: str) -> None:
        """Queue a revision for evaluation."""
        with _explained():
            self._bot.editing.evaluator.ask(revision)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except ProblemError as error:
        raise BotUnavailableError(error.details.detail or error.details.title) from error
