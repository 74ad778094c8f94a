"""A match result as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intentmatch.core.result import MatchResult

_SHOWN = 5


def result_html(result: MatchResult) -> str:
    """Return the message, the verdict and the best candidates as HTML. Every text is escaped."""
    decided = result.intent or result.verdict.replace("_", " ")
    rows = [
        f"<tr><td>{escape(each.intent)}</td><td>{escape(each.measured)}</td>"
        f"<td>{escape(each.utterance.text if each.utterance else '')}</td></tr>"
        for each in result.candidates[:_SHOWN]
    ]
    found = "".join(f"<li>{escape(one.slot)}: {escape(one.shown)}</li>" for one in result.entities)
    table = (
        "<table><thead><tr><th>candidate</th><th>confidence or score</th><th>nearest utterance</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return (
        f"<div><p><q>{escape(result.message)}</q> → <strong>{escape(decided)}</strong></p>"
        f"<p>{escape(result.trace.reason)}</p>{f'<ul>{found}</ul>' if found else ''}{table if rows else ''}</div>"
    )
