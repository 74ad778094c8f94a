"""Read sections of the languages' files, each when it is first needed.

A file is cut at the keys of its first level, and only the section that somebody asks for is parsed: parsing all files
takes a hundred times longer than the words of one language for one kind of slot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import yaml

from intentmatch.languages.sections import SECTIONS
from intentmatch.languages.shapes import ShapeError

FOLDER = Path(__file__).parent
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_KEY = re.compile(r"^([^\s#:][^:\n]*):", re.MULTILINE)

Value = TypeVar("Value")


class LanguageFileError(ValueError):
    """A language's file is invalid; the message begins with file and line."""


class _Text(NamedTuple):
    """The text of a section, with the line of its file where it begins, from 1."""

    line: int
    text: str


class Table(Mapping[str, Value]):
    """A section of all languages that have it, by language code."""

    def __init__(self, section: str, make: Callable[[Any], Value] | None = None) -> None:
        """`make` turns what the section holds, which has the shape in `SECTIONS`, into the value of a language."""
        self._section = section
        self._make = make
        self._values: dict[str, Value] = {}

    def __getitem__(self, code: str) -> Value:
        if code not in self._values:
            found = read_section(code, self._section)
            if found is None:
                raise KeyError(code)
            self._values[code] = self._make(found) if self._make else cast("Value", found)
        return self._values[code]

    def __iter__(self) -> Iterator[str]:
        return (code for code in codes() if self._section in sections_of(code))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and self._section in sections_of(code)


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of the languages that have a file."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def sections_of(code: str) -> tuple[str, ...]:
    """Return the names of the sections of a language's file, in its order; none if it has no file."""
    return tuple(_texts(FOLDER / f"{code}.yaml")) if code in codes() else ()


def read_section(code: str, section: str) -> Any:
    """Return what a section of a language holds, in the shape of `SECTIONS`; None if the language lacks it.

    Raises `LanguageFileError` if it has another shape.
    """
    return read_file_section(FOLDER / f"{code}.yaml", section) if section in sections_of(code) else None


def read_file_section(path: Path, section: str) -> Any:
    """Return what a section of a file holds. Raises `LanguageFileError` if it is invalid."""
    first, text = _texts(path)[section]
    try:
        root: Any = yaml.compose(text, Loader=_LOADER)
        return SECTIONS[section](root.value[0][1])
    except ShapeError as error:
        raise LanguageFileError(f"{path}:{first + error.line}: {section}: {error.why}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise LanguageFileError(f"{path}:{first + line}: {section}: {error.problem}") from None


@cache
def _texts(path: Path) -> Mapping[str, _Text]:
    """Return the texts of the sections of a file. Raises `LanguageFileError` for unknown and repeated ones."""
    whole = path.read_text(encoding="utf-8")
    found: dict[str, _Text] = {}
    starts = list(_KEY.finditer(whole))
    for start, end in zip(starts, [*(one.start() for one in starts[1:]), len(whole)], strict=True):
        line = whole.count("\n", 0, start.start()) + 1
        name = start[1]
        if name not in SECTIONS:
            raise LanguageFileError(f"{path}:{line}: unknown section {name!r}: known are {', '.join(SECTIONS)}")
        if name in found:
            raise LanguageFileError(f"{path}:{line}: the section {name!r} stands here twice")
        found[name] = _Text(line, whole[start.start() : end])
    return found
