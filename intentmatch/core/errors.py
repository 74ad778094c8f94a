"""Everything that can go wrong, as values and exceptions that say what, where and how to fix it.

The tree (the exit code of the command line in brackets):

    IntentMatchError [1]
    ├── InputError [2]              something the user wrote is wrong
    │   ├── RegistryError           one or more problems in the YAML, all of them at once
    │   ├── SettingsError           a setting has an impossible value
    │   └── UnknownNameError        a name that nothing here answers to
    ├── ArtefactError [2]           a built file cannot be used
    │   └── StaleArtefactError      ... because it was built for something else
    ├── ChangedMeanwhileError       a file is not what it was when an edit of it was worked out
    └── UnavailableError [5]        something must be installed or downloaded first
        ├── MissingExtraError       ... an optional package
        └── ModelUnavailableError   ... a model
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file that a person can jump to. Lines and columns count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    @property
    def short(self) -> str:
        """`path:line`, for tables."""
        return f"{self.path}:{self.line}"


NOWHERE = Location("registry")
"""The place of a problem in a registry that was made in code, without files."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding about the user's files; ordered by place."""

    location: Location
    severity: Severity
    rule: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.location}: {self.severity} [{self.rule}] {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class IntentMatchError(Exception):
    """Root of every error that intentmatch raises on purpose; its text is written for the user."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Children write their text from other arguments than it; what travels between processes is the text itself.
        return Exception.__new__, (type(self), *self.args), vars(self)


class InputError(IntentMatchError):
    """Something the user wrote is wrong."""

    exit_code = 2


class RegistryError(InputError):
    """The registry cannot be used. `problems` holds every finding, sorted by place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class SettingsError(InputError):
    """A setting has an impossible value; the text names the setting and where the value came from."""


class UnknownNameError(InputError):
    """A name was asked for that nothing answers to; the text lists the known ones."""

    def __init__(self, kind: str, name: str, known: Sequence[str], hint: str = "") -> None:
        self.kind = kind
        parts = [f"unknown {kind} {name!r}: known are {', '.join(sorted(known)) or 'none'}."]
        nearest = suggest(name, known)
        if nearest is not None:
            parts.append(f"Did you mean {nearest!r}?")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))


class ArtefactError(IntentMatchError):
    """A built artefact is damaged, or is not an artefact at all."""

    exit_code = 2


class StaleArtefactError(ArtefactError):
    """A built artefact belongs to another encoder, version or text form than the one at hand."""


class ChangedMeanwhileError(IntentMatchError):
    """A file was changed by someone else after it was read for an edit; the text says which. Nothing was written."""


class UnavailableError(IntentMatchError):
    """Something has to be installed or downloaded first; the text says what."""

    exit_code = 5


class MissingExtraError(UnavailableError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an extra that is not installed. Run: {pip_line(extra)}")


class ModelUnavailableError(UnavailableError):
    """A model is neither on this machine nor to be had from the network."""


def pip_line(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "intentmatch[{extra}]"'


def suggest(name: str, known: Iterable[str]) -> str | None:
    """The known name that the user most likely meant, or None."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None
