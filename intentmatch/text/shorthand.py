"""Shorthand of chats and text messages: "u" for "you", "pk" for "pourquoi".

The tables were compiled for this project from general knowledge of how people write; they are copied from no list. A
shorthand is a folded word that is no normal word of its language. Left out are
- words that messages to a shop or a bank hold: "atm" in English, "cb" (carte bancaire) in French, "plz" (Postleitzahl)
  in German, "btw" (VAT) in Dutch;
- words that careful writers use too: "asap", "wanna", "svp", "evtl";
- numbers: "2" for "to";
- words that lack only their accents.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from intentmatch.languages.tables import Table
from intentmatch.text.normalize import base_language, fold

DEFAULT = "default"
"""Key of an author's entries for every language."""

SHORTHAND: Mapping[str, Mapping[str, str]] = Table("shorthand", MappingProxyType)
"""Folded shorthand and what it stands for, by language code."""


def shorthand_of(language: str, own: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """Return the folded shorthand of a language, with an author's `own` entries by language before it.

    Entries of `own` under `default` are for every language. Regions and scripts share the table of their language: `pt`
    serves `pt-BR`. An entry that is read as it is written ("u" for "u") takes a word out of the table.
    """
    base = base_language(language)
    table = dict(SHORTHAND.get(base, {}))
    # The entries for every language first, so that those of the language win.
    for code in sorted(own, key=lambda code: code != DEFAULT):
        if code == DEFAULT or base_language(code) == base:
            table.update((fold(short), long) for short, long in own[code].items())
    return {short: long for short, long in table.items() if short != fold(long)}
