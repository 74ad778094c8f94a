"""Train the student: a table of token vectors whose sums approximate the teacher's vectors.

Reimers & Gurevych 2020, "Making Monolingual Sentence Embeddings Multilingual using Knowledge Distillation"; the student
is a table of vectors. Two more losses compare a translation with the student's own vector of its English sentence: the
distance, and a contrastive loss over the pairs of the batch (Henderson et al. 2017, "Efficient Natural Language
Response Suggestion"). A sum of tokens cannot express everything of the teacher; these losses make the error the same in
all languages.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from intentmatch.core import plugins
from intentmatch.distill.corpus import StepProgress
from intentmatch.distill.pieces import Pieces
from intentmatch.distill.recipe import Recipe
from intentmatch.distill.teacher import Half
from intentmatch.encoders import hub
from intentmatch.pieces.vectors import embedded_content
from intentmatch.runtime.block_sizes import DISTILL_DRAWN_LINES, DISTILL_PIECES
from intentmatch.storage.safetensors import tensors_within

_LAST_RATE = 0.02
_MOMENTUM, _SCALE_MEMORY = 0.9, 0.99
_STEPS_BETWEEN_SAVES = 1_000
_STEPS_BETWEEN_UPDATES = 50
_INITIAL_LINES = 262_144
_INITIAL_LENGTH = 0.3
# Share of the steps after which rows are shared: rows have converged by then, and the other steps adapt them.
_SHARED_AFTER = 0.8


class TargetLines(NamedTuple):
    """Texts to sample from, each with the English sentence that is its target."""

    pieces: Pieces
    rows: NDArray[np.int64]
    """For each text, the position of its English sentence."""
    chances: NDArray[np.float64]
    """Cumulative sum of the sampling weights of the texts."""

    def draw(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Sample the positions of `count` texts, with replacement."""
        drawn: NDArray[np.int64] = np.searchsorted(self.chances, random.random(count) * self.chances[-1], side="right")
        return drawn


class StudentData(NamedTuple):
    """Training data of a student."""

    translations: TargetLines
    sentences: TargetLines
    english: Pieces
    """Tokens of the English sentences without added typos."""
    targets: Half
    """Vector of each English sentence, shape `(sentences, dim)`."""


class TokenVectors(NamedTuple):
    """The vectors of all tokens; token p has the vector `weights[p] * rows[mapping[p]]`."""

    rows: NDArray[np.float32]
    """Shape `(rows, dim)`."""
    mapping: NDArray[np.int32]
    """Row of each token, shape `(pieces,)`."""
    weights: NDArray[np.float32]
    """Weight of each token, shape `(pieces,)`."""

    def total(self, pieces: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the sum of the vectors of these tokens, shape `(dim,)`."""
        total: NDArray[np.float32] = self.weights[pieces] @ self.rows[self.mapping[pieces]]
        return total


def embedded_table() -> TokenVectors:
    """Return the table of the embedded encoder."""
    model = tensors_within(embedded_content())
    return TokenVectors(
        model["embeddings"].astype(np.float32), model["mapping"].astype(np.int32), model["weights"].astype(np.float32)
    )


def train(
    data: StudentData,
    recipe: Recipe,
    size: int,
    file: Path,
    *,
    device: str = "auto",
    progress: StepProgress | None = None,
) -> TokenVectors:
    """Train the vectors of `size` tokens, in at most `recipe.rows` rows.

    The state is saved to `file` at intervals, and a later call with the same recipe resumes from there. Every step has
    its own random seed, so a resumed training gives the same result as an uninterrupted one.
    """
    state = _State(data, recipe, size, file, hub.device(device))
    while state.step < recipe.steps:
        if state.step == int(recipe.steps * _SHARED_AFTER):
            state.share_rows()
        losses = state.step_once()
        if progress is not None and state.step % _STEPS_BETWEEN_UPDATES == 0:
            values = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
            progress(f"training ({values})", state.step, recipe.steps)
        if state.step % _STEPS_BETWEEN_SAVES == 0 or state.step == recipe.steps:
            state.save()
    state.share_rows()  # if no step has done so
    return TokenVectors(
        state.table.cpu().numpy(), state.row_of.cpu().numpy().astype(np.int32), state.weights.cpu().numpy()
    )


class _State:
    """The student and the state of its optimizer.

    Adam (Kingma & Ba 2015) over the rows that a step uses, like torch's SparseAdam, but with one second moment per row.
    This halves the memory, and an update does not distort the direction of the gradient of a row.
    """

    def __init__(self, data: StudentData, recipe: Recipe, size: int, file: Path, device: str) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self._device = torch, torch.device(device)
        self._data, self._recipe, self._file = data, recipe, file
        self._metadata = {"recipe": json.dumps([asdict(recipe), size], sort_keys=True)}
        self._targets = torch.from_numpy(data.targets)
        saved = self._saved()
        if saved is None:
            self.step = 0
            self.table = _initial_table(data, recipe, size, self._targets).to(self._device)
            self._momentum = torch.zeros_like(self.table)
            self._scale = torch.zeros(size, 1, device=self._device)
            self._updates = torch.zeros(size, 1, device=self._device)
            self.row_of = torch.arange(size, device=self._device)
            self.weights = torch.ones(size, device=self._device)
        else:
            self.step = int(saved["step"])
            self.table, self._momentum = saved["table"], saved["momentum"]
            self._scale, self._updates = saved["scale"], saved["touched"]
            self.row_of, self.weights = saved["row_of"], saved["weights"]

    def share_rows(self) -> None:
        """Keep the rows of the most used tokens; map every other token to the kept row with the most similar direction.

        The weight of such a token is the length of its old vector along the kept row. Does nothing if all tokens have
        room, so a second call does nothing.
        """
        torch, most = self._torch, self._recipe.rows
        if len(self.table) <= most:
            return
        order = torch.argsort(self._updates[:, 0], descending=True, stable=True)
        kept = order[:most].sort().values
        rows = self.table[kept]
        directions = torch.nn.functional.normalize(rows)
        self.row_of[kept] = torch.arange(most, device=self._device)
        for batch in order[most:].split(DISTILL_PIECES):
            along, nearest = (self.table[batch] @ directions.T).max(1)
            self.row_of[batch] = nearest
            self.weights[batch] = along.clamp(min=0) / rows[nearest].norm(dim=1).clamp(min=1e-9)
        self.table, self._momentum = rows, self._momentum[kept]
        self._scale, self._updates = self._scale[kept], self._updates[kept]

    def step_once(self) -> dict[str, float]:
        """Run one training step and return the terms of its loss."""
        torch, recipe, data = self._torch, self._recipe, self._data
        random = np.random.default_rng((recipe.seed, self.step))
        drawn = data.translations.draw(recipe.pairs, random)
        others = data.sentences.draw(recipe.sentences, random)
        rows = data.translations.rows[drawn]
        parts = [
            data.translations.pieces.select(drawn),
            data.english.select(rows),
            data.sentences.pieces.select(others),
        ]
        numbers = torch.from_numpy(np.concatenate([part for part, _ in parts]).astype(np.int64)).to(self._device)
        lengths = np.concatenate([length for _, length in parts])
        kept = random.random(len(numbers), dtype=np.float32) >= recipe.dropout
        used, places = torch.unique(self.row_of[numbers], return_inverse=True)
        vectors = self.table[used].requires_grad_()
        sums = torch.nn.functional.embedding_bag(
            places,
            vectors,
            torch.from_numpy(np.cumsum(lengths) - lengths).to(self._device),
            mode="sum",
            per_sample_weights=torch.from_numpy(kept.astype(np.float32)).to(self._device) * self.weights[numbers],
        )
        losses = self._losses(
            torch.nn.functional.normalize(sums, eps=1e-6),
            np.concatenate([rows, rows, data.sentences.rows[others]]),
        )
        sum(losses.values()).backward()
        self._update(used, vectors.grad * len(sums) ** 0.5)
        self.step += 1
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def _losses(self, vectors: Any, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Compute the weighted terms of the loss; the unit rows are translations, their English, other sentences."""
        recipe, pairs = self._recipe, self._recipe.pairs
        places = self._torch.from_numpy(rows)
        targets = self._targets[places].to(self._device, self._torch.float32)
        translated, english = vectors[:pairs], vectors[pairs : 2 * pairs]
        # English sentences have the same targets as their translations, so one of the two is enough.
        distinct = self._torch.cat([self._torch.arange(pairs), self._torch.arange(2 * pairs, len(rows))])
        return {
            "teacher": (1 - (vectors * targets).sum(1)).mean(),
            "contrast": recipe.teacher_contrast
            * self._contrast(vectors[distinct], targets[distinct], places[distinct]),
            "pull": recipe.pair_pull * (1 - (translated * english).sum(1)).mean(),
            "pairs": recipe.pair_contrast
            * (
                self._contrast(translated, english, places[:pairs])
                + self._contrast(english, translated, places[:pairs])
            )
            / 2,
        }

    def _contrast(self, ours: Any, theirs: Any, places: Any) -> Any:
        """Contrastive cross-entropy of `ours` against `theirs`; rows of the same sentence are not negatives."""
        torch = self._torch
        logits = ours @ theirs.T / self._recipe.temperature
        same = (places[:, None] == places[None, :]).fill_diagonal_(False).to(self._device)
        return torch.nn.functional.cross_entropy(
            logits.masked_fill(same, -torch.inf), torch.arange(len(ours), device=self._device)
        )

    def _update(self, used: Any, gradient: Any) -> None:
        recipe = self._recipe
        rate = recipe.learning_rate * (1 - self.step / recipe.steps * (1 - _LAST_RATE))
        with self._torch.no_grad():
            self._updates[used] += 1
            times = self._updates[used]
            momentum = self._momentum[used] * _MOMENTUM + gradient * (1 - _MOMENTUM)
            scale = self._scale[used] * _SCALE_MEMORY + gradient.square().mean(1, keepdim=True) * (1 - _SCALE_MEMORY)
            self._momentum[used], self._scale[used] = momentum, scale
            size = (scale / (1 - _SCALE_MEMORY**times)).sqrt() + 1e-8
            self.table[used] -= rate * momentum / (1 - _MOMENTUM**times) / size

    def save(self) -> None:
        """Save the state to the file atomically."""
        from safetensors.torch import save_file

        tensors = {
            "table": self.table,
            "momentum": self._momentum,
            "scale": self._scale,
            "touched": self._updates,
            "row_of": self.row_of,
            "weights": self.weights,
            "step": self._torch.tensor(self.step),
        }
        temporary = self._file.with_suffix(".unfinished")
        save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, temporary, self._metadata)
        temporary.replace(self._file)

    def _saved(self) -> dict[str, Any] | None:
        """Load the state of an earlier run with the same recipe, or return None."""
        if not self._file.is_file():
            return None
        try:
            with safe_open(self._file, framework="pt", device=str(self._device)) as saved:
                if saved.metadata() != self._metadata:
                    return None
                return {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118 - no mapping
        except SafetensorError:
            return None


def _initial_table(data: StudentData, recipe: Recipe, size: int, targets: Any) -> Any:
    """Initialize each token with the mean target of the texts that contain it, longer for rarer tokens."""
    import torch

    random = np.random.default_rng((recipe.seed, recipe.steps))
    sums, counts = torch.zeros(size, recipe.dim), torch.zeros(size)
    for lines in (data.translations, data.sentences):
        for _ in range(_INITIAL_LINES // DISTILL_DRAWN_LINES):
            drawn = lines.draw(DISTILL_DRAWN_LINES, random)
            numbers, lengths = lines.pieces.select(drawn)
            shares = torch.from_numpy(1 / lengths.clip(1)).float()
            shares_of_targets = targets[torch.from_numpy(lines.rows[drawn])].float() * shares[:, None]
            places, repeats = torch.from_numpy(numbers.astype(np.int64)), torch.from_numpy(lengths)
            sums.index_add_(0, places, shares_of_targets.repeat_interleave(repeats, 0))
            counts.index_add_(0, places, shares.repeat_interleave(repeats))
    rarity = torch.log(counts.sum() / counts.clamp(min=0.5))
    return sums / (counts[:, None] + 0.5) * rarity[:, None] * _INITIAL_LENGTH
