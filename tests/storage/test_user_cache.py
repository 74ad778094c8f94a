"""The cache folder of a user, who may have no home."""

from __future__ import annotations

import platformdirs
import pytest

from intentmatch.storage.user_cache import user_cache_folder
from intentmatch.storage.vector_cache import VectorCache


def test_folder_is_below_the_home(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(tmp_path / name))

    assert user_cache_folder() == VectorCache.at("auto").folder == tmp_path / "intentmatch"


def no_home(_: str) -> str:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("answer", [no_home, lambda name: f"~/.cache/{name}"])
def test_user_without_home_has_no_folder(monkeypatch, answer):
    """Releases of platformdirs raise an error, or leave the tilde; then nothing is cached."""
    monkeypatch.setattr(platformdirs, "user_cache_dir", answer)

    assert user_cache_folder() is None
    assert VectorCache.at("auto").folder is None
