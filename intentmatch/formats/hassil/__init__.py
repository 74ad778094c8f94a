"""Home Assistant: hassil sentences in YAML, by language, with their lists, rules, responses and tests."""

from __future__ import annotations

from intentmatch.formats.hassil.reading import read, recognise
from intentmatch.formats.hassil.writing import write
from intentmatch.formats.kit.format import Feature, Format

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

FORMAT = Format("hassil", "Home Assistant: hassil sentences", recognise, read, write, _SAYS)
