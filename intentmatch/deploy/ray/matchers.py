"""A replica that matches messages: the app of `intentmatch serve` within Ray Serve."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from intentmatch.authoring.read_limits import named_on_disk, served_settings
from intentmatch.core.errors import IntentMatchError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder
from intentmatch.deploy.ray.asgi import AsgiRequest, Response, RunningApp, answer, early_answer, ingress
from intentmatch.deploy.ray.encoders import RayEncoder
from intentmatch.deploy.ray.engine import require_serve
from intentmatch.deploy.ray.everywhere import ask_all, concerns_all
from intentmatch.encoders import load_encoder
from intentmatch.matching.loader import RegistrySource
from intentmatch.matching.matcher import Matcher
from intentmatch.server import create_app
from intentmatch.server.bots.folder import BotFolder
from intentmatch.server.bots.pool import BotPool
from intentmatch.server.config import ServerConfig
from intentmatch.server.stores import store_at
from intentmatch.storage.postgres.address import address_of, is_address

_log = logging.getLogger(__name__)

STORE = "INTENTMATCH_SERVE_STORE"


class Matchers:
    """A replica of the matchers.

    Serve calls `reconfigure` when the replica starts, and again for each new configuration. A new one is loaded aside
    while the old one answers. If it cannot be loaded, the old one stays.
    """

    def __init__(self, encoder: Any = None, model: str = "", most_bots: int | None = None) -> None:
        """`encoder` is the handle of the deployment of the encoder `model`, if there is one.

        With several bots, at most `most_bots` are in memory.
        """
        self._encoder, self._model = encoder, model
        self._running: RunningApp | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._note_bot = None if most_bots is None else self._notes_of_bots(most_bots)

    async def reconfigure(self, served: Mapping[str, Any]) -> None:
        """Take a configuration into use: `source`, `several`, `settings`, `server` and `store`.

        Raises what loading it raises, but only if there is no older one.
        """
        try:
            running = RunningApp(await asyncio.to_thread(self._app, served))
            await running.start()
        except Exception as error:
            # Without an older one there is nothing to answer with: Ray must learn that this replica is not ready.
            if self._running is None:
                raise
            expected = isinstance(error, IntentMatchError)
            _log.error("the new configuration cannot be used, the old one stays: %s", error, exc_info=not expected)
            return
        old, self._running = self._running, running
        if old is not None:
            # Kept until it ends, since asyncio holds tasks weakly.
            stopping = asyncio.create_task(old.stop())
            self._stopping.add(stopping)
            stopping.add_done_callback(self._stopping.discard)

    async def forward(self, request: AsgiRequest, bot: str | None) -> Response:
        """Answer a request from the gateway. `bot` is the bot that its path names."""
        response = await answer(self._app_in_use, request)
        # A name that a caller made up must not push a loaded bot out.
        if bot is not None and self._note_bot is not None and self._pool.is_loaded(bot):
            await self._note_bot(bot)
        return replace(response, replica=require_serve().get_replica_context().replica_tag)

    async def early_answer(self, request: AsgiRequest, bot: str | None) -> Response | None:
        """Answer a request from the gateway whose body has not come yet, if the body does not matter."""
        return await early_answer(self._app_in_use, request)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Return the app for requests without a gateway. The name is Serve's."""
        return ingress(self._answer)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not concerns_all(request := AsgiRequest.of(scope, b"")):
            await self._app_in_use(scope, receive, send)
            return
        response = await answer(self._app_in_use, request)
        if response.status < 400:
            response = await ask_all(self._all_replicas(), request)
        await response(send)

    def _all_replicas(self) -> Any:
        """Return the handle of this deployment."""
        serve = require_serve()
        here = serve.get_replica_context()
        return serve.get_deployment_handle(here.deployment, here.app_name)

    @property
    def _app_in_use(self) -> RunningApp:
        assert self._running is not None  # noqa: S101 - Serve configures a replica before it sends requests
        return self._running

    @property
    def _pool(self) -> BotPool:
        pool = self._app_in_use.app.state.served
        assert isinstance(pool, BotPool)  # noqa: S101 - a gateway tells bots apart only if there are several
        return pool

    def _app(self, served: Mapping[str, Any]) -> FastAPI:
        """Load what is to be served. Raises what `Matcher.load` and `create_app` raise."""
        path = served["source"]
        place = address_of(path) if is_address(path) else path
        # From the environment of the node, because an address with a password must not be in the configuration.
        store = served["store"] or os.environ.get(STORE)
        settings = served["settings"]
        source = (
            BotFolder(place, settings=settings, load_encoder=self._load_encoder)
            if served["several"]
            else Matcher(
                # As every server: without the limits, a reload could read any file that the YAML names.
                RegistrySource(place, served_settings(settings, named_on_disk(place)), load_encoder=self._load_encoder)
            )
        )
        config = ServerConfig().with_options(**served["server"])
        return create_app(source, config, store=None if store is None else store_at(store))

    def _load_encoder(self, settings: Settings) -> Encoder:
        """Return the shared encoder if the settings name its model; otherwise load one into this replica."""
        if self._encoder is not None and settings.encoder == self._model:
            return RayEncoder(self._encoder, seconds=settings.remote_seconds)
        return load_encoder(settings)

    def _notes_of_bots(self, most: int) -> Callable[[str], Any]:
        """Return what tells Serve that a bot is loaded here, so that its requests come here.

        Serve counts the bots, and gives back those that were not called for the longest time.
        """

        async def note(bot: str) -> _Noted:
            loop = asyncio.get_running_loop()
            return _Noted(lambda: loop.call_soon_threadsafe(lambda: self._pool.unload(bot)))

        noted: Callable[[str], Any] = require_serve().multiplexed(max_num_models_per_replica=most)(note)
        return noted


class _Noted:
    """A bot that Serve counts. Serve calls `__del__` in a thread to make room; Python may call it again."""

    def __init__(self, unload: Callable[[], Any]) -> None:
        self._unload: Callable[[], Any] | None = unload

    def __del__(self) -> None:
        unload, self._unload = self._unload, None
        if unload is not None:
            with suppress(RuntimeError):  # the event loop is closed: the replica ends
                unload()
