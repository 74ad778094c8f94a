"""The command `serve`: the webhook under uvicorn, with our log beside its."""

from __future__ import annotations

import logging
from copy import deepcopy
from pathlib import Path
from typing import Any

import click

from intentmatch import plugins
from intentmatch.cli.commands import FILE, cli, intents_argument, load, set_option
from intentmatch.errors import InputError


@cli.command()
@intents_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", "-p", default=8080, show_default=True, type=click.IntRange(0, 65535))
@click.option("--watch", is_flag=True, help="Take up files that change by themselves; broken ones are told in the log.")
@click.option("--max-text", default=2000, show_default=True, type=click.IntRange(1), help="Characters of a message.")
@click.option("--max-batch", default=256, show_default=True, type=click.IntRange(1), help="Messages of a batch.")
@click.option("--max-body", default=1_000_000, show_default=True, type=click.IntRange(1), help="Bytes of a request.")
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
@set_option
def serve(
    intents: str,
    host: str,
    port: int,
    watch: bool,
    max_text: int,
    max_batch: int,
    max_body: int,
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
    settings: tuple[str, ...],
) -> None:
    """Serve INTENTS over HTTP; the interface is described at /docs.

    \b
    Examples:
      intentmatch serve intents/ --port 8080 --watch &
      curl -s localhost:8080/match -H 'content-type: application/json' -d '{"text": "wo ist mein Paket?"}'
      intentmatch serve intents/ --protocol rasa --port 5005
      intentmatch serve intents/ --host 0.0.0.0 --keys-file keys.txt --tls-cert cert.pem --tls-key key.pem
      intentmatch serve intents/ --set inbox=misses.sqlite
    """
    uvicorn = plugins.require("uvicorn", what="The webhook", extra="server")
    from intentmatch.server import create_app
    from intentmatch.server.access import file_keys

    app = create_app(
        load(intents, settings),
        watch=watch,
        max_text=max_text,
        max_batch=max_batch,
        max_body=max_body,
        protocols=protocols,
        fulfillment=fulfillment,
        keys=None if keys_file is None else file_keys(keys_file),
        admin_keys=None if admin_keys_file is None else file_keys(admin_keys_file),
        rate_limit=rate_limit,
        cors_origins=origins,
        allowed_hosts=hosts,
    )
    uvicorn.run(
        app,
        host=host,
        port=port,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        log_config=_log_config(uvicorn.config.LOGGING_CONFIG),
        **_tls(tls_cert, tls_key),
    )


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


def _log_config(uvicorns: dict[str, Any]) -> dict[str, Any]:
    """uvicorn's, which would otherwise keep what we say to itself."""
    config = deepcopy(uvicorns)
    config["loggers"]["intentmatch"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    config["filters"] = {"no_queries": {"()": _NoQueries}}
    config["handlers"]["access"]["filters"] = ["no_queries"]
    return config


class _NoQueries(logging.Filter):
    """Keeps what stands behind the path out of the log: some protocols have their key there."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten a line of uvicorn's: address, method, path, version and status."""
        if isinstance(record.args, tuple):
            record.args = tuple(arg.partition("?")[0] if isinstance(arg, str) else arg for arg in record.args)
        return True
