"""Train the network of a static encoder and write it into the encoder's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.types import Encoder
from intentmatch.distill.context_network import save_network
from intentmatch.distill.context_recipe import ContextRecipe
from intentmatch.distill.context_training import ContextData, train_context
from intentmatch.distill.corpus import Corpus, StepProgress
from intentmatch.distill.recipe import write_recipe
from intentmatch.distill.student import TokenVectors
from intentmatch.distill.teacher import teacher_vectors
from intentmatch.encoders import context
from intentmatch.encoders.checksums import CHECKSUMS, write_checksums
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import MAX_PIECES
from intentmatch.pieces.unigram import UnigramTokenizer, read_unigram

RECIPE = "context.yaml"
# Words of a sentence and characters of a pair: what people write to a bot is short, and short texts are cheap.
_FEWEST_WORDS, _MOST_WORDS = 3, 18
_SHORTEST, _LONGEST = 8, 100
_SHORTEST_TRANSLATION = 3


def distill_context(
    corpus: Corpus,
    teacher: Encoder,
    model: Path,
    recipe: ContextRecipe | None = None,
    *,
    work: Path,
    progress: StepProgress | None = None,
) -> Path:
    """Train the network of the static encoder in the folder `model` and return the file that is written there.

    `work` keeps the teacher's vectors and the training state; a later call with the same corpus, teacher and recipe
    resumes from there. The result is deterministic on one machine.

    Raises `MissingExtraError` without the extra `[distill]`, `ModelUnavailableError` if the folder holds no static
    model, and `InputError` if its tokenizer is not a unigram tokenizer or the corpus has too few usable texts.
    """
    plugins.check_installed("torch", what="Distillation", extra="distill")
    recipe = recipe or ContextRecipe()
    student = StaticEncoder(model)
    tokenizer = read_unigram(student.files / "tokenizer.json", whole=True)
    if tokenizer is None:
        raise InputError(f"{model} has no unigram tokenizer, which the network needs; `intentmatch distill` makes one")
    data = _chosen(corpus, teacher, recipe, work, progress)
    work.mkdir(parents=True, exist_ok=True)
    # The name of the state names the data that it was trained on.
    state = work / f"context-{corpus.fingerprint}-{teacher.fingerprint}.pt"
    table = _table(student.files / "model.safetensors")
    tensors = train_context(data, table, _known_pieces(tokenizer), recipe, state, progress=progress)
    save_network(student.files / context.FILE, tensors)
    write_recipe(student.files / RECIPE, recipe)
    # Renewed, so that they cover the files that were just written.
    if (model / CHECKSUMS).is_file():
        write_checksums(model)
    return student.files / context.FILE


def _chosen(
    corpus: Corpus, teacher: Encoder, recipe: ContextRecipe, work: Path, progress: StepProgress | None
) -> ContextData:
    """Draw sentences and translations, and encode the sentences with the teacher."""
    sentences = _sentences(corpus, recipe)
    pairs = _pairs(corpus, recipe)
    if not len(sentences) or not len(pairs):
        raise InputError(
            f"the corpus has too few texts: the network needs English sentences of {_FEWEST_WORDS} to {_MOST_WORDS} "
            f"words and pairs of {_SHORTEST} to {_LONGEST} characters"
        )
    texts = [corpus.sentences[row] for row in sentences]
    return ContextData(
        sentences=texts,
        targets=teacher_vectors(teacher, texts, work, progress),
        translations=[corpus.translations[row] for row in pairs],
        languages=[corpus.languages[corpus.language_of[row]] for row in pairs],
        english=[corpus.sentences[corpus.rows[row]] for row in pairs],
    )


def _sentences(corpus: Corpus, recipe: ContextRecipe) -> NDArray[np.intp]:
    words = np.array([len(sentence.split()) for sentence in corpus.sentences])
    weights = _by_name(recipe.sentence_weights, corpus.sources)[corpus.sentence_source_of]
    weights = weights * ((words >= _FEWEST_WORDS) & (words <= _MOST_WORDS))
    return _drawn(weights, recipe.most_sentences, np.random.default_rng((recipe.seed, 1)))


def _pairs(corpus: Corpus, recipe: ContextRecipe) -> NDArray[np.intp]:
    weights = _by_name(recipe.source_weights, corpus.sources)[corpus.source_of]
    english = np.array([len(sentence) for sentence in corpus.sentences])[corpus.rows]
    lengths = np.array([len(text) for text in corpus.translations])
    weights = weights * ((english >= _SHORTEST) & (english < _LONGEST))
    weights = weights * ((lengths >= _SHORTEST_TRANSLATION) & (lengths < _LONGEST))
    counts = np.bincount(corpus.language_of, minlength=len(corpus.languages)).clip(1)
    shares = np.bincount(corpus.language_of, weights=weights, minlength=len(corpus.languages)).clip(1e-9)
    languages = _by_name(recipe.language_weights, corpus.languages)
    weights = weights * (languages * counts**recipe.flatness / shares)[corpus.language_of]
    return _drawn(weights, recipe.most_pairs, np.random.default_rng((recipe.seed, 2)))


def _by_name(weights: Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([weights.get(name, 1.0) for name in names])


def _drawn(weights: NDArray[np.float64], most: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Draw distinct rows, each with a chance in proportion to its weight (Efraimidis & Spirakis 2006)."""
    usable = np.flatnonzero(weights > 0)
    keys = np.log(random.random(len(usable)).clip(1e-300)) / weights[usable]
    drawn: NDArray[np.intp] = usable[np.argsort(-keys, kind="stable")[:most]]
    return drawn


def _table(file: Path) -> TokenVectors:
    tensors = load_file(file)
    rows = tensors["embeddings" if "embeddings" in tensors else "embedding.weight"]
    pieces = len(tensors["mapping"]) if "mapping" in tensors else len(rows)
    return TokenVectors(
        rows=rows.astype(np.float32),
        mapping=tensors.get("mapping", np.arange(pieces)).astype(np.int32),
        weights=tensors.get("weights", np.ones(pieces)).astype(np.float32),
    )


def _known_pieces(tokenizer: UnigramTokenizer) -> Callable[[str], list[int]]:
    return lambda text: [piece for piece in tokenizer.encode(text, MAX_PIECES) if piece != tokenizer.unknown]
