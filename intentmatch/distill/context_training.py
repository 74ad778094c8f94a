"""Train the network of a static model: the loop, the losses and the state between steps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.distill.context_network import TorchNetwork, arrays, parameters
from intentmatch.distill.context_recipe import ContextRecipe
from intentmatch.distill.corpus import ENGLISH, StepProgress
from intentmatch.distill.pieces import Pieces, mistyped
from intentmatch.distill.student import TokenVectors
from intentmatch.distill.teacher import Half
from intentmatch.text.refusals import negated
from intentmatch.text.surroundings import Surroundings, read_surroundings

_STEPS_BETWEEN_SAVES = 100
_STEPS_BETWEEN_UPDATES = 20
_WARM_UP, _LAST_RATE = 100, 0.02
_MOST_PIECES = 96
_LARGEST_GRADIENT = 1.0
# Sentences drawn from one topic, and the number of topics.
_OF_A_TOPIC, _TOPICS, _FEWEST_IN_A_TOPIC = 24, 600, 5
_ROWS = 4096
# How much farther than without the network a negated text should be from its original.
_MARGIN = 0.02


class ContextData(NamedTuple):
    """Texts to train on, cleaned."""

    sentences: Sequence[str]
    targets: Half
    """The teacher's unit vector of each sentence, shape `(sentences, teacher.dim)`."""
    translations: Sequence[str]
    languages: Sequence[str]
    """Language of each translation."""
    english: Sequence[str]
    """The English sentence of each translation."""


def train_context(
    data: ContextData,
    table: TokenVectors,
    encode: Callable[[str], list[int]],
    recipe: ContextRecipe,
    file: Path,
    *,
    progress: StepProgress | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Train the network and return its tensors by name.

    `encode` gives the known pieces of a text. The state is saved to `file` at intervals, and a later call with the same
    recipe resumes from there. Every step has its own random seed, so a resumed training gives the same result.
    """
    training = _Training(data, table, encode, recipe, file)
    while training.step < recipe.steps:
        losses = training.step_once()
        if progress is not None and training.step % _STEPS_BETWEEN_UPDATES == 0:
            values = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
            progress(f"training the network ({values})", training.step, recipe.steps)
        if training.step % _STEPS_BETWEEN_SAVES == 0 or training.step == recipe.steps:
            training.save()
    return training.tensors()


class _Training:
    """The network, its optimizer and its data."""

    def __init__(
        self,
        data: ContextData,
        table: TokenVectors,
        encode: Callable[[str], list[int]],
        recipe: ContextRecipe,
        file: Path,
    ) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self._data, self._recipe, self._file, self._encode = torch, data, recipe, file, encode
        self._words: Surroundings = read_surroundings("train")
        weights = parameters(recipe.width, table.rows.shape[1], recipe.seed)
        self._weights = {name: weight.requires_grad_() for name, weight in weights.items()}
        self._optimizer = torch.optim.AdamW(list(self._weights.values()), recipe.learning_rate, weight_decay=0.01)
        self._network = TorchNetwork(table, self._weights)
        self._sentences = Pieces.from_texts(data.sentences, encode)
        self._translations = Pieces.from_texts(data.translations, encode)
        self._english = Pieces.from_texts(data.english, encode)
        self._usable = [np.flatnonzero(self._sentences.lengths > 0)]
        self._usable.append(np.flatnonzero((self._translations.lengths > 0) & (self._english.lengths > 0)))
        self._negated = self._in_the_negative()
        self._topics = _topics(data.targets.astype(np.float32), self._usable[0], recipe.seed)
        self._targets = torch.from_numpy(data.targets)
        self._mapped = torch.from_numpy(self._mapped_targets().astype(np.float16))
        self.step = 0
        self._restore()

    def step_once(self) -> dict[str, float]:
        """Run one training step and return the terms of its loss."""
        recipe = self._recipe
        numbers = np.random.default_rng((recipe.seed, self.step))
        draw = random.Random(f"{recipe.seed} {self.step}")  # noqa: S311 - no secret
        sentences = self._drawn_sentences(numbers)
        pairs = numbers.choice(self._usable[1], recipe.pairs)
        noisy_sentences = [self._surrounded(self._data.sentences[row], ENGLISH, draw, numbers) for row in sentences]
        of_english = numbers.random(len(pairs)) < 0.3
        noisy_pairs = [
            self._surrounded(self._data.english[row], ENGLISH, draw, numbers)
            if english
            else self._surrounded(self._data.translations[row], self._data.languages[row], draw, numbers)
            for row, english in zip(pairs, of_english, strict=True)
        ]
        texts = [
            *_texts(self._sentences, sentences),
            *_texts(self._english, pairs),
            *_texts(self._translations, pairs),
            *noisy_sentences,
            *noisy_pairs,
        ]
        batch = self._network.batch(texts)
        loss = self._losses(self._network.vectors(batch), self._network.static(batch), sentences, pairs, of_english)
        if self._negated:
            loss["negation"] = recipe.negation * self._approach(numbers)
        self._optimizer.zero_grad()
        sum(loss.values()).backward()
        self._torch.nn.utils.clip_grad_norm_(list(self._weights.values()), _LARGEST_GRADIENT)
        done = self.step / recipe.steps
        for group in self._optimizer.param_groups:
            left = min(1.0, (1 - done) / recipe.decay)
            group["lr"] = (
                recipe.learning_rate * min(1.0, (self.step + 1) / _WARM_UP) * (_LAST_RATE + (1 - _LAST_RATE) * left)
            )
        self._optimizer.step()
        self.step += 1
        return {name: float(value.detach()) for name, value in loss.items()}

    def _losses(
        self,
        vectors: Any,
        static: Any,
        sentences: NDArray[np.intp],
        pairs: NDArray[np.intp],
        of_english: NDArray[np.bool_],
    ) -> dict[str, Any]:
        torch, recipe = self._torch, self._recipe
        sizes = [len(sentences), len(pairs), len(pairs), len(sentences), len(pairs)]
        own, english, translated, noisy_own, noisy_pair = vectors.split(sizes)
        rows = torch.from_numpy(sentences)
        clean_pair = torch.where(torch.from_numpy(of_english)[:, None], english, translated)
        targets = self._targets[rows].float()
        # A sentence that was drawn twice, and each beside itself, would take all of the probability.
        apart = torch.where(rows[:, None] == rows[None, :], 1e4, 0.0)
        wanted = torch.log_softmax(targets @ targets.T / recipe.temperature - apart, 1)

        def divergence(ours: Any) -> Any:
            found = torch.log_softmax(ours / recipe.temperature - apart, 1)
            return torch.nn.functional.kl_div(found, wanted, reduction="batchmean", log_target=True)

        logits = english @ translated.T / recipe.pair_temperature
        numbers = torch.from_numpy(pairs)
        logits = logits.masked_fill((numbers[:, None] == numbers[None, :]).fill_diagonal_(False), -torch.inf)
        same = torch.arange(len(pairs))
        contrast = torch.nn.functional.cross_entropy(logits, same) + torch.nn.functional.cross_entropy(logits.T, same)
        split = static.split(sizes)
        return {
            "similarities": recipe.similarities * (0.7 * divergence(own @ own.T) + 0.3 * divergence(noisy_own @ own.T)),
            "teacher": recipe.teacher * _distance(own, self._mapped[rows].float()),
            # Detached: the text with surroundings must move to the text alone, and not the other way.
            "surroundings": recipe.surroundings
            * (_distance(noisy_own, own.detach()) + _distance(noisy_pair, clean_pair.detach())),
            "pull": recipe.pull * _distance(translated, english.detach()),
            "contrast": recipe.pair_contrast * contrast,
            "spread": recipe.spread
            * sum(
                torch.relu(ours.mean(0).square().sum() - plain.mean(0).square().sum())
                for ours, plain in zip((own, english, translated), split, strict=False)
            ),
            "anchor": recipe.anchor * _distance(translated, split[2])
            + recipe.english_anchor * (_distance(own, split[0]) + _distance(english, split[1])),
        }

    def _in_the_negative(self) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Return the pieces of each text that can be negated, and of its negative."""
        if not self._recipe.negated:
            return []
        languages = [ENGLISH] * len(self._data.sentences) + list(self._data.languages)
        texts = zip([*self._data.sentences, *self._data.translations], languages, strict=True)
        pairs = [(text, negative) for text, language in texts if (negative := negated(text, language)) is not None]
        return [(self._pieces_of(text), self._pieces_of(negative)) for text, negative in pairs]

    def _approach(self, numbers: np.random.Generator) -> Any:
        """Return by how much negated texts are nearer to their originals than without the network."""
        drawn = [self._negated[row] for row in numbers.integers(len(self._negated), size=self._recipe.negated)]
        batch = self._network.batch([pieces for pair in drawn for pieces in pair])
        found, plain = self._network.vectors(batch), self._network.static(batch)
        nearer = (found[::2] * found[1::2]).sum(1) - (plain[::2] * plain[1::2]).sum(1)
        return self._torch.relu(nearer + _MARGIN).mean()

    def _drawn_sentences(self, numbers: np.random.Generator) -> NDArray[np.intp]:
        """Draw sentences of a step: some from a few topics, the others from all."""
        count, usable = self._recipe.sentences, self._usable[0]
        hard = int(count * self._recipe.topics)
        count_of_topics = min(len(self._topics), max(1, hard // _OF_A_TOPIC))
        topics = numbers.choice(len(self._topics), count_of_topics, replace=False)
        near = np.concatenate([self._topics[topic] for topic in topics])
        rows: NDArray[np.intp] = np.concatenate([numbers.choice(near, hard), numbers.choice(usable, count - hard)])
        return rows

    def _surrounded(
        self, text: str, language: str, draw: random.Random, numbers: np.random.Generator
    ) -> NDArray[np.int32]:
        if draw.random() < self._recipe.typos:
            text = mistyped(text, numbers)
        return self._pieces_of(self._words.mixed(text, language, draw))

    def _pieces_of(self, text: str) -> NDArray[np.int32]:
        return np.array(self._encode(text)[:_MOST_PIECES], dtype=np.int32)

    def _mapped_targets(self) -> NDArray[np.float32]:
        """Map the teacher's vectors into the space of the static model, by ridge regression; unit rows."""
        static = np.zeros((len(self._data.sentences), self._network.dim), dtype=np.float32)
        with self._torch.no_grad():
            for rows in np.array_split(self._usable[0], max(1, len(self._usable[0]) // _ROWS)):
                static[rows] = self._network.static(self._network.batch(_texts(self._sentences, rows))).numpy()
        teacher = self._data.targets.astype(np.float32)
        # A slight penalty keeps the solution stable where dimensions of the teacher depend on each other.
        moments = teacher.T @ teacher + len(teacher) * 1e-5 * np.eye(teacher.shape[1], dtype=np.float32)
        mapped = teacher @ np.linalg.solve(moments, teacher.T @ static)
        unit: NDArray[np.float32] = mapped / np.linalg.norm(mapped, axis=1, keepdims=True).clip(1e-9)
        return unit

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights of the network."""
        return arrays(self._weights)

    def save(self) -> None:
        """Save the state to the file atomically."""
        temporary = self._file.with_suffix(".unfinished")
        state = {"step": self.step, "weights": self._weights, "optimizer": self._optimizer.state_dict()}
        self._torch.save(state | {"recipe": json.dumps(asdict(self._recipe))}, temporary)
        # Atomically: an interruption while saving costs no more than the steps since the state before.
        temporary.replace(self._file)

    def _restore(self) -> None:
        """Load the state of an earlier run with the same recipe, if there is one."""
        if not self._file.is_file():
            return
        state = self._torch.load(self._file, weights_only=True)
        if state["recipe"] != json.dumps(asdict(self._recipe)):
            return
        self.step = state["step"]
        with self._torch.no_grad():
            for name, weight in self._weights.items():
                weight.copy_(state["weights"][name])
        self._optimizer.load_state_dict(state["optimizer"])


def _texts(pieces: Pieces, rows: NDArray[np.intp]) -> list[NDArray[np.int32]]:
    return [pieces.numbers[pieces.starts[row] : pieces.starts[row + 1]] for row in rows]


def _distance(ours: Any, theirs: Any) -> Any:
    return (1 - (ours * theirs).sum(1)).mean()


def _topics(vectors: NDArray[np.float32], usable: NDArray[np.intp], seed: int) -> list[NDArray[np.intp]]:
    """Group sentences by their nearest of a few hundred sentences drawn at random; all in one group if they are few."""
    random = np.random.default_rng(seed)
    count = min(_TOPICS, max(1, len(usable) // _OF_A_TOPIC))
    centres = vectors[random.choice(usable, count, replace=False)]
    nearest = [(vectors[rows] @ centres.T).argmax(1) for rows in np.array_split(usable, max(1, len(usable) // _ROWS))]
    groups = [usable[np.concatenate(nearest) == topic] for topic in range(count)]
    return [group for group in groups if len(group) >= _FEWEST_IN_A_TOPIC] or [usable]
