"""Settings for all tests: the user's own settings and cache are neither read nor changed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

# Several test processes share the cores (`pytest -n`): each computes with one thread. numpy reads this when imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pytest
import slow_tests

# A failing `assert` in a contract shows its values, as one in a test file does.
pytest.register_assert_rewrite("contracts")

# The same examples in every run, so that a failure always means a change in the code. For more examples, run
# pytest --hypothesis-profile=wide
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile("wide", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of `slow_tests.txt`, so that `pytest -m "not slow"` leaves them out."""
    slow = slow_tests.read()
    for item in items:
        if slow_tests.is_listed(item.nodeid, slow):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of cache folders; none is made before something is cached, which thousands of tests never do."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_cache_and_settings(monkeypatch: pytest.MonkeyPatch, _caches: Iterator[Path]) -> None:
    """Give each test a cache folder of its own and no other setting in the environment."""
    for variable in [name for name in os.environ if name.startswith("INTENTMATCH_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("INTENTMATCH_CACHE", str(next(_caches)))
