"""Exceptions and problem values. Their text is for users: what is wrong, where, and how to fix it.

The exception tree, with the exit code of the command line in brackets:

    IntentMatchError [1]
    ├── InputError [2]              something the user wrote is wrong
    │   ├── RegistryError           the YAML is invalid; holds all problems
    │   │   └── DamagedContentError content in a database does not match its digest
    │   ├── SettingsError           a setting has an invalid value
    │   └── UnknownNameError        there is no encoder, intent, slot ... of this name
    ├── ArtefactError [2]           a built artefact cannot be used
    │   └── StaleArtefactError      it was built with another encoder, version or text form
    ├── ChangedMeanwhileError       a file changed after it was read for an edit
    ├── DatabaseError               a database cannot be reached or used
    └── UnavailableError [5]        something must be installed or downloaded first
        ├── MissingExtraError       an optional package
        └── ModelUnavailableError   a model
            └── BudgetUsedUpError   a server may not be asked again so soon
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a file. Lines and columns count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    @property
    def short(self) -> str:
        """`path:line`, without the column."""
        return f"{self.path}:{self.line}"


NOWHERE = Location("registry")
"""Location of problems in a registry that was made in code, without files."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding about the user's files. Problems sort by location."""

    location: Location
    severity: Severity
    rule: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.location}: {self.severity} [{self.rule}] {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class IntentMatchError(Exception):
    """Base class of all errors that intentmatch raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses build the text from other arguments, so pickle the finished text instead of calling __init__.
        return Exception.__new__, (type(self), *self.args), vars(self)


class InputError(IntentMatchError):
    """Something the user wrote is wrong."""

    exit_code = 2


class RegistryError(InputError):
    """The registry is invalid. `problems` holds all findings, sorted by location."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class DamagedContentError(RegistryError):
    """Content in a database does not match its digest. The problem names the file."""


class SettingsError(InputError):
    """A setting has an invalid value. The text names the setting and the source of the value."""


class UnknownNameError(InputError):
    """A name is unknown. The text lists the known names and suggests the most similar one."""

    def __init__(self, kind: str, name: str, known: Sequence[str] | None, hint: str = "") -> None:
        """Without `known`, the text lists no names: there are too many, or they mean nothing."""
        self.kind = kind
        self.name = name
        listed = "" if known is None else f": known are {', '.join(sorted(known)) or 'none'}"
        parts = [f"unknown {kind} {name!r}{listed}."]
        nearest = suggest(name, known or ())
        if nearest is not None:
            parts.append(f"Did you mean {nearest!r}?")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))


class ArtefactError(IntentMatchError):
    """A file is damaged or is not an artefact."""

    exit_code = 2


class StaleArtefactError(ArtefactError):
    """An artefact was built with another encoder, version or text form than the current one."""


class ChangedMeanwhileError(IntentMatchError):
    """A file changed after it was read for an edit. The text names the file; nothing was written."""


class DatabaseError(IntentMatchError):
    """A database cannot be reached or used. The text names it without its password."""


DATABASE_AWAY = "The database cannot be used at the moment. Try again in a minute."
"""What callers and visitors of a server read in place of a `DatabaseError`, whose text names the database."""


def public_text(error: Exception) -> str:
    """Return the text of an error for people who need not know where the database is."""
    return DATABASE_AWAY if isinstance(error, DatabaseError) else str(error)


class UnavailableError(IntentMatchError):
    """Something must be installed or downloaded first. The text says what."""

    exit_code = 5


class MissingExtraError(UnavailableError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an extra that is not installed. Run: {pip_line(extra)}")


class ModelUnavailableError(UnavailableError):
    """A model is not on this machine and cannot be downloaded or reached."""


class BudgetUsedUpError(ModelUnavailableError):
    """A server is not asked, because the budget of requests is used up."""


def pip_line(extra: str) -> str:
    """Return the pip command that installs an extra."""
    return f'pip install "intentmatch[{extra}]"'


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `name`, or None if none is similar."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def counted(count: int, thing: str) -> str:
    """Return a count with its noun, in the plural where needed: "1 error", "2 errors", "3 matches"."""
    plural = f"{thing}es" if thing.endswith(("ch", "sh", "s", "x")) else f"{thing}s"
    return f"{count} {thing if count == 1 else plural}"
