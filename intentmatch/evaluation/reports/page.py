"""The frame of a report's HTML page: table of contents, sections with anchors, tables that sort and filter.

Everything is in one file. The script only adds to the tables what reading does not need: the page is whole without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
# A dash or nothing may stand in a column of numbers.
_NUMBER = re.compile(r"[+-]?\d[\d,.]*(?: ?%| µs)?|–|")


class Section(NamedTuple):
    """A section of a page: its title, its HTML, and sections inside it."""

    title: str
    body: str
    parts: tuple[Section, ...] = ()


def page(title: str, intro: str, sections: Sequence[Section]) -> str:
    """Render a complete page: the HTML `intro`, a table of contents, and the sections."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    names = _Anchors()
    rendered = [_section(section, names, 2) for section in sections]
    links = "".join(link for link, _ in rendered)
    contents = f'<nav aria-label="Contents"><h2>Contents</h2><ul>{links}</ul></nav>' if sections else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{style}</style></head>\n"
        f"<body><header>{intro}</header>{contents}<main>{''.join(html for _, html in rendered)}</main>"
        f"<script>\n{script}</script></body></html>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    """Render a paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table of plain text. On a phone, each row becomes a card with the headers before their cells."""
    rows = list(rows)
    columns = [[row[column] for row in rows] for column in range(len(head))]
    numeric = [any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells) for cells in columns]
    kinds = [' class="n"' if number else "" for number in numeric]
    top = "".join(f'<th scope="col"{kind}>{escape(cell)}</th>' for cell, kind in zip(head, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{kind} data-label="{escape(name)}">{_isolated(cell)}</td>'
            for name, cell, kind in zip(head, row, kinds, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _isolated(text: str) -> str:
    """Escape a text; one in another script keeps its own direction without turning its neighbours round."""
    return escape(text) if text.isascii() else f'<span dir="auto">{escape(text)}</span>'


class _Anchors:
    """Gives each title an anchor of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, title: str) -> str:
        # Without what follows a colon: a count there would end the links to the section with each report.
        name = re.sub(r"[^a-z0-9]+", "-", title.partition(":")[0].lower()).strip("-") or "part"
        number, anchor = 1, name
        # Both parts of a report have a section of the same name.
        while anchor in self._taken:
            number += 1
            anchor = f"{name}-{number}"
        self._taken.add(anchor)
        return anchor


def _section(section: Section, names: _Anchors, level: int) -> tuple[str, str]:
    """Return the entry in the table of contents, and the section."""
    anchor, title = names.new(section.title), escape(section.title)
    rendered = [_section(part, names, level + 1) for part in section.parts]
    inner = "".join(link for link, _ in rendered)
    link = f'<li><a href="#{anchor}">{title}</a>{f"<ul>{inner}</ul>" if inner else ""}</li>'
    here = f'<a class="anchor" href="#{anchor}" aria-label="Link to {title}">#</a>'
    heading = f'<h{level} id="{anchor}">{title} {here}</h{level}>'
    return link, f"<section>{heading}{section.body}{''.join(html for _, html in rendered)}</section>"
