"""Slots of kind "pattern": regular expressions, searched in the message as it was received.

A pattern that backtracks without end is given up: it finds nothing, and the trace and the log say so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from intentmatch.core.types import Slot
from intentmatch.slots.message import Message, SlotHit
from intentmatch.text.regexes import compiled

if TYPE_CHECKING:
    import regex

SECONDS = 0.02
"""That one pattern may take for one message."""
SECONDS_IN_ALL = 0.1
"""That all patterns together may take for one message."""
_log = logging.getLogger(__name__)


class PatternFinder:
    """The patterns of a slot, compiled once."""

    def __init__(self, slot: Slot) -> None:
        """Raises `ExpressionError`."""
        self._slot = slot.name
        self._patterns = [compiled(pattern) for pattern in slot.patterns]

    def find(self, message: Message) -> list[SlotHit]:
        """Every match of every pattern that is not empty; of the group named "value", where a pattern has one."""
        return [hit for pattern in self._patterns for hit in self._matches(pattern, message)]

    def _matches(self, pattern: regex.Pattern[str], message: Message) -> list[SlotHit]:
        allowed = min(SECONDS, SECONDS_IN_ALL - message.seconds_on_patterns)
        began = perf_counter()
        try:
            if allowed <= 0:
                raise TimeoutError
            return list(_hits(pattern, message, allowed))
        except TimeoutError:
            remark = f"a pattern of {self._slot} took too long: {pattern.pattern}"
            message.remarks.append(remark)
            _log.warning("%s (for a message of %d characters)", remark, len(message.text))
            return []
        finally:
            message.seconds_on_patterns += perf_counter() - began


def _hits(pattern: regex.Pattern[str], message: Message, seconds: float) -> Iterator[SlotHit]:
    for match in pattern.finditer(message.text, timeout=seconds):
        span = match.span("value") if "value" in pattern.groupindex else match.span()
        start, end = span if span != (-1, -1) else match.span()
        if start < end:
            start, end = message.aligned.widened(start, end)
            yield SlotHit(start, end, message.text[start:end])
