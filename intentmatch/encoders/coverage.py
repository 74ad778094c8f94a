"""Check which languages and letters an encoder covers, and how long a text it reads."""

from __future__ import annotations

from collections.abc import Callable

from intentmatch.core.types import Encoder
from intentmatch.text.language_id import script
from intentmatch.text.normalize import base_language


class Coverage:
    """Languages and letters covered by an encoder, as far as the encoder declares them.

    An unknown language in a known script is not detected. Length, likelihood and vectors of a message's pieces were
    tried: at 1% false alarms, they find at most 7% of clauses of the Universal Declaration of Human Rights in languages
    that the embedded encoder was not trained on.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._name = encoder.name
        languages: frozenset[str] | None = getattr(encoder, "languages", None)
        self._languages = None if languages is None else frozenset(map(base_language, languages))
        self._unknown: Callable[[str], str] | None = getattr(encoder, "unknown", None)
        self._beyond: Callable[[str], tuple[int, int] | None] | None = getattr(encoder, "beyond", None)

    def covers(self, code: str) -> bool:
        """Return whether a language is covered or may be. Regions and scripts do not count: `pt` covers `pt-BR`."""
        return self._languages is None or base_language(code) in self._languages

    def gap(self, text: str, language: str | None) -> str:
        """Describe what the encoder does not cover in a cleaned message; "" if it covers everything."""
        gaps = []
        if language is not None and not self.covers(language):
            gaps.append(f"{self._name} was not trained on {language}")
        unknown = self._unknown(text) if self._unknown is not None else ""
        if unknown:
            scripts = ", ".join(sorted(set(map(script, unknown))))
            gaps.append(f"letters unknown to {self._name}: {len(unknown)} of {sum(map(str.isalpha, text))} ({scripts})")
        beyond = self._beyond(text) if self._beyond is not None else None
        if beyond is not None:
            pieces, most = beyond
            gaps.append(f"the message has {pieces} pieces, and {self._name} reads the first {most}")
        return "; ".join(gaps)
