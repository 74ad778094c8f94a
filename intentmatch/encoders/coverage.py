"""Which languages and letters an encoder covers."""

from __future__ import annotations

from collections.abc import Callable

from intentmatch.core.types import Encoder
from intentmatch.text.language_id import base_language, script


class Coverage:
    """What an encoder says of the languages it was trained on and the letters it knows, where it says anything.

    An unknown language in a known script is not found out: at 1% false alarms, neither length nor likelihood nor
    vectors of a message's pieces tell more than 7 in 100 clauses of the Universal Declaration of Human Rights in
    languages that the embedded encoder was not trained on.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._name = encoder.name
        languages: frozenset[str] | None = getattr(encoder, "languages", None)
        self._languages = None if languages is None else frozenset(map(base_language, languages))
        self._unknown: Callable[[str], str] | None = getattr(encoder, "unknown", None)

    def covers(self, code: str) -> bool:
        """Whether a language may be among them. Regions and scripts do not count: who knows `pt` reads `pt-BR`."""
        return self._languages is None or base_language(code) in self._languages

    def gap(self, text: str, language: str | None) -> str:
        """What of a cleaned message in a language is not covered, in words; "" for nothing."""
        said = []
        if language is not None and not self.covers(language):
            said.append(f"{self._name} was not trained on {language}")
        unknown = self._unknown(text) if self._unknown is not None else ""
        if unknown:
            scripts = ", ".join(sorted(set(map(script, unknown))))
            said.append(f"letters unknown to {self._name}: {len(unknown)} of {sum(map(str.isalpha, text))} ({scripts})")
        return "; ".join(said)
