"""Thresholds as authors write them: a number is compared with the score, a percentage with the confidence."""

from __future__ import annotations

from typing import Any

from intentmatch.core.result import Measure

Threshold = float | str
"""A number from 0 to 1, or a percentage such as "90%"."""

_RULE = "it must be a number from 0 to 1 (on the score) or a percentage from 0% to 100% (on the confidence)"


def parse_threshold(value: Any) -> Threshold:
    """Return a threshold in its plain form: a float, or a percentage such as "90%" or "92.5%".

    Raises `ValueError` for anything else.
    """
    percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        number = float(value.strip()[:-1] if percent else value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(_RULE) from None
    if isinstance(value, bool) or not 0.0 <= number <= (100.0 if percent else 1.0):
        raise ValueError(_RULE)
    # "90 %", "90.0%" and "90%" become one text, since settings are compared and hashed.
    return f"{number:.10g}%" if percent else number


def value_and_measure(threshold: Threshold) -> tuple[float, Measure]:
    """Return the number from 0 to 1 that a threshold stands for, and the measure that is compared with it.

    Raises `ValueError` if it is not a threshold.
    """
    plain = parse_threshold(threshold)
    return (float(plain[:-1]) / 100.0, "confidence") if isinstance(plain, str) else (plain, "score")
