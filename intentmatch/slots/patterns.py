"""Slots of kind "pattern": regular expressions, searched in the message as it was received.

They are those of the package `regex`, which reads what Python's own module does and can be told when to give up: a
pattern that backtracks without end finds nothing, and the trace and the log say so. Case makes no difference, unless a
pattern says `(?-i:...)`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from intentmatch.slots.message import Hit, Message
from intentmatch.types import Slot

SECONDS = 0.02
"""That one pattern may take for one message."""
SECONDS_IN_ALL = 0.1
"""That all patterns together may take for one message."""
MOST_LETTERS = 100_000
"""That a pattern may come to: compiling one takes time and memory in proportion."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?P<least>[0-9]{1,9})(?:,(?P<most>[0-9]{0,9}))?\}|.", re.DOTALL)
_log = logging.getLogger(__name__)


class PatternFinder:
    """The patterns of a slot, compiled once."""

    def __init__(self, slot: Slot) -> None:
        """Raises `ValueError` that says what is wrong with a pattern."""
        self._slot = slot.name
        self._patterns = [_compiled(pattern) for pattern in slot.patterns]

    def find(self, message: Message) -> list[Hit]:
        """Every match of every pattern that is not empty; of the group named "value", where a pattern has one."""
        return [hit for pattern in self._patterns for hit in self._matches(pattern, message)]

    def _matches(self, pattern: Any, message: Message) -> list[Hit]:
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


def _compiled(pattern: str) -> Any:
    import regex  # takes longer than the rest of a start, and only slots ask for it

    if (size := _size(pattern)) > MOST_LETTERS:
        raise ValueError(f"its repetitions come to {size:,} letters, and {MOST_LETTERS:,} are the most")
    try:
        return regex.compile(pattern, regex.IGNORECASE | regex.VERSION0)
    except (regex.error, ValueError, OverflowError) as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _size(pattern: str) -> int:
    """About how many letters it stands for once its counted repetitions are written out, as compiling does."""
    sizes, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        if token["least"] is not None:
            sizes[-1] += last * (max(int(token["most"] or token["least"]), 1) - 1)
            continue
        last = 1
        if token[0] == "(":
            sizes.append(0)
        elif token[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        else:
            sizes[-1] += 1
    return sum(sizes)


def _hits(pattern: Any, message: Message, seconds: float) -> Iterator[Hit]:
    for match in pattern.finditer(message.text, timeout=seconds):
        span = match.span("value") if "value" in pattern.groupindex else match.span()
        start, end = span if span != (-1, -1) else match.span()
        if start < end:
            start, end = message.aligned.widened(start, end)
            yield Hit(start, end, message.text[start:end])
