"""The command `serve`: the HTTP server under uvicorn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, confine_options, confined, load, set_option, settings_from, takes_intents
from intentmatch.cli.origins import ConfigurableCommand, options_with_origins, read_config
from intentmatch.cli.render import output
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.server.config import ServerConfig
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from fastapi import FastAPI

    from intentmatch.matching.matcher import Matcher
    from intentmatch.server import BotFolder
    from intentmatch.server.bots.reloads import ReloadCounter

_Command = Callable[..., Any]
_Source = Callable[[], "Matcher | BotFolder"]
_COUNT, _SECONDS = click.IntRange(1), click.FloatRange(0, min_open=True)


def _option(*flags: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """A flag for the option of `ServerConfig` of the same name, with the default that stands there."""
    name = flags[-1].removeprefix("--").replace("-", "_")
    default = ServerConfig().option(name)
    shown = default not in (None, False, ())
    return click.option(*flags, default=default, show_default=shown, **attributes)


@cli.command(cls=ConfigurableCommand, context_settings={"auto_envvar_prefix": "INTENTMATCH_SERVE"})
@takes_intents(live=True)
@_option("--host", help="Address to listen on; 0.0.0.0 or :: is every one.")
@_option("-p", "--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one.")
@_option("--workers", type=_COUNT, help="Number of processes.")
@_option("--max-connections", type=_COUNT, help="Open connections of a process; more are answered with 503.")
@_option("--max-connections-per-address", type=_COUNT, help="Open connections of an address.")
@_option("--watch", is_flag=True, help="Reload files that change. Invalid files are reported in the log.")
@click.option(
    "--bots/--no-bots",
    default=None,
    help="INTENTS is a folder of bots, or one registry. By default it is a folder of bots if it is called `bots` and "
    "has no YAML of its own.",
)
@click.option("--preload", multiple=True, metavar="PATTERN", help="Bots to load at the start, such as 'shop-*'.")
@click.option(
    "--bots-memory",
    type=_COUNT,
    metavar="MB",
    help="Memory for all loaded bots, without models; the least recently used are unloaded.",
)
@_option("--max-text", type=_COUNT, help="Characters of a message.")
@_option("--max-batch", type=_COUNT, help="Messages of a batch.")
@_option("--max-body", type=_COUNT, help="Bytes of a request body.")
@_option("--body-seconds", type=_SECONDS, help="Seconds for a body to arrive, and for the request head before it.")
@_option("--max-together", type=_COUNT, help="Messages encoded in one call.")
@_option("--max-queue", type=_COUNT, help="Messages that may wait; more are answered with 503.")
@_option("--max-wait", type=click.FloatRange(0.1), help="Seconds that a message may wait.")
@_option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME",
    help="Also speak rasa, clu, dialogflow, openai, systemone or decisions.",
)
@_option("--fulfillment", metavar="URL", help="Dialogflow webhook for intents with `metadata: {webhook: true}`.")
@click.option("--keys-file", type=FILE, help="API keys, one per line. Default: $INTENTMATCH_KEYS.")
@click.option(
    "--admin-keys-file",
    type=FILE,
    help="Keys for admin calls, which are off without any. Default: $INTENTMATCH_ADMIN_KEYS.",
)
@click.option(
    "--author-keys-file",
    type=FILE,
    help="Keys for authors with their names, such as anna=KEY, one per line. Default: $INTENTMATCH_AUTHOR_KEYS.",
)
@_option("--database-keys", is_flag=True, help="Also accept the keys of `intentmatch keys` in the bot's database.")
@_option("--authoring", is_flag=True, help="Let authors change the intents over HTTP. Takes author or admin keys.")
@_option("--studio", is_flag=True, help="Serve the studio at /studio; implies --authoring.")
@_option("--rate-limit", metavar="N/PERIOD", help="Requests per key, or per address without keys, such as 600/minute.")
@_option(
    "--cors-origin", "cors_origins", multiple=True, metavar="ORIGIN", help="Pages of ORIGIN may call from a browser."
)
@_option("--allowed-host", "allowed_hosts", multiple=True, metavar="NAME", help="Answer only requests for this host.")
@_option(
    "--trusted-proxy", "trusted_proxies", multiple=True, metavar="ADDRESS", help="Believe its X-Forwarded headers."
)
@_option("--tls-cert", type=FILE, help="PEM file with the certificate chain; serves HTTPS.")
@_option("--tls-key", type=FILE, help="PEM file with the private key, if it is not in the same file.")
@click.option(
    "--store", metavar="URL", help="Redis or PostgreSQL that keeps conversations, such as redis://localhost:6379/0."
)
@_option("--log-format", type=click.Choice(["text", "json"]), help="Format of the log.")
@_option("--log-messages", is_flag=True, help="Log messages and verdicts.")
@_option("--telemetry", is_flag=True, help="Emit one OpenTelemetry span per match.")
@_option("--shutdown-seconds", type=_COUNT, help="Seconds for accepted requests to finish after SIGTERM.")
# Eager: its values are the defaults of all other options.
@click.option(
    "--config", type=FILE, is_eager=True, callback=read_config, expose_value=False, help="YAML file of options."
)
@confine_options
@click.option("--show-config", is_flag=True, help="Print every option and setting with its origin, and exit.")
@set_option
@click.pass_context
def serve(
    context: click.Context,
    /,
    intents: str | Address,
    bots: bool | None,
    preload: tuple[str, ...],
    bots_memory: int | None,
    keys_file: Path | None,
    admin_keys_file: Path | None,
    author_keys_file: Path | None,
    store: str | None,
    confine: bool,
    allow: tuple[str, ...],
    show_config: bool,
    settings: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve INTENTS over HTTP; /docs describes the API.

    Every option can also be set in the environment (--max-text as INTENTMATCH_SERVE_MAX_TEXT) or in the file of
    --config (max-text: 500). The command line wins over the environment, and the environment over the file. SIGTERM
    stops the server after it has finished accepted requests. SIGHUP reloads the files.

    \b
    Examples:
      intentmatch serve intents/ --port 8080 --watch &
      curl localhost:8080/match --json '{"text": "wo ist mein Paket?"}'
      intentmatch serve intents/ --protocol rasa --port 5005
      intentmatch serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
      intentmatch serve intents/ --set inbox=misses.sqlite
      intentmatch serve postgres://localhost/bots/shop
      intentmatch serve postgres://localhost/bots --bots
    """
    settings = confined(settings, confine=confine, allow=allow)
    if show_config:
        _show_config(context, intents, settings, bots)
        return
    # After --show-config, which needs no extra.
    plugins.require("uvicorn", what="The webhook", extra="server")
    from intentmatch.server.auth.api_keys import file_keys

    config = ServerConfig().with_options(
        **options,
        keys=None if keys_file is None else file_keys(keys_file),
        admin_keys=None if admin_keys_file is None else file_keys(admin_keys_file),
        author_keys=None if author_keys_file is None else file_keys(author_keys_file),
    )
    run_server(source_of(intents, settings, bots, preload, bots_memory), config, store)


def run_server(source: _Source, config: ServerConfig, store: str | None) -> None:
    """Serve until told to stop, in one process or in several."""
    from intentmatch.server.bots.reloads import ReloadCounter
    from intentmatch.server.process.certificates import serve_alone
    from intentmatch.server.process.workers import serve_together

    workers = config.listener.workers
    if config.interfaces.studio and workers > 1:
        raise InputError("the studio takes one process: pages live in the process that made them; leave out --workers")
    reloads = ReloadCounter(shared=workers > 1)
    make_app = partial(_app, source, config, store, reloads)
    # Also where workers will make their own app: mistakes are reported here, once, and their vectors are then cached.
    app = make_app()
    if workers == 1:
        reloads.request_on_hangup()
        serve_alone(app, **_uvicorn_options(config))
    else:
        # A copy of all intents in the parent, which only supervises, would cost the memory of one more worker.
        del app
        serve_together(make_app, reloads, workers, **_uvicorn_options(config))


def _app(
    source: Callable[[], Matcher | BotFolder], config: ServerConfig, store: str | None, reloads: ReloadCounter
) -> FastAPI:
    """The app of one process."""
    from intentmatch.server import create_app
    from intentmatch.server.stores import store_at

    return create_app(source(), config, store=None if store is None else store_at(store), reloads=reloads)


def _uvicorn_options(config: ServerConfig) -> dict[str, Any]:
    import uvicorn

    from intentmatch.server.addresses import checked_proxies, without_brackets
    from intentmatch.server.process.connections import (
        BACKLOG,
        ConnectionLimits,
        LimitedProtocol,
        possible_connections,
    )
    from intentmatch.server.process.logs import log_config
    from intentmatch.server.process.request_heads import PARSER_BYTES

    listener = config.listener
    proxies = checked_proxies(listener.trusted_proxies)
    limits = ConnectionLimits(
        possible_connections(listener.max_connections), listener.max_connections_per_address, proxies
    )
    return dict(
        http=partial(LimitedProtocol, head_seconds=config.limits.body_seconds, limits=limits),
        limits=limits,
        handshake_seconds=config.limits.body_seconds,
        # Above our own limit, so that a head that is too large gets our 431 and not the 400 of h11.
        h11_max_incomplete_event_size=PARSER_BYTES,
        # Only the studio takes WebSockets.
        ws="auto" if config.interfaces.studio else "none",
        ws_max_size=config.limits.max_body,
        backlog=BACKLOG,
        host=without_brackets(listener.host),
        port=listener.port,
        # Uvicorn believes clients at 127.0.0.1 by default, which could then choose the address that limits count.
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        # No caller needs to know which server this is.
        server_header=False,
        # The log of one person's own pages would bury the lines that matter to that person.
        access_log=not config.interfaces.open_studio,
        log_config=log_config(uvicorn.config.LOGGING_CONFIG, listener.log_format, messages=listener.log_messages),
        timeout_graceful_shutdown=listener.shutdown_seconds,
        **_tls(listener.tls_cert, listener.tls_key),
    )


def source_of(
    intents: str | Address, settings: tuple[str, ...], bots: bool | None, preload: tuple[str, ...], memory: int | None
) -> _Source:
    """Return what loads one bot, or makes a folder of bots, in each process.

    What the YAML names is read here, once: a process that starts later allows no more.
    """
    from intentmatch.authoring.read_limits import named_on_disk
    from intentmatch.server.bots.folder import BotFolder, is_bot_folder

    if bots or (bots is None and not isinstance(intents, Address) and is_bot_folder(intents)):
        folder = BotFolder(intents, preload, memory, settings_from(settings))
        return partial(replace, folder, named=folder.named_on_disk())
    if preload or memory:
        raise InputError(f"--preload and --bots-memory go with a folder of bots; say --bots if {intents} is one")
    return partial(load, intents, settings, named_on_disk(intents))


def _tls(cert: Path | None, key: Path | None) -> dict[str, str]:
    """Uvicorn's options for HTTPS. Raises `InputError` if these files cannot serve it."""
    if cert is None:
        if key is not None:
            raise InputError("--tls-key goes with --tls-cert")
        return {}
    import ssl

    from intentmatch.server.process.certificates import CIPHERS

    files = {"ssl_certfile": str(cert), "ssl_keyfile": str(key or cert)}
    try:
        # An empty password, so that OpenSSL never prompts for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key or cert, password="")
    except (OSError, ValueError) as error:
        reason = f"it needs a PEM certificate with its own, unencrypted key ({error})"
        raise InputError(f"HTTPS cannot be served with {' and '.join(sorted(set(files.values())))}: {reason}") from None
    return {**files, "ssl_ciphers": CIPHERS}


def _show_config(context: click.Context, intents: str | Address, settings: tuple[str, ...], bots: bool | None) -> None:
    """Print the options of the server and the settings of its bot; of several bots, the settings they share."""
    from intentmatch.artefact.store import load_artefact
    from intentmatch.core.settings import PARSERS, resolve
    from intentmatch.registry import is_yaml, read_registry
    from intentmatch.server.bots.folder import is_bot_folder

    explicit = settings_from(settings)
    if bots or (bots is None and not isinstance(intents, Address) and is_bot_folder(intents)):
        resolved = resolve(explicit)
    elif isinstance(intents, Address):
        from intentmatch.matching.replica import Replica

        registry, _ = Replica(intents).read(resolve(explicit), {})
        resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    elif is_yaml(intents):
        registry = read_registry(intents)
        resolved = resolve(explicit, registry=registry.settings, locations=registry.setting_locations)
    else:
        # It was built under settings, which hold unless others are named.
        resolved = resolve(explicit, base=load_artefact(intents).settings)
    output.table(["option", "value", "from"], [*options_with_origins(context), *_keys(context)])
    output.echo()
    rows = [(name, str(getattr(resolved, name)), resolved.origin(name)) for name in PARSERS]
    output.table(["setting", "value", "from"], rows)


def _keys(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """Yield the number of keys of each kind and where they come from, but never a key."""
    from intentmatch.server.auth.api_keys import ADMIN_KEYS, AUTHOR_KEYS, KEYS, environment_keys, file_keys

    files = (("keys_file", KEYS), ("admin_keys_file", ADMIN_KEYS), ("author_keys_file", AUTHOR_KEYS))
    for option, variable in files:
        file = context.params[option]
        keys = environment_keys(variable) if file is None else file_keys(file)
        variables = [name for name in (variable, f"{variable}_FILE") if name in os.environ]
        origin = str(file) if file is not None else f"environment {', '.join(variables)}" if variables else "default"
        value = f"set, {len(keys)} {'key' if len(keys) == 1 else 'keys'}" if keys else "none"
        yield option.removesuffix("_file"), value, origin
