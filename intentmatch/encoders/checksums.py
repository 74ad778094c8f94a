"""`SHA256SUMS` in a model's folder: a damaged model is refused instead of giving other answers.

The commands that make models write it, and loading a model checks it; `sha256sum -c SHA256SUMS` does the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.encoders.translations import FILE as TRANSLATIONS
from intentmatch.pieces.languages import FILE as LANGUAGE_COUNTS
from intentmatch.storage.regular_files import blocks, is_file

CHECKSUMS = "SHA256SUMS"

# Authors may edit the card; `measure-languages` adds files that hold digests of their own.
_LEFT_OUT = frozenset({CHECKSUMS, "README.md", TRANSLATIONS, LANGUAGE_COUNTS})


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 digest of each file of a model. Raises `OSError`."""
    lines = [f"{_digest(folder / name)}  {name}\n" for name in _files(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def check_checksums(folder: Path) -> None:
    """Raise `ModelUnavailableError` if a file of the model differs from its digest; do nothing without digests."""
    sums = folder / CHECKSUMS
    if not is_file(sums):
        return
    files = frozenset(_files(folder))
    for number, line in enumerate(sums.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        digest, _, name = line.partition(" ")
        name = name[1:]  # after a blank, or `*` for binary files
        if len(digest) != hashlib.sha256().digest_size * 2 or not name:
            raise ModelUnavailableError(f"{sums}:{number}: not a SHA-256 digest, two blanks and a file name")
        if name not in files:
            raise ModelUnavailableError(f"{folder} has no {name}, which its {CHECKSUMS} names; copy or make it again")
        if _digest(folder / name) != digest.lower():
            raise ModelUnavailableError(
                f"{folder / name} differs from its digest in {CHECKSUMS}; copy or make the model again (if you changed "
                f"the file, delete its line)"
            )


def _files(folder: Path) -> Iterator[str]:
    """Yield the names of the files that decide, sorted, with `/` between folders."""
    for file in sorted(folder.rglob("*")):
        # With `/` on every system, as `sha256sum -c` expects it.
        name = file.relative_to(folder).as_posix()
        if is_file(file) and name not in _LEFT_OUT:
            yield name


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    for block in blocks(file):
        digest.update(block)
    return digest.hexdigest()
