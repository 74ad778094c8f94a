"""Atomic writes of files and folders."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from intentmatch.core.errors import ChangedMeanwhileError
from intentmatch.storage.atomic import folder_aside, refuse_locked, swap_files, write_file


def no_check() -> None:
    """A check that raises nothing."""


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def full(_self: Path, _target: Path) -> None:
    raise OSError(28, "No space left on device")


def test_write_file_creates_parent_folders_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.bin"

    write_file(file, b"one")
    write_file(file, b"two")

    assert file.read_bytes() == b"two"
    assert names(file.parent) == ["c.bin"]


@pytest.mark.parametrize("put", [write_file, lambda path, content: swap_files({path: content}, no_check)])
def test_link_is_followed_and_mode_is_kept(tmp_path: Path, put) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)

    put(link, b"new")

    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["file", "link"]


def test_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "file", b"")
    finally:
        os.umask(before)

    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("put", [write_file, lambda path, content: swap_files({path: content}, no_check)])
def test_failed_replacement_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(OSError, match="No space left"):
        put(file, b"new")

    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("put", [write_file, lambda path, content: swap_files({path: content}, no_check)])
def test_circular_links_raise_os_error(tmp_path: Path, put) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    with pytest.raises(OSError, match="a"):
        put(tmp_path / "a" / "file", b"")


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
    """All temporary files exist by then, so no other process can swap the same files."""
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def refuse() -> None:
        with pytest.raises(ChangedMeanwhileError, match="being edited"):
            refuse_locked(file)
        raise ChangedMeanwhileError("something else")

    with pytest.raises(ChangedMeanwhileError, match="something else"):
        swap_files({file: b"new"}, refuse)

    assert file.read_bytes() == b"old"
    refuse_locked(file)
    assert names(tmp_path) == ["file"]


def test_second_of_two_concurrent_swaps_is_refused(tmp_path: Path) -> None:
    """The error names the file, and the lock to remove if nobody is editing."""
    file = tmp_path / "file"

    def meanwhile() -> None:
        with pytest.raises(ChangedMeanwhileError, match=r"file is being edited by someone else.*remove .*\.file\.lock"):
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


def test_folder_aside_replaces_the_folder_completely(tmp_path: Path) -> None:
    target = tmp_path / "a" / "model"
    for name in ("one", "two"):
        with folder_aside(target) as folder:
            (folder / name).write_text(name, encoding="utf-8")

    assert names(target) == ["two"]
    assert names(target.parent) == ["model"]


def test_failed_block_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with folder_aside(target) as folder:
        (folder / "one").write_text("one", encoding="utf-8")
    with pytest.raises(FileNotFoundError), folder_aside(target) as folder:
        (folder / "nowhere" / "two").write_text("two", encoding="utf-8")

    assert names(target) == ["one"]
    assert names(tmp_path) == ["model"]


def test_failed_move_restores_the_old_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of the two moves fails; the first is undone."""
    target = tmp_path / "model"
    with folder_aside(target) as folder:
        (folder / "one").write_text("one", encoding="utf-8")
    move, moves = Path.replace, []

    def move_once(self: Path, to: Path) -> Path:
        moves.append(to)
        if len(moves) == 2:
            raise OSError(28, "No space left on device")
        return move(self, to)

    monkeypatch.setattr(Path, "replace", move_once)
    with pytest.raises(OSError, match="No space"), folder_aside(target):
        pass

    assert names(target) == ["one"]
    assert names(tmp_path) == ["model"]
