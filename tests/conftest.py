"""Settings for all tests: the user's own settings and cache are neither read nor changed."""

from __future__ import annotations

import os

import hypothesis
import pytest

# A failing `assert` in a contract shows its values, as one in a test file does.
pytest.register_assert_rewrite("contracts")

# The same examples in every run, so that a failure always means a change in the code. For more examples, run
# pytest --hypothesis-profile=wide
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile("wide", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _own_cache_and_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give each test a cache folder of its own and no other setting in the environment."""
    for variable in [name for name in os.environ if name.startswith("INTENTMATCH_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("INTENTMATCH_CACHE", str(tmp_path_factory.mktemp("cache")))
