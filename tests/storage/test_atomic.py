"""Atomic writes of files and folders."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from intentmatch.artefact.store import save_artefact
from intentmatch.matching.matcher import Matcher
from intentmatch.storage import atomic
from intentmatch.storage.atomic import folder_aside, remove_strays, write_file
from intentmatch.storage.transaction import swap_files

ROOT = Path(__file__).parents[2]


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


def stray(path: Path, hours: float) -> Path:
    """Make what a writer that was killed so long ago leaves, a file or a folder with one."""
    if path.suffix == ".0123abcd":
        path.mkdir()
        (path / "model").write_bytes(b"part")
        os.utime(path / "model", (time.time() - hours * 3600,) * 2)
    else:
        path.write_bytes(b"part")
    os.utime(path, (time.time() - hours * 3600,) * 2)
    return path


def test_strays_of_a_name_are_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = [
        stray(tmp_path / ".bot.intentmatch.1f2e3d4c", hours=0.5),  # its writer may run
        stray(tmp_path / ".other.intentmatch.1f2e3d4c", hours=9),
        stray(tmp_path / ".bot.intentmatch.20261127", hours=9),  # a copy of somebody
        stray(tmp_path / ".bot.intentmatch.1f2e3d4", hours=9),
        stray(tmp_path / "bot.intentmatch.1f2e3d4c", hours=9),
        stray(tmp_path / ".bot.intentmatch.new", hours=9),
    ]
    gone = stray(tmp_path / ".bot.intentmatch.aaaaaaaa", hours=2)

    remove_strays(tmp_path, "bot.intentmatch")

    assert not gone.exists()
    assert names(tmp_path) == sorted(file.name for file in kept)


def test_folder_whose_writer_still_writes_stays(tmp_path: Path) -> None:
    busy, idle = tmp_path / ".model.0123abcd", tmp_path / ".more.0123abcd"
    stray(busy, hours=2)
    stray(idle, hours=2)
    os.utime(busy / "model")

    remove_strays(tmp_path)

    assert names(tmp_path) == [busy.name]


def test_replaced_folder_has_no_strays_beside_it(tmp_path: Path) -> None:
    stray(tmp_path / ".model.0123abcd", hours=2)
    with folder_aside(tmp_path / "model") as folder:
        (folder / "a").write_bytes(b"")
    # It may have been the only one.
    assert names(tmp_path) == [".model.0123abcd", "model"]
    with folder_aside(tmp_path / "model") as folder:
        (folder / "b").write_bytes(b"")

    assert names(tmp_path) == ["model"]


_KILLED = """
import os, sys
from pathlib import Path
from intentmatch.storage import atomic
atomic.sync_folder = Path.replace = lambda *_: os.kill(os.getpid(), 9)
atomic.write_file(Path(sys.argv[1]), b"x" * 1_000_000)
"""


def test_killed_save_leaves_nothing_after_a_later_save(tmp_path: Path) -> None:
    folder, file = tmp_path / "bot", tmp_path / "bot.intentmatch"
    folder.mkdir()
    (folder / "a.yaml").write_text("language: en\nintents: {greet: {utterances: [hello, hi there]}}\n")
    matcher = Matcher.load(folder)
    subprocess.run([sys.executable, "-c", _KILLED, file], check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    (left,) = [one for one in tmp_path.iterdir() if one.name.startswith(".bot.intentmatch.")]
    save_artefact(matcher.artefact, file)
    assert left.exists()  # another process may be writing it
    os.utime(left, (time.time() - 7200,) * 2)

    save_artefact(matcher.artefact, file)

    assert names(tmp_path) == ["bot", "bot.intentmatch"]


@pytest.mark.parametrize("there", [True, False])
def test_report_that_cannot_be_written_whole_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    file = tmp_path / "report.json"
    if there:
        file.write_bytes(b"before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "fill", full)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_report(file, b"after")

    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([b"before"] if there else [])


def test_report_may_be_a_pipe_or_a_link_but_needs_its_folder(tmp_path: Path) -> None:
    file, link = tmp_path / "report.json", tmp_path / "link.json"
    file.write_bytes(b"before")
    link.symlink_to(file)

    atomic.write_report(link, b"after")
    atomic.write_report(Path("/dev/null"), b"after")
    with pytest.raises(FileNotFoundError):
        atomic.write_report(tmp_path / "no folder" / "report.json", b"after")

    assert (link.is_symlink(), file.read_bytes(), Path("/dev/null").is_char_device()) == (True, b"after", True)
