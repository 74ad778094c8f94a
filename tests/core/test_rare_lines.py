"""Lines that would come with every call come once a minute."""

from __future__ import annotations

import time

from intentmatch.core.rare_lines import SECONDS_BETWEEN, RareLines


def test_each_kind_is_due_once_a_minute(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    lines = RareLines()

    assert [lines.due("a"), lines.due("a"), lines.due("b")] == [True, False, True]
    now[0] += SECONDS_BETWEEN + 1
    assert [lines.due("a"), lines.due("a")] == [True, False]
