"""Revisions as commits of the git repository that holds the registry.

A commit has the registry's files alone: what else is staged stays staged. Nothing is pushed, and `storage.git` keeps
git from running programs that the repository names. The author of a commit is the name of the key; the committer is
`intentmatch`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from intentmatch.authoring.audit import NAME as AUDIT_NAME
from intentmatch.authoring.audit import AuditLog
from intentmatch.authoring.revisions import Files, Revision
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.core.rare_lines import RareLines
from intentmatch.core.settings import resolve
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.reading.reader import SUFFIXES, yaml_files
from intentmatch.storage import git

COMMITTER = "intentmatch"

_log = logging.getLogger(__name__)
_foreign = RareLines()

_DIGITS, _LONGEST_NAME = 8, 80
# Another program that commits at this moment holds the lock of the index.
_ATTEMPTS, _SECONDS_BETWEEN = 20, 0.1
# Is there while git writes. A process that was killed leaves it, and a lock that was made soon afterwards.
_WRITING = "writing"
_SECONDS_TO_LOCK = 10.0
_SHA = re.compile(r"[0-9a-f]{7,64}")
_FIELDS = "%H%x1f%an%x1f%cn%x1f%aI%x1f%s%x1e"
# What git writes around a name; it cannot be part of one.
_NOT_IN_A_NAME = re.compile(r"[<>\x00-\x1f\x7f]")
_UNFINISHED = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


class GitHistory:
    """The commits that changed the files of a registry."""

    def __init__(self, path: Path, repository: git.Repository) -> None:
        """`path` is the registry."""
        self._path = path
        self._base = path if path.is_dir() else path.parent
        self._repository = repository

    @classmethod
    def of(cls, path: Path) -> GitHistory | None:
        """Return the history of a registry; None if git is not installed, or does not keep its files.

        A repository that leads to another one is not used, and the log says so.
        """
        base = path if path.is_dir() else path.parent
        if not git.installed() or not base.is_dir():
            return None
        try:
            repository = git.Repository.of(base)
        except git.ForeignRepositoryError as error:
            if _foreign.due(path):
                _log.warning("revisions are kept in a folder beside the files, and not in git: %s", error)
            return None
        except InputError:
            return None
        # A repository that ignores the folder keeps no history of it.
        ignored = repository.run("check-ignore", "--quiet", "--", str(path.absolute()))
        return None if ignored.returncode == 0 else cls(path, repository)

    @property
    def folder(self) -> Path:
        """Where private files of the history lie: inside `.git`, so that they are never committed."""
        inside = self._inside(self._path)
        # Registries of one repository have folders of their own; a digest, because paths may be long.
        digest = hashlib.sha256(inside.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
        return self._repository.folder / git.PRIVATE / f"{Path(inside).name[:_LONGEST_NAME] or 'registry'}-{digest}"

    @property
    def outside(self) -> bool:
        """Commits stay when the files are removed."""
        return True

    @property
    def begun(self) -> bool:
        """Whether an edit has been kept, or `begin` was called. Commits that people make do not count."""
        return (self.folder / AUDIT_NAME).is_file()

    def begin(self, files: Files) -> None:
        """Let commands keep revisions from now on. The commits that are there are the first revisions."""
        AuditLog(self.folder / AUDIT_NAME).prepare()

    def revisions(self, most: int) -> list[Revision]:
        """Return the newest commits that changed the files, the newest first."""
        # Control characters part fields and records, since names and subjects may hold any printable one.
        found = self._repository.run("log", f"--max-count={most}", f"--format={_FIELDS}", "HEAD", "--", *self._specs())
        if found.returncode:  # no commit yet
            return []
        records = found.stdout.decode("utf-8", "replace").split("\x1e")
        return [_revision(record.strip("\n")) for record in records if record.strip("\n")]

    def files(self, revision: str) -> Files:
        """Return the files of a commit. Raises `UnknownNameError` for an unknown one."""
        from intentmatch.evaluation.compare.gitref import GitRef, export  # loads all of the evaluation

        sha = self._sha(revision)
        with tempfile.TemporaryDirectory(prefix="intentmatch-") as folder:
            try:
                exported = export(GitRef(sha, str(self._path)), Path(folder))
            # The registry was not there yet at this commit.
            except InputError:
                return {}
            limits = ReadLimits(resolve().max_file_bytes, Path(folder))  # a commit may include any path
            base = exported if exported.is_dir() else exported.parent
            return {
                os.path.relpath(file, base).replace(os.sep, "/"): file.read_bytes()
                for file in yaml_files(exported, limits)
            }

    def before(self, revision: str) -> Files:
        """Return the files of the first parent of a commit; empty for the first commit."""
        # The first parent of a merge is the branch that it was merged into.
        parent = self._repository.run("rev-parse", "--verify", "--quiet", f"{self._sha(revision)}^")
        return {} if parent.returncode else self.files(parent.stdout.decode().strip())

    def prepare(self, before: Files) -> None:
        """Commit what another program has changed in the files, so that the next commit is its author's alone.

        Raises `InputError` in the middle of a merge, when git commits no single files.
        """
        for name, what in _UNFINISHED.items():
            if (self._repository.folder / name).exists():
                raise InputError(
                    f"the repository {self._repository.root} is in the middle of a {what}: finish it first"
                )
        # With a zero at the end of each name: otherwise git would quote names that are not ASCII.
        tracked = self._repository.run("ls-files", "-z", "--full-name", "--", *self._specs()).stdout
        known = [self._repository.root / name for name in os.fsdecode(tracked).split("\0") if name]
        places = sorted({*known, *(self._base / name for name in before)})
        status = self._repository.run("status", "--porcelain", "-z", "--untracked-files=all", "--", *_words(places))
        if status.stdout and not status.returncode:
            self._commit(places, None, "Keep changes made by another program")

    def record(self, before: Files, after: Files, author: str, note: str) -> Revision:
        """Commit the files that were written. Raises `InputError` with git's reason if it refuses."""
        changed = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
        self._commit([self._base / name for name in changed], author, note)
        return self.revisions(1)[0]

    def _commit(self, places: Sequence[Path], author: str | None, note: str) -> None:
        existing = [place for place in places if place.exists()]
        gone = [place for place in places if place not in existing]
        # Git refuses a commit that names a file it does not know.
        gone = [place for place in gone if self._repository.run("ls-files", "--", str(place)).stdout]
        if existing:
            # Also files that `.gitignore` names: they are part of the registry.
            self._run("add", "--force", "--", *_words(existing))
        message = f"--message={note.strip() or 'Edit the registry'}"
        # Hooks are programs of others. A bot that came back is a revision even if the repository still has its files.
        words = ("commit", "--quiet", "--no-verify", "--allow-empty", "--only", message)
        self._run(*words, "--", *_words([*existing, *gone]), author=author)

    def _run(self, *words: str, author: str | None = None) -> None:
        """Run a git command that writes. Raises `InputError` if it fails, also after some tries for a locked index."""
        mark = self.folder / _WRITING
        mark.parent.mkdir(parents=True, exist_ok=True)
        if not self._repository.locks():
            mark.touch()
            reason = self._reason(words, author)
            mark.unlink(missing_ok=True)
        elif (reason := self._reason(words, author)) is not None and self._remove_locks(mark):
            reason = self._reason(words, author)
        if reason is not None:
            raise InputError(f"git keeps no revision: {reason or 'it gives no reason'}")

    def _reason(self, words: Sequence[str], author: str | None) -> str | None:
        """Run git; return why it failed, in one line, or None."""
        reason = ""
        for attempt in range(_ATTEMPTS):
            ran = self._repository.run(*words, identity=_identity(author))
            if not ran.returncode:
                return None
            reason = ran.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            # Only a locked index is worth another try.
            if "index.lock" not in reason or attempt == _ATTEMPTS - 1:
                break
            time.sleep(_SECONDS_BETWEEN)
        return reason

    def _remove_locks(self, mark: Path) -> bool:
        """Remove the locks that a killed process of ours has left; whether there were any.

        It has left its mark too. Locks of other programs stay: people may have an editor open meanwhile.
        """
        if not mark.is_file():
            return False
        begun, removed = mark.stat().st_mtime, False
        for lock in self._repository.locks():
            made = lock.stat().st_mtime
            # Made soon after our mark, or a second before, as dates of files are coarse; and too old for a run of git.
            if begun - 1 <= made <= begun + _SECONDS_TO_LOCK and time.time() > made + git.SECONDS:
                lock.unlink()
                removed = True
        if removed:
            mark.unlink()
        return removed

    def _specs(self) -> list[str]:
        """What names the registry's files in any commit."""
        if not self._path.is_dir():
            return [f":(top,literal){self._inside(self._path)}"]
        inside = self._inside(self._path)
        # By patterns and not by the files of today, since commits may have had others.
        return [f":(top,glob){_escaped(inside)}**/*{suffix}" for suffix in SUFFIXES]

    def _inside(self, path: Path) -> str:
        relative = Path(os.path.realpath(path)).relative_to(os.path.realpath(self._repository.root)).as_posix()
        return "" if relative == "." else f"{relative}/" if path.is_dir() else relative

    def _sha(self, revision: str) -> str:
        named = _SHA.fullmatch(revision)
        found = self._repository.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}") if named else None
        if found is None or found.returncode:
            raise UnknownNameError("revision", revision, [one.id for one in self.revisions(20)])
        return found.stdout.decode().strip()


def _revision(record: str) -> Revision:
    sha, author, committer, when, note = record.split("\x1f")
    # Our commit without an author keeps what another program has changed.
    outside = committer == COMMITTER and author == COMMITTER
    return Revision(sha, None if outside else author, datetime.fromisoformat(when), note)


def _words(places: Sequence[Path]) -> list[str]:
    return [f":(literal){place.absolute()}" for place in places]


def _escaped(path: str) -> str:
    return re.sub(r"([\\*?\[\]])", r"\\\1", path)


def _identity(author: str | None) -> dict[str, str]:
    name = _NOT_IN_A_NAME.sub("", author or "").strip() or COMMITTER
    return {
        "GIT_AUTHOR_NAME": name,
        # `.invalid` is reserved (RFC 2606): no mail reaches anybody.
        "GIT_AUTHOR_EMAIL": f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)}@intentmatch.invalid",
        "GIT_COMMITTER_NAME": COMMITTER,
        "GIT_COMMITTER_EMAIL": f"{COMMITTER}@intentmatch.invalid",
    }
