"""Packages of extras that take seconds to import: a test imports them, not every process that reads the test files."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class _Later:
    """A package that is imported when an attribute of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for marks on everything that a file holds
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def later(name: str, *, reason: str) -> Any:
    """Return a package that is imported when it is first used; skip the tests of the file if it is not installed."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        pytest.skip(reason, allow_module_level=True)
    return _Later(name)
