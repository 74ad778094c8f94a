"""Refuse texts that are no line of an author by their form: markup, templates, several lines, another language."""

from __future__ import annotations

import re

from intentmatch.pieces.languages import piece_languages
from intentmatch.text.normalize import base_language, clean, fold
from intentmatch.text.redact import WORDS, redact

MOST_CHARACTERS = 200
"""Characters of a line; authors' lines of all development sets are shorter but for one in a thousand."""

# Marks of templates and slots, of code and HTML.
_MARKS = re.compile(r"[{}\[\]<>|`\\]|\$\w|%\w\b|\(\s*\w+\s*/|__|\*\*")
# Items of a list, keys of YAML or JSON, comments, document marks.
_MARKUP = re.compile(
    r"\s*(?:[-*•#&!>]\s|[-=]{3}|\d{1,2}[.)]\s|\""
    r"|(?:\w+_\w+|version|language|intents|utterances|title|text|message|lines?)\s*:(?:\s|$))",
    re.I,
)
# A line is taken for another language if it is likelier by so many nats. Of the 2,992 shipped lines in 15 languages,
# .8% are; of shipped lines under the code of a related language (es as pt, en as de, nl as de, pl as ru), 92 to 99%.
_CLEARLY = 4.0


def flaw_of(text: str, language: str | None) -> str | None:
    """Return what is wrong with a proposed line, in words; None if it could be one.

    `language` is the BCP-47 code that the line should be in; None for any.
    """
    if not fold(text):
        return "it has no words"
    if len(text) > MOST_CHARACTERS:
        return f"it is longer than {MOST_CHARACTERS} characters"
    if not text.isprintable():
        return "it has several lines or control characters"
    if _MARKS.search(text) or _MARKUP.match(text):
        return "it is a template or markup, not a message"
    # Models invent addresses and numbers, and repeat `WORDS`, which stand for those of the messages that they see.
    if any(word in text for word in WORDS) or redact(text) != text:
        return "it has personal data"
    other = _other_language(clean(text), language)
    return f"it reads like {other}, not {language}" if other else None


def _other_language(text: str, language: str | None) -> str | None:
    """Return the language that a text is clearly in, if that is not the wanted one; None if the wanted is unknown."""
    if language is None:
        return None
    known = piece_languages()
    # By base languages: a line in Brazilian Portuguese is no flaw in a list of `pt`.
    own = [number for number, code in enumerate(known.codes) if base_language(code) == base_language(language)]
    evidence = known.evidence_of(text)
    if evidence is None or not own:
        return None
    likely = evidence + known.prior
    best = int(likely.argmax())
    return known.codes[best] if likely[best] - likely[own].max() > _CLEARLY else None
