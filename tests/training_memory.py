"""Remember what was trained, by content, for all tests and processes of a run.

Hundreds of tests build the shipped intents or the same small bot. Training is a function of its data, so that each is
trained once: results lie in a folder of the run and are read anew by each test, so that none can change another's. The
product's own cache is not involved: each test still has one of its own, cold.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from intentmatch.learning import training_cache
from intentmatch.learning.training import TrainingData


@contextmanager
def remembering(folder: Path) -> Iterator[None]:
    """Patch the two steps of training with ones that look into the folder first."""
    cross_validate, calibrate = training_cache.cross_validate_registry, training_cache.calibrated
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            training_cache,
            "cross_validate_registry",
            lambda data: _once(folder, "validated", data, lambda: cross_validate(data)),
        )
        patch.setattr(
            training_cache,
            "calibrated",
            lambda validated, data: _once(folder, "trained", data, lambda: calibrate(validated, data)),
        )
        yield


def _once(folder: Path, step: str, data: TrainingData, compute: Callable[[], Any]) -> Any:
    name = training_cache._file(folder, data, there=False)
    assert name is not None
    file = name.with_suffix(f".{step}")
    try:
        return pickle.loads(file.read_bytes())
    except FileNotFoundError:
        found = compute()
    unfinished = file.with_suffix(f".{step}-{os.getpid()}-{threading.get_ident()}")
    unfinished.write_bytes(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
    unfinished.replace(file)
    return found
