"""Plan edits of a registry: compute and validate them, show a diff, and write them if no file has changed since."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import ChangedMeanwhileError, InputError, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.registry.confinement import RULE as NOT_ALLOWED
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import Edit, additions
from intentmatch.registry.editing.folder import Folder
from intentmatch.registry.editing.whole_files import RemoveFile, ReplaceFile
from intentmatch.registry.reading.reader import examine, is_yaml, yaml_files
from intentmatch.runtime.steps import report
from intentmatch.storage.atomic import real_path
from intentmatch.storage.transaction import refuse_locked, swap_files
from intentmatch.storage.unwritable import unwritable

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PLACE = re.compile(r":\d+")
# Rules of files that could not be read completely.
_UNREADABLE = ("yaml-syntax", "alias-expansion", "encoding", "unreadable")


@dataclass(frozen=True, slots=True)
class FileChange:
    """Old and new text of one file."""

    path: Path
    old: str | None
    """None for a new file."""
    new: str | None
    """None for a file that is removed."""

    @property
    def diff(self) -> str:
        """Unified diff of the file."""
        return unified(self.old, self.new, str(self.path))


@dataclass(frozen=True, slots=True)
class Changes:
    """Planned changes to the files of a registry; `write` writes them."""

    path: Path
    files: tuple[FileChange, ...]
    """Changed files in the order of the reader; empty if the edits change nothing."""
    before: Registry = field(repr=False)
    """The registry before the edits."""
    registry: Registry
    """The registry after the edits."""
    problems: tuple[Problem, ...]
    """Problems of that registry, located in the new files."""
    brought: tuple[Problem, ...]
    """The problems that the edits introduce."""
    read: Mapping[Path, bytes] = field(repr=False)
    """Content of every file when the edits were planned."""
    limits: ReadLimits | None = None
    """What may be read for this registry; None for the limits of the environment."""
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    """The edits that were planned."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors that the edits introduce; `write` refuses to write if there are any."""
        return tuple(problem for problem in self.brought if problem.severity == "error")

    @property
    def diff(self) -> str:
        """Unified diff of all files."""
        return "".join(change.diff for change in self.files)

    @property
    def contents(self) -> dict[Path, bytes]:
        """Content of every file once the changes are written."""
        new = {change.path: change.new for change in self.files}
        kept = {path: content for path, content in self.read.items() if path not in new}
        return kept | {path: text.encode() for path, text in new.items() if text is not None}

    def write(self) -> None:
        """Write all files or none.

        Raises `RegistryError` if the edits introduce errors, `ChangedMeanwhileError` if any file of the registry has
        changed since they were planned, and `InputError` if a file cannot be written.
        """
        if self.errors:
            raise RegistryError(self.errors)
        new = {change.path: None if change.new is None else change.new.encode("utf-8") for change in self.files}
        if not new:
            return
        try:
            swap_files(new, self._unchanged)
        except OSError as error:
            folder = Path(error.filename).parent if error.filename else self.path
            raise InputError(unwritable(folder, error)) from error

    def _unchanged(self) -> None:
        """Raise `ChangedMeanwhileError` if a file has changed since it was read, or is locked for a change."""
        mine = {change.path for change in self.files}
        files = {*yaml_files(self.path, self.limits), *self.read, *mine}
        # `swap_files` locks the folders that it writes; in the others, an edit may be half done.
        for folder in {real_path(file).parent for file in files} - {real_path(file).parent for file in mine}:
            refuse_locked(folder)
        for file in sorted(files):
            held = file.read_bytes() if file.is_file() else None
            # Files that the edit leaves alone count too: the edit was checked against their intents.
            if held != self.read.get(file):
                raise ChangedMeanwhileError(
                    f"{file} was changed by someone else after it was read; nothing was written. Try again"
                )


def plan(
    path: str | os.PathLike[str],
    edits: Iterable[Edit],
    *,
    limits: ReadLimits | None = None,
    held: Mapping[Path, bytes] | None = None,
) -> Changes:
    """Plan edits, applied one after the other, to the files of a registry.

    A file that is not valid YAML can only be replaced or removed as a whole. `limits` and `held` are as for `examine`;
    changes of files in memory are written by the caller.

    Raises `RegistryError` if another file is not valid YAML, and `InputError` if an edit is impossible.
    """
    if held is None and not is_yaml(path):
        raise InputError(f"{path} is not YAML: edit the folder that it was built from")
    edits = list(edits)
    read = {file: _bytes(file) for file in yaml_files(path, limits)} if held is None else dict(held)
    was, before = examine(path, overrides=read, limits=limits, held=held)
    whole = {edit.file.absolute() for edit in edits if isinstance(edit, ReplaceFile | RemoveFile)}
    unreadable = [problem for problem in before if problem.rule in _UNREADABLE]
    if fatal := [problem for problem in unreadable if Path(problem.location.path).absolute() not in whole]:
        raise RegistryError(fatal)
    broken = {problem.location.path for problem in unreadable}
    old = {file: raw.decode("utf-8", "replace") for file, raw in read.items()}
    # What cannot be parsed is replaced as a whole, and no edit looks into it.
    documents = {file: Document(str(file), "" if str(file) in broken else text) for file, text in old.items()}
    folder = Folder(Path(path), documents)
    for done, edit in enumerate(edits):
        if done:  # an edit of many lines reports its own steps
            report("planning", done, len(edits))
        folder = edit.apply(folder)
    # None for the files that an edit has removed.
    new: dict[Path, str | None] = dict.fromkeys(old.keys() - folder.documents.keys())
    new |= {file: document.text for file, document in folder.documents.items()}
    overrides = {file: None if text is None else text.encode("utf-8") for file, text in new.items()}
    registry, after = examine(path, overrides=overrides, limits=limits, held=held)
    changed = [FileChange(file, old.get(file), text) for file, text in sorted(new.items()) if text != old.get(file)]
    new_problems = _new_problems(before, after)
    return Changes(Path(path), tuple(changed), was, registry, tuple(after), new_problems, read, limits, tuple(edits))


def plan_utterances(
    path: str | os.PathLike[str],
    intent: str,
    utterances: Sequence[str],
    *,
    language: str | None = None,
    negative: bool = False,
    template: bool = False,
    new: bool = False,
    file: str | os.PathLike[str] | None = None,
    limits: ReadLimits | None = None,
) -> Changes:
    """Plan adding utterances to an intent: `diff` of the result shows the change, `write()` writes it.

    Args:
        path: the YAML file or folder of the registry.
        intent: name of the intent.
        utterances: texts to add.
        language: BCP-47 code; None for the only language of the intent, or the language of the file.
        negative: add the texts to `not:` instead.
        template: read brackets in the texts as template marks; otherwise the texts are literal.
        new: create the intent.
        file: the file of a new intent; required if the registry has several files. It may be a new file.
        limits: what may be read; None for the limits of the environment. Since 0.3.0.

    Raises `RegistryError` if a file is not valid YAML, `UnknownNameError` if the intent does not exist, and
    `InputError` if the utterances cannot be added.

    `limits` was added in 0.3.0.
    """
    check_argument("path", path, str | os.PathLike[str])
    check_argument("intent", intent, str)
    check_argument("utterances", utterances, Sequence[str])
    check_argument("file", file, str | os.PathLike[str] | None)
    check_argument("limits", limits, ReadLimits | None)
    place = None if file is None else Path(file)
    more = additions(intent, utterances, language=language, negative=negative, template=template, new=new, file=place)
    return plan(path, more, limits=limits)


def unified(old: str | None, new: str | None, path: str) -> str:
    """Return a unified diff of a file; `old` is None for a new file, `new` for a removed one."""
    lines = _LINE.findall(old or ""), _LINE.findall(new or "")
    names = ["/dev/null" if text is None else path for text in (old, new)]
    shown = difflib.unified_diff(*lines, fromfile=names[0], tofile=names[1])
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in shown)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _new_problems(before: Sequence[Problem], after: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems that are new: more of their rule in their file, and a new message.

    Locations are ignored, because edits move lines. Of what is not allowed, a new message suffices: an edit may not
    name one server in place of another.
    """
    more = Counter(map(_kind, after)) - Counter(map(_kind, before))
    # Messages name places such as `a.yaml:12`, whose lines an edit above moves.
    known = {_PLACE.sub("", problem.message) for problem in before}
    new = (p for p in after if _kind(p) in more or p.rule == NOT_ALLOWED)
    return tuple(p for p in new if _PLACE.sub("", p.message) not in known)


def _kind(problem: Problem) -> tuple[str, str]:
    return problem.location.path, problem.rule
