"""Estimate the share of out-of-scope messages from messages that an author has labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intentmatch.core.intervals import wilson
from intentmatch.core.settings import USUAL_SHARE, Settings
from intentmatch.core.types import Case

FEWEST = 30
"""Fewest labelled messages that a share is estimated from; the interval of fewer is wider than 30 points."""


class LabelledShare(NamedTuple):
    """Share of out-of-scope messages among labelled ones, with its 95% interval."""

    value: float
    low: float
    high: float
    cases: int

    @property
    def estimate(self) -> float:
        """The middle of the interval: no out-of-scope message among 30 does not mean that there are none."""
        return (self.low + self.high) / 2.0

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%}) of {self.cases} labelled messages"


def labelled_share(cases: Sequence[Case], fewest: int = FEWEST) -> LabelledShare | None:
    """Return the share of `cases` without an intent; None for fewer than `fewest`, which is at least 1.

    The interval is that of Wilson 1927; see `core.intervals.wilson`.
    """
    count = len(cases)
    if count < fewest:
        return None
    value = sum(case.expected is None for case in cases) / count
    return LabelledShare(value, *wilson(value, count), count)


def share_in_use(settings: Settings, labelled: LabelledShare | None) -> float:
    """Return the setting `out_of_scope_share` as a number; `labelled` is the share that was learned from tests."""
    if not isinstance(settings.out_of_scope_share, str):
        return settings.out_of_scope_share
    return USUAL_SHARE if labelled is None else labelled.estimate
