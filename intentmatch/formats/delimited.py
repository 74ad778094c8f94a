"""Delimited tables: CSV and TSV, and what is pasted from a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from intentmatch.core.errors import Location, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Files, Format, Sure
from intentmatch.formats.kit.losses import empty_intent_losses
from intentmatch.formats.kit.source import STANDARD_INPUT, File
from intentmatch.formats.kit.table_layout import TableRow
from intentmatch.formats.kit.tables import HEADER, SAYS, columns_of, is_complete, read_tables, rows_of

_DELIMITERS = ",\t;|"
# Characters; a longer line is not a header.
_MAX_HEADER_CHARS = 1000
# The first line with which Excel is told the delimiter.
_HINT = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


def recognise(file: File) -> Sure:
    """Recognise a table by the column names in its first line."""
    first = next((line for line in file.lines if line.strip() and not _HINT.fullmatch(line)), "")
    # JSON has commas too, and no header.
    if len(first) > _MAX_HEADER_CHARS or first.lstrip()[:1] in ("{", "["):
        return Sure.NO
    if is_complete(columns_of(_cells(first, _delimiter(file)))):
        return Sure.LIKELY
    if file.path == STANDARD_INPUT:
        # Standard input has no suffix; what is pasted from a spreadsheet has tabs.
        return Sure.POSSIBLE if "\t" in first or (first and not file.root.is_mapping) else Sure.NO
    return Sure.POSSIBLE if file.suffix in (".csv", ".tsv") else Sure.NO


def read(files: Sequence[File], draft: Draft) -> None:
    """Read one table per file."""
    read_tables(map(_rows, files), draft)


def write(registry: Registry, problems: list[Problem]) -> Files:
    """Write one comma-separated table."""
    out = io.StringIO()
    problems += empty_intent_losses(registry)
    table = csv.writer(out, lineterminator="\n")
    table.writerow(HEADER)
    table.writerows(rows_of(registry))
    return {"intents.csv": out.getvalue()}


def _rows(file: File) -> Iterator[TableRow]:
    text = file.text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    delimiter = _delimiter(file)
    line = 1
    if _HINT.fullmatch(lines[0]):
        lines, line = lines[1:], 2
    text = "\n".join(lines)
    is_one_column = _is_one_column(lines, delimiter)
    quotes = None if delimiter == "\t" and not _are_quotes_marks(text) else '"'
    table = csv.reader(io.StringIO(text), delimiter=delimiter, quotechar=quotes)
    before = line
    try:
        for cells in table:
            # In a table of one column, delimiters are punctuation.
            yield TableRow([delimiter.join(cells)] if is_one_column else cells, Location(file.place, line))
            # Not one more for each row: a cell in quotes may hold line breaks.
            line = table.line_num + before
    except csv.Error as error:
        problem = Problem(Location(file.place, line), "error", "csv-syntax", f"cannot be read as a table: {error}")
        raise RegistryError([problem]) from None


def _are_quotes_marks(text: str) -> bool:
    """Whether quotes in a tab-separated table enclose cells, as spreadsheets write them, or are text, as people do."""
    table = csv.reader(io.StringIO(text), delimiter="\t", strict=True)
    try:
        # A cell with a tab and a line break has swallowed rows, because a quote of a text was taken for one of a cell.
        return not any("\t" in cell and "\n" in cell for cells in table for cell in cells)
    except csv.Error:
        return False


def _delimiter(file: File) -> str:
    """Return the delimiter of a file.

    It is what the file says in a line `sep=;`, or what yields known columns in the first line, or a tab, or what yields
    most cells.
    """
    lines = file.lines
    first = _first_line(lines)
    if hint := _HINT.fullmatch(first):
        return hint[1]
    if file.suffix == ".tsv" and "\t" in first:
        return "\t"
    best = max(_DELIMITERS, key=lambda sign: (len(columns_of(_cells(first, sign))), first.count(sign)))
    if is_complete(columns_of(_cells(first, best))):
        return best
    tabs, filled = sum("\t" in line for line in lines), sum(1 for line in lines if line.strip())
    return "\t" if tabs and 2 * tabs >= filled else best


def _is_one_column(lines: Sequence[str], delimiter: str) -> bool:
    """Whether the delimiter is punctuation of sentences: on few lines, or always before a space on uneven lines."""
    lines = [line for line in lines if line.strip()]
    if not lines or is_complete(columns_of(_cells(lines[0], delimiter))):
        return False
    is_rare = 2 * sum(delimiter in line for line in lines) < len(lines)
    is_uneven = len({line.count(delimiter) for line in lines}) > 1
    before_space = all(line.count(delimiter) == line.count(f"{delimiter} ") for line in lines)
    return (delimiter not in lines[0] and is_rare) or (before_space and is_uneven)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    # A cell of more than 131,072 characters, which the reader of the rows reports with its place.
    except csv.Error:
        return []


def _first_line(lines: Sequence[str]) -> str:
    return next((line for line in lines if line.strip()), "")


FORMAT = Format("csv", "Tables: CSV and TSV", recognise, read, write, SAYS)
