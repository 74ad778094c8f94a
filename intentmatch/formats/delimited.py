"""Delimited tables: CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from intentmatch.core.errors import Location, Problem, RegistryError
from intentmatch.core.types import Registry
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.format import Files, Format, Sure
from intentmatch.formats.kit.losses import empty_intent_losses
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tables import HEADER, SAYS, Row, columns_of, is_complete, read_tables, rows_of

_DELIMITERS = ",\t;|"
# Characters; a longer line is not a header.
_MAX_HEADER_CHARS = 1000


def recognise(file: File) -> Sure:
    """Recognise a table by the column names in its first line."""
    first = _first_line(file.lines)
    if len(first) > _MAX_HEADER_CHARS or first.lstrip()[:1] in ("{", "["):
        return Sure.NO
    if is_complete(columns_of(_cells(first, _delimiter(first)))):
        return Sure.LIKELY
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


def _rows(file: File) -> Iterator[Row]:
    text = file.text.replace("\r\n", "\n").replace("\r", "\n")
    delimiter = _delimiter(_first_line(text.split("\n")))
    # In a tab-separated table, a quote inside of a cell is text.
    quotes = None if delimiter == "\t" and '\t"' not in text else '"'
    table = csv.reader(io.StringIO(text), delimiter=delimiter, quotechar=quotes)
    line = 1
    try:
        for cells in table:
            yield Row(cells, Location(file.place, line))
            line = table.line_num + 1
    except csv.Error as error:
        problem = Problem(Location(file.place, line), "error", "csv-syntax", f"cannot be read as a table: {error}")
        raise RegistryError([problem]) from None


def _delimiter(line: str) -> str:
    """Return the delimiter that yields the most known column names, then the most cells."""
    return max(_DELIMITERS, key=lambda sign: (len(columns_of(_cells(line, sign))), line.count(sign)))


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _first_line(lines: Sequence[str]) -> str:
    return next((line for line in lines if line.strip()), "")


FORMAT = Format("csv", "Tables: CSV and TSV", recognise, read, write, SAYS)
