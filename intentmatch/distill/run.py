"""A distillation from beginning to end."""

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
from intentmatch.distill.student import Lesson, Lines, Table
from intentmatch.distill.teacher import targets, teach
from intentmatch.distill.vocabulary import PADDING, SPACE, UNKNOWN, learn_tokenizer
from intentmatch.encoders.tokenizer.unigram import UnigramTokenizer

_TEXTS_TO_FLATTEN_BY = 40_000
_WHOLE_TEXT = 1 << 30


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
    """Train a student and write it to the folder `output`, which `static:FOLDER` then names.

    `work` keeps the vocabulary, the teacher's vectors and the state of the training; a later call with the same corpus,
    teacher and recipe goes on from there. On one machine the same call gives the same model. Of a teacher's vectors
    only cosines are used.

    Raises `MissingExtraError` without the extra `[distill]`, `SettingsError` where there is no such device, and
    `InputError` where corpus and teacher cannot give what the recipe asks for.
    """
    plugins.check_installed("torch", what="Distillation", extra="distill")
    recipe = recipe or Recipe()
    if recipe.dim > teacher.dim:
        raise InputError(f"dim {recipe.dim} in the recipe: the teacher's vectors have only {teacher.dim} numbers")
    if not corpus.translations:
        raise InputError("there are no translations to learn from: every pair was left out, or there was none")
    work.mkdir(parents=True, exist_ok=True)
    described = _vocabulary(corpus, recipe, work, progress)
    pieces = {piece: number for number, (piece, _) in enumerate(described["model"]["vocab"])}
    silent = {pieces[name] for name in (PADDING, UNKNOWN, SPACE) if name in pieces}
    wanted = targets(teach(teacher, corpus.sentences, work, progress), recipe.dim)
    if progress is not None:
        progress("cutting texts into pieces", 0, None)
    lesson = _lesson(corpus, wanted.vectors, recipe, described, silent)
    # A state belongs to what it was learned from.
    state = work / f"student-{corpus.fingerprint}-{teacher.fingerprint}.safetensors"
    table = student.train(lesson, recipe, len(pieces), state, device=device, progress=progress)
    rows = flatten(table.rows, _some_vectors(table, lesson, recipe), recipe.whitening)
    save_model(output, table._replace(rows=rows), described, silent)
    write_recipe(output / "recipe.yaml", recipe)
    write_card(output / "README.md", corpus, table, teacher.name, wanted.kept)


def _vocabulary(corpus: Corpus, recipe: Recipe, work: Path, progress: StepProgress | None) -> dict[str, Any]:
    """The tokenizer as JSON, from the work folder where it was learned from the same corpus by the same recipe."""
    file = work / "tokenizer.json"
    decisive = (
        *("seed", "pieces", "flatness", "language_weights"),
        *("vocabulary_lines", "vocabulary_english_lines", "vocabulary_english"),
    )
    origin = {"corpus": corpus.fingerprint, **{name: getattr(recipe, name) for name in decisive}}
    if file.is_file():
        kept: dict[str, Any] = json.loads(file.read_bytes())
        if kept["origin"] == origin:
            return kept["tokenizer"]  # type: ignore[no-any-return]
    if progress is not None:
        progress("learning the vocabulary", 0, None)
    described = learn_tokenizer(corpus, recipe, progress)
    temporary = file.with_suffix(".unfinished")
    temporary.write_text(json.dumps({"origin": origin, "tokenizer": described}), encoding="utf-8")
    temporary.replace(file)
    return described


def _lesson(
    corpus: Corpus,
    wanted: NDArray[np.float16],
    recipe: Recipe,
    described: dict[str, Any],
    silent: set[int],
) -> Lesson:
    tokenizer = UnigramTokenizer(described["model"]["vocab"], described["model"]["unk_id"])
    random = np.random.default_rng(recipe.seed)

    def encode(text: str) -> list[int]:
        return [number for number in tokenizer.encode(text, _WHOLE_TEXT) if number not in silent]

    def lines(texts: Sequence[str], rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Lines:
        """The texts, and some of them a second time with a typing mistake."""
        again = np.flatnonzero(random.random(len(texts)) < recipe.typos)
        pieces = Pieces.cut([*texts, *(mistyped(texts[int(row)], random) for row in again)], encode)
        order = np.append(np.arange(len(texts)), again)
        return Lines(pieces, rows[order], np.cumsum(weights[order] * (pieces.lengths > 0)))

    of_source = np.array([recipe.source_weights.get(source, 1.0) for source in corpus.sources])
    weights = of_source[corpus.source_of]
    counts = np.bincount(corpus.language_of, minlength=len(corpus.languages)).clip(1)
    shares = np.bincount(corpus.language_of, weights=weights, minlength=len(corpus.languages)).clip(1e-9)
    of_language = np.array([recipe.language_weights.get(language, 1.0) for language in corpus.languages])
    weights = weights * (of_language * counts**recipe.flatness / shares)[corpus.language_of]
    own = np.arange(len(corpus.sentences))
    return Lesson(
        translations=lines(corpus.translations, corpus.rows.astype(np.int64), weights),
        sentences=lines(corpus.sentences, own, of_source[corpus.sentence_source_of]),
        english=Pieces.cut(corpus.sentences, encode),
        targets=wanted,
    )


def _some_vectors(table: Table, lesson: Lesson, recipe: Recipe) -> NDArray[np.float32]:
    """Unit vectors of texts, half of them English, for `flatten` to see how strong each axis is."""
    random = np.random.default_rng(recipe.seed)
    vectors = []
    for lines in (lesson.translations, lesson.sentences):
        for row in lines.draw(_TEXTS_TO_FLATTEN_BY // 2, random):
            vectors.append(table.total(lines.pieces.select(np.array([row]))[0]))
    found = np.array(vectors, dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True).clip(1e-9)
    return found
