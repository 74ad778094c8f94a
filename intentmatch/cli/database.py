"""The commands for bots in PostgreSQL: `push`, `pull`, `log`, `migrate` and `keys`."""

from __future__ import annotations

import json
import os
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import json_option
from intentmatch.cli.render import output
from intentmatch.core.errors import ChangedMeanwhileError, InputError, RegistryError, counted
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.unwritable import unwritable

if TYPE_CHECKING:
    from intentmatch.storage.contents import Files
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore, StoredRevision

MARK = ".intentmatch-revision"
"""File in a folder that says which revision the folder was pushed to or pulled from."""


class _AddressType(click.ParamType[Address]):
    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        return value if isinstance(value, Address) else Address.parse(value)


ADDRESS = _AddressType()
"""The type of an argument that is an address of PostgreSQL."""

_address = click.argument("address", type=ADDRESS)
_folder = click.argument("folder", type=click.Path(path_type=Path))


@cli.command()
@_folder
@_address
@click.option("--note", "-m", default="", help="What this revision changes.")
@click.option("--author", "who", help="Who wrote it.  [default: your name in git, or your login]")
@click.option("--force", is_flag=True, help="Write even if the bot has revisions that the folder is not based on.")
def push(folder: Path, address: Address, note: str, who: str | None, force: bool) -> None:
    """Write a folder of YAML to PostgreSQL as a new revision.

    ADDRESS is postgres://USER@HOST/DATABASE/BOT. The first push makes the tables. If somebody else has written a
    revision since the folder was pulled, nothing is written, unless it has the same files. Files with errors are not
    written.

    \b
    Examples:
      intentmatch push intents/ postgres://localhost/bots/faq -m "First version"
    """
    from intentmatch.authoring.operations.local import local_author
    from intentmatch.storage.contents import digest_of
    from intentmatch.storage.postgres.registries import ANY, RegistryStore

    files = _valid_files(folder)
    database = _database(address)
    _make_tables(database)
    store = RegistryStore(database)
    before = store.revisions(1)
    digest = digest_of(files)
    # The same files are no conflict: a job of an orchestrator may push them twice.
    same = any(revision.digest == digest for revision in before)
    try:
        revision = store.write(
            files,
            author=who or local_author(Path.cwd()),
            note=note or "intentmatch push",
            expected=ANY if force else digest if same else _known_digest(folder, address),
        )
    except ChangedMeanwhileError as error:
        raise ChangedMeanwhileError(
            f"{error}: pull into another folder and compare, or overwrite with --force"
        ) from None
    try:
        _mark(folder, address, revision)
    except InputError as error:  # such as a mounted config map
        output.say(f"warning: {error}; the next push of changed files from here needs --force", err=True)
    state = " is the same already" if revision in before else f", {counted(len(files), 'file')}"
    output.say(f"{address}: revision {revision.number}{state}")


@cli.command()
@_address
@_folder
@click.option("--revision", "-r", "number", type=click.IntRange(1), help="A revision; the newest without it.")
@click.option("--force", is_flag=True, help="Overwrite files that were changed here.")
def pull(address: Address, folder: Path, number: int | None, force: bool) -> None:
    """Write the files of a bot in PostgreSQL into a folder.

    YAML files of the folder that the revision does not have are removed. Files that were changed since the last pull
    or push are not overwritten.

    \b
    Examples:
      intentmatch pull postgres://localhost/bots/shop copy/
      intentmatch pull postgres://localhost/bots/shop old/ --revision 7
    """
    from intentmatch.cli.checkout import read_files
    from intentmatch.storage.contents import digest_of
    from intentmatch.storage.transaction import swap_files

    revision, files = _store(address).read(number)
    held = read_files(folder) if folder.is_dir() else {}
    # Equal to the wanted revision, nothing is lost, whatever the folder was based on.
    if held and not force and digest_of(held) not in (_known_digest(folder, address), revision.digest):
        raise InputError(f"{folder} has YAML that was changed here: push it, or overwrite it with --force")
    new: dict[Path, bytes | None] = {folder / name: None for name in held.keys() - files.keys()}
    new |= {folder / name: content for name, content in files.items() if content != held.get(name)}
    try:
        for file in new:
            file.parent.mkdir(parents=True, exist_ok=True)
        if new:
            # All or none: half of a revision could be a registry without errors that nobody has written.
            swap_files(new, lambda: None)
    except OSError as error:
        raise InputError(unwritable(folder, error)) from error
    _mark(folder, address, revision)
    output.say(f"{folder}: revision {revision.number} of {address}, {counted(len(files), 'file')}")


@cli.command()
@_address
@click.argument("number", metavar="[REVISION]", type=click.IntRange(1), required=False)
@click.option("--most", "-n", type=click.IntRange(1), default=20, show_default=True, help="Revisions to list.")
@json_option
def log(address: Address, number: int | None, most: int, as_json: bool) -> None:
    """List the revisions of a bot in PostgreSQL, or show one.

    \b
    Examples:
      intentmatch log postgres://localhost/bots/shop
      intentmatch log postgres://localhost/bots/shop 7
    """
    store = _store(address)
    if number is not None:
        _show_revision(store, number)
        return
    # Raises with the names of the bots that there are, if there is none of this name.
    found = store.revisions(most) or [store.newest()]
    if as_json:
        for one in found:
            output.as_json(_plain(one))
        return
    rows = [(str(one.number), _time(one), one.author or "", one.note) for one in found]
    output.table(["revision", "time (UTC)", "author", "note"], rows)


@cli.command()
@_address
def migrate(address: Address) -> None:
    """Make or update the tables in PostgreSQL.

    Stop nothing: processes of the release before refuse the new tables only when they start. The owner of the tables
    runs this, once after each update of intentmatch that says so.

    \b
    Example:
      intentmatch migrate postgres://localhost/bots
    """
    from intentmatch.storage.postgres.migrating import migrate as apply

    applied = apply(_database(address))
    for one in applied:
        output.say(f"{one.version} {one.name} is applied.")
    if not applied:
        output.say("The tables are up to date.")


def _database(address: Address) -> Database:
    from intentmatch.storage.postgres.database import Database

    return Database(address)


def _store(address: Address) -> RegistryStore:
    from intentmatch.storage.postgres.registries import RegistryStore

    return RegistryStore(_database(address))


def _make_tables(database: Database) -> None:
    """Make the tables in a database that has none; older ones wait for `migrate`."""
    from intentmatch.storage.postgres.migrating import migrate as apply
    from intentmatch.storage.postgres.schema import version_of

    with database.transaction() as connection:
        version = version_of(connection)
    # Only an empty database: updating tables is for their owner to decide, with `migrate`.
    if not version:
        apply(database)


def _valid_files(folder: Path) -> Files:
    """Read a folder. Raises `RegistryError` for errors, and `InputError` for files that lie outside of it."""
    from intentmatch.registry import examine, yaml_files

    _, problems = examine(folder)
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    base = folder if folder.is_dir() else folder.parent
    files = {}
    for file in yaml_files(folder):
        if not file.resolve().is_relative_to(base.resolve()):
            raise InputError(f"{file} is included, but lies outside of {base}: move it there")
        # The name of a link, not that of its target: a mounted ConfigMap links to a hidden folder.
        path, root = (Path(os.path.normpath(Path.cwd() / each)) for each in (file, base))
        name = path.relative_to(root) if path.is_relative_to(root) else file.resolve().relative_to(base.resolve())
        files[name.as_posix()] = file.read_bytes()
    return files


def _mark(folder: Path, address: Address, revision: StoredRevision) -> None:
    """Note in the folder which revision it holds; the address without its password."""
    base = folder if folder.is_dir() else folder.parent
    note = {"address": str(address), "revision": revision.number, "digest": revision.digest}
    try:
        (base / MARK).write_text(json.dumps(note) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(unwritable(base / MARK, error)) from error


def _known_digest(folder: Path, address: Address) -> str | None:
    """Return the digest of the revision that the folder is based on; None if it is based on none of this bot."""
    base = folder if folder.is_dir() else folder.parent
    try:
        note = json.loads((base / MARK).read_text(encoding="utf-8"))
        return str(note["digest"]) if note["address"] == str(address) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _show_revision(store: RegistryStore, number: int) -> None:
    from intentmatch.registry.editing.plan import unified

    revision, after = store.read(number)
    before: Files = {} if revision.parent is None else store.read(revision.parent)[1]
    output.say(f"Revision {revision.number}, {_time(revision)} UTC, {revision.author or 'unknown'}")
    output.say(revision.note)
    for name in sorted({*before, *after}):
        old, new = (
            None if one is None else one.decode("utf-8", "replace") for one in (before.get(name), after.get(name))
        )
        if old != new:
            output.diff(unified(old, new, name))


def _time(revision: StoredRevision) -> str:
    return f"{revision.time.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S}"


def _plain(revision: StoredRevision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "parent": revision.parent,
        "author": revision.author,
        "time": revision.time.astimezone(timezone.utc).isoformat(),
        "note": revision.note,
        "digest": revision.digest,
    }
