"""Power that fails at any moment of an edit or of saving an artefact: the old state or the new one, never a mixture."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest
from fakes import WordHashEncoder
from faulty_disk import FaultyDisk

from intentmatch import Matcher, read_registry
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.core.errors import InputError
from intentmatch.registry.editing.edits import RenameIntent
from intentmatch.registry.editing.plan import plan
from intentmatch.storage.atomic import folder_aside, write_file
from intentmatch.storage.transaction import swap_files

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc to see what is synced")

FILES = ("a.yaml", "sub/b.yaml", "sub/c.yaml", "more/d.yaml")


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    root = tmp_path / "registry"
    for number, name in enumerate(FILES):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        lines = ["intents:", "  first:", "    utterances:", f"      - line {number} of a shared intent"]
        (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def names_in(root: Path) -> set[str]:
    """Read the registry, which completes or undoes an interrupted edit; return the names of its one intent."""
    assert len(read_registry(root).utterances) == len(FILES)
    present = {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
    assert present == {*FILES}
    return {(root / name).read_text(encoding="utf-8").split()[1].strip(":") for name in FILES}


def test_power_loss_in_an_edit_leaves_all_or_nothing(registry: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        disk = FaultyDisk(registry, patched)
        plan(registry, [RenameIntent("first", "second")]).write()
    outcomes = set()
    for completed, state in disk.crashes():
        disk.restore(state)
        (name,) = names_in(registry)
        outcomes.add(name)
        assert name == "second" or not completed
    assert outcomes == {"first", "second"}


@pytest.mark.rounds(10, 100_000)
def test_power_loss_in_a_recovery_leaves_all_or_nothing(registry: Path, rounds: int) -> None:
    """The second crash, at any moment of what the next command does after the first one."""
    with pytest.MonkeyPatch.context() as patched:
        disk = FaultyDisk(registry, patched)
        plan(registry, [RenameIntent("first", "second")]).write()
    states = [state for _, state in disk.crashes()]
    for state in states[:: max(1, len(states) // rounds)]:
        disk.restore(state)
        with pytest.MonkeyPatch.context() as patched:
            again = FaultyDisk(registry, patched)
            read_registry(registry)
        for _, second in again.crashes():
            again.restore(second)
            assert len(names_in(registry)) == 1


def test_full_disk_at_any_moment_of_an_edit_leaves_all_or_nothing(registry: Path) -> None:
    """The error is told, and the next edit works."""
    fails_at, names = 0, ["first", "second"]
    while True:
        fails_at += 1
        with pytest.MonkeyPatch.context() as patched:
            disk = FaultyDisk(registry, patched, fails_at)
            try:
                plan(registry, [RenameIntent(*names)]).write()
            except InputError as error:
                assert "cannot be written: No space left" in str(error)  # noqa: PT017 - either outcome is right
        (name,) = names_in(registry)
        if disk.calls < fails_at:
            break
        names = [name, {"first": "second", "second": "first"}[name]]
    assert fails_at > 10
    assert name == names[1]


def test_power_loss_while_an_artefact_is_saved_leaves_the_old_or_the_new_one(tmp_path: Path) -> None:
    root = tmp_path / "built"
    root.mkdir()
    built = []
    for intent in ("first", "second"):
        file = tmp_path / f"{intent}.yaml"
        file.write_text(f"intents: {{{intent}: {{utterances: [hello there]}}}}\n", encoding="utf-8")
        built.append(Matcher.load(file, encoder=WordHashEncoder(), cache="off").artefact)
    save_artefact(built[0], root / "bot.intentmatch")
    with pytest.MonkeyPatch.context() as patched:
        disk = FaultyDisk(root, patched)
        save_artefact(built[1], root / "bot.intentmatch")
    outcomes = set()
    for completed, state in disk.crashes():
        disk.restore(state)
        found = load_artefact(root / "bot.intentmatch").fingerprint
        outcomes.add(found)
        assert found == built[1].fingerprint or not completed
    assert outcomes == {artefact.fingerprint for artefact in built}


def test_written_file_is_on_the_disk_with_its_new_folders(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        disk = FaultyDisk(root, patched)
        write_file(root / "a" / "b" / "file", b"content")
        swap_files({root / "c" / "d" / "other": b"more"}, lambda: None)
    for completed, state in disk.crashes():
        found = state.get(root / "a" / "b" / "file", b"content")
        assert found == b"content"
        assert not completed or state[root / "a" / "b" / "file"] == b"content"
        assert not completed or state[root / "c" / "d" / "other"] == b"more"


def test_files_of_a_new_folder_are_synced_before_it_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that is exported again."""
    model, done = tmp_path / "model", []
    model.mkdir()
    fsync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        fsync(descriptor)

    def replaced(source: Path, target: Path) -> Path:
        done.append(("replace", target.name))
        return replace(source, target)

    with folder_aside(model) as aside:
        (aside / "weights").write_bytes(b"new")
        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "replace", replaced)
    assert done.index(("sync", "weights")) < done.index(("replace", "model"))
    assert done.index(("sync", aside.name)) < done.index(("replace", "model"))
    assert done[-1] == ("sync", tmp_path.name)


@pytest.mark.parametrize("database", ["inbox", "cache"])
def test_databases_wait_for_the_disk(tmp_path: Path, database: str) -> None:
    """With SQLite's default no file is damaged; an inbox also keeps the last transaction."""
    used: list[int] = []

    class Watched(sqlite3.Connection):
        def close(self) -> None:
            used.append(self.execute("PRAGMA synchronous").fetchone()[0])
            super().close()

    connect = sqlite3.connect
    (tmp_path / "bot.yaml").write_text("intents: {greet: {utterances: [hello there]}}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Watched, **options))
        settings = {"inbox": str(tmp_path / "inbox.sqlite")} if database == "inbox" else {}
        cache = "off" if database == "inbox" else str(tmp_path / "cache")
        matcher = Matcher.load(tmp_path / "bot.yaml", encoder=WordHashEncoder(), cache=cache, **settings)
        if database == "inbox":
            from intentmatch.inbox import Inbox

            inbox = Inbox.from_settings(matcher.settings)
            assert inbox is not None
            inbox.record(matcher.match("something else entirely"))
            inbox.flush()
    assert used
    assert min(used) >= (3 if database == "inbox" else 2)
