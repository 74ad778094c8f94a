"""Train the network of `reading.answers` on answers to yes-or-no questions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.distill.acts import pieces_of
from intentmatch.distill.context_network import TorchNetwork, arrays, convolution_parameters, train_steps
from intentmatch.distill.corpus import StepProgress
from intentmatch.distill.messages import ORDINARY, LabelledAnswer
from intentmatch.distill.pieces import mistyped
from intentmatch.distill.student import embedded_table
from intentmatch.reading.answers import ANSWERS, Answer
from intentmatch.text.normalize import fold
from intentmatch.text.surroundings import Kind, read_surroundings

_MOST_PIECES = 48
SHARES: Mapping[Answer, float] = {
    "yes": 0.22,
    "no": 0.2,
    "unsure": 0.13,
    "conditional": 0.15,
    "value": 0.12,
    "neither": 0.18,
}
"""How many messages of a step begin with which answer."""
# Signs between two answers of one message; speech has none.
_BETWEEN = (", ", ", ", ". ", " ", " ", "! ", "... ", " - ")
_AROUND: tuple[Kind, ...] = ("greeting", "signature", "signature", "punctuation")


@dataclass(frozen=True, slots=True)
class AnswersRecipe:
    """Parameters of the training."""

    NEVER_ZERO: ClassVar[frozenset[str]] = frozenset({"width", "texts"})

    seed: int = 1
    width: int = 160
    """Numbers per piece inside the network."""
    steps: int = 8_000
    texts: int = 192
    """Messages per step."""
    joined: float = 0.25
    """Share of the messages that consist of two answers."""
    surrounded: float = 0.25
    """Share of the messages with courtesy or punctuation around them (`text.surroundings`)."""
    typos: float = 0.1
    learning_rate: float = 0.003
    decay: float = 0.02
    """Weight decay."""
    dropout: float = 0.25
    smoothing: float = 0.03
    """Share of the probability that is wanted of all answers alike, so that no word makes the network certain."""
    cut: float = 0.4
    """Share of the ordinary messages of which a word or two are left."""


def train_answers(
    answers: Sequence[LabelledAnswer], recipe: AnswersRecipe | None = None, *, progress: StepProgress | None = None
) -> dict[str, NDArray[np.float32]]:
    """Train the network and return its tensors by name."""
    recipe = recipe or AnswersRecipe()
    training = _Training(answers, recipe)
    train_steps(training.step_once, recipe.steps, progress)
    return arrays(training.weights)


def joined(first: Answer, second: Answer) -> Answer:
    """Return what two answers in one message say together.

    A request or a question beside an answer is what counts: nothing is carried out because of the word before it.
    """
    both = {first, second}
    if "value" in both and both <= {"value", "yes", "no", "conditional"}:
        return "value"
    for stronger in ("neither", "conditional", "unsure"):
        if stronger in both:
            return stronger
    return first if len(both) == 1 else "unsure"


class _Example(NamedTuple):
    pieces: NDArray[np.int32]
    answer: Answer


class _Training:
    def __init__(self, answers: Sequence[LabelledAnswer], recipe: AnswersRecipe) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self._recipe = torch, recipe
        self._surroundings = read_surroundings("train")
        table = embedded_table()
        width = recipe.width
        draw = torch.Generator().manual_seed(recipe.seed)
        weights = convolution_parameters(width, table.rows.shape[1], recipe.seed) | {
            "answers": torch.randn(2 * width, len(ANSWERS), generator=draw) * 0.05,
            "answers_bias": torch.zeros(len(ANSWERS)),
        }
        self.weights = {name: weight.requires_grad_() for name, weight in weights.items()}
        self._network = TorchNetwork(table, self.weights)
        self._optimizer = torch.optim.AdamW(
            list(self.weights.values()), recipe.learning_rate, weight_decay=recipe.decay
        )
        self._drawn = _Draws(answers)
        self._said = {fold(one.text) for one in answers if one.source != ORDINARY}
        torch.manual_seed(recipe.seed)

    def step_once(self, step: int) -> float:
        torch, recipe, w = self._torch, self._recipe, self.weights
        draw = random.Random(f"{recipe.seed} {step}")  # noqa: S311 - no secret
        numbers = np.random.default_rng((recipe.seed, step))
        examples = [self._example(draw, numbers) for _ in range(recipe.texts)]
        batch = self._network.batch([example.pieces for example in examples])
        hidden = self._network.hidden(batch, recipe.dropout)
        # The gap behind each text, whose numbers are zero, is no piece of it.
        counts = (batch.lengths - 1)[:, None]
        means = torch.segment_reduce(hidden, "sum", lengths=batch.lengths, unsafe=True) / counts
        largest = torch.segment_reduce(hidden, "max", lengths=batch.lengths, unsafe=True)
        pooled = torch.nn.functional.dropout(torch.cat([means, largest], 1), recipe.dropout)
        wanted = torch.tensor([ANSWERS.index(example.answer) for example in examples])
        loss = torch.nn.functional.cross_entropy(
            pooled @ w["answers"] + w["answers_bias"], wanted, label_smoothing=recipe.smoothing
        )
        self._optimizer.zero_grad()
        loss.backward()
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.learning_rate * min(1.0, (step + 1) / 100) * (1 - step / recipe.steps)
        self._optimizer.step()
        return float(loss.detach())

    def _example(self, draw: random.Random, numbers: np.random.Generator) -> _Example:
        recipe = self._recipe
        first = self._drawn.one(draw)
        text, answer = first.text, first.answer
        if (
            first.source == ORDINARY
            and draw.random() < recipe.cut
            and fold(cut := _words_of(text, draw)) not in self._said
        ):
            # Of all other lone words, those that no answer has are none either, but perhaps what was asked for.
            text, answer = cut, "value"
        if draw.random() < recipe.joined:
            second = self._drawn.beside(first, draw)
            text = text.rstrip(" .!?。！？؟") + draw.choice(_BETWEEN) + second.text
            answer = joined(answer, second.answer)
        if draw.random() < recipe.typos:
            text = mistyped(text, numbers)
        if draw.random() < recipe.surrounded and self._surroundings.has(first.language):
            text = self._surroundings.add(draw.choice(_AROUND), text, first.language, draw)
        return _Example(np.array(pieces_of(text)[:_MOST_PIECES], dtype=np.int32), answer)


def _words_of(text: str, draw: random.Random) -> str:
    """Return one or two words from a text; two to four letters of one without spaces."""
    words = text.strip(" .!?。！？؟").split()
    if len(words) < 3:
        start, count = draw.randrange(len(text)), draw.choice((2, 3, 4))
        return text[start : start + count].strip() or text
    start = draw.randrange(len(words))
    return " ".join(words[start : start + draw.choice((1, 1, 2))])


class _Draws:
    """Draws answers: first what they say, then a language, then a source, then one of its answers."""

    def __init__(self, answers: Sequence[LabelledAnswer]) -> None:
        self._by: dict[Answer, dict[str, dict[str, list[LabelledAnswer]]]] = {}
        for one in answers:
            self._by.setdefault(one.answer, {}).setdefault(one.language, {}).setdefault(one.source, []).append(one)
        self._kinds = [kind for kind in SHARES if kind in self._by]
        self._shares = [SHARES[kind] for kind in self._kinds]

    def one(self, draw: random.Random) -> LabelledAnswer:
        kind = draw.choices(self._kinds, self._shares)[0]
        return self._from(kind, draw.choice([*self._by[kind]]), draw)

    def beside(self, other: LabelledAnswer, draw: random.Random) -> LabelledAnswer:
        """Return an answer of the same language."""
        kinds = [kind for kind in self._kinds if other.language in self._by[kind]]
        return self._from(draw.choices(kinds, [SHARES[kind] for kind in kinds])[0], other.language, draw)

    def _from(self, kind: Answer, language: str, draw: random.Random) -> LabelledAnswer:
        lists = self._by[kind][language]
        return draw.choice(lists[draw.choice([*lists])])
