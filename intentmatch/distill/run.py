"""Run a complete distillation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.types import Encoder
from intentmatch.distill import student
from intentmatch.distill.card import write_card
from intentmatch.distill.corpus import Corpus, StepProgress
from intentmatch.distill.export import flatten, save_model
from intentmatch.distill.pieces import Pieces, mistyped
from intentmatch.distill.recipe import Recipe, write_recipe
from intentmatch.distill.student import StudentData, TargetLines, TokenVectors
from intentmatch.distill.teacher import project, teacher_vectors
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, train_tokenizer
from intentmatch.pieces.unigram import UnigramTokenizer

_WHITENING_SAMPLE = 40_000
_NO_LIMIT = 1 << 30


def distill(
    corpus: Corpus,
    teacher: Encoder,
    output: Path,
    recipe: Recipe | None = None,
    *,
    work: Path,
    device: str = "auto",
    progress: StepProgress | None = None,
) -> None:
    """Train a student and write it to the folder `output`, to be used as the encoder `static:FOLDER`.

    `work` keeps the tokenizer, the teacher's vectors and the training state; a later call with the same corpus, teacher
    and recipe resumes from there. The result is deterministic on one machine. Only the cosines of the teacher's vectors
    matter. `progress` is called with the name of the step, the amount done and the total amount.

    Raises `MissingExtraError` without the extra `[distill]`, `SettingsError` for an unknown device, and `InputError` if
    the corpus has no translations or the recipe does not fit the corpus and the teacher.
    """
    plugins.check_installed("torch", what="Distillation", extra="distill")
    recipe = recipe or Recipe()
    if recipe.dim > teacher.dim:
        raise InputError(
            f"the recipe has dim {recipe.dim}, but the teacher's vectors have only {teacher.dim} dimensions"
        )
    if not corpus.translations:
        raise InputError("the corpus has no translations: the files have no pairs, or every pair was filtered out")
    work.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(corpus, recipe, work, progress)
    pieces = {piece: number for number, (piece, _) in enumerate(tokenizer["model"]["vocab"])}
    # These stand in texts of every meaning, and a sum of vectors must not move with them.
    silent = {pieces[name] for name in (PADDING, UNKNOWN, SPACE) if name in pieces}
    targets = project(teacher_vectors(teacher, corpus.sentences, work, progress), recipe.dim)
    if progress is not None:
        progress("tokenizing texts", 0, None)
    data = _training_data(corpus, targets.vectors, recipe, tokenizer, silent)
    # The name of the state names the data that it was trained on.
    state = work / f"student-{corpus.fingerprint}-{teacher.fingerprint}.safetensors"
    table = student.train(data, recipe, len(pieces), state, device=device, progress=progress)
    # Behind the training, whose losses compare with the teacher's own axes.
    rows = flatten(table.rows, _sample_vectors(table, data, recipe), recipe.whitening)
    save_model(output, table._replace(rows=rows), tokenizer, silent)
    write_recipe(output / "recipe.yaml", recipe)
    write_card(output / "README.md", corpus, table, teacher.name, targets.kept)


def _tokenizer(corpus: Corpus, recipe: Recipe, work: Path, progress: StepProgress | None) -> dict[str, Any]:
    """Return the tokenizer as JSON; read it from the work folder if corpus and recipe are the same."""
    file = work / "tokenizer.json"
    fields = (
        *("seed", "pieces", "flatness", "language_weights"),
        *("vocabulary_lines", "vocabulary_english_lines", "vocabulary_english"),
    )
    origin = {"corpus": corpus.fingerprint, **{name: getattr(recipe, name) for name in fields}}
    if file.is_file():
        saved: dict[str, Any] = json.loads(file.read_bytes())
        if saved["origin"] == origin:
            return saved["tokenizer"]  # type: ignore[no-any-return]
    if progress is not None:
        progress("training the tokenizer", 0, None)
    tokenizer = train_tokenizer(corpus, recipe, progress)
    temporary = file.with_suffix(".unfinished")
    temporary.write_text(json.dumps({"origin": origin, "tokenizer": tokenizer}), encoding="utf-8")
    temporary.replace(file)
    return tokenizer


def _training_data(
    corpus: Corpus,
    targets: NDArray[np.float16],
    recipe: Recipe,
    description: dict[str, Any],
    silent: set[int],
) -> StudentData:
    """Tokenize all texts and compute their sampling weights."""
    tokenizer = UnigramTokenizer(description["model"]["vocab"], description["model"]["unk_id"])
    random = np.random.default_rng(recipe.seed)

    def encode(text: str) -> list[int]:
        return [number for number in tokenizer.encode(text, _NO_LIMIT) if number not in silent]

    def lines(texts: Sequence[str], rows: NDArray[np.int64], weights: NDArray[np.float64]) -> TargetLines:
        """Tokenize the texts, and a share of them a second time with a typo."""
        repeated = np.flatnonzero(random.random(len(texts)) < recipe.typos)
        pieces = Pieces.from_texts([*texts, *(mistyped(texts[int(row)], random) for row in repeated)], encode)
        order = np.append(np.arange(len(texts)), repeated)
        return TargetLines(pieces, rows[order], np.cumsum(weights[order] * (pieces.lengths > 0)))

    source_weights = np.array([recipe.source_weights.get(source, 1.0) for source in corpus.sources])
    weights = source_weights[corpus.source_of]
    counts = np.bincount(corpus.language_of, minlength=len(corpus.languages)).clip(1)
    shares = np.bincount(corpus.language_of, weights=weights, minlength=len(corpus.languages)).clip(1e-9)
    language_weights = np.array([recipe.language_weights.get(language, 1.0) for language in corpus.languages])
    weights = weights * (language_weights * counts**recipe.flatness / shares)[corpus.language_of]
    own = np.arange(len(corpus.sentences))
    return StudentData(
        translations=lines(corpus.translations, corpus.rows.astype(np.int64), weights),
        sentences=lines(corpus.sentences, own, source_weights[corpus.sentence_source_of]),
        english=Pieces.from_texts(corpus.sentences, encode),
        targets=targets,
    )


def _sample_vectors(table: TokenVectors, data: StudentData, recipe: Recipe) -> NDArray[np.float32]:
    """Return unit vectors of sampled texts, half of them English, from which `flatten` measures the axes."""
    random = np.random.default_rng(recipe.seed)
    vectors = []
    for lines in (data.translations, data.sentences):
        for row in lines.draw(_WHITENING_SAMPLE // 2, random):
            vectors.append(table.total(lines.pieces.select(np.array([row]))[0]))
    found = np.array(vectors, dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True).clip(1e-9)
    return found
