"""Training the network of a static encoder, through the command line and in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from fakes import WordHashEncoder
from optional import later
from safetensors.numpy import load_file

from intentmatch.cli.commands import cli
from intentmatch.core.errors import InputError
from intentmatch.distill import ContextRecipe, Corpus, distill_context, read_corpus, read_recipe
from intentmatch.distill.context_network import TorchNetwork, parameters, save_network
from intentmatch.distill.export import save_model
from intentmatch.distill.recipe import write_recipe
from intentmatch.distill.student import TokenVectors
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, train_tokenizer
from intentmatch.encoders.checksums import check_checksums
from intentmatch.encoders.context import FILE
from intentmatch.encoders.static import StaticEncoder
from intentmatch.text.refusals import negated

torch = later("torch", reason="needs the extra [distill]")


@pytest.fixture
def recipe() -> ContextRecipe:
    """A recipe for the toy corpus."""
    return ContextRecipe(width=8, steps=30, sentences=16, pairs=8, most_sentences=60, most_pairs=60, learning_rate=0.01)


@pytest.fixture
def model(toy: Corpus, small: Any, tmp_path: Path) -> Path:
    """A static encoder with random rows."""
    tokenizer = train_tokenizer(toy, small, None)
    pieces = {piece: number for number, (piece, _) in enumerate(tokenizer["model"]["vocab"])}
    random = np.random.default_rng(0)
    rows = random.standard_normal((len(pieces), small.dim)).astype(np.float32)
    table = TokenVectors(rows, np.arange(len(pieces), dtype=np.int32), np.ones(len(pieces), dtype=np.float32))
    save_model(tmp_path / "model", table, tokenizer, {pieces[name] for name in (PADDING, UNKNOWN, SPACE)})
    return tmp_path / "model"


Trained = Callable[..., dict[str, Any]]


@pytest.fixture
def trained(toy: Corpus, model: Path, tmp_path: Path) -> Trained:
    """Trains a network of the model and returns its tensors."""

    def train(recipe: ContextRecipe, work: str = "work") -> dict[str, Any]:
        return load_file(distill_context(toy, WordHashEncoder(), model, recipe, work=tmp_path / work))

    return train


def test_command_writes_the_network_into_the_folder_of_the_model(
    toy_files: tuple[Path, Path], recipe: ContextRecipe, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intentmatch.encoders.load_encoder", lambda settings: WordHashEncoder())
    write_recipe(tmp_path / "small.yaml", recipe)
    before = StaticEncoder(model)
    words = ["distill-context", model, "--teacher", "fake", "--pairs", toy_files[0], "--english", toy_files[1]]

    done = CliRunner().invoke(cli, [*map(str, words), "--recipe", str(tmp_path / "small.yaml")], catch_exceptions=False)

    after = StaticEncoder(model)
    assert done.exit_code == 0, done.output
    assert f"{model / FILE}: 0.0 MB" in done.output.replace("\n", "")
    assert after.fingerprint != before.fingerprint
    assert after.salience([10, 11]) is not None
    assert read_recipe(model / "context.yaml", ContextRecipe) == recipe
    check_checksums(model)


def test_training_draws_requests_and_their_surroundings_together(
    trained: Trained, toy: Corpus, recipe: ContextRecipe, model: Path
) -> None:
    bare, around = list(toy.sentences[:50]), [f"hello {text} thanks" for text in toy.sentences[:50]]

    def similarity() -> float:
        encoder = StaticEncoder(model)
        return float((encoder.encode(bare) * encoder.encode(around)).sum(1).mean())

    before = similarity()
    trained(replace(recipe, steps=80))

    assert similarity() > before + 0.05


def test_interrupted_training_gives_the_same_network(
    trained: Trained, recipe: ContextRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trained(recipe, "whole")
    monkeypatch.setattr("intentmatch.distill.context_training._STEPS_BETWEEN_SAVES", 10)
    monkeypatch.setattr("intentmatch.distill.context_training._Training.tensors", lambda self: 1 / 0)
    steps = 0

    def stop_after_20(self: Any) -> dict[str, float]:
        nonlocal steps
        steps += 1
        if steps > 20:
            raise KeyboardInterrupt
        return original(self)

    from intentmatch.distill.context_training import _Training

    original = _Training.step_once
    with monkeypatch.context() as patched:
        patched.setattr(_Training, "step_once", stop_after_20)
        with pytest.raises(KeyboardInterrupt):
            trained(recipe, "stopped")
    monkeypatch.undo()
    resumed = trained(recipe, "stopped")

    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


def test_other_recipe_starts_anew(trained: Trained, recipe: ContextRecipe) -> None:
    first = trained(recipe)
    other = trained(replace(recipe, typos=0.0))

    assert not np.array_equal(first["first"], other["first"])


def test_numpy_gives_the_vectors_of_torch(model: Path) -> None:
    """The network is trained by torch and run by numpy."""
    tensors = load_file(model / "model.safetensors")
    pieces, dim = len(tensors["embeddings"]), tensors["embeddings"].shape[1]
    weights = {
        name: torch.randn(value.shape, generator=torch.Generator().manual_seed(1)) / 4
        for name, value in parameters(8, dim, 1).items()
    }
    save_network(model / FILE, {name: value.numpy() for name, value in weights.items()})
    rounded = {name: value.half().float() for name, value in weights.items()}
    table = TokenVectors(
        tensors["embeddings"].astype(np.float32), np.arange(pieces, dtype=np.int32), tensors["weights"]
    )
    network = TorchNetwork(table, rounded)
    texts = [np.array(text, dtype=np.int32) for text in ([10, 11, 12], [13], [12, 11, 10, 14, 15])]

    expected = network.vectors(network.batch(texts)).numpy()

    assert np.abs(np.array([StaticEncoder(model).vector_of(text.tolist()) for text in texts]) - expected).max() < 1e-5


def test_corpus_without_short_sentences_is_refused(model: Path, toy: Corpus, tmp_path: Path) -> None:
    silent = ContextRecipe(sentence_weights=dict.fromkeys(toy.sources, 0.0))

    with pytest.raises(InputError, match="too few texts: the network needs English sentences of 3 to 18 words"):
        distill_context(toy, WordHashEncoder(), model, silent, work=tmp_path / "work")


def test_unrelated_texts_do_not_come_nearer(trained: Trained, toy: Corpus, recipe: ContextRecipe, model: Path) -> None:
    """The length of the mean vector is how similar texts are that have nothing in common."""

    def length() -> float:
        return float(np.linalg.norm(StaticEncoder(model).encode(list(toy.sentences)).mean(0)))

    before = length()
    trained(replace(recipe, steps=80))

    assert length() < before + 0.02


def test_negated_requests_stay_apart(model: Path, tmp_path: Path) -> None:
    nouns, times = ("parcel", "letter", "ticket", "train", "doctor"), ("today", "tomorrow", "never", "upstairs")
    requests = [f"cancel the {noun} {time}" for noun in nouns for time in times]
    pairs = [f"{request}\tde\t{request[::-1]}\tmirror" for request in requests]
    (tmp_path / "requests.tsv").write_text("\n".join(pairs), encoding="utf-8")
    corpus = read_corpus([tmp_path / "requests.tsv"])
    recipe = ContextRecipe(width=8, steps=60, sentences=16, pairs=8, learning_rate=0.01, negated=16, negation=10.0)

    def nearness() -> float:
        encoder = StaticEncoder(model)
        negatives = encoder.encode([str(negated(request, "en")) for request in requests])
        return float((encoder.encode(requests) * negatives).sum(1).mean())

    before = nearness()
    distill_context(corpus, WordHashEncoder(), model, recipe, work=tmp_path / "work")

    assert nearness() < before + 0.02
