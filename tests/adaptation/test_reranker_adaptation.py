"""Training a reranker from start to end, with a tiny model: kept, not kept, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from intentmatch.adaptation import AdaptedReranker, RerankerRecipe, adapt_reranker
from intentmatch.core.errors import InputError, ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher


@pytest.fixture(scope="module")
def adapted(few_frames: Registry, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> AdaptedReranker:
    """A reranker that is kept; the encoder has random weights and confuses most intents."""
    folder = tmp_path_factory.mktemp("adapted")
    settings = Settings(encoder=f"sentence_transformer:{tiny_encoder}", device="cpu", cache="off", scorer="cosine")
    recipe = RerankerRecipe(steps=30, learning_rate=1e-2)
    return adapt_reranker(few_frames, settings, folder / "model", recipe, folds=2)


def test_reranker_that_helps_is_written_with_proof(adapted: AdaptedReranker) -> None:
    assert adapted.folder is not None
    right, first = adapted.proof.rows
    assert right.name.startswith("right answers to ")
    assert right.after > right.before
    assert first.after > first.before + 0.05
    card = (adapted.folder / "README.md").read_text(encoding="utf-8")
    assert f"| {right.name} | {right.before:.3f} | {right.after:.3f} |" in card
    assert "base_model: tiny-encoder" in card
    assert "pipeline_tag: text-ranking" in card
    assert [path.name for path in adapted.folder.parent.iterdir()] == ["model"]


def test_reranker_answers_messages_in_doubt(adapted: AdaptedReranker, few_frames: Registry, tiny_encoder: Path) -> None:
    matcher = Matcher.load(
        few_frames,
        encoder=f"sentence_transformer:{tiny_encoder}",
        reranker=f"cross_encoder:{adapted.folder}",
        reranker_seconds=60,
        device="cpu",
        scorer="cosine",
        cache="off",
    )
    results = matcher.match_many(["i need the package", "undo about hello", "the agent hello"])

    assert any(stage.name == "reranker" for result in results for stage in result.trace.stages)


def test_reranker_that_does_not_help_is_not_written(
    few_frames: Registry, tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    """A learning rate of 10 ruins any weights."""
    recipe = RerankerRecipe(steps=2, learning_rate=10.0)
    settings = settings_for(tiny_encoder, scorer="cosine")

    found = adapt_reranker(few_frames, settings, tmp_path / "model", recipe, folds=2)

    assert found.folder is None
    assert not found.proof.kept
    assert not (tmp_path / "model").exists()


def test_encoder_without_weights_needs_a_base(
    few_frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="name a cross-encoder with --base"):
        adapt_reranker(few_frames, settings_for("static"), tmp_path / "model")


def test_existing_folder_is_refused(
    few_frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="exists already"):
        adapt_reranker(few_frames, settings_for("static"), tmp_path)


def test_base_that_does_not_exist_is_told(
    few_frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra [torch]")
    with pytest.raises(ModelUnavailableError, match="there is no folder"):
        adapt_reranker(few_frames, settings_for("static"), tmp_path / "model", base="./nowhere", folds=2)
