"""Make what costs seconds once in a run, for the tests of all processes. They only read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of this run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """Return the folder `target`; the first process makes it, and others wait. `make` writes the folder it is given."""
    import fcntl  # not on Windows, where the tests that need this are skipped

    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            aside = target.with_name(f"{target.name}.{os.getpid()}")
            make(aside)
            aside.rename(target)
    return target
