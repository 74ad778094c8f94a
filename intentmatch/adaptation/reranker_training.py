"""Train a cross-encoder on pairs of a registry's own utterances."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from intentmatch.adaptation.recipe import RerankerRecipe
from intentmatch.adaptation.reranker_pairs import Pairs
from intentmatch.adaptation.training import EXTRA, WHAT, Training
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.types import Registry, Vectors
from intentmatch.encoders import hub


def cross_encoder_of(encoder: str, device: str, folder: Path, seed: int) -> Path:
    """Write a cross-encoder with the weights of an encoder to a folder, and return the folder that holds it.

    `encoder` is a sentence-transformers model by hub name or folder. Its last layer, which turns a pair into a number,
    has random weights by the seed. Raises `InputError` if the encoder is not a transformer.
    """
    torch = plugins.require("torch", what=WHAT, extra=EXTRA)
    library = plugins.require("transformers", what=WHAT, extra=EXTRA)
    loaded = hub.load("SentenceTransformer", encoder, "cpu", what="A transformer encoder")
    transformer = getattr(loaded.model[0], "model", None) or getattr(loaded.model[0], "auto_model", None)
    if transformer is None or not hasattr(transformer, "save_pretrained"):
        raise InputError(f"{encoder} is not a transformer: name a cross-encoder to start from, --base NAME_OR_FOLDER")
    try:
        with torch.random.fork_rng(devices=[]), hub.quietly(), _without_warnings():
            transformer.save_pretrained(str(folder))
            loaded.model.tokenizer.save_pretrained(str(folder))
            # The last layer is drawn here: other weights would be another base, and a continued training another model.
            torch.manual_seed(seed)
            whole = library.AutoModelForSequenceClassification.from_pretrained(str(folder), num_labels=1)
            whole.save_pretrained(str(folder))
    except ValueError as error:
        raise InputError(f"{encoder} cannot become a cross-encoder; name one with --base ({error})") from None
    return folder


def train_reranker(
    registry: Registry,
    vectors: Vectors,
    load: Callable[[], Any],
    recipe: RerankerRecipe,
    *,
    work: Path,
    name: str = "training",
) -> Any:
    """Train the cross-encoder that `load` returns, and return it.

    `vectors` are those of the utterances by the bot's encoder, shape `(utterances, dim)`. `work` keeps the state; a
    later call with the same arguments continues from there. Raises `InputError` if there are too few utterances.
    """
    pairs = Pairs(registry, vectors, recipe)
    if pairs.messages < 2:
        raise InputError(
            "there are too few utterances to train a reranker: at least two intents need two different utterances each"
        )
    model = load()
    work.mkdir(parents=True, exist_ok=True)
    training = Training(
        model,
        _Loss(model, pairs).at,
        total=recipe.steps,
        rate=recipe.learning_rate,
        seed=recipe.seed,
        file=work / "training.safetensors",
        identity={
            "base": _digest(model),
            "recipe": asdict(recipe),
            "registry": registry.fingerprint,
            "vectors": hashlib.sha256(vectors.tobytes()).hexdigest(),
        },
    )
    training.run(name)
    return model


class _Loss:
    """The binary cross-entropy of each step's pairs."""

    def __init__(self, model: Any, pairs: Pairs) -> None:
        losses = plugins.require("sentence_transformers.cross_encoder.losses", what=WHAT, extra=EXTRA)
        self._torch = plugins.require("torch", what=WHAT, extra=EXTRA)
        self._loss, self._model, self._pairs = losses.BinaryCrossEntropyLoss(model), model, pairs

    def at(self, step: int) -> Any:
        """Return the loss of a step."""
        pairs = self._pairs.draw(step)
        labels = self._torch.tensor([float(pair.same) for pair in pairs], device=self._model.device)
        return self._loss([[pair.message for pair in pairs], [pair.utterance for pair in pairs]], labels)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Turn off the warning of transformers that the last layer is new, as it is meant to be."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _digest(model: Any) -> str:
    """Digest of the weights before the training."""
    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()
