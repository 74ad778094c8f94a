"""Run git so that the files of a repository start no program: no hook, filter, monitor, signing program or transport.

The configuration of a repository may name programs under any number of keys, and new releases of git add keys. So git
does not read it. It runs on a private folder with a configuration of ours, whose objects and refs are links to those of
the repository. From the repository's configuration we copy only the keys in `_COPIED`, which are data.

A repository is used only if it is that of its working tree alone: nothing in its git folder leads to the objects or
refs of another one, by a link, an entry such as `commondir` or `objects/info/alternates`, or a file `.git`.

To find the repository and these keys, git runs twice on the real folder, as `rev-parse` and `config --list`: they read
the configuration and start nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from intentmatch.core.errors import InputError
from intentmatch.storage.regular_files import read_regular

Ran = subprocess.CompletedProcess[bytes]

_TEMPORARY = "intentmatch-git-"
_SECONDS_UNTIL_STRAY = 3600.0
PRIVATE = "intentmatch"
"""The folder inside a git folder that is ours."""

SECONDS = 60
"""How long git may run."""
# Of what a call prints: a crafted repository of a few kilobytes can list any number of files.
_MOST_BYTES = 100_000_000
_MOST_BYTES_OF_A_LIST = 1_000_000
_DATA = re.compile(r"[A-Za-z0-9_.+-]{1,64}")
# How files are stored, and how their bytes become content. None of these names a program.
_COPIED = (
    "core.autocrlf", "core.bigfilethreshold", "core.compression", "core.eol", "core.filemode", "core.ignorecase",
    "core.precomposeunicode", "core.safecrlf", "core.sharedrepository", "core.symlinks",
    "extensions.objectformat", "extensions.refstorage", "i18n.commitencoding",
)  # fmt: skip
# What git may use of the repository: by a link for all calls, so that they see each other's work.
_LINKED = ("objects", "refs", "packed-refs", "reftable", "shallow")
_OURS = {
    "core": {
        "bare": "false", "repositoryformatversion": "1", "fsmonitor": "false", "hooksPath": os.devnull,
        "attributesFile": os.devnull, "logAllRefUpdates": "false",
    },
    "commit": {"gpgSign": "false"},
    "diff": {"ignoreSubmodules": "all"},
    "gc": {"auto": "0"},
    "log": {"showSignature": "false"},
    "maintenance": {"auto": "false"},
    "submodule": {"recurse": "false"},
}  # fmt: skip
# These hold also where git reads the real configuration.
_BEFORE_WORDS = (
    "--no-pager", "-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # no transport, on which a missing object of a partial clone could be fetched
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# What the operator sets about git itself. Other variables, such as GIT_DIR set by a hook that started us, would mean
# another repository.
_OPERATORS = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")


class ForeignRepositoryError(InputError):
    """A git folder is that of another working tree, or leads to another one."""


def installed() -> bool:
    """Whether there is a git to run."""
    return shutil.which("git") is not None


def user_name(folder: Path) -> str:
    """Return the name that git would give to a commit in a folder; empty if none is configured."""
    try:
        found = _run(["-C", str(folder), "config", "user.name"], _inherited(_OPERATORS))
    except InputError:
        return ""
    return found.stdout.decode("utf-8", "replace").strip()


@dataclass(frozen=True)
class Repository:
    """The working tree that contains a folder."""

    root: Path
    """The top folder of the working tree."""
    prefix: str
    """The folder relative to the root, with a slash at its end; empty for the root."""
    folder: Path
    """The git folder, such as `.git`."""
    _common: Path
    """The git folder of the main working tree, where objects and refs are."""
    _copied: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path) -> Repository:
        """Return the repository that contains a folder.

        Raises `ForeignRepositoryError` for one that leads to another, and `InputError` with git's reason without any.
        """
        inherited = _inherited(_OPERATORS)
        asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
        found = _run(["-C", str(folder), "rev-parse", *asked], inherited)
        if found.returncode:
            raise InputError(found.stderr.decode("utf-8", "replace").strip().partition("\n")[0])
        lines = os.fsdecode(found.stdout).split("\n")
        root, git_folder = Path(lines[0]), Path(lines[1])
        common = (folder / lines[2]).resolve()  # git may name it from the folder, which may be moved later
        listed = os.fsdecode(_run(["-C", str(folder), "config", "--list", "-z"], inherited).stdout)
        configured = dict(entry.partition("\n")[::2] for entry in listed.split("\0"))
        try:
            _check_own(root, git_folder, common, configured.get("core.worktree"))
        except OSError as error:
            raise InputError(f"the repository of {root} cannot be read: {error.strerror or error}") from error
        return cls(root, lines[3], git_folder, common, _data(configured))

    def locks(self) -> list[Path]:
        """Return the locks of index, HEAD, branch and references that somebody holds, or that a kill has left."""
        places = [self.folder / "index", self.folder / "HEAD", self._common / "packed-refs"]
        places.append(self._common / "reftable" / "tables.list")
        with suppress(OSError, ValueError):
            branch = (self.folder / "HEAD").read_text(encoding="utf-8").strip().removeprefix("ref: ")
            # Whoever wrote HEAD must not choose a file outside of the git folder.
            if branch.startswith("refs/heads/") and ".." not in branch:
                places.append(self._common / branch)
        locks = (place.with_name(f"{place.name}.lock") for place in places)
        return [lock for lock in locks if lock.is_file() and not lock.is_symlink()]

    def run(self, *words: str, identity: Mapping[str, str] | None = None) -> Ran:
        """Run git at the root. Raises `InputError` if it cannot run or takes too long.

        `identity` holds variables such as `GIT_AUTHOR_NAME`.
        """
        with self._shielded() as private:
            environment = {
                **_inherited(),
                "GIT_DIR": str(private),
                "GIT_WORK_TREE": str(self.root),
                "GIT_INDEX_FILE": str(self.folder / "index"),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_ATTR_NOSYSTEM": "1",
                **(identity or {}),
            }
            return _run(["-C", str(self.root), *words], environment)

    @contextmanager
    def _shielded(self) -> Iterator[Path]:
        """Make the private folder, and hand a commit on a detached HEAD over to the repository."""
        _remove_strays()
        try:
            with tempfile.TemporaryDirectory(prefix=_TEMPORARY) as name:
                private = Path(name)
                for entry in _LINKED:
                    if (self._common / entry).exists():
                        (private / entry).symlink_to(self._common / entry)
                for shared in self.folder.glob("sharedindex.*"):
                    (private / shared.name).symlink_to(shared)
                (private / "info").mkdir()
                with suppress(OSError):  # it may be missing, or be a pipe
                    ignored = read_regular(self._common / "info" / "exclude", _MOST_BYTES_OF_A_LIST)
                    (private / "info" / "exclude").write_bytes(ignored)
                (private / "config").write_text(self._configuration(), encoding="utf-8")
                head = (self.folder / "HEAD").read_bytes()
                (private / "HEAD").write_bytes(head)
                yield private
                if (moved := (private / "HEAD").read_bytes()) != head:
                    self._move_head(head, moved)
        except OSError as error:
            raise InputError(f"git could not be run on {self.folder}: {error}") from error

    def _configuration(self) -> str:
        sections = {name: dict(values) for name, values in _OURS.items()}
        for key, value in self._copied.items():
            section, _, name = key.partition(".")
            sections.setdefault(section, {})[name] = value
        lines = (
            f"[{section}]\n" + "".join(f"\t{name} = {value}\n" for name, value in values.items())
            for section, values in sections.items()
        )
        return "".join(lines)

    def _move_head(self, before: bytes, after: bytes) -> None:
        """Write HEAD as git does: under its lock, and only if nobody has moved it."""
        head, lock = self.folder / "HEAD", self.folder / "HEAD.lock"
        with lock.open("xb") as file:
            file.write(after)
        if head.read_bytes() != before:
            lock.unlink()
            raise InputError(f"another program has moved {head} meanwhile")
        lock.replace(head)


@cache
def _remove_strays() -> None:
    """Remove, once in a process, the private folders that killed processes have left."""
    for stray in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*"):
        with suppress(OSError):
            if time.time() - stray.lstat().st_mtime > _SECONDS_UNTIL_STRAY:
                shutil.rmtree(stray, ignore_errors=True)


def _check_own(root: Path, git_folder: Path, common: Path, worktree: str | None) -> None:
    """Raise `ForeignRepositoryError` if a git folder is not that of a working tree alone. Raises `OSError`."""
    for link in (root / ".git", *_entries(git_folder), *_entries(common)):
        if link.is_symlink():
            raise ForeignRepositoryError(f"{link} is a link, which is not followed")
    if (root / ".git").is_dir():
        belongs = (root / ".git").samefile(git_folder) and common == git_folder.resolve()
    elif git_folder.parent == common / "worktrees":  # names the file `.git` of its working tree
        named = os.fsdecode(read_regular(git_folder / "gitdir", _MOST_BYTES_OF_A_LIST)).strip()
        belongs = (git_folder / named).samefile(root / ".git")
    else:  # of a submodule, it names the working tree
        named_back = worktree is not None and (root / ".git").is_file() and (git_folder / worktree).samefile(root)
        belongs = named_back and common == git_folder.resolve()
    if not belongs:
        raise ForeignRepositoryError(f"{root / '.git'} leads to the git folder of another working tree, {git_folder}")
    borrowed = common / "objects" / "info" / "alternates"
    if borrowed.exists() and read_regular(borrowed, _MOST_BYTES_OF_A_LIST).strip():
        hint = "copy these with `git repack -a -d`, then remove the file"
        raise ForeignRepositoryError(f"{borrowed} names the objects of other repositories, which are not read: {hint}")


def _entries(folder: Path) -> Iterator[Path]:
    """Yield what git and we follow of a git folder."""
    yield from (folder / name for name in (*_LINKED, "HEAD", "index", PRIVATE))
    yield from folder.glob("sharedindex.*")
    for tree in ("refs", PRIVATE):
        yield from (folder / tree).rglob("*")
    for place in ("objects", "objects/info", "objects/pack", "reftable"):
        yield from (folder / place).glob("*")


def _data(configured: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of a configuration that may be copied."""
    return {key: configured[key] for key in _COPIED if _DATA.fullmatch(configured.get(key, ""))}


def _inherited(also: tuple[str, ...] = ()) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith(also)}


def _run(words: list[str], environment: Mapping[str, str]) -> Ran:
    command, late = ["git", *_BEFORE_WORDS, *words], threading.Event()
    try:
        with tempfile.TemporaryFile() as said, subprocess.Popen(  # noqa: S603 - no shell; each word is one argument
            command, env={**environment, **_ENVIRONMENT}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
        ) as process:  # fmt: skip
            assert process.stdout is not None  # noqa: S101 - see above

            def end() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(SECONDS, end)
            timer.start()
            try:
                # Errors go to a file meanwhile: with two pipes, git could wait for the one that nobody reads.
                printed = process.stdout.read(_MOST_BYTES + 1)
                if len(printed) > _MOST_BYTES:
                    process.kill()
                process.wait()
            finally:
                timer.cancel()
            said.seek(0)
            ran = Ran(command, process.returncode, printed, said.read(_MOST_BYTES_OF_A_LIST))
    except (OSError, ValueError) as error:
        raise InputError(f"git could not be run: {error}") from error
    if late.is_set():
        raise InputError(f"git could not be run: it took more than {SECONDS} seconds")
    if len(ran.stdout) > _MOST_BYTES:
        raise InputError(f"git could not be run: it printed more than {_MOST_BYTES:,} bytes")
    return ran
