"""Spreadsheets (XLSX). Every sheet with the right columns is read; without any, their layout is guessed."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from intentmatch.core import plugins
from intentmatch.core.errors import NOWHERE, InputError, Location, Problem
from intentmatch.core.types import Registry
from intentmatch.formats.kit.archive import open_zip, zip_files
from intentmatch.formats.kit.draft import NOT_EXPRESSED, Draft
from intentmatch.formats.kit.format import Files, Format, Sure
from intentmatch.formats.kit.losses import empty_intent_losses
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.table_layout import TableRow
from intentmatch.formats.kit.tables import HEADER, SAYS, read_tables, rows_of

_WORKBOOK = "xl/workbook.xml"
# Dates are constant, so that equal content gives equal bytes.
_DATES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_CONSTANT_DATE = rb"\g<1>1980-01-01T00:00:00Z"


def recognise(file: File) -> Sure:
    """Recognise a spreadsheet by the files in the zip."""
    if file.head[:2] != b"PK":
        return Sure.NO
    try:
        return Sure.LIKELY if _WORKBOOK in zipfile.ZipFile(io.BytesIO(file.data)).namelist() else Sure.NO
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError):
        return Sure.NO


def read(files: Sequence[File], draft: Draft) -> None:
    """Read one table per sheet."""
    read_tables((sheet for file in files for sheet in _sheets(file)), draft)


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Write one sheet. Control characters are removed."""
    openpyxl = _openpyxl()
    problems += empty_intent_losses(registry)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "intents"
    for row in (HEADER, *rows_of(registry)):
        sheet.append([_cell(text, sheet, problems) for text in row])
    out = io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as archive:
        files = {name: _DATES.sub(_CONSTANT_DATE, archive.read(name)) for name in archive.namelist()}
    return {"intents.xlsx": zip_files(files)}


def _sheets(file: File) -> Iterator[Iterator[TableRow]]:
    openpyxl = _openpyxl()
    # openpyxl unpacks whatever it is given, so dangerous archives are refused first.
    open_zip(file.data, file.place)
    try:
        # Values in place of formulas, as the author last saw them.
        book = openpyxl.load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
        sheets = {sheet.title: [list(map(_text, row)) for row in sheet.values] for sheet in book.worksheets}
    # openpyxl raises errors of many kinds for a damaged file.
    except Exception as error:
        raise InputError(f"{file.place} is not a readable spreadsheet: {error}") from error
    for title, rows in sheets.items():
        place = f"{file.place}/{title}"
        yield (TableRow(cells, Location(place, number)) for number, cells in enumerate(rows, 1))


def _text(value: Any) -> str:
    if value is None:
        return ""
    # A spreadsheet keeps whole numbers as floats, too.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _cell(text: str, sheet: Any, problems: list[Problem]) -> Any:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, WriteOnlyCell

    legal = ILLEGAL_CHARACTERS_RE.sub("", text)
    if legal != text:
        message = f"this format cannot express the control characters in “{legal}”"
        problems.append(Problem(NOWHERE, "warning", NOT_EXPRESSED, message))
    cell = WriteOnlyCell(sheet, legal)
    # As a string: otherwise text that begins with `=` becomes a formula.
    cell.data_type = "s"
    return cell


def _openpyxl() -> Any:
    return plugins.require("openpyxl", what="A spreadsheet", extra="spreadsheets")


FORMAT = Format("xlsx", "Spreadsheets", recognise, read, write, SAYS)
