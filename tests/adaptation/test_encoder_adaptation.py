"""Adapting an encoder from start to end, with a tiny model: kept, not kept, interrupted, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intentmatch.adaptation import AdaptedEncoder, EncoderRecipe, adapt_encoder, encoder_adaptation
from intentmatch.artefact.build import build
from intentmatch.core.errors import InputError, IntentMatchError, MissingExtraError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.runtime import steps

pytestmark = pytest.mark.end_to_end

RECIPE = EncoderRecipe(steps=20, learning_rate=1e-2)


@pytest.fixture(scope="module")
def adapted(
    few_frames: Registry, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[AdaptedEncoder, list[steps.Step]]:
    """An adaptation that is kept, and its progress."""
    folder = tmp_path_factory.mktemp("adapted")
    settings = Settings(encoder=f"sentence_transformer:{tiny_encoder}", device="cpu", cache="off", scorer="cosine")
    reported: list[steps.Step] = []
    with steps.listening(reported.append):
        return adapt_encoder(few_frames, settings, folder / "model", RECIPE, folds=2), reported


def test_better_model_is_written_with_proof(adapted: tuple[AdaptedEncoder, list[steps.Step]]) -> None:
    found, _ = adapted

    assert found.folder is not None
    first = found.proof.rows[0]
    assert first.name == "first candidate"
    assert first.after > first.before + 0.2
    card = (found.folder / "README.md").read_text(encoding="utf-8")
    assert f"| first candidate | {first.before:.3f} | {first.after:.3f} |" in card
    assert "tiny-encoder, trained by `intentmatch adapt` on 72 utterances of 6 intents" in card
    assert (found.folder / "LICENSE").is_file()


def test_result_is_an_ordinary_model(adapted: tuple[AdaptedEncoder, list[steps.Step]]) -> None:
    from sentence_transformers import SentenceTransformer

    found, _ = adapted
    encoder = SentenceTransformerEncoder(str(found.folder), device="cpu")
    theirs = SentenceTransformer(str(found.folder), device="cpu").encode(["my parcel", "please cancel"])

    assert encoder.languages == {"en"}
    assert np.allclose(encoder.encode(["my parcel", "please cancel"]), theirs, atol=1e-5)


def test_unseen_messages_are_kept_and_calibrate_the_registry(
    adapted: tuple[AdaptedEncoder, list[steps.Step]], few_frames: Registry
) -> None:
    """The model has seen all utterances of the registry; only the models of the folds answered messages."""
    found, _ = adapted
    assert found.folder is not None
    encoder = SentenceTransformerEncoder(str(found.folder), device="cpu")
    settings = Settings(cache="off", scorer="cosine")
    unseen = encoder.unseen_messages
    assert unseen is not None
    assert (unseen.known.sum(), (~unseen.known).sum()) == (found.proof.messages, found.proof.out_of_scope)

    honest = build(few_frames, encoder, settings).calibration
    encoder.unseen_messages = None
    flattered = build(few_frames, encoder, settings).calibration

    assert honest.cases == len(unseen.known)
    assert flattered.cases == 2 * len(few_frames.utterances)
    assert honest.cut != flattered.cut


def test_result_can_be_exported(adapted: tuple[AdaptedEncoder, list[steps.Step]], tmp_path: Path) -> None:
    for package in ("onnx", "onnxruntime", "onnxscript"):
        pytest.importorskip(package, reason="needs the extra [onnx-export]")
    from intentmatch.encoders.onnx import OnnxEncoder
    from intentmatch.encoders.onnx_export import export_onnx

    found, _ = adapted
    exported = OnnxEncoder(export_onnx(str(found.folder), tmp_path / "onnx").folder)
    texts = ["my parcel", "please cancel"]

    assert exported.unseen_messages is not None
    assert np.allclose(
        exported.encode(texts), SentenceTransformerEncoder(str(found.folder), device="cpu").encode(texts), atol=1e-4
    )


def test_progress_names_folds_loss_and_held_out_accuracy(adapted: tuple[AdaptedEncoder, list[steps.Step]]) -> None:
    names = [step.name for step in adapted[1]]

    assert {"fold 1 of 2", "fold 2 of 2", "training on all utterances"} <= {name.partition(" (")[0] for name in names}
    assert any("(loss " in name and ", held-out accuracy " in name for name in names)


def test_state_is_removed_at_the_end(adapted: tuple[AdaptedEncoder, list[steps.Step]]) -> None:
    assert adapted[0].folder is not None
    assert [path.name for path in adapted[0].folder.parent.iterdir()] == ["model"]


def test_library_prints_nothing_between_the_lines_of_the_command(
    few_frames: Registry,
    tiny_encoder: Path,
    settings_for: Callable[..., Settings],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It shows progress bars while it writes a model."""
    found = adapt_encoder(few_frames, settings_for(tiny_encoder), tmp_path / "model", RECIPE, folds=2)

    assert found.folder is not None
    assert capfd.readouterr() == ("", "")


def test_worse_model_is_not_written(
    frames: Registry, tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    """A learning rate of 10 ruins any weights."""
    recipe = EncoderRecipe(steps=2, learning_rate=10.0)

    found = adapt_encoder(frames, settings_for(tiny_encoder), tmp_path / "model", recipe, folds=2)

    assert found.folder is None
    assert not found.proof.kept
    assert found.proof.rows[0].after < found.proof.rows[0].before
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "model.work").exists()


def test_model_that_changes_nothing_is_not_written(
    few_frames: Registry, tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    """No number is lower, and none is higher: there is no reason to use it."""
    recipe = EncoderRecipe(steps=1, learning_rate=1e-9)

    found = adapt_encoder(few_frames, settings_for(tiny_encoder), tmp_path / "model", recipe, folds=2)

    assert found.folder is None
    assert not any(row.lost or row.gained for row in found.proof.rows)


def test_interrupted_run_does_not_repeat_finished_folds(
    frames: Registry,
    tiny_encoder: Path,
    settings_for: Callable[..., Settings],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = EncoderRecipe(steps=2, learning_rate=1e-5)
    settings, trained = settings_for(tiny_encoder), []
    real = encoder_adaptation.train_encoder

    def killed(registry: Registry, *arguments: Any, name: str, **more: Any) -> Any:
        trained.append(name)
        if len(trained) == 2:
            raise KeyboardInterrupt
        return real(registry, *arguments, name=name, **more)

    whole = adapt_encoder(frames, settings, tmp_path / "whole", recipe, folds=2)
    monkeypatch.setattr(encoder_adaptation, "train_encoder", killed)
    with pytest.raises(KeyboardInterrupt):
        adapt_encoder(frames, settings, tmp_path / "model", recipe, folds=2)
    again = adapt_encoder(frames, settings, tmp_path / "model", recipe, folds=2)

    assert trained[:3] == ["fold 1 of 2", "fold 2 of 2", "fold 2 of 2"]
    assert again.proof == whole.proof


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("static", "gained nothing in measurements. Name a transformer"),
        ("static:folder", "gained nothing in measurements. Name a transformer"),
        ("onnx:folder", "Adapt the model that it was exported from"),
        ("remote:http://localhost#m", "cannot be adapted, only sentence_transformer:NAME_OR_FOLDER"),
        ("sentence_transformer", "cannot be adapted, only sentence_transformer:NAME_OR_FOLDER"),
    ],
)
def test_encoder_that_cannot_be_trained_is_refused(
    frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path, encoder: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        adapt_encoder(frames, settings_for(encoder), tmp_path / "model")


def test_existing_folder_is_refused_before_anything_is_loaded(
    frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="exists already: name a new folder"):
        adapt_encoder(frames, settings_for("sentence_transformer:nowhere"), tmp_path)


def test_registry_with_nothing_to_hold_out_is_refused(
    tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    registry = Registry((Intent("a", (Utterance("my parcel"),)), Intent("b", (Utterance("my money"),))))

    with pytest.raises(InputError, match="too few utterances to prove a model"):
        adapt_encoder(registry, settings_for(tiny_encoder), tmp_path / "model")


def test_missing_extra_is_named(
    frames: Registry, settings_for: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: False)

    with pytest.raises(MissingExtraError, match=r"intentmatch\[torch\]"):
        adapt_encoder(frames, settings_for("sentence_transformer:x"), tmp_path / "model")


def test_folder_that_cannot_be_written_is_an_error_of_ours(
    few_frames: Registry, tiny_encoder: Path, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(IntentMatchError, match="cannot be written"):
        adapt_encoder(
            few_frames, settings_for(tiny_encoder), tmp_path / "file" / "model", RECIPE, folds=2, work=tmp_path / "work"
        )
