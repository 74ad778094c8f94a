"""Read a language's file, section by section.

A file is cut at the keys of its first level, and only the section that somebody asks for is parsed: parsing all files
takes a hundred times longer than the words of one language for one kind of slot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from intentmatch.languages.sections import SECTIONS
from intentmatch.languages.shapes import ShapeError

# libyaml composes all files in a fourteenth of the time; some builds of PyYAML lack it.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_KEY = re.compile(r"^([^\s#:][^:\n]*):", re.MULTILINE)


class LanguageFileError(ValueError):
    """A language's file is invalid; the message begins with file and line."""


class SectionText(NamedTuple):
    """The text of a section, with the line of its file where it begins, from 1."""

    line: int
    text: str


@cache
def section_texts(path: Path) -> Mapping[str, SectionText]:
    """Return the texts of the sections of a file, in its order.

    Raises `LanguageFileError` for sections that are unknown or stand there twice.
    """
    whole = path.read_text(encoding="utf-8")
    found: dict[str, SectionText] = {}
    starts = list(_KEY.finditer(whole))
    for start, end in zip(starts, [*(one.start() for one in starts[1:]), len(whole)], strict=True):
        line = whole.count("\n", 0, start.start()) + 1
        name = start[1]
        if name not in SECTIONS:
            raise LanguageFileError(f"{path}:{line}: unknown section {name!r}: known are {', '.join(SECTIONS)}")
        if name in found:
            raise LanguageFileError(f"{path}:{line}: the section {name!r} stands here twice")
        found[name] = SectionText(line, whole[start.start() : end])
    return found


def read_section(path: Path, section: str) -> Any:
    """Return what a section of a file holds, in its shape of `SECTIONS`. Raises `LanguageFileError` for another one."""
    first, text = section_texts(path)[section]
    try:
        root: Any = yaml.compose(text, Loader=_LOADER)
        return SECTIONS[section](root.value[0][1])
    except ShapeError as error:
        raise LanguageFileError(f"{path}:{first + error.line}: {section}: {error.why}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise LanguageFileError(f"{path}:{first + line}: {section}: {error.problem}") from None


def plain_section(path: Path, section: str) -> Any:
    """Return what a section of a file holds as texts, lists and maps of texts."""
    return yaml.load(section_texts(path)[section].text, Loader=_LOADER)[section]  # noqa: S506 - makes texts alone


def check(path: Path) -> None:
    """Read all sections of a file. Raises `LanguageFileError` for the first one that is invalid."""
    for section in section_texts(path):
        read_section(path, section)
