"""Function words that say nothing on their own: articles, conjunctions and prepositions, by language.

Missing on purpose are words that can be an answer or a request of one word, in their own or in another language of the
table: "no", "is" and "on", "da" and "si", "ya" and "na", "para" (stop!), "car" and "men", pronouns, question words and
single Latin letters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from intentmatch.languages.tables import Table
from intentmatch.text.normalize import base_language

STOP_WORDS: Mapping[str, frozenset[str]] = Table("stop_words", lambda words: frozenset(words.split()))
"""Stop words in lower case by language code."""


def stop_words(languages: Collection[str]) -> frozenset[str]:
    """Return the stop words of some languages, given as BCP-47 codes; of all languages of the table if none is given.

    Languages that the table lacks have no stop words.
    """
    codes = {base_language(code) for code in languages} or STOP_WORDS.keys()
    return frozenset().union(*(STOP_WORDS.get(code, frozenset()) for code in codes))
