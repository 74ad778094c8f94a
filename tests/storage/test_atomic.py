"""Atomic writes of files and folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intentmatch.storage.atomic import folder_aside, write_file
from intentmatch.storage.transaction import swap_files


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
