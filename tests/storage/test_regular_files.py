"""Only regular files of a limited size are read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from intentmatch.storage.regular_files import (
    blocks,
    home_path,
    is_file,
    is_folder,
    is_inside,
    is_there,
    read_regular,
    refuse_special,
)


def test_regular_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"12345")
    link.symlink_to(file)

    assert read_regular(file, 5) == read_regular(link, 5) == b"12345"
    with pytest.raises(OSError, match=r"larger than the 4 bytes that the setting `max_file_bytes` allows"):
        read_regular(file, 4)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing", 5)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_devices_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for special in (Path("/dev/zero"), Path("/dev/null"), pipe, link):
        with pytest.raises(OSError, match="not a regular file"):
            read_regular(special, 100)
        with pytest.raises(OSError, match="not a regular file"):
            refuse_special(special)
    with pytest.raises(OSError, match="a folder"):
        read_regular(tmp_path, 100)
    refuse_special(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError):  # noqa: PT011 - each system has another text
            read_regular(tmp_path / "socket", 100)


def test_large_file_is_read_in_blocks(tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000
    file = tmp_path / "weights"
    file.write_bytes(content)

    found = list(blocks(file))

    assert len(found) == 2
    assert b"".join(found) == content


def test_links_and_dots_lead_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "bot", tmp_path / "other"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (tmp_path / "alias").symlink_to(inside)

    assert is_inside(inside / "a.yaml", inside)
    assert is_inside(inside / "a.yaml", tmp_path / "alias")
    assert not is_inside(inside / "link" / "a.yaml", inside)
    assert not is_inside(inside / ".." / "other" / "a.yaml", inside)
    assert not is_inside(tmp_path / "bottom", inside)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800"])
def test_path_that_cannot_be_followed_is_nothing(tmp_path: Path, name: str) -> None:
    """`Path.is_file` and others raise for some of them, depending on Python's version."""
    assert not is_file(tmp_path / name)
    assert not is_folder(tmp_path / name)
    assert not is_there(tmp_path / name)
    assert not is_inside(tmp_path / "bot" / name, tmp_path / "other")


def test_home_of_an_unknown_user_stays_as_written() -> None:
    assert home_path("~/models") == Path.home() / "models"
    assert home_path("~no-such-user/models") == Path("~no-such-user/models")
