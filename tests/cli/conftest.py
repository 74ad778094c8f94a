"""Folders with a small registry, for tests that need no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import BOOKING, SHOP


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """A folder with two intents in two languages."""
    (tmp_path / "shop.yaml").write_text(SHOP, encoding="utf-8")
    return str(tmp_path)


@pytest.fixture
def booking(tmp_path: Path) -> str:
    """A folder with an intent that has slots."""
    (tmp_path / "booking.yaml").write_text(BOOKING, encoding="utf-8")
    return str(tmp_path)
