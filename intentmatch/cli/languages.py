"""`intentmatch languages`: what can be read in which language."""

from __future__ import annotations

from typing import Any

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import json_option
from intentmatch.cli.render import output
from intentmatch.core.errors import UnknownNameError

_COLUMNS = {
    "chat": "shorthand",
    "joins": "joining_words",
    "number": "cardinals",
    "ordinal": "ordinals",
    "money": "currencies",
    "temp": "degrees",
    "length": "durations",
    "time": "clock",
    "day": "moments",
}
"""Headings of the table with the section that each stands for."""


@cli.command("languages")
@click.argument("code", metavar="[LANGUAGE]", required=False)
@json_option
def languages_(code: str | None, as_json: bool) -> None:
    """List what is read in which language.

    The table shows shorthand of chats, words that join requests, numbers and ordinals in words, currencies, degrees,
    lengths of time, and words around times and days. Digits are read in every language. The last column is the
    percentage of sentences whose nearest English sentence, for the embedded encoder, is their translation. With
    LANGUAGE, all sections of its file are listed with an example each, and those that it lacks.

    \b
    Examples:
      intentmatch languages
      intentmatch languages pl
      intentmatch languages --json
    """
    from intentmatch.languages.packages import packaged_languages
    from intentmatch.languages.tables import codes

    for language, why in packaged_languages().left_out.items():
        if code in (None, language):
            output.say(f"warning: {why}", err=True)
    if code is not None and code not in codes():
        raise UnknownNameError("language", code, codes(), "Digits are read in every language.")
    if as_json:
        for one in [code] if code else codes():
            output.as_json(_row(one))
    elif code:
        _show(code)
    else:
        rows = [_row(one) for one in codes()]
        cells = [["yes" if section in row["sections"] else "-" for section in _COLUMNS.values()] for row in rows]
        output.table(
            ["code", "language", *_COLUMNS, "encoder"],
            [
                [row["code"], row["name"], *line, "-" if row["measured"] is None else f"{row['measured']:.1f}"]
                for row, line in zip(rows, cells, strict=True)
            ],
        )


def _row(code: str) -> dict[str, Any]:
    from intentmatch.languages.measured import measured
    from intentmatch.languages.sections import SECTIONS
    from intentmatch.languages.tables import read_section, sections_of

    has = [name for name in SECTIONS if name in sections_of(code)]
    lacks = [name for name in SECTIONS if name not in has]
    name = (read_section(code, "names") or code).split()[0].title()
    return {"code": code, "name": name, "sections": has, "lacks": lacks, "measured": measured().get(code)}


def _show(code: str) -> None:
    from intentmatch.languages.sections import SECTIONS
    from intentmatch.languages.tables import read_section, sections_of

    examples = read_section(code, "examples") or {}
    rows = []
    for name in SECTIONS:
        first = next(iter(examples[name]["finds"].items()), ()) if name in examples else ()
        rows.append([name, "yes" if name in sections_of(code) else "-", ": ".join(first)])
    output.table(["section", "has", "example"], rows)
