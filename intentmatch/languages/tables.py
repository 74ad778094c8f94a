"""Tables of one section in all languages, each language read when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from intentmatch.languages import files
from intentmatch.languages.own import OwnForm, own_form, shipped_code
from intentmatch.languages.packages import packaged_languages

FOLDER = Path(__file__).parent

Value = TypeVar("Value")


class Table(Mapping[str, Value]):
    """A section of all languages that have it, by language code.

    Iterating gives the languages of this package alone: reading what others install takes longer than a message.
    """

    def __init__(self, section: str, make: Callable[[Any], Value] | None = None) -> None:
        """`make` turns what the section holds, which has the shape in `SECTIONS`, into the value of a language."""
        self._section = section
        self._make = make
        self._values: dict[str, Value] = {}
        self._of_forms: WeakKeyDictionary[OwnForm, Value] = WeakKeyDictionary()

    def __getitem__(self, code: str) -> Value:
        form = own_form(code)
        if form is not None:
            if form not in self._of_forms:
                self._of_forms[form] = self._read(code)
            return self._of_forms[form]
        if code not in self._values:
            self._values[code] = self._read(code)
        return self._values[code]

    def _read(self, code: str) -> Value:
        if code not in self:
            raise KeyError(code)
        found = read_section(code, self._section)
        return self._make(found) if self._make else cast("Value", found)

    def __iter__(self) -> Iterator[str]:
        return (code for code in sorted(_own()) if code in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, code: object) -> bool:
        return code in self._values or (isinstance(code, str) and self._section in sections_of(code))


def codes() -> tuple[str, ...]:
    """Return the codes of the languages that have a file, here or in another package."""
    return tuple(sorted({*_own(), *packaged_languages().files}))


def sections_of(code: str) -> tuple[str, ...]:
    """Return the names of the sections of a language's file, in its order; none if it has no file."""
    file, form = _file(shipped_code(code)), own_form(code)
    own = form.sections if form else ()
    return tuple(dict.fromkeys((*(files.section_texts(file) if file else ()), *own)))


def read_section(code: str, section: str) -> Any:
    """Return what a section of a language holds, in its shape of `SECTIONS`; None if the language lacks it."""
    file, form = _file(shipped_code(code)), own_form(code)
    has = file is not None and section in files.section_texts(file)
    if form and section in form.sections:
        return form.read(section, files.plain_section(file, section) if file and has else None)
    return files.read_section(file, section) if file and has else None


def _file(code: str) -> Path | None:
    if code in _own():
        return _own()[code]
    return None if "-" in code else packaged_languages().files.get(code)  # packages bring languages, no regions of ours


@cache
def _own() -> Mapping[str, Path]:
    return {path.stem: path for path in FOLDER.glob("*.yaml")}
