"""A list of messages with their answers: read from a paste or a CSV, sorted, filtered, written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from intentmatch.core.errors import InputError
from intentmatch.core.result import MatchResult
from intentmatch.studio.wording import verdict_in_words

MOST_MESSAGES = 5000
"""Messages of a list; a longer one is for `intentmatch match`."""

_OUT_OF_SCOPE = "out_of_scope"
_TEXT_COLUMNS = ("text", "message", "utterance", "query")
_INTENT_COLUMNS = ("intent", "label", "expected", "category")
# Cells that begin so are formulas for a spreadsheet (OWASP, "CSV Injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Asked:
    """A message of a list."""

    text: str
    expected: str | None = None
    """The intent that the list gives, or `out_of_scope`; None if it gives none."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message with its answer."""

    number: int
    """Position in the list, from 1."""
    text: str
    verdict: str
    intent: str
    """The matched intent, or the nearest one in brackets."""
    confidence: float
    nearest: str
    expected: str
    says: str = ""
    """The verdict in words, with its reason."""

    @property
    def right(self) -> str:
        """`yes` or `no` if the list has an expected intent."""
        if not self.expected:
            return ""
        answer = self.intent if self.verdict == "matched" else _OUT_OF_SCOPE
        return "yes" if answer == self.expected else "no"


COLUMNS = ("number", "text", "verdict", "intent", "confidence", "nearest", "expected", "right")
"""Columns of the table and of the exported file."""


def read(text: str) -> list[Asked]:
    """Return the messages of a paste, one a line, or of a CSV whose header names a column `text`.

    A column `intent` holds expected intents. Raises `InputError` for a list without messages, with more than
    `MOST_MESSAGES`, or with quotes that never end.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    found = _table(lines)
    if found is None:
        found = [Asked(line.strip()) for line in lines.split("\n") if line.strip()]
    if not found:
        raise InputError("there are no messages: write one per line, or a CSV with a column `text`")
    if len(found) > MOST_MESSAGES:
        raise InputError(f"the list has {len(found):,} messages; the table takes {MOST_MESSAGES:,}")
    return found


def row_of(number: int, asked: Asked, result: MatchResult) -> MessageRow:
    """Return the row of a message."""
    best = result.candidates[0] if result.candidates else None
    intent = result.intent or (f"({best.intent})" if best else "")
    value = 0.0 if best is None else best.score if best.confidence is None else best.confidence
    nearest = best.utterance.text if best is not None and best.utterance is not None else ""
    return MessageRow(
        number,
        asked.text,
        result.verdict,
        intent,
        round(value, 4),
        nearest,
        asked.expected or "",
        verdict_in_words(result)[0],
    )


def chosen(
    rows: Sequence[MessageRow], words: str = "", verdict: str = "", *, sort: str = "number", descending: bool = False
) -> list[MessageRow]:
    """Return the rows that have the words and this verdict (`wrong`: not as expected), sorted by a column."""
    wanted = words.casefold().split()

    def fits(row: MessageRow) -> bool:
        if verdict == "wrong":
            return row.right == "no" and _has(row, wanted)
        return verdict in ("", row.verdict) and _has(row, wanted)

    key = sort if sort in COLUMNS else "number"
    # The number last, so that equal rows keep their order from page to page.
    return sorted(filter(fits, rows), key=lambda row: (getattr(row, key), row.number), reverse=descending)


def to_csv(rows: Sequence[MessageRow]) -> bytes:
    """Return the rows as CSV in UTF-8. Cells that a spreadsheet would run as a formula get an apostrophe in front."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(row, column)) for column in COLUMNS] for row in rows)
    return file.getvalue().encode("utf-8", "replace")


def _has(row: MessageRow, wanted: Sequence[str]) -> bool:
    held = f"{row.text}\n{row.intent}\n{row.nearest}\n{row.expected}".casefold()
    return all(word in held for word in wanted)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _table(lines: str) -> list[Asked] | None:
    """Return the rows of a CSV; None if the first line is no header."""
    first = lines.partition("\n")[0]
    # Spreadsheets of some countries part cells by semicolons.
    delimiter = max(",;\t", key=first.count)
    header = [name.strip().strip('"').casefold() for name in first.split(delimiter)]
    text = next((name for name in _TEXT_COLUMNS if name in header), None)
    if text is None:
        return None
    intent = next((name for name in _INTENT_COLUMNS if name in header), None)
    try:
        # With our names, which are folded; the first row is skipped for that.
        table = csv.DictReader(io.StringIO(lines), fieldnames=header, delimiter=delimiter, strict=True)
        next(table)
        return [
            Asked(row[text].strip(), (row[intent] or "").strip() or None if intent else None)
            for row in table
            if (row[text] or "").strip()
        ]
    except csv.Error as error:
        raise InputError(f"the CSV is invalid: {error}; check the quotes") from None
