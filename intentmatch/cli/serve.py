"""The command `serve`: the webhook under uvicorn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, load, set_option, settings_from, takes_intents
from intentmatch.cli.origins import options_with_origins, read_config
from intentmatch.cli.render import output
from intentmatch.core import plugins
from intentmatch.core.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from intentmatch.dialogue import Store
    from intentmatch.matching.matcher import Matcher
    from intentmatch.server import BotFolder


@cli.command(context_settings={"auto_envvar_prefix": "INTENTMATCH_SERVE"})
@takes_intents()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    "-p",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes that answer.")
@click.option("--watch", is_flag=True, help="Take up files that change by themselves; broken ones are told in the log.")
@click.option(
    "--bots/--no-bots",
    default=None,
    help="INTENTS is a folder of bots, or it is one registry; without either it is of bots where it is called `bots` "
    "and has no YAML in itself.",
)
@click.option(
    "--preload", multiple=True, metavar="PATTERN", help="Bots to load at the start, as in 'shop-*'; others when asked."
)
@click.option(
    "--bots-memory",
    type=click.IntRange(1),
    metavar="MB",
    help="Of all loaded bots, models not counted; those asked least recently make room.",
)
@click.option("--max-text", default=2000, show_default=True, type=click.IntRange(1), help="Characters of a message.")
@click.option("--max-batch", default=256, show_default=True, type=click.IntRange(1), help="Messages of a batch.")
@click.option("--max-body", default=1_000_000, show_default=True, type=click.IntRange(1), help="Bytes of a request.")
@click.option(
    "--body-seconds",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="For it to arrive, and for the head before it.",
)
@click.option(
    "--max-together", default=32, show_default=True, type=click.IntRange(1), help="Messages that are encoded together."
)
@click.option("--max-queue", default=1024, show_default=True, type=click.IntRange(1), help="Messages that wait.")
@click.option(
    "--max-wait", default=10.0, show_default=True, type=click.FloatRange(0.1), help="Seconds that a message waits."
)
@click.option(
    "--protocol", "protocols", multiple=True, metavar="NAME", help="Also speak rasa, clu, dialogflow or openai."
)
@click.option(
    "--fulfillment", metavar="URL", help="Dialogflow's webhook, for intents with `metadata: {webhook: true}`."
)
@click.option("--keys-file", type=FILE, help="Keys of callers, one a line; otherwise $INTENTMATCH_KEYS.")
@click.option(
    "--admin-keys-file",
    type=FILE,
    help="Keys for admin calls, which are off without; otherwise $INTENTMATCH_ADMIN_KEYS.",
)
@click.option("--rate-limit", metavar="N/PERIOD", help="Requests of a key, or of an address without; as in 600/minute.")
@click.option(
    "--cors-origin", "origins", multiple=True, metavar="ORIGIN", help="A page at ORIGIN may call from a browser."
)
@click.option("--allowed-host", "hosts", multiple=True, metavar="NAME", help="Answer only requests for such a host.")
@click.option("--trusted-proxy", "proxies", multiple=True, metavar="ADDRESS", help="Believe its X-Forwarded headers.")
@click.option("--tls-cert", type=FILE, help="Certificate, with those between it and the root: serves HTTPS.")
@click.option("--tls-key", type=FILE, help="Its private key, where it is not in the same file.")
@click.option("--store", metavar="URL", help="Redis that keeps what conversations wait for: redis://localhost:6379/0.")
@click.option(
    "--log-format", default="text", show_default=True, type=click.Choice(["text", "json"]), help="Format of the log."
)
@click.option("--log-messages", is_flag=True, help="Log what users say, and what was made of it.")
@click.option("--telemetry", is_flag=True, help="A span of OpenTelemetry for each match.")
@click.option(
    "--shutdown-seconds",
    default=30,
    show_default=True,
    type=click.IntRange(1),
    help="Time for the requests that are being answered when the server is told to stop.",
)
@click.option("--config", type=FILE, is_eager=True, callback=read_config, expose_value=False, help="YAML of options.")
@click.option("--show-config", is_flag=True, help="Show every option and setting, and where it comes from, and end.")
@set_option
@click.pass_context
def serve(
    context: click.Context,
    intents: str,
    host: str,
    port: int,
    workers: int,
    watch: bool,
    bots: bool | None,
    preload: tuple[str, ...],
    bots_memory: int | None,
    max_text: int,
    max_batch: int,
    max_body: int,
    body_seconds: float,
    max_together: int,
    max_queue: int,
    max_wait: float,
    protocols: tuple[str, ...],
    fulfillment: str | None,
    keys_file: Path | None,
    admin_keys_file: Path | None,
    rate_limit: str | None,
    origins: tuple[str, ...],
    hosts: tuple[str, ...],
    proxies: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    store: str | None,
    log_format: str,
    log_messages: bool,
    telemetry: bool,
    shutdown_seconds: int,
    show_config: bool,
    settings: tuple[str, ...],
) -> None:
    """Serve INTENTS over HTTP; /docs describes the API.

    Every option may also stand in the environment (--max-text as INTENTMATCH_SERVE_MAX_TEXT) or in the file that
    --config names (max-text: 500). A word wins over the environment, and that over the file. When it is told to stop,
    the server answers what it has begun to. A hangup (SIGHUP) has the files read again.

    \b
    Examples:
      intentmatch serve intents/ --port 8080 --watch &
      curl -s localhost:8080/match -H 'content-type: application/json' -d '{"text": "wo ist mein Paket?"}'
      intentmatch serve intents/ --protocol rasa --port 5005
      intentmatch serve intents/ --host 0.0.0.0 --keys-file keys.txt --tls-cert cert.pem --tls-key key.pem
      intentmatch serve intents/ --set inbox=misses.sqlite
    """
    if show_config:
        _show_config(context, intents, settings, bots)
        return
    uvicorn = plugins.require("uvicorn", what="The webhook", extra="server")
    from intentmatch.server.auth.api_keys import file_keys
    from intentmatch.server.bots.reloads import Reloads
    from intentmatch.server.process.logs import log_config
    from intentmatch.server.process.slow_clients import Patience

    reloads = Reloads(shared=workers > 1)
    make_app = partial(
        _app,
        partial(_served, intents, settings, bots, preload, bots_memory),
        watch=watch,
        telemetry=telemetry,
        max_text=max_text,
        max_batch=max_batch,
        max_body=max_body,
        body_seconds=body_seconds,
        max_together=max_together,
        max_queue=max_queue,
        max_wait=max_wait,
        protocols=protocols,
        fulfillment=fulfillment,
        keys=None if keys_file is None else file_keys(keys_file),
        admin_keys=None if admin_keys_file is None else file_keys(admin_keys_file),
        rate_limit=rate_limit,
        cors_origins=origins,
        allowed_hosts=hosts,
        store=store,
        reloads=reloads,
    )
    # Also where workers will make their own: what is wrong is told here, once, and their vectors are in the cache then.
    app = make_app()
    listening = dict(
        http=partial(Patience, head_seconds=body_seconds),
        host=host,
        port=port,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        log_config=log_config(uvicorn.config.LOGGING_CONFIG, log_format, messages=log_messages),
        timeout_graceful_shutdown=shutdown_seconds,
        **_tls(tls_cert, tls_key),
    )
    if workers == 1:
        reloads.heed_hangups()
        uvicorn.run(app, **listening)
    else:
        del app
        from intentmatch.server.process.workers import serve_together

        serve_together(make_app, reloads, workers, **listening)


def _app(load: Callable[[], Matcher | BotFolder], *, store: str | None, **options: Any) -> FastAPI:
    """The webhook of one process."""
    from intentmatch.server import create_app

    return create_app(load(), store=None if store is None else _store(store), **options)


def _served(
    intents: str, settings: tuple[str, ...], bots: bool | None, preload: tuple[str, ...], memory: int | None
) -> Matcher | BotFolder:
    """One bot, loaded, or the folder of several."""
    from intentmatch.server.bots.folder import BotFolder, is_bot_folder

    if is_bot_folder(intents) if bots is None else bots:
        return BotFolder(intents, preload, memory, settings_from(settings))
    if preload or memory:
        raise InputError(f"--preload and --bots-memory go with a folder of bots; say --bots if {intents} is one")
    return load(intents, settings)


def _store(url: str) -> Store:
    from intentmatch.integrations.redis import RedisStore

    try:
        return RedisStore.at(url)
    except ValueError as error:
        raise InputError(f"--store takes a URL such as redis://localhost:6379/0: {error}") from None


def _tls(cert: Path | None, key: Path | None) -> dict[str, str]:
    """What uvicorn wants to know for HTTPS. Raises `InputError` where it could not be served."""
    if cert is None:
        if key is not None:
            raise InputError("--tls-key goes with --tls-cert")
        return {}
    import ssl

    files = {"ssl_certfile": str(cert), "ssl_keyfile": str(key or cert)}
    try:
        # An empty password: a server has nobody to ask for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key or cert, password="")
    except (OSError, ValueError) as error:
        reason = f"they are no certificate in PEM with its own, unencrypted key ({error})"
        raise InputError(f"HTTPS cannot be served with {' and '.join(sorted(set(files.values())))}: {reason}") from None
    return files


def _show_config(context: click.Context, intents: str, settings: tuple[str, ...], bots: bool | None) -> None:
    """The options of the server, and the settings of what it serves; of several bots those that hold for all."""
    from intentmatch.artefact.store import load_artefact
    from intentmatch.core.settings import PARSERS, resolve
    from intentmatch.registry import is_yaml, read_registry
    from intentmatch.server.bots.folder import is_bot_folder

    explicit = settings_from(settings)
    if is_bot_folder(intents) if bots is None else bots:
        resolved = resolve(explicit)
    elif is_yaml(intents):
        registry = read_registry(intents)
        resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    else:
        resolved = resolve(explicit, base=load_artefact(intents).settings)
    output.table(["option", "value", "from"], [*options_with_origins(context), *_keys(context)])
    click.echo()
    rows = [(name, str(getattr(resolved, name)), resolved.origin(name)) for name in PARSERS]
    output.table(["setting", "value", "from"], rows)


def _keys(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """How many keys there are of each kind, and where from: that they were found can be seen, and none of them."""
    from intentmatch.server.auth.api_keys import ADMIN_KEYS, KEYS, environment_keys, file_keys

    for option, variable in (("keys_file", KEYS), ("admin_keys_file", ADMIN_KEYS)):
        file = context.params[option]
        keys = environment_keys(variable) if file is None else file_keys(file)
        variables = [name for name in (variable, f"{variable}_FILE") if name in os.environ]
        origin = str(file) if file is not None else f"environment {', '.join(variables)}" if variables else "default"
        value = f"set, {len(keys)} {'key' if len(keys) == 1 else 'keys'}" if keys else "none"
        yield option.removesuffix("_file"), value, origin
