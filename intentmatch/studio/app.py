"""The pages as an ASGI app. NiceGUI keeps its pages in one app per process, so a process has at most one studio."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from typing import Any

from fastapi import FastAPI, Request
from nicegui import Client, ui
from nicegui import app as pages
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from intentmatch.core.errors import DatabaseError, IntentMatchError
from intentmatch.studio.guard import Admission, Guard
from intentmatch.studio.host import Bot, BotUnavailableError, Host, reaches
from intentmatch.studio.layout import ASSETS, ASSETS_PATH, frame, head
from intentmatch.studio.open_page import OpenPage
from intentmatch.studio.parts import empty, heading, link, tag
from intentmatch.studio.plain_pages import plain_page
from intentmatch.studio.screens import SCREENS, Screen
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import error_in_words

_TITLE = "intentmatch studio"
# A page that comes back later, such as one whose browser was away, is loaded anew, and what was typed is lost.
_RECONNECT_SECONDS = 30.0
_COLLECT = (5_000, 10, 5)
_SECONDS_TO_OPEN = 120.0  # a bot of a folder is loaded when its first page is opened


def studio_app(host: Host) -> ASGIApp:
    """Return the studio for a host, to be mounted in its app; `running` must surround its life."""
    # Around the guard, which must see a page before it is compressed: it writes the nonce into its scripts.
    return GZipMiddleware(Guard(_pages(), host), minimum_size=1000, compresslevel=5)


@asynccontextmanager
async def running() -> AsyncIterator[None]:
    """Start and stop what the pages need while the server runs."""
    app = _pages()
    thresholds = gc.get_threshold()
    # A closed page is a cycle of some thousand objects, which only the collector frees. What was loaded before the
    # first page stays until the end, so that no collection has to look at it.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT)
    try:
        async with app.router.lifespan_context(app):
            try:
                yield
            finally:
                # NiceGUI keeps pages whose browsers are still connected, or were until just now, beyond its own end.
                for client in tuple(Client.instances.values()):
                    client.delete()
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@cache
def _pages() -> FastAPI:
    """Register all screens, once in a process."""
    for screen in SCREENS:
        # Both in each process, since the paths are registered once and a host may have one bot or several.
        for path in (f"/{screen.path}", f"/bots/{{bot}}/{screen.path}"):
            ui.page(path, title=f"{screen.title} · {_TITLE}", response_timeout=_SECONDS_TO_OPEN)(_page(screen))
    ui.page("/", title=_TITLE)(_home)
    pages.add_static_files(ASSETS_PATH, ASSETS)
    pages.add_exception_handler(404, _not_found)  # NiceGUI's builds a page for each, and keeps it for a minute
    outer = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    ui.run_with(
        outer,
        title=_TITLE,
        dark=None,
        language="en-US",
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_SECONDS,
        message_history_length=200,
        gzip_middleware_factory=None,
        tailwind=False,
        show_welcome_message=False,
        favicon="💬",
    )
    # The guard refuses long polling.
    pages.config.socket_io_js_transports = ["websocket"]
    return outer


def _page(screen: Screen) -> Callable[..., Awaitable[Response | None]]:
    async def page(request: Request) -> Response | None:
        admission = Admission.of(request)
        name: str | None = request.path_params.get("bot")
        host, visitor, root = admission.host, admission.session.visitor, _root(request)
        if host.several != (name is not None):
            return RedirectResponse(f"{root}/", 303)
        try:
            role = host.role(visitor, name)
            if role is None:
                raise BotUnavailableError("there is no such bot, or your key is not valid for it")
            bot = await host.bot(name)
            # Before the screen reads anything: what changes after this is told to the page.
            digest = await asyncio.to_thread(_digest, bot)
            visit = Visit(host, admission.session, bot, name, root, ui.context.client, screen.path, digest)
            # A visitor whose role has changed gets another page.
            OpenPage(visit.client, visit.session, lambda: visit.role == role)
            tabs = [one for one in SCREENS if reaches(role, one.needs)]
            with frame(visit, tabs, screen.title):
                if reaches(role, screen.needs):
                    await screen.show(visit)
                else:
                    heading(screen.title)
                    empty(f"This screen takes a key for {screen.needs}s.")
        except (BotUnavailableError, DatabaseError) as error:
            _unavailable(root, error)
        return None

    return page


async def _home(request: Request) -> Response | None:
    """Open the only bot, or list the bots."""
    admission, root = Admission.of(request), _root(request)
    names = admission.host.names(admission.session.visitor) if admission.host.several else [None]
    if len(names) == 1:
        bot = "" if names[0] is None else f"/bots/{names[0]}"
        return RedirectResponse(f"{root}{bot}/{SCREENS[0].path}", 303)
    OpenPage(ui.context.client, admission.session, lambda: True)
    ui.add_head_html(head(root))
    with tag("div", classes="st-main"):
        heading("Bots", "Choose the bot to work on.")
        with tag("ul", classes="st-stack"):
            for name in names:
                with tag("li", classes="st-card"):
                    link(str(name), f"{root}/bots/{name}/{SCREENS[0].path}").props('dir="auto"')
    return None


async def _not_found(request: Request, error: Exception) -> Response:
    home = escape(f"{_root(request)}/")
    return plain_page(
        "Not found", f'<p role="alert">There is no such page.</p><a href="{home}">Back to the start</a>', 404
    )


def _unavailable(root: str, error: Exception) -> None:
    ui.add_head_html(head(root))
    with tag("div", classes="st-main"):
        heading("This bot cannot be shown")
        tag("p", error_in_words(error), role="alert")
        link("Back to the start", f"{root}/")


def _digest(bot: Bot) -> str | None:
    try:
        return bot.workspace.digest()
    except IntentMatchError:
        return None  # no files, or files that cannot be read: the screen says so


def _root(request: Request) -> str:
    root: Any = request.scope.get("root_path", "")
    return str(root).rstrip("/")
