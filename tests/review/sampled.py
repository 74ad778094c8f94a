"""Sampled answers, made without a matcher."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from intentmatch.inbox.sample import SampledAnswer

START = datetime(2026, 11, 1, tzinfo=timezone.utc)


def answer(number: int, text: str | None = None, **other: Any) -> SampledAnswer:
    """Make an answer that was drawn with probability 0.5, to a message of its own unless `text` says otherwise."""
    message = f"message {number}" if text is None else text
    defaults: dict[str, Any] = {
        "language": "en",
        "verdict": "matched",
        "intent": "status",
        "nearest": ("status",),
        "confidence": 0.9,
        "probability": 0.5,
        "priority": 1.0,
        "chance": number / 1000,
        "time": START + timedelta(minutes=number),
    }
    return SampledAnswer(number, message.encode(), **{"text": message, **defaults, **other})


def judged(number: int, expected: str | None, text: str | None = None, **other: Any) -> SampledAnswer:
    """Make an answer to a message that a reviewer has judged."""
    return answer(number, text, judged="meant", expected=expected, **other)
