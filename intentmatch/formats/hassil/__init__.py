"""Home Assistant: sentences of hassil, in folders of YAML by language, with their lists, rules, responses and tests."""

from __future__ import annotations

from intentmatch.formats.format import Feature, Format
from intentmatch.formats.hassil.reading import read, recognise
from intentmatch.formats.hassil.writing import write

_SAYS: frozenset[Feature] = frozenset(
    {
        "languages",
        "templates",
        "rules",
        "blanks",
        "responses",
        "metadata",
        "when",
        "tests",
        "lists",
        "synonyms",
        "kinds",
    }
)

FORMAT = Format("hassil", "Home Assistant: sentences of hassil", recognise, read, write, _SAYS)
