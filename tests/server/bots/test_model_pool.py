"""Which settings let two bots share a model."""

from __future__ import annotations

from typing import Any

import pytest

from intentmatch.core.settings import Settings
from intentmatch.server.bots import model_pool
from intentmatch.server.bots.model_pool import ModelPool


class Model:
    """Anything that a weak reference can point at."""


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> ModelPool:
    """A pool whose models are cheap to load."""
    monkeypatch.setattr(model_pool, "load_encoder", lambda settings: Model())
    monkeypatch.setattr(model_pool, "load_reranker", lambda settings: Model())
    return ModelPool()


def test_same_settings_share_models(pool: ModelPool) -> None:
    encoder, reranker = pool.encoder(Settings()), pool.reranker(Settings())
    assert pool.encoder(Settings(top_k=3, fuzzy=0.5)) is encoder
    assert pool.reranker(Settings(top_k=3, fuzzy=0.5)) is reranker


def test_encoders_may_be_made_by_the_caller(pool: ModelPool) -> None:
    made = Model()
    pool = ModelPool(lambda settings: made)

    assert pool.encoder(Settings()) is made


@pytest.mark.parametrize(
    "other",
    [
        {"encoder": "onnx:a"},
        {"device": "cpu"},
        {"precision": "float16"},
        {"threads": 3},
        {"remote_seconds": 1.5},
        {"prompts": {"query": "query: "}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_of_an_encoder_are_not_mixed_up(pool: ModelPool, other: dict[str, Any]) -> None:
    encoder = pool.encoder(Settings())
    assert pool.encoder(Settings(**other)) is not encoder


@pytest.mark.parametrize("other", [{"reranker": "none"}, {"device": "cpu"}], ids=lambda settings: next(iter(settings)))
def test_settings_of_a_reranker_are_not_mixed_up(pool: ModelPool, other: dict[str, Any]) -> None:
    reranker = pool.reranker(Settings(reranker="a"))
    assert pool.reranker(Settings(**{"reranker": "a", **other})) is not reranker
