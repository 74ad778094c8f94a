"""Put a request into the negative, by language: "cancel my order" gives "please don't cancel my order"."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.languages.tables import Table
from intentmatch.text.normalize import language_range
from intentmatch.text.refusals import refusal
from intentmatch.text.rewriting import Rules, rewritten

NEGATED: Mapping[str, Rules] = Table("negated")
"""By language: rules that put a request into the negative."""


def negated(text: str, language: str) -> str | None:
    """Put a request into the negative: "cancel my order" gives "please don't cancel my order".

    None if the text is not a request of a form that the rules know.
    """
    known = next((code for code in language_range(language) if code in NEGATED), None)
    # A request that refuses already would become its own opposite.
    if known is None or refusal(text, known) is not None:
        return None
    return rewritten(text, NEGATED[known])
