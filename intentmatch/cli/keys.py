"""`intentmatch keys`: make, list and revoke keys in PostgreSQL while servers run."""

from __future__ import annotations

from datetime import timezone
from typing import TYPE_CHECKING, cast

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.database import ADDRESS
from intentmatch.cli.options import json_option
from intentmatch.cli.render import output
from intentmatch.core.errors import counted
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.storage.postgres.keys import KeyStore, Role

ROLES = ("match", "author", "admin")


@cli.group("keys")
def keys() -> None:
    """Make, list and revoke keys in PostgreSQL.

    Servers with `serve --database-keys` accept these keys beside those of their files, and refuse a revoked one at
    once. Keys are kept as digests: a key is shown once, when it is made.

    \b
    Example:
      intentmatch keys list postgres://localhost/bots/shop
    """


@keys.command("add")
@click.argument("address", type=ADDRESS)
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="match", show_default=True, help="What it may do.")
@click.option("--all-bots", is_flag=True, help="Valid for every bot of the database.")
def add(address: Address, name: str, role: str, all_bots: bool) -> None:
    """Make a key and print it.

    NAME says whose key it is; the revisions of an author have it.

    \b
    Example:
      intentmatch keys add postgres://localhost/bots/shop anna --role author
    """
    # The key alone, so that a script can take it from the output.
    output.echo(_store(address).add(name, cast("Role", role), all_bots=all_bots))


@keys.command("list")
@click.argument("address", type=ADDRESS)
@json_option
def list_(address: Address, as_json: bool) -> None:
    """List the keys of a bot, and those for all bots.

    \b
    Example:
      intentmatch keys list postgres://localhost/bots/shop
    """
    found = _store(address).all()
    rows = []
    for key in found:
        created, revoked = (
            None if time is None else f"{time.astimezone(timezone.utc):%Y-%m-%d %H:%M}"
            for time in (key.created, key.revoked)
        )
        if as_json:
            value = {"name": key.name, "bot": key.bot, "role": key.role, "created": created, "revoked": revoked}
            output.as_json(value)
        rows.append((key.name, key.bot, key.role, created or "", revoked or ""))
    if not as_json:
        output.table(["name", "bot", "role", "created (UTC)", "revoked"], rows)


@keys.command("revoke")
@click.argument("address", type=ADDRESS)
@click.argument("name")
def revoke(address: Address, name: str) -> None:
    """Revoke the key of a name.

    \b
    Example:
      intentmatch keys revoke postgres://localhost/bots/shop anna
    """
    count = _store(address).revoke(name)
    output.say(f"{counted(count, 'key')} of {name} revoked")


def _store(address: Address) -> KeyStore:
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore

    return KeyStore(Database(address))
