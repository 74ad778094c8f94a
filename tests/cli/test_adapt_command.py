"""`intentmatch adapt`: what it prints, its exit codes, and what it hands on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import intentmatch.adaptation
from intentmatch.adaptation import AdaptedEncoder, AdaptedReranker, BeforeAfter, EncoderRecipe, Proof, RerankerRecipe
from intentmatch.adaptation.recipe import LOSSES
from intentmatch.cli.commands import cli

YAML = """\
intents:
  status: {utterances: {en: [where is my order, track my parcel, has it been shipped yet]}}
  cancel: {utterances: {en: [cancel my order, I do not want it any more, call off my purchase]}}
"""
FIRST = BeforeAfter("first candidate", 0.9, 0.925, 0.01)
PROOF = Proof((FIRST, BeforeAfter("AUROC", 0.97, 0.96)), 1200, 300, 3, ("first candidate",))


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.yaml").write_text(YAML, encoding="utf-8")
    return tmp_path / "shop"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments of the training, which `kept` answers."""
    given: dict[str, Any] = {"kept": True, "proof": PROOF}

    def adapt(registry: Any, settings: Any, output: Path, recipe: Any, **more: Any) -> AdaptedEncoder:
        given.update(intents=len(registry), encoder=settings.encoder, recipe=recipe, **more)
        return AdaptedEncoder(given["proof"], output if given["kept"] else None)

    monkeypatch.setattr(intentmatch.adaptation, "adapt_encoder", adapt)
    return given


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["adapt", *arguments])


def test_report_and_setting_are_printed(registry: Path, asked: dict[str, Any]) -> None:
    options = ["-o", "model", "--folds", "4", "--steps", "7", "--seed", "2"]
    result = run("shop", "-e", "sentence_transformer:mini", *options)

    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert ["first", "candidate", "0.900", "0.925", "+0.025", "±", "0.010"] in rows
    assert ["AUROC", "0.970", "0.960", "-0.010"] in rows
    assert "1,200 utterances and 300 of intents that were left out, in 3 folds" in result.output
    assert "encoder=sentence_transformer:model" in result.output
    assert asked["encoder"] == "sentence_transformer:mini"
    assert asked["recipe"] == EncoderRecipe(seed=2, steps=7)
    assert (asked["folds"], asked["work"]) == (4, None)


def test_model_that_is_not_kept_fails(registry: Path, asked: dict[str, Any]) -> None:
    asked["kept"] = False

    result = run("shop", "-o", "model", "--set", "encoder=sentence_transformer:mini", "--work", "state")

    assert result.exit_code == 1
    assert "could do before (AUROC), so nothing was written" in result.stderr
    assert "first candidate" in result.stdout
    assert (asked["encoder"], asked["work"]) == ("sentence_transformer:mini", Path("state"))
    assert asked["recipe"] == EncoderRecipe()


def test_model_without_a_gain_is_not_recommended(registry: Path, asked: dict[str, Any]) -> None:
    same = Proof((FIRST._replace(after=0.9),), 1200, 300, 3, ("first candidate",))
    asked.update(kept=same.kept, proof=same)

    result = run("shop", "-o", "model", "-e", "sentence_transformer:mini")

    assert result.exit_code == 1
    assert "+0.000" in result.stdout
    assert "no more messages are answered right than before, so nothing was written" in result.stderr
    assert "use it" not in result.output


def test_gain_that_may_be_chance_is_called_so(registry: Path, asked: dict[str, Any]) -> None:
    asked["proof"] = Proof((FIRST._replace(after=0.905),), 1200, 300, 3, ("first candidate",))

    result = run("shop", "-o", "model", "-e", "sentence_transformer:mini")

    assert "The gain is within its standard error: it may be chance." in result.stdout


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_have_the_names_of_the_literature(registry: Path, asked: dict[str, Any], loss: str) -> None:
    result = run("shop", "-o", "model", "-e", "sentence_transformer:mini", "--loss", loss)

    assert result.exit_code == 0, result.output
    assert asked["recipe"] == EncoderRecipe(loss=loss)
    assert loss in run("--help").output


def test_loss_is_for_encoders(registry: Path) -> None:
    result = run("shop", "--reranker", "--loss", "triplet", "-o", "model")

    assert result.exit_code == 2
    assert "--loss is for encoders" in result.stderr


def test_embedded_encoder_is_refused(registry: Path) -> None:
    result = run("shop", "-o", "model")

    assert result.exit_code == 2
    assert "cannot be adapted" in result.stderr


def test_artefact_is_refused(registry: Path) -> None:
    (registry.parent / "shop.intentmatch").write_bytes(b"")

    result = run("shop.intentmatch", "-o", "model", "-e", "sentence_transformer:mini")

    assert result.exit_code == 2
    assert "is not YAML" in result.stderr


@pytest.mark.parametrize("wrong", [("--folds", "1"), ("--steps", "0"), ("--seed", "-1")])
def test_numbers_out_of_range_are_refused(registry: Path, wrong: tuple[str, str]) -> None:
    assert run("shop", "-o", "model", *wrong).exit_code == 2


def test_reranker_is_trained_from_a_base(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def adapt(registry: Any, settings: Any, output: Path, recipe: Any, **more: Any) -> AdaptedReranker:
        given.update(recipe=recipe, **more)
        return AdaptedReranker(PROOF, output if more["base"] else None)

    monkeypatch.setattr(intentmatch.adaptation, "adapt_reranker", adapt)
    kept = run("shop", "--reranker", "--base", "quora", "-o", "model", "--steps", "9")

    assert kept.exit_code == 0, kept.output
    assert "reranker=cross_encoder:model" in kept.output
    assert given == {"recipe": RerankerRecipe(steps=9), "base": "quora", "folds": 3, "work": None}
    lost = run("shop", "--reranker", "-o", "model")
    assert lost.exit_code == 1
    assert "answered no better with the reranker" in lost.stderr


def test_base_needs_the_reranker(registry: Path) -> None:
    result = run("shop", "--base", "quora", "-o", "model")

    assert result.exit_code == 2
    assert "--base needs --reranker" in result.stderr
