"""Edits of a registry's files: worked out and examined first, shown, and written only if nothing came between."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from intentmatch.core.errors import ChangedMeanwhileError, InputError, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import Edit, additions
from intentmatch.registry.editing.folder import Folder
from intentmatch.registry.reading.reader import examine, is_yaml, yaml_files
from intentmatch.storage.atomic import refuse_locked, swap_files

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PLACE = re.compile(r":\d+")
# Of a file with one of these, not everything was read.
_UNREADABLE = ("yaml-syntax", "alias-expansion", "encoding", "unreadable")


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file."""

    path: Path
    old: str | None
    """None where there is no such file yet."""
    new: str

    @property
    def diff(self) -> str:
        """What changes, as `diff -u` shows it."""
        return unified(self.old, self.new, str(self.path))


@dataclass(frozen=True, slots=True)
class Changes:
    """What edits make of the files of a registry. Nothing is written yet."""

    path: Path
    files: tuple[Change, ...]
    """Those that change, in the order of the reader; none where the edits change nothing."""
    registry: Registry
    """What the files will hold."""
    problems: tuple[Problem, ...]
    """What will be wrong with it, places in the files as they will be."""
    brought: tuple[Problem, ...]
    """Those among them that the edits bring."""
    read: Mapping[Path, bytes] = field(repr=False)
    """What every file held when the edits were worked out."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Those that the edits bring and that no registry loads with: with any, nothing can be written."""
        return tuple(problem for problem in self.brought if problem.severity == "error")

    @property
    def diff(self) -> str:
        """What changes in all files, as `diff -u` shows it."""
        return "".join(change.diff for change in self.files)

    def write(self) -> None:
        """Write all files or none.

        Raises `RegistryError` if the edits bring errors, `ChangedMeanwhileError` if any file of the registry is not
        what it was when they were worked out, and `InputError` where a file cannot be written.
        """
        if self.errors:
            raise RegistryError(self.errors)
        new = {change.path: change.new.encode("utf-8") for change in self.files}
        if not new:
            return
        try:
            swap_files(new, self._unchanged)
        except OSError as error:
            raise InputError(f"{error.filename or self.path} cannot be written: {error.strerror or error}") from error

    def _unchanged(self) -> None:
        """Raise `ChangedMeanwhileError` unless all that was read is as it was, and nobody is about to change it."""
        mine = {change.path for change in self.files}
        files = yaml_files(self.path)
        for file in sorted({*files, *self.read, *mine}):
            if file not in mine:
                refuse_locked(file)
            held = file.read_bytes() if file.is_file() else None
            if held != self.read.get(file):
                raise ChangedMeanwhileError(
                    f"{file} was changed by someone else after it was read; nothing was written. Try again"
                )


def plan(path: str | os.PathLike[str], edits: Iterable[Edit]) -> Changes:
    """What the edits, one after the other, make of the files of a registry.

    Raises `RegistryError` where a file is no YAML, and `InputError` for an edit that cannot be made.
    """
    if not is_yaml(path):
        raise InputError(f"{path} is no YAML: edit the folder that it was built from")
    held = {file: _bytes(file) for file in yaml_files(path)}
    _, before = examine(path, instead=held)
    unreadable = [problem for problem in before if problem.rule in _UNREADABLE]
    if unreadable:
        raise RegistryError(unreadable)
    old = {file: raw.decode("utf-8") for file, raw in held.items()}
    folder = Folder(Path(path), {file: Document(str(file), text) for file, text in old.items()})
    for edit in edits:
        folder = edit.apply(folder)
    new = {file: document.text for file, document in folder.documents.items()}
    registry, after = examine(path, instead={file: text.encode("utf-8") for file, text in new.items()})
    changed = [Change(file, old.get(file), text) for file, text in new.items() if text != old.get(file)]
    return Changes(Path(path), tuple(changed), registry, tuple(after), _brought(before, after), held)


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
) -> Changes:
    """What adding utterances to an intent makes of the files of a registry: `diff` shows it, `write()` writes it.

    `language` is that of the file, or the only one that the intent has, if it is None. `negative` utterances go to
    `not:`. In a `template` brackets are marks; otherwise a text is what users say, to the letter. A `new` intent begins
    with the utterances, in `file` where there are several to choose from, or where it is to have one of its own.

    Raises `RegistryError` where a file is no YAML, `UnknownNameError` for an intent that is not there, and `InputError`
    for what cannot be added.
    """
    if isinstance(utterances, str) or not all(isinstance(text, str) for text in utterances):
        raise InputError(f"utterances must be a list of texts, not {utterances!r}")
    if new and negative:
        raise InputError(f"the intent {intent!r} cannot be begun with a negative: an intent begins with an utterance")
    if file is not None and not new:
        raise InputError(f"{file} is for a new intent: one that is there has its file")
    place = None if file is None else Path(file)
    more = additions(intent, utterances, language=language, negative=negative, template=template, new=new, file=place)
    return plan(path, more)


def unified(old: str | None, new: str, path: str) -> str:
    """What changes in a file, as `diff -u` shows it; None is a file that is not there yet."""
    lines = _LINE.findall(old or ""), _LINE.findall(new)
    shown = difflib.unified_diff(*lines, fromfile="/dev/null" if old is None else path, tofile=path)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in shown)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _brought(before: Sequence[Problem], after: Sequence[Problem]) -> tuple[Problem, ...]:
    """Those of a kind of which a file has more than it had, and that it did not have. Places move with every edit."""
    more = Counter(map(_kind, after)) - Counter(map(_kind, before))
    said = {_PLACE.sub("", problem.message) for problem in before}
    return tuple(p for p in after if _kind(p) in more and _PLACE.sub("", p.message) not in said)


def _kind(problem: Problem) -> tuple[str, str]:
    return problem.location.path, problem.rule
