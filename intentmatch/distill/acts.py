"""Train the network of `reading.dialogue_acts` on labelled messages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.distill.context_network import TorchNetwork, arrays, convolution_parameters, train_steps
from intentmatch.distill.corpus import StepProgress
from intentmatch.distill.messages import LEADS, LabelledMessage, joining_words
from intentmatch.distill.pieces import mistyped
from intentmatch.distill.student import embedded_table
from intentmatch.pieces.embedded import MAX_PIECES, embedded_tokenizer, without_unknown
from intentmatch.reading.dialogue_acts import ACTS, Act
from intentmatch.text.normalize import clean
from intentmatch.text.surroundings import Kind, read_surroundings

_MOST_PIECES = 64
_SENTENCE_MARKS = frozenset(".!?")
# How a part may end before the next one begins: most people write a sign, in chats and speech there is none.
_ENDS = (".", ".", ".", "!", ",", ",", "?", "...", " -", ";", "", "", "")
_ENDS_OF_COURTESY = ("", "", "", ",", ",", "!", ".", " -")
# Share of the parts that end with a sign or nothing, and not with a word such as "and".
_WITHOUT_WORD = 0.6
# Languages with capitals within a sentence, and share of the other parts that lose theirs behind no sentence mark.
_CAPITALS, _IN_LOWER_CASE = frozenset({"de"}), 0.8
# Share of what is put before a request that people rather say than write.
_SPOKEN = 0.4
# Axes that hold several tables side by side: for the pieces before, at and after a place, or their mean and maximum.
_BLOCKS = {"first": (1, 3), "second": (3, 1), "acts": (2, 1)}
_WITHIN_A_PART: tuple[Kind, ...] = ("number", "punctuation", "markup", "emoji")


@dataclass(frozen=True, slots=True)
class ActsRecipe:
    """Parameters of the training."""

    NEVER_ZERO: ClassVar[frozenset[str]] = frozenset({"width", "texts", "most_of_a_file"})

    seed: int = 1
    width: int = 320
    """Numbers per piece inside the network."""
    narrow: int = 64
    """Numbers through which the second convolution passes; 0 if it does not narrow."""
    steps: int = 12_000
    most_of_a_file: int = 16_000
    """Messages of logs that are drawn from each file."""
    texts: int = 192
    """Messages per step."""
    joined: float = 0.38
    """Share of the messages that consist of two or three parts."""
    courtesy: float = 0.25
    """Share of the messages with words of courtesy before them, and of those with such words after them."""
    surrounded: float = 0.2
    """Share of the parts with a number, punctuation, markup or emoji (`text.surroundings`)."""
    typos: float = 0.1
    learning_rate: float = 0.003
    decay: float = 0.02
    """Weight decay."""
    dropout: float = 0.2
    boundaries: float = 2.0
    """Weight of the loss of the boundaries."""


def read_ordinary(files: Iterable[Path], most: int, seed: int) -> list[LabelledMessage]:
    """Return messages that ask for something, at most so many of each file: JSON lines with `text` and `lang`.

    Raises `InputError` with file and line for a line that is no such message.
    """
    found = []
    for file in files:
        rows = [LabelledMessage(text, language, None, source="ordinary") for text, language, _ in _lines(file)]
        random.Random(f"{seed} {file.name}").shuffle(rows)  # noqa: S311 - no secret
        found += rows[:most]
    return found


def read_labelled(files: Iterable[Path]) -> list[LabelledMessage]:
    """Return labelled messages: JSON lines with `text`, `lang` and `act`, null for a request.

    The name of a file is the source of its messages: `messages` for those that weigh together with the package's.

    Raises `InputError` with file and line for a line that is no such message.
    """
    return [
        LabelledMessage(text, language, act, source=file.stem) for file in files for text, language, act in _lines(file)
    ]


def _lines(file: Path) -> Iterator[tuple[str, str, Act | None]]:
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            text, act = row["text"], row.get("act")
        except (ValueError, KeyError, TypeError, AttributeError):
            text, act = None, None
        if not isinstance(text, str) or act not in (None, *ACTS):
            raise InputError(
                f"{file}:{number}: not a JSON object with `text`, `lang` and one of {', '.join(ACTS)} as `act`"
            )
        yield text, str(row.get("lang") or "en"), act


def train_acts(
    messages: Sequence[LabelledMessage],
    recipe: ActsRecipe | None = None,
    *,
    start: Mapping[str, NDArray[Any]] | None = None,
    progress: StepProgress | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Train the network and return its tensors by name; `messages` are the labelled and the ordinary ones.

    A network `start` stays as it is, and what it says of the acts that it knows. Only the other acts are learned, by
    the numbers that the recipe has more (Rusu et al. 2016, "Progressive Neural Networks"). Raises `InputError` if the
    recipe has fewer, or if `start` knows all acts.
    """
    recipe = recipe or ActsRecipe()
    training = _Training(messages, recipe, start)
    train_steps(training.step_once, recipe.steps, progress)
    return arrays(training.weights)


class _Example(NamedTuple):
    pieces: NDArray[np.int32]
    lengths: list[int]
    """Number of pieces of each part."""
    acts: list[Act | None]


class _Training:
    def __init__(
        self,
        messages: Sequence[LabelledMessage],
        recipe: ActsRecipe,
        start: Mapping[str, NDArray[Any]] | None,
    ) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self._recipe = torch, recipe
        self._surroundings = read_surroundings("train")
        table = embedded_table()
        width = recipe.width
        draw = torch.Generator().manual_seed(recipe.seed)
        weights = convolution_parameters(width, table.rows.shape[1], recipe.seed, recipe.narrow) | {
            "acts": torch.randn(2 * width, len(ACTS), generator=draw) * 0.05,
            # Begins near the share of messages that do each of these, so that the first steps do not only learn how
            # rare they are.
            "acts_bias": torch.full((len(ACTS),), -2.0),
            "begins": torch.zeros(width),
            "begins_bias": torch.full((1,), -2.0),
        }
        self._kept = _keep(start, weights) if start else {}
        self.weights = {name: weight.requires_grad_() for name, weight in weights.items()}
        self._network = TorchNetwork(table, self.weights)
        self._optimizer = torch.optim.AdamW(
            list(self.weights.values()), recipe.learning_rate, weight_decay=recipe.decay
        )
        self._drawn = _Draws(messages)
        self._leads: dict[str, list[str]] = {}
        for message in messages:
            if message.source == LEADS:
                self._leads.setdefault(message.language, []).append(message.text)
        self._known: dict[str, Sequence[int]] = {}
        torch.manual_seed(recipe.seed)

    def step_once(self, step: int) -> float:
        recipe = self._recipe
        draw = random.Random(f"{recipe.seed} {step}")  # noqa: S311 - no secret
        numbers = np.random.default_rng((recipe.seed, step))
        examples = [self._example(draw, numbers) for _ in range(recipe.texts)]
        batch = self._network.batch([example.pieces for example in examples])
        hidden = self._network.hidden(batch, recipe.dropout)
        loss = self._loss_of_acts(hidden, examples) + recipe.boundaries * self._loss_of_boundaries(hidden, examples)
        self._optimizer.zero_grad()
        loss.backward()
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.learning_rate * min(1.0, (step + 1) / 100) * (1 - step / recipe.steps)
        self._optimizer.step()
        with self._torch.no_grad():
            for name, (is_kept, values) in self._kept.items():
                self.weights[name].copy_(self._torch.where(is_kept, values, self.weights[name]))
        return float(loss.detach())

    def _loss_of_acts(self, hidden: Any, examples: Sequence[_Example]) -> Any:
        torch, w = self._torch, self.weights
        # One more for the gap behind each message, which is no part and is left out below.
        lengths = torch.tensor([length for example in examples for length in (*example.lengths, 1)])
        part = torch.tensor([flag for example in examples for flag in (*[True] * len(example.lengths), False)])
        means = torch.segment_reduce(hidden, "sum", lengths=lengths, unsafe=True) / lengths[:, None]
        largest = torch.segment_reduce(hidden, "max", lengths=lengths, unsafe=True)
        pooled = torch.cat([means, largest], 1)[part]
        pooled = torch.nn.functional.dropout(pooled, self._recipe.dropout)
        wanted = torch.tensor([[float(act == one) for one in ACTS] for example in examples for act in example.acts])
        scores = pooled @ w["acts"] + w["acts_bias"]
        return torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted, reduction="sum") / len(wanted)

    def _loss_of_boundaries(self, hidden: Any, examples: Sequence[_Example]) -> Any:
        torch, w = self._torch, self.weights
        scores = hidden @ w["begins"] + w["begins_bias"]
        wanted, counts = [], []
        for example in examples:
            begins = np.zeros(len(example.pieces) + 1, dtype=np.float32)
            begins[np.cumsum(example.lengths)[:-1]] = 1.0
            counted = np.ones(len(begins), dtype=np.float32)
            # A message always begins a part, and the gap behind it never does: nothing is to be learned there.
            counted[[0, -1]] = 0.0
            wanted.append(begins)
            counts.append(counted)
        each = torch.nn.functional.binary_cross_entropy_with_logits(
            scores, torch.from_numpy(np.concatenate(wanted)), reduction="none"
        )
        return (each * torch.from_numpy(np.concatenate(counts))).sum() / len(examples)

    def _example(self, draw: random.Random, numbers: np.random.Generator) -> _Example:
        first = self._drawn.one(draw)
        parts = [first]
        if draw.random() < self._recipe.joined:
            parts += [self._drawn.beside(first, draw) for _ in range(draw.choice((1, 1, 2)))]
            draw.shuffle(parts)
        parts = self._with_courtesy(parts, draw)
        pieces: list[int] = []
        lengths: list[int] = []
        end = "."
        for number, part in enumerate(parts):
            text = part.text
            # Otherwise a capital alone would tell where a part begins, and people write few of them.
            if not set(end) & _SENTENCE_MARKS and part.language not in _CAPITALS and draw.random() < _IN_LOWER_CASE:
                text = text[:1].lower() + text[1:]
            if draw.random() < self._recipe.typos:
                text = mistyped(text, numbers)
            if draw.random() < self._recipe.surrounded:
                text = self._surroundings.add(draw.choice(_WITHIN_A_PART), text, part.language, draw)
            if number < len(parts) - 1:
                end = self._end(part, draw)
                text = text.rstrip(" .!?,;:") + end
            own = self._pieces(text)[:_MOST_PIECES]
            pieces += own
            lengths.append(len(own))
        return _Example(np.array(pieces, dtype=np.int32), lengths, [part.act for part in parts])

    def _with_courtesy(self, parts: list[LabelledMessage], draw: random.Random) -> list[LabelledMessage]:
        """Put what people write before and after a request around the parts, as parts of their own."""
        language = parts[0].language
        if not self._surroundings.has(language):
            return parts
        phrases = self._surroundings.phrases(language)
        said = self._leads.get(language)
        before = said if said and draw.random() < _SPOKEN else phrases.before
        for place, some in ((0, before), (len(parts), phrases.after)):
            if draw.random() < self._recipe.courtesy:
                words = draw.choice(some).replace("{name}", draw.choice(self._surroundings.names))
                parts = [
                    *parts[:place],
                    LabelledMessage(words, language, "courtesy", source="surroundings"),
                    *parts[place:],
                ]
        return parts

    def _pieces(self, text: str) -> Sequence[int]:
        if (found := self._known.get(text)) is None:
            found = self._known[text] = pieces_of(text)
        return found

    def _end(self, part: LabelledMessage, draw: random.Random) -> str:
        if part.source == "surroundings":
            return draw.choice(_ENDS_OF_COURTESY)
        words = joining_words().get(part.language)
        if words is None or draw.random() < _WITHOUT_WORD:
            return draw.choice(_ENDS)
        return f"{draw.choice(('', '', ',', '.'))} {draw.choice(words)}"


def _keep(start: Mapping[str, NDArray[Any]], weights: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Put the tensors of a network into those of a wider one, and return by name what of these stays, and its values.

    What leads to a number of the network, and from there to an act that it knows, stays: nothing new adds to it.
    """
    torch = plugins.require("torch", what="Distillation", extra="distill")
    kept = {}
    for name, weight in weights.items():
        if name not in start:
            raise InputError(f"the network to start from has no tensor {name}")
        known = torch.from_numpy(np.asarray(start[name], dtype=np.float32))
        blocks = _BLOCKS.get(name, (1,) * known.ndim)
        if known.ndim != weight.ndim or any(a > b for a, b in zip(known.shape, weight.shape, strict=True)):
            raise InputError(
                f"the network to start from has {name} of shape {(*known.shape,)}, not up to {(*weight.shape,)}"
            )
        places = [
            torch.cat([torch.arange(had // count) + block * (has // count) for block in range(count)])
            for had, has, count in zip(known.shape, weight.shape, blocks, strict=True)
        ]
        is_kept = torch.zeros(weight.shape, dtype=torch.bool)
        is_kept[..., slice(None) if name == "begins" else places[-1]] = True
        values = torch.zeros(weight.shape)
        values[torch.meshgrid(*places, indexing="ij")] = known
        weight.copy_(torch.where(is_kept, values, weight))
        kept[name] = is_kept, values
    if start["acts"].shape[-1] == len(ACTS):
        raise InputError("the network to start from knows all acts: there is nothing to learn")
    return kept


def pieces_of(text: str) -> Sequence[int]:
    """Return the known pieces of a text; the unknown one alone if there are none."""
    found = embedded_tokenizer().encode(clean(text), MAX_PIECES)
    return without_unknown(found) or [embedded_tokenizer().unknown]


class _Draws:
    """Draws messages: first what they do, then a language, then one of its messages."""

    def __init__(self, messages: Sequence[LabelledMessage]) -> None:
        self._by: dict[str, dict[str, dict[str, list[LabelledMessage]]]] = {}
        for message in messages:
            kind: str = message.act or ("ordinary" if message.source == "ordinary" else "request")
            if message.source == NEGATED:
                kind = "negated" if message.act else "affirmed"
            lists = self._by.setdefault(kind, {}).setdefault(message.language, {})
            # Whole messages count as much as all that frames make of actions.
            lists.setdefault("frames" if message.frame else message.source, []).append(message)
        self._kinds = [kind for kind in SHARES if kind in self._by]
        self._shares = [SHARES[kind] for kind in self._kinds]
        self._languages = {
            # The square root lies between equal languages and as many as there are messages.
            kind: ([*by], [sum(map(len, lists.values())) ** 0.5 for lists in by.values()])
            for kind, by in self._by.items()
        }

    def one(self, draw: random.Random) -> LabelledMessage:
        kind = draw.choices(self._kinds, self._shares)[0]
        codes, weights = self._languages[kind]
        return self._from(kind, draw.choices(codes, weights)[0], draw)

    def beside(self, other: LabelledMessage, draw: random.Random) -> LabelledMessage:
        """Return a message of the same language."""
        kinds = [kind for kind in self._kinds if other.language in self._by[kind]]
        return self._from(draw.choices(kinds, [SHARES[kind] for kind in kinds])[0], other.language, draw)

    def _from(self, kind: str, language: str, draw: random.Random) -> LabelledMessage:
        lists = self._by[kind][language]
        return draw.choice(lists[draw.choice([*lists])])


NEGATED = "negated"
"""The source of ordinary messages that were put in the negative, each beside the original."""

SHARES = {
    "refuses": 0.24,
    "negated": 0.12,
    "settled": 0.09,
    "undecided": 0.06,
    "tale": 0.06,
    "courtesy": 0.05,
    "depends": 0.05,
    "request": 0.2,
    "affirmed": 0.1,
    "ordinary": 0.12,
}
"""How many messages of a step do what."""
