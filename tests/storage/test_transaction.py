"""Replacing several files: all or none, whatever moment the process stops at."""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from intentmatch.core.errors import ChangedMeanwhileError
from intentmatch.storage import transaction
from intentmatch.storage.file_lock import NAME, FolderLock
from intentmatch.storage.transaction import JOURNAL, recover, refuse_locked, swap_files

OLD = {"a.yaml": b"old a", "sub/b.yaml": b"old b"}
NEW = {"a.yaml": b"new a", "sub/b.yaml": b"new b", "sub/c.yaml": b"new c"}


def no_check() -> None:
    """A check that raises nothing."""


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def full(_self: Path, _target: Path) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def state(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a folder, hidden or not."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def swap(folder: Path) -> None:
    swap_files({folder / name: content for name, content in NEW.items()}, no_check)


def die_at(step: int, call: Callable[[], None]) -> bool:
    """Make a call in a child process that dies before its n-th change of the disk; return whether it died."""
    child = os.fork()
    if child == 0:
        left = [step]

        def counted(function):
            def change(*arguments, **options):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return function(*arguments, **options)

            return change

        for name in ("open", "write", "fsync", "truncate", "replace", "rename", "unlink", "mkdir"):
            setattr(os, name, counted(getattr(os, name)))
        Path.replace = counted(Path.replace)  # type: ignore[method-assign]
        Path.unlink = counted(Path.unlink)  # type: ignore[method-assign]
        try:
            call()
        except BaseException:  # noqa: BLE001 - the child must not go on with the tests
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def folders(folder: Path) -> list[Path]:
    return [folder, folder / "sub"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("reader", [False, True])
def test_interruption_at_every_step_leaves_all_or_nothing(tmp_path: Path, reader: bool) -> None:
    """A reader or the next writer completes or removes what is left, and no temporary file stays."""
    seen = []
    for step in range(1, 1000):
        folder = write(tmp_path / str(step), OLD)
        died = die_at(step, lambda folder=folder: swap(folder))
        if reader:
            recover(folders(folder))
        else:
            with pytest.raises(ChangedMeanwhileError, match="cancelled"):
                swap_files({folder / name: b"" for name in NEW}, cancel)
        seen.append(state(folder))
        assert seen[-1] in (OLD, NEW)
        if not died:
            break
    assert seen[0] == OLD
    assert seen[-1] == NEW
    assert seen == sorted(seen, key=lambda one: one == NEW)
    assert len(seen) > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_interruption_of_the_recovery_leaves_all_or_nothing(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """At each step with `--full-length`, else at some of them."""
    strides = (1, 1) if pytestconfig.getoption("--full-length") else (10, 4)
    for first in range(1, 1000, strides[0]):
        for second in range(1, 1000, strides[1]):
            folder = write(tmp_path / f"{first}-{second}", OLD)
            died = die_at(first, lambda folder=folder: swap(folder))
            again = die_at(second, lambda folder=folder: recover(folders(folder)))
            recover(folders(folder))
            assert state(folder) in (OLD, NEW)
            if not again:
                break
        if not died:
            return
    raise AssertionError


def cancel() -> None:
    raise ChangedMeanwhileError("cancelled")


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave a committed change of which one file was renamed."""
    write(folder, OLD)
    for step in range(1, 1000):
        write(folder, OLD)
        die_at(step, lambda: swap(folder))
        if (folder / "a.yaml").read_bytes() == NEW["a.yaml"]:
            assert (folder / "sub" / "b.yaml").read_bytes() == OLD["sub/b.yaml"]
            return folder
        recover(folders(folder))
    raise AssertionError


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_file_changed_by_hand_after_an_interruption_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = interrupted(tmp_path, monkeypatch)
    (folder / "sub" / "b.yaml").write_bytes(b"by hand")

    recover(folders(folder))

    assert state(folder) == {**NEW, "sub/b.yaml": b"by hand", "sub/b.yaml.interrupted": b"new b"}
    assert "was changed after an edit of it was interrupted" in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_interrupted_change_is_completed_where_its_folder_was_moved_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = interrupted(tmp_path / "here", monkeypatch).rename(tmp_path / "there")

    recover(folders(moved))

    assert state(moved) == NEW


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("part_first", [False, True])
def test_folder_that_was_moved_away_from_an_interrupted_change_keeps_the_new_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part_first: bool
) -> None:
    """Both places are named: the one that is not as edited, and the one where the new content is."""
    whole = interrupted(tmp_path / "whole", monkeypatch)
    part = (whole / "sub").rename(tmp_path / "part")

    for folder in (part, whole) if part_first else (whole, part):
        recover([folder])

    assert state(whole) == {"a.yaml": b"new a"}
    assert state(part) == {"b.yaml": b"old b", "b.yaml.interrupted": b"new b", "c.yaml": b"new c"}
    assert f"did not reach {whole / 'sub' / 'b.yaml'}" in caplog.text
    assert f"compare b.yaml with its edited form, {part / 'b.yaml.interrupted'}" in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_reader_waits_for_a_running_change_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked folder without a journal is read at once; with a journal, the reader waits."""
    monkeypatch.setattr(transaction, "_PATIENCE", 0.2)
    lock = FolderLock.acquire(write(tmp_path, OLD))
    assert lock is not None
    recover([tmp_path])
    assert state(tmp_path).keys() - OLD.keys() == {NAME}

    (tmp_path / JOURNAL).write_bytes(b"[]")
    recover([tmp_path])
    assert (tmp_path / JOURNAL).exists()
    lock.release(keep=True)
    recover([tmp_path])


def test_journal_writes_only_where_a_lock_names_it(tmp_path: Path) -> None:
    """A journal that somebody else brought along cannot change files of other folders."""
    mine, theirs = write(tmp_path / "mine", {"x.yaml": b"mine"}), write(tmp_path / "theirs", {"y.yaml": b"theirs"})
    write(mine, {".x.yaml.new": b"changed"})
    write(theirs, {".y.yaml.new": b"changed"})
    digest = transaction._digest
    steps = [
        [str(mine / "x.yaml"), digest(b"mine"), digest(b"changed")],
        [str(theirs / "y.yaml"), digest(b"theirs"), digest(b"changed")],
    ]
    (theirs / JOURNAL).write_text(json.dumps(steps))
    (theirs / NAME).write_text(json.dumps({"journal": str(theirs / JOURNAL)}))

    recover([mine, theirs])

    assert (mine / "x.yaml").read_bytes() == b"mine"
    assert state(theirs) == {"y.yaml": b"changed"}


def test_damaged_journal_is_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, {"a.yaml": b"a", JOURNAL: b"{}x", NAME: json.dumps({"journal": str(tmp_path / JOURNAL)}).encode()})

    recover([tmp_path])

    assert state(tmp_path) == {"a.yaml": b"a"}
    assert "is no journal" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder_is_read_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, {"a.yaml": b"a", NAME: b"{}"})
    (tmp_path / NAME).chmod(0o400)
    tmp_path.chmod(0o500)
    with caplog.at_level(logging.WARNING):
        recover([tmp_path])
    assert "cannot be completed" in caplog.text


def test_strays_of_dead_writers_are_removed_and_other_files_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": b"a", ".a.yaml.0123abcd": b"x", ".b.yml.new": b"x", ".env": b"x", "b.new": b"x"})

    swap_files({tmp_path / "a.yaml": b"b"}, no_check)

    assert names(tmp_path) == [".env", "a.yaml", "b.new"]


def test_swap_files_removes_files(tmp_path: Path) -> None:
    old, new = tmp_path / "a.yaml", tmp_path / "b.yaml"
    old.write_bytes(b"1")

    swap_files({old: None, new: b"2", tmp_path / "none.yaml": None}, no_check)

    assert [file.name for file in tmp_path.iterdir()] == ["b.yaml"]


def test_swap_files_replaces_and_creates_all_files(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "sub" / "new"
    old.write_bytes(b"1")

    swap_files({old: b"2", new: b"3"}, no_check)

    assert (old.read_bytes(), new.read_bytes()) == (b"2", b"3")
    assert names(tmp_path) == ["old", "sub"]


def test_failed_swap_restores_the_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    files[0].write_bytes(b"old")
    files[2].write_bytes(b"old too")
    replace = Path.replace

    def third_fails(self: Path, target: Path) -> Path:
        if target.name == "c":
            full(self, target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", third_fails)
    with pytest.raises(OSError, match="No space left"):
        swap_files(dict.fromkeys(files, b"new"), no_check)

    assert names(tmp_path) == ["a", "c"]
    assert (files[0].read_bytes(), files[2].read_bytes()) == (b"old", b"old too")


def test_check_runs_last_and_can_cancel(tmp_path: Path) -> None:
    """The folder is locked by then, so that no other process can swap its files."""
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def refuse() -> None:
        with pytest.raises(ChangedMeanwhileError, match="being edited"):
            refuse_locked(tmp_path)
        raise ChangedMeanwhileError("something else")

    with pytest.raises(ChangedMeanwhileError, match="something else"):
        swap_files({file: b"new"}, refuse)

    assert file.read_bytes() == b"old"
    refuse_locked(tmp_path)
    assert names(tmp_path) == ["file"]


def test_second_of_two_concurrent_swaps_is_refused(tmp_path: Path) -> None:
    """The error says who is editing."""
    file = tmp_path / "file"

    def meanwhile() -> None:
        with pytest.raises(ChangedMeanwhileError, match=rf"is being edited by process {os.getpid()} on "):
            swap_files({file: b"theirs"}, no_check)

    swap_files({file: b"mine"}, meanwhile)

    assert file.read_bytes() == b"mine"
    assert names(tmp_path) == ["file"]


def test_no_concurrent_update_is_lost(tmp_path: Path) -> None:
    """Many threads add to one number, each until it succeeds; each success counts."""
    file = tmp_path / "number"
    file.write_bytes(b"0")
    refused = threading.Event()

    def add_one() -> None:
        for _ in range(20):
            while True:
                old = file.read_bytes()

                def unchanged(old: bytes = old) -> None:
                    if file.read_bytes() != old:
                        raise ChangedMeanwhileError("changed")

                try:
                    swap_files({file: str(int(old) + 1).encode()}, unchanged)
                except ChangedMeanwhileError:
                    refused.set()
                else:
                    break

    threads = [threading.Thread(target=add_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert file.read_bytes() == b"80"
    assert refused.is_set()
    assert names(tmp_path) == ["number"]
