"""The training itself: a table of piece vectors whose sums go where the teacher puts the English sentence.

Reimers & Gurevych 2020, "Making Monolingual Sentence Embeddings Multilingual using Knowledge Distillation", with a
table of vectors for a student. Besides coming near the teacher's vector, a translation has to come near its English
sentence as the student itself sees it, and to be told by it from the other pairs of the step (Henderson et al. 2017,
"Efficient Natural Language Response Suggestion"): what a sum of pieces cannot express of the teacher, it then gets
wrong in all languages alike.
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
from intentmatch.distill.corpus import Tell
from intentmatch.distill.pieces import Pieces
from intentmatch.distill.recipe import Recipe
from intentmatch.distill.teacher import Half
from intentmatch.encoders import hub
from intentmatch.runtime.block_sizes import DISTILL_DRAWN_LINES, DISTILL_PIECES

_LAST_RATE = 0.02
_MOMENTUM, _SCALE_MEMORY = 0.9, 0.99
_STEPS_BETWEEN_SAVES = 1_000
_STEPS_BETWEEN_NEWS = 50
_LINES_FOR_A_START = 262_144
_FIRST_LENGTH = 0.3
# Rows are shared after this part of the steps: by then they lie where they belong, and the rest is for settling.
_SHARED_AFTER = 0.8


class Lines(NamedTuple):
    """Texts to draw from, each of which has to come near the target of a sentence."""

    pieces: Pieces
    rows: NDArray[np.int64]
    """For each text, the position of its sentence."""
    chances: NDArray[np.float64]
    """Running sum of the weights that the texts are drawn with."""

    def draw(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Positions of `count` texts."""
        drawn: NDArray[np.int64] = np.searchsorted(self.chances, random.random(count) * self.chances[-1], side="right")
        return drawn


class Lesson(NamedTuple):
    """All that a student learns from."""

    translations: Lines
    sentences: Lines
    english: Pieces
    """Of the sentences as they are, without typing mistakes."""
    targets: Half


class Table(NamedTuple):
    """The vectors of all pieces: that of piece p is `weights[p] * rows[mapping[p]]`."""

    rows: NDArray[np.float32]
    """Shape `(rows, dim)`."""
    mapping: NDArray[np.int32]
    """The row of each piece, shape `(pieces,)`."""
    weights: NDArray[np.float32]
    """Of each piece, likewise."""

    def total(self, pieces: NDArray[np.int32]) -> NDArray[np.float32]:
        """The sum of the vectors of some pieces."""
        total: NDArray[np.float32] = self.weights[pieces] @ self.rows[self.mapping[pieces]]
        return total


def train(
    lesson: Lesson, recipe: Recipe, size: int, file: Path, *, device: str = "auto", tell: Tell | None = None
) -> Table:
    """The vectors of `size` pieces, in at most `recipe.rows` rows.

    What is learned is left in `file` every so many steps, and a later call with the same recipe goes on from there.
    Every step draws from a seed of its own, so that a training that was stopped ends as one that was not.
    """
    state = _State(lesson, recipe, size, file, hub.device(device))
    while state.step < recipe.steps:
        if state.step == int(recipe.steps * _SHARED_AFTER):
            state.share()
        losses = state.learn()
        if tell is not None and state.step % _STEPS_BETWEEN_NEWS == 0:
            news = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
            tell(f"training ({news})", state.step, recipe.steps)
        if state.step % _STEPS_BETWEEN_SAVES == 0 or state.step == recipe.steps:
            state.save()
    state.share()  # Where there was no step to do it at.
    return Table(state.table.cpu().numpy(), state.row_of.cpu().numpy().astype(np.int32), state.weights.cpu().numpy())


class _State:
    """The student, and what its optimiser remembers.

    Adam (Kingma & Ba 2015) over the rows that a step touches, as torch's SparseAdam does it, with one second moment for
    a whole row: half the memory, and rows keep their direction.
    """

    def __init__(self, lesson: Lesson, recipe: Recipe, size: int, file: Path, device: str) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self._device = torch, torch.device(device)
        self._lesson, self._recipe, self._file = lesson, recipe, file
        self._told = {"recipe": json.dumps([asdict(recipe), size], sort_keys=True)}
        self._targets = torch.from_numpy(lesson.targets)
        saved = self._saved()
        if saved is None:
            self.step = 0
            self.table = _first_table(lesson, recipe, size, self._targets).to(self._device)
            self._momentum = torch.zeros_like(self.table)
            self._scale = torch.zeros(size, 1, device=self._device)
            self._touched = torch.zeros(size, 1, device=self._device)
            self.row_of = torch.arange(size, device=self._device)
            self.weights = torch.ones(size, device=self._device)
        else:
            self.step = int(saved["step"])
            self.table, self._momentum = saved["table"], saved["momentum"]
            self._scale, self._touched = saved["scale"], saved["touched"]
            self.row_of, self.weights = saved["row_of"], saved["weights"]

    def share(self) -> None:
        """Leave a row to the most used pieces only; each other piece takes the row that points most as its own did.

        Its weight keeps of its length what lies along that row. Nothing happens where there is room for all pieces, so
        neither does it a second time.
        """
        torch, most = self._torch, self._recipe.rows
        if len(self.table) <= most:
            return
        order = torch.argsort(self._touched[:, 0], descending=True, stable=True)
        kept = order[:most].sort().values
        rows = self.table[kept]
        directions = torch.nn.functional.normalize(rows)
        self.row_of[kept] = torch.arange(most, device=self._device)
        for some in order[most:].split(DISTILL_PIECES):
            along, nearest = (self.table[some] @ directions.T).max(1)
            self.row_of[some] = nearest
            self.weights[some] = along.clamp(min=0) / rows[nearest].norm(dim=1).clamp(min=1e-9)
        self.table, self._momentum = rows, self._momentum[kept]
        self._scale, self._touched = self._scale[kept], self._touched[kept]

    def learn(self) -> dict[str, float]:
        """One step; tells the parts of its loss."""
        torch, recipe, lesson = self._torch, self._recipe, self._lesson
        random = np.random.default_rng((recipe.seed, self.step))
        drawn = lesson.translations.draw(recipe.pairs, random)
        others = lesson.sentences.draw(recipe.sentences, random)
        rows = lesson.translations.rows[drawn]
        parts = [
            lesson.translations.pieces.select(drawn),
            lesson.english.select(rows),
            lesson.sentences.pieces.select(others),
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
            np.concatenate([rows, rows, lesson.sentences.rows[others]]),
        )
        sum(losses.values()).backward()
        self._update(used, vectors.grad * len(sums) ** 0.5)
        self.step += 1
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def _losses(self, vectors: Any, rows: NDArray[np.int64]) -> dict[str, Any]:
        """The weighted parts of the loss, of unit rows: translations, their sentences, further sentences."""
        recipe, pairs = self._recipe, self._recipe.pairs
        places = self._torch.from_numpy(rows)
        wanted = self._targets[places].to(self._device, self._torch.float32)
        translated, english = vectors[:pairs], vectors[pairs : 2 * pairs]
        # The English sides would only repeat the targets of their translations.
        apart = self._torch.cat([self._torch.arange(pairs), self._torch.arange(2 * pairs, len(rows))])
        return {
            "teacher": (1 - (vectors * wanted).sum(1)).mean(),
            "contrast": recipe.teacher_contrast * self._contrast(vectors[apart], wanted[apart], places[apart]),
            "pull": recipe.pair_pull * (1 - (translated * english).sum(1)).mean(),
            "pairs": recipe.pair_contrast
            * (
                self._contrast(translated, english, places[:pairs])
                + self._contrast(english, translated, places[:pairs])
            )
            / 2,
        }

    def _contrast(self, ours: Any, theirs: Any, places: Any) -> Any:
        """Cross-entropy of finding one's own row of `theirs`; other rows of the same sentence do not count."""
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
            self._touched[used] += 1
            times = self._touched[used]
            momentum = self._momentum[used] * _MOMENTUM + gradient * (1 - _MOMENTUM)
            scale = self._scale[used] * _SCALE_MEMORY + gradient.square().mean(1, keepdim=True) * (1 - _SCALE_MEMORY)
            self._momentum[used], self._scale[used] = momentum, scale
            size = (scale / (1 - _SCALE_MEMORY**times)).sqrt() + 1e-8
            self.table[used] -= rate * momentum / (1 - _MOMENTUM**times) / size

    def save(self) -> None:
        """Leave everything in the file, all of it or nothing."""
        from safetensors.torch import save_file

        tensors = {
            "table": self.table,
            "momentum": self._momentum,
            "scale": self._scale,
            "touched": self._touched,
            "row_of": self.row_of,
            "weights": self.weights,
            "step": self._torch.tensor(self.step),
        }
        temporary = self._file.with_suffix(".unfinished")
        save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, temporary, self._told)
        temporary.replace(self._file)

    def _saved(self) -> dict[str, Any] | None:
        """What an earlier run of the same recipe left, or None."""
        if not self._file.is_file():
            return None
        try:
            with safe_open(self._file, framework="pt", device=str(self._device)) as saved:
                if saved.metadata() != self._told:
                    return None
                return {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118 - no mapping
        except SafetensorError:
            return None


def _first_table(lesson: Lesson, recipe: Recipe, size: int, targets: Any) -> Any:
    """Each piece begins at the mean target of the texts it stands in, the longer the rarer it is."""
    import torch

    random = np.random.default_rng((recipe.seed, recipe.steps))
    sums, counts = torch.zeros(size, recipe.dim), torch.zeros(size)
    for lines in (lesson.translations, lesson.sentences):
        for _ in range(_LINES_FOR_A_START // DISTILL_DRAWN_LINES):
            drawn = lines.draw(DISTILL_DRAWN_LINES, random)
            numbers, lengths = lines.pieces.select(drawn)
            shares = torch.from_numpy(1 / lengths.clip(1)).float()
            wanted = targets[torch.from_numpy(lines.rows[drawn])].float() * shares[:, None]
            places, repeats = torch.from_numpy(numbers.astype(np.int64)), torch.from_numpy(lengths)
            sums.index_add_(0, places, wanted.repeat_interleave(repeats, 0))
            counts.index_add_(0, places, shares.repeat_interleave(repeats))
    rarity = torch.log(counts.sum() / counts.clamp(min=0.5))
    return sums / (counts[:, None] + 0.5) * rarity[:, None] * _FIRST_LENGTH
