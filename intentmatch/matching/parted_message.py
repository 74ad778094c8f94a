"""A message with its parts, and what is known of them when they are decided on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from intentmatch.core.result import Candidate
from intentmatch.matching.policy import Decision
from intentmatch.reading.dialogue_acts import Acts
from intentmatch.reading.parts import MessagePart
from intentmatch.reading.text import ReadText

IS_BESIDE = 0.5
"""Probability from which a part is courtesy, a tale or a settled matter, and so stands beside a request."""


class PartedMessage(NamedTuple):
    """A message with all that decides on it."""

    text: ReadText
    whole: Decision
    """The decision on the message as one text."""
    acts: Acts
    """What the message does as one text."""
    parts: Sequence[MessagePart]
    requests: Sequence[MessagePart]
    """The parts cut at all words that join requests, if these are more."""
    read: Callable[[ReadText], Decision]
    """Decides on a part."""
    line_acts: Callable[[Candidate], Acts]
    """Tells what the nearest utterance of a candidate does."""
    denied_acts: Callable[[Candidate, MessagePart], Acts]
    """Tells what the utterance of a candidate does that a part is compared with if it denies something."""
    is_foreign: bool = False
    """Whether it is in a language without utterances."""
    by_reranker: bool = False
    """Whether a reranker decided on the message as one text; none reads the parts."""

    @property
    def stands(self) -> bool:
        """Whether the message is matched as one text, and not with a courtesy."""
        return self.whole.verdict == "matched" and self.line_acts(self.whole.ranked[0]).courtesy < IS_BESIDE
