"""A bot in PostgreSQL for a command that works on files: in a private folder, and written back as a revision."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli.render import output
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.matching.matcher import Matcher
    from intentmatch.storage.contents import Files

_KEY = "intentmatch.checkout"


class Checkout:
    """The newest files of a bot in a folder that only this user may read, and that is removed after the command."""

    def __init__(self, address: Address) -> None:
        """Raises `DatabaseError`, or `UnknownNameError` if there is no such bot."""
        from intentmatch.storage.postgres.database import Database
        from intentmatch.storage.postgres.registries import RegistryStore

        self.address = address
        self._store = RegistryStore(Database(address))
        self._revision, files = self._store.read()
        self._root = Path(tempfile.mkdtemp(prefix="intentmatch-"))
        # Named after the bot: with the folder above left out, places read as `shop/orders.yaml`.
        self.folder = self._root / address.bot
        write_files(self.folder, files)
        self._prefix = f"{self._root}{os.sep}"
        # Users know the bot by its address: paths of a temporary folder would mean nothing to them.
        output.shorten(self._prefix)

    def publish(self, note: str) -> int:
        """Write the files as a new revision, if nobody else has written one meanwhile; return its number.

        Raises `ChangedMeanwhileError` otherwise; then nothing is written.
        """
        from intentmatch.authoring.operations.local import local_author

        author, files = local_author(Path.cwd()), read_files(self.folder)
        self._revision = self._store.write_noted(files, author=author, note=note, expected=self._revision.digest)
        return self._revision.number

    def remove(self) -> None:
        """Remove the folder."""
        output.lengthen(self._prefix)
        shutil.rmtree(self._root, ignore_errors=True)


def checked_out(address: Address) -> str:
    """Check a bot out for the command that runs; return the path of the folder."""
    context = click.get_current_context()
    checkout = Checkout(address)
    # Also after an error, and after an interruption by the user.
    context.call_on_close(checkout.remove)
    context.meta[_KEY] = checkout
    return str(checkout.folder)


def in_use() -> Checkout | None:
    """Return the checkout of the command that runs; None if it works on files of the user."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_KEY)


def address_in_use(matcher: Matcher) -> Address | None:
    """Return the bot in PostgreSQL that a command works on, live or checked out; None for files of the user."""
    checkout = in_use()
    return matcher.address if checkout is None else checkout.address


def place(file: Path | None) -> Path | None:
    """Return where a file that the user names is: in a checkout, names start at its folder."""
    checkout = in_use()
    return file if checkout is None or file is None else checkout.folder / file


def publish(note: str) -> None:
    """Write the files of a checkout as a new revision; for files of the user, this does nothing."""
    checkout = in_use()
    if checkout is not None:
        number = checkout.publish(note)
        output.say(f"Revision {number} of {checkout.address} is written.")


def write_files(folder: Path, files: Files) -> None:
    """Write files into a new folder."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the YAML files of a folder by their names."""
    from intentmatch.registry.reading.reader import own_files

    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in own_files(folder)}
