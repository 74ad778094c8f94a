"""Export the files of an earlier commit with `git`, into a folder that can be read like any other.

The export reads the content of each blob. It checks nothing out and fetches nothing. `storage.git` keeps git from
running programs that the repository names.
"""

from __future__ import annotations

import os
import posixpath
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from intentmatch.core.errors import InputError, UnavailableError
from intentmatch.registry.reading.reader import NO_INTENTS_HINT, SUFFIXES, included
from intentmatch.storage import git

# Maximum total size of an export; a registry is text and never reaches it.
_MOST_BYTES = 500_000_000
_PLAIN_FILES = ("100644", "100755")


class GitRef(NamedTuple):
    """A path as it was in a commit: `main:intents/`."""

    ref: str
    path: str
    """Relative to the current folder, not to the root of the repository."""

    def __str__(self) -> str:
        return f"{self.ref}:{self.path}"


def parse_sides(old: str, new: str | None, default: str) -> tuple[str | GitRef, str | GitRef]:
    """Parse the arguments of `diff`: an existing path is a path; otherwise `REF:PATH` and `REF` name a commit.

    A bare `REF` uses the path of the other side. Without `new`, the new side is the path of the old side on disk.
    """
    first = _parsed(old)
    if new is None:
        path = first.path if isinstance(first, GitRef) and first.path else default
        return (GitRef(first.ref, path) if isinstance(first, GitRef) else first), path
    second = _parsed(new)
    return _completed(first, second, default), _completed(second, first, default)


def export(what: GitRef, folder: Path) -> Path:
    """Export a file, or the YAML files of a folder, with their includes, into an empty folder; return the new path.

    Raises `InputError` if the commit or path does not exist, and `UnavailableError` if git is not installed.
    """
    repository, inside = _in_repository(what)
    root = repository.root
    # `--end-of-options`, since a ref may begin with a dash.
    commit = repository.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{what.ref}^{{commit}}")
    if commit.returncode:
        hint = "if this is a shallow clone, fetch more history"
        raise InputError(f"{_no_file(what)}, and no commit {what.ref!r} in {root}; {hint}")
    sha = commit.stdout.decode().strip()
    files = _listed(repository, sha, inside)
    if not files:
        raise InputError(f"{what}: no {repr(inside) if inside else 'file'} in commit {sha[:10]} of {root}")
    alone = [file for file in files if file.path == inside]
    wanted = alone or [file for file in files if file.path.lower().endswith(SUFFIXES)]
    if not wanted:
        raise InputError(f"{what}: no .yaml or .yml file in {inside!r} of commit {sha[:10]}")
    left = _MOST_BYTES
    everything: list[_Listed] = []
    written: set[str] = set()
    while wanted:
        file = wanted.pop()
        if file.path not in written:
            written.add(file.path)
            target = folder / "root" / file.path
            left -= _write(what, repository, file, target, left)
            for name in included(target):
                # Listed once, and only if a file includes others.
                everything = everything or _listed(repository, sha)
                path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), name))
                wanted += [other for other in everything if other.is_at(path)]
    return folder / "root" / inside


class _Listed(NamedTuple):
    """A line of `git ls-tree`."""

    mode: str
    sha: str
    path: str

    @classmethod
    def from_line(cls, line: str) -> _Listed:
        facts, _, path = line.partition("\t")
        mode, _, sha = facts.split(" ")
        return cls(mode, sha, path)

    def is_at(self, path: str) -> bool:
        """Whether this is the file at a path, or a YAML file below it."""
        below = path == "." or self.path.startswith(f"{path}/")
        return self.path == path or (below and self.path.lower().endswith(SUFFIXES))


def _listed(repository: git.Repository, sha: str, inside: str = "") -> list[_Listed]:
    # With a zero at the end of each line: otherwise git would quote names that are not ASCII.
    listed = repository.run("ls-tree", "-r", "-z", "--full-tree", sha, *(["--", inside] if inside else []))
    return [_Listed.from_line(line) for line in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if line]


def _parsed(word: str) -> str | GitRef:
    ref, colon, path = word.partition(":")
    # Unlike `Path.exists`, this never raises, not even for a very long text.
    # One letter before a colon is a drive of Windows.
    if os.path.exists(word) or not ref or (len(ref) == 1 and colon):  # noqa: PTH110
        return word
    if colon:
        return GitRef(ref, path or ".")
    # A word that looks like a path stays one, so that the error says that the path does not exist.
    return word if word.endswith(("/", os.sep, *SUFFIXES)) or word.startswith(".") else GitRef(word, "")


def _completed(one: str | GitRef, other: str | GitRef, default: str) -> str | GitRef:
    if isinstance(one, str) or one.path:
        return one
    return GitRef(one.ref, (other.path if isinstance(other, GitRef) else other) or default)


def _in_repository(what: GitRef) -> tuple[git.Repository, str]:
    """Return the repository that contains a path, and the path relative to its root."""
    if not git.installed():
        raise UnavailableError(f"{what}: reading an earlier commit needs git; install it")
    target = Path(os.path.abspath(what.path))  # noqa: PTH100 - removes `..` and keeps links
    base = target
    # The path may exist only in the commit.
    while not base.is_dir():
        base = base.parent
    try:
        repository = git.Repository.of(base)
    except InputError as error:
        message = f"{_no_file(what)}, and {base} is not in a git repository ({error}); {NO_INTENTS_HINT}"
        raise InputError(message) from error
    inside = PurePosixPath(repository.prefix, target.relative_to(base).as_posix())
    return repository, "" if str(inside) == "." else str(inside)


def _no_file(what: GitRef) -> str:
    """Say what the user may have meant: a bare word may be a path or a commit."""
    return f"{what.ref}: no such file or folder, nor {str(what)!r}"


def _write(what: GitRef, repository: git.Repository, file: _Listed, target: Path, left: int) -> int:
    """Write one blob and return its size. A crafted tree could name any path, so paths outside are refused."""
    if file.mode not in _PLAIN_FILES:
        raise InputError(f"{what}: {file.path} is a link in that commit; links are not followed")
    found = repository.run("cat-file", "blob", file.sha)
    content = found.stdout
    if found.returncode:
        raise InputError(f"{what}: the content of {file.path} is not in the local repository; fetch it first")
    if ".." in PurePosixPath(file.path).parts or len(content) > left:
        raise InputError(f"{what}: {file.path} is too large or lies outside the folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return len(content)
