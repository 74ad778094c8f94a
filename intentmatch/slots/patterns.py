"""Slots of kind "pattern": regular expressions, searched in the original message.

A pattern that exceeds its time limit, usually by catastrophic backtracking, finds nothing; the trace and the log note
it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import thread_time
from typing import TYPE_CHECKING

from intentmatch.core.types import Slot
from intentmatch.slots.message import Message, SlotHit
from intentmatch.text.regexes import compiled

if TYPE_CHECKING:
    import regex

SECONDS = 0.02
"""Time limit of one pattern per message."""
SECONDS_IN_ALL = 0.03
"""Time limit of all patterns together per message."""
_log = logging.getLogger(__name__)


class PatternFinder:
    """Finds matches of a slot's patterns, which are compiled once."""

    def __init__(self, slot: Slot) -> None:
        """Compile the patterns. Raises `ExpressionError`."""
        self._slot = slot.name
        self._patterns = [compiled(pattern) for pattern in slot.patterns]

    def find(self, message: Message) -> list[SlotHit]:
        """Return all non-empty matches of all patterns, or of their group "value" if they have one."""
        return [hit for pattern in self._patterns for hit in self._matches(pattern, message)]

    def _matches(self, pattern: regex.Pattern[str], message: Message) -> list[SlotHit]:
        allowed = min(SECONDS, SECONDS_IN_ALL - message.seconds_on_patterns)
        began = thread_time()  # not the time that other processes take
        try:
            # Many careless patterns may each keep to their own limit, and hold up the message together.
            if allowed <= 0:
                raise TimeoutError
            return list(_hits(pattern, message, allowed))
        except TimeoutError:
            remark = f"a pattern of slot {self._slot} timed out: {pattern.pattern}"
            message.remarks.append(remark)
            _log.warning("%s (for a message of %d characters)", remark, len(message.text))
            return []
        finally:
            message.seconds_on_patterns += thread_time() - began


def _hits(pattern: regex.Pattern[str], message: Message, seconds: float) -> Iterator[SlotHit]:
    for match in pattern.finditer(message.text, timeout=seconds):
        span = match.span("value") if "value" in pattern.groupindex else match.span()
        # The group "value" may stand in an alternative that took no part.
        start, end = span if span != (-1, -1) else match.span()
        if start < end and not _is_cut(message.text, start, end):
            start, end = message.aligned.widened(start, end)
            yield SlotHit(start, end, message.text[start:end])


def _is_cut(text: str, start: int, end: int) -> bool:
    """Return whether a number goes on before or behind a value: "K-40213" is no part of "K-402134"."""
    return any(0 < place < len(text) and text[place - 1 : place + 1].isdecimal() for place in (start, end))
