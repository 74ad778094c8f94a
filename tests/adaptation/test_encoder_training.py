"""Training an encoder, with a tiny model: what moves where, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.adaptation import encoder_training
from intentmatch.adaptation.batches import Batches
from intentmatch.adaptation.encoder_training import Base, train_encoder
from intentmatch.adaptation.losses import IntentLoss
from intentmatch.adaptation.recipe import LOSSES, EncoderRecipe
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder

RECIPE = EncoderRecipe(steps=25, learning_rate=1e-2)
ANCHORS = ("hola", "wo", "hello")


@pytest.fixture
def base(tiny_encoder: Path, settings_for: Callable[..., Settings]) -> Base:
    return base_of(tiny_encoder, settings_for(tiny_encoder))


def base_of(folder: Path, settings: Settings) -> Base:
    return Base(SentenceTransformerEncoder(str(folder), device="cpu", prompts=settings.prompts), settings)


def vectors(model: Any, texts: list[str]) -> np.ndarray:
    return model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


def contrast(found: np.ndarray, owners: tuple[int, ...]) -> float:
    """Mean cosine of two utterances of one intent, less that of two intents."""
    cosines, same = found @ found.T, np.equal.outer(owners, owners)
    return float(cosines[same].mean() - cosines[~same].mean())


@pytest.mark.parametrize("loss", LOSSES)
def test_utterances_of_an_intent_come_closer_together_and_the_base_stays(
    frames: Registry, base: Base, tmp_path: Path, loss: str
) -> None:
    texts = [line.text for line in frames.utterances]
    before = base.encoder.encode(texts)

    model = train_encoder(frames, base, replace(RECIPE, loss=loss), work=tmp_path / "work")

    assert contrast(vectors(model, texts), frames.owners) > contrast(before, frames.owners) + 0.2
    assert np.array_equal(base.encoder.encode(texts), before)


def test_losses_differ(frames: Registry, base: Base, tmp_path: Path) -> None:
    texts = ["my parcel", "cancel now"]
    cosines = {}
    for loss in LOSSES:
        model = train_encoder(frames, base, replace(RECIPE, loss=loss, steps=5), work=tmp_path / loss)
        first, second = vectors(model, texts)
        cosines[loss] = round(float(first @ second), 4)

    assert len(set(cosines.values())) == len(LOSSES), cosines


def test_unknown_loss_is_refused(frames: Registry, base: Base, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the loss 'hinge' is unknown: use one of contrastive, multiple-negatives"):
        train_encoder(frames, base, replace(RECIPE, loss="hinge"), work=tmp_path / "work")


def test_softmax_does_not_tell_intents_apart_that_share_an_utterance(base: Base, tmp_path: Path) -> None:
    """A line of two intents has both of them for neighbours, so neither is an error of the other."""
    shared = (Utterance("my parcel", "en"), Utterance("the parcel now", "en"))
    named = [Intent(name, shared, when=(name,)) for name in ("paid", "sent")]
    other = Intent("hours", (Utterance("open today", "en"), Utterance("please close", "en")))
    recipe = replace(RECIPE, loss="softmax", learning_rate=1e-6, steps=1, near=0.0)
    centres = np.eye(3, base.encoder.dim, dtype=np.float32)
    batches = Batches(Registry((*named, other)), centres, recipe)
    between = IntentLoss(base.copy().model, recipe, centres, batches.apart)
    import torch

    def of(row: int, owner: int) -> float:
        vector = torch.from_numpy(centres[row : row + 1])
        return float(between.of(vector, vector, [owner]).detach())

    scale = 1 / recipe.temperature
    assert of(2, 0) == pytest.approx(scale, rel=1e-3)
    assert of(1, 0) == pytest.approx(np.log(2), rel=1e-3)  # of no rival but the third intent


@pytest.mark.parametrize("loss", ["contrastive", "softmax"])
def test_interrupted_training_gives_the_same_model(
    frames: Registry, base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    """With dropout, and batches that are drawn anew after the interruption."""
    monkeypatch.setattr("intentmatch.adaptation.training._STEPS_BETWEEN_SAVES", 4)
    recipe = replace(RECIPE, steps=10, loss=loss)
    whole = train_encoder(frames, base, recipe, work=tmp_path / "whole")

    def interrupt(model: Any, step: int) -> str:
        if step == 7:
            raise KeyboardInterrupt
        return ""

    with pytest.raises(KeyboardInterrupt):
        train_encoder(frames, base, recipe, work=tmp_path / "work", probe=interrupt)
    seen: list[int] = []
    again = train_encoder(frames, base, recipe, work=tmp_path / "work", probe=lambda _, step: seen.append(step) or "")

    assert seen == list(range(5, 11))
    assert all(
        np.array_equal(one.detach(), other.detach())
        for one, other in zip(whole.parameters(), again.parameters(), strict=True)
    )


def test_negative_lines_move_away_from_their_intent(frames: Registry, base: Base, tmp_path: Path) -> None:
    """A line of nobody, which other intents do not push away."""
    negative = Utterance("title hello", "en")
    intents = [replace(one, negatives=(negative,)) if one.name == "human" else one for one in frames]
    texts = [negative.text, *(line.text for line in frames["human"].utterances)]

    def similarity(registry: Registry) -> float:
        model = train_encoder(registry, base, RECIPE, work=tmp_path / registry.fingerprint)
        found = vectors(model, texts)
        return float((found[1:] @ found[0]).mean())

    assert similarity(Registry(tuple(intents))) < similarity(frames) - 0.1


def test_anchors_keep_their_vectors(frames: Registry, base: Base, tmp_path: Path) -> None:
    before = base.encoder.encode(list(ANCHORS))

    def kept(name: str, anchors: tuple[str, ...]) -> float:
        model = train_encoder(frames, base, RECIPE, work=tmp_path / name, anchors=anchors)
        return float((vectors(model, list(ANCHORS)) * before).sum(axis=1).mean())

    assert kept("with", ANCHORS) > kept("without", ()) + 0.05


def test_prompts_are_trained_with_and_kept_in_the_model(
    frames: Registry, tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    """The folder of the new model does not say which model it was, so its prompts must stand in it."""
    settings = settings_for(tiny_encoder, prompts={"query": "hello ", "utterance": "title "})
    recipe = replace(RECIPE, steps=1)
    model = train_encoder(frames, base_of(tiny_encoder, settings), recipe, work=tmp_path / "work")
    model.save_pretrained(str(tmp_path / "model"), create_model_card=False)

    prompts = SentenceTransformerEncoder(str(tmp_path / "model"), device="cpu").prompts

    assert prompts == settings.prompts
    assert set(prompts.values()) != {""}


def test_titles_without_a_meaning_are_not_trained_on(
    frames: Registry, base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    batches = encoder_training.Batches

    def noted(*arguments: Any, **more: Any) -> Any:
        asked.append(more["titles"])
        return batches(*arguments, **more)

    monkeypatch.setattr(encoder_training, "Batches", noted)
    numbered = [replace(intent, name=f"faq_{number}") for number, intent in enumerate(frames)]
    named = [replace(intent, title=intent.utterances[0].text) for intent in frames]
    for registry in (Registry(tuple(numbered)), Registry(tuple(named))):
        train_encoder(registry, base, replace(RECIPE, steps=1), work=tmp_path / registry.fingerprint)

    assert asked == [False, True]


@pytest.mark.parametrize("lines", [("my parcel",), ("my parcel", "where is it")])
def test_too_few_utterances_are_refused(base: Base, tmp_path: Path, lines: tuple[str, ...]) -> None:
    """One intent with two utterances is not enough."""
    utterances = tuple(Utterance(line, "en") for line in lines)
    registry = Registry((Intent("a", utterances), Intent("b", (Utterance("my money", "en"),))))

    with pytest.raises(InputError, match="at least two intents need two different utterances"):
        train_encoder(registry, base, RECIPE, work=tmp_path / "work")
    assert not (tmp_path / "work").exists()
