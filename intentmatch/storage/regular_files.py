"""Read files that somebody else may have named: regular ones of a limited size, so that no device hangs the program."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_BLOCK = 1 << 22


def read_regular(file: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Symbolic links are followed. Raises `OSError`, also for a device, a pipe or a socket, and for a larger file.
    """
    # Without O_NONBLOCK, opening a pipe waits for its writer.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        # The open file is asked, not the path, which may lead elsewhere by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file, but a folder, a device or a pipe", str(file))
        with os.fdopen(os.dup(descriptor), "rb") as content:
            found = content.read(most + 1)
    finally:
        with suppress(OSError):
            os.close(descriptor)
    if len(found) > most:
        raise OSError(errno.EFBIG, too_large(most), str(file))
    return found


def blocks(file: Path) -> Iterator[bytes]:
    """Yield the content of a file in blocks of a few megabytes, such as for a digest. Raises `OSError`."""
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            yield block


def too_large(most: int) -> str:
    """Return why a file of more than `most` bytes is not read."""
    return f"it is larger than the {most:,} bytes that the setting `max_file_bytes` allows"


def refuse_special(file: str | os.PathLike[str]) -> None:
    """Raise `OSError` if there is a device, a pipe or a socket at a path, which a reader would wait for."""
    mode = Path(file).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is not a regular file, but a device or a pipe", str(file))


def refuse_special_within(folder: str | os.PathLike[str]) -> None:
    """Raise `OSError` for the first device, pipe or socket in a folder and its subfolders, or behind a link there."""
    for parent, _, names in os.walk(folder):
        for name in names:
            file = Path(parent, name)
            if file.exists():
                refuse_special(file)


def home_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with the home folder in place of `~`. Other than `Path.expanduser`, it leaves unknown users."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - the other raises for them


# Other than those of `Path`, these do not raise for a name that is too long, or in a folder that may not be entered.


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a regular file at a path; False for a path that cannot be followed."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a folder at a path; False for a path that cannot be followed."""
    return os.path.isdir(path)  # noqa: PTH112


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is anything at a path; False for a path that cannot be followed."""
    return os.path.exists(path)  # noqa: PTH110


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder when all symbolic links of both are followed."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except ValueError:  # a name with the character 0
        return False
