"""Training a cross-encoder with a tiny model, from the weights of an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.adaptation.recipe import RerankerRecipe
from intentmatch.adaptation.reranker_pairs import LabelledPair, Pairs
from intentmatch.adaptation.reranker_training import cross_encoder_of, train_reranker
from intentmatch.core.errors import InputError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders import hub
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.matching.reranker import CrossEncoderReranker


@pytest.fixture(scope="module")
def base(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder_of(str(tiny_encoder), "cpu", tmp_path_factory.mktemp("base") / "base", 0)


def load(folder: Path) -> Any:
    return hub.load("CrossEncoder", str(folder), "cpu", what="A cross-encoder").model


def weights(model: Any) -> dict[str, np.ndarray]:
    return {name: weight.detach().numpy() for name, weight in model.named_parameters()}


def contrast(model: Any, pairs: list[LabelledPair]) -> float:
    """Mean score of pairs of one intent, less that of pairs of different intents."""
    scores = np.array([CrossEncoderReranker(model).score(pair.message, [pair.utterance])[0] for pair in pairs])
    same = np.array([pair.same for pair in pairs])
    return float(scores[same].mean() - scores[~same].mean())


def test_cross_encoder_has_the_weights_of_the_encoder(tiny_encoder: Path, base: Path, tmp_path: Path) -> None:
    encoder = weights(SentenceTransformerEncoder(str(tiny_encoder), device="cpu").model)
    found = list(weights(load(base)).values())
    again = weights(load(cross_encoder_of(str(tiny_encoder), "cpu", tmp_path / "again", 0)))
    other = weights(load(cross_encoder_of(str(tiny_encoder), "cpu", tmp_path / "other", 1)))

    assert sum(any(np.array_equal(weight, one) for one in found) for weight in encoder.values()) >= len(encoder) - 2
    assert all(np.array_equal(one, two) for one, two in zip(found, again.values(), strict=True))
    assert any(not np.array_equal(one, two) for one, two in zip(found, other.values(), strict=True))


def test_pairs_of_one_intent_get_higher_scores_and_interruption_changes_nothing(
    few_frames: Registry, tiny_encoder: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [line.text for line in few_frames.utterances]
    vectors = SentenceTransformerEncoder(str(tiny_encoder), device="cpu").encode(texts)
    recipe = RerankerRecipe(steps=40, learning_rate=1e-2)

    model = train_reranker(few_frames, vectors, lambda: load(base), recipe, work=tmp_path / "whole")

    drawn = [pair for step in range(20) for pair in Pairs(few_frames, vectors, recipe).draw(100 + step)]
    assert contrast(model, drawn) > contrast(load(base), drawn) + 0.02

    monkeypatch.setattr("intentmatch.adaptation.training._STEPS_BETWEEN_SAVES", 15)
    from intentmatch.adaptation.training import Training

    real = Training._advance

    def interrupted(self: Training) -> None:
        if self.step == 20:
            raise KeyboardInterrupt
        real(self)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "_advance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_reranker(few_frames, vectors, lambda: load(base), recipe, work=tmp_path / "work")
    again = train_reranker(few_frames, vectors, lambda: load(base), recipe, work=tmp_path / "work")
    assert all(
        np.array_equal(one, two) for one, two in zip(weights(model).values(), weights(again).values(), strict=True)
    )


def test_too_few_utterances_are_refused(base: Path, tmp_path: Path) -> None:
    registry = Registry((Intent("a", (Utterance("my parcel"),)), Intent("b", (Utterance("my money"),))))

    with pytest.raises(InputError, match="too few utterances to train a reranker"):
        train_reranker(registry, np.eye(2, dtype=np.float32), lambda: load(base), RerankerRecipe(), work=tmp_path / "w")
