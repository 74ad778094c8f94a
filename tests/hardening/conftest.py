"""Attacks on every side: a short form in every run, the full length with `--full-length`."""

from __future__ import annotations

import faulthandler

import pytest


@pytest.fixture(autouse=True)
def _no_time_limit(request: pytest.FixtureRequest) -> None:
    """Let a test of full length take longer than `faulthandler_timeout`."""
    if request.config.getoption("--full-length", default=False):
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often an attack is repeated: `@pytest.mark.rounds(short, full)`."""
    mark = request.node.get_closest_marker("rounds")
    assert mark is not None, "name the rounds with @pytest.mark.rounds(short, full)"
    short, full = mark.args
    return int(full if request.config.getoption("--full-length", default=False) else short)
