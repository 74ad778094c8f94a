"""The command `studio`: the pages for one person on this computer."""

from __future__ import annotations

import webbrowser
from threading import Timer

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.edit import require
from intentmatch.cli.options import confine_options, confined, set_option, takes_intents
from intentmatch.cli.render import output
from intentmatch.cli.serve import run_server, source_of
from intentmatch.core import plugins
from intentmatch.server.config import ServerConfig

_HOST = "127.0.0.1"
# A browser that comes before the server listens shows an error.
_SECONDS_BEFORE_OPENING = 1.5


@cli.command()
@takes_intents()
@click.option("-p", "--port", type=click.IntRange(1, 65535), default=8090, show_default=True, help="Port to listen on.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in your browser.")
@confine_options
@set_option
def studio(
    intents: str, port: int, open_browser: bool, confine: bool, allow: tuple[str, ...], settings: tuple[str, ...]
) -> None:
    """Open pages to try and edit INTENTS in a browser.

    Only this computer reaches the pages, and no key is needed. `intentmatch serve --studio` has them for
    several people. Changes of the files appear at once. Ctrl+C ends it.

    \b
    Examples:
      intentmatch studio intents/
      intentmatch studio intents/ --open --set inbox=misses.sqlite
    """
    plugins.check_installed("nicegui", what="The studio", extra="studio")
    require(intents)
    config = ServerConfig().with_options(
        host=_HOST,
        port=port,
        studio=True,
        open_studio=True,
        # Even if the environment has some for a server.
        keys=(),
        watch=True,
        # Against DNS rebinding: a page elsewhere could make its own name mean this computer, and there is no key.
        allowed_hosts=(_HOST, "localhost"),
        # An open page keeps its socket for as long as it is shown, and Ctrl+C should end at once.
        shutdown_seconds=2,
    )
    url = f"http://{_HOST}:{port}/studio/"
    output.echo(f"The studio is at {url} (Ctrl+C ends it)")
    if open_browser:
        timer = Timer(_SECONDS_BEFORE_OPENING, webbrowser.open, [url])
        # A server that fails to start must not open a browser, nor wait for it.
        timer.daemon = True
        timer.start()
    settings = confined(settings, confine=confine, allow=allow)
    run_server(source_of(intents, settings, None, (), None), config, None)
