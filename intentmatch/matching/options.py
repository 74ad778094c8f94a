"""The options of one match, as one value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.core.result import MatchResult
from intentmatch.core.types import checked_language_code

_NO_TAGS: tuple[str, ...] = ()  # the same object as any other empty tuple


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """Options of one match; every field is optional."""

    language: str | None = None
    """BCP-47 code that chooses thresholds and the response; None to guess it among the registry's languages."""
    top_k: int | None = None
    """Most candidates in the result; None for the setting `top_k`."""
    allowed: Collection[str] | None = None
    """Names of the only intents that may answer, whatever their tags; None for all."""
    context: Collection[str] = _NO_TAGS
    """Active tags: an intent with `when` answers only if one of them is its own."""
    now: datetime | None = None
    """The user's local time, from which "tomorrow" counts; None for this machine's time."""
    previous: str | MatchResult | None = None
    """What the turn before was about: the name of an intent, or its result. It counts only for a message that does not
    stand alone."""

    @property
    def is_usual(self) -> bool:
        """Whether every field has its default."""
        is_without_names = self.language is None and self.allowed is None and self.previous is None
        return is_without_names and self.top_k is None and self.now is None and self.context is _NO_TAGS

    def checked(self) -> MatchOptions:
        """Return the options with the language code in its usual case.

        Raises `InputError` if `context` or `allowed` is no list of texts, `top_k` is below 1, `language` is no BCP-47
        code, `now` is no datetime or `previous` is neither a name nor a result.
        """
        if isinstance(self.context, str):
            raise InputError(f"context must be a list of tags, such as [{self.context!r}]")
        if self.context != ():
            check_argument("context", self.context, Collection[str])
        if self.allowed is not None:
            check_argument("allowed", self.allowed, Collection[str])
        if self.top_k is not None:
            check_argument("top_k", self.top_k, int)
            if self.top_k < 1:
                raise InputError(f"top_k must be 1 or more, and is {self.top_k}")
        if self.now is not None and not isinstance(self.now, datetime):
            raise InputError(f"now must be a datetime, not {type(self.now).__name__}")
        check_argument("previous", self.previous, str | MatchResult | None)
        if self.language is None:
            return self
        return replace(self, language=checked_language_code(self.language))

    @property
    def previous_intent(self) -> str | None:
        """The name of the intent of the turn before."""
        return self.previous.intent if isinstance(self.previous, MatchResult) else self.previous
