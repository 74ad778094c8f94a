"""Measure the languages of an encoder on parallel text.

Two files beside the model come from here: which languages each piece of the embedded tokenizer speaks for
(`pieces.languages`), and how far the vectors of translations lie from those of their sentences
(`encoders.translations`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import InputError
from intentmatch.core.types import Encoder
from intentmatch.distill.corpus import ENGLISH, Corpus, StepProgress
from intentmatch.encoders import translations
from intentmatch.encoders.translations import Translations
from intentmatch.pieces import languages
from intentmatch.pieces.embedded import EMBEDDED, MAX_PIECES, embedded_tokenizer
from intentmatch.pieces.languages import EACH, LEVELS, STEP, PieceLanguages
from intentmatch.pieces.unigram import UnigramTokenizer
from intentmatch.storage.unwritable import unwritable

# Texts of one source in one language that are counted at most: otherwise the software that was translated into a rare
# language would make its words typical of that language.
_MOST_OF_A_SOURCE = 1500
# Fewest pieces of a language that is told apart, all texts together.
_FEWEST_PIECES = 5000
# Rate added to each piece in each language.
_SMOOTHING = 4e-7
# Power of the number of translations that is the prior of a language: the text there is says how widely it is written.
_PRIOR = 0.5
# Constructed and extinct languages: short messages would often be taken for them.
_NOT_SPOKEN = frozenset({"eo", "ia", "ie", "io", "jbo", "la", "lfn", "sa", "tok", "vo"})
# Pairs whose distance is kept, and the shortest and longest English sentence among them in characters.
_PAIRS, _SHORTEST, _LONGEST = 1000, 12, 90
_MOST_PAIRS_OF_A_SOURCE = 100
# Fewest translations of a language whose distances are measured.
_FEWEST_TRANSLATIONS = 10_000


def measure(corpus: Corpus, encoder: Encoder, folder: Path, progress: StepProgress | None = None) -> list[Path]:
    """Write what is measured into the folder of an encoder and return the files.

    The languages of the tokenizer's pieces are written only if it is the embedded one: no other is used for guessing.

    Raises `InputError` if the corpus has too little text, and if the files cannot be written.
    """
    try:
        measure_translations(corpus, encoder, progress).save(folder)
        files = [folder / translations.FILE]
        tokenizer = folder / "tokenizer.json"
        if tokenizer.is_file() and tokenizer.read_bytes() == (EMBEDDED / "tokenizer.json").read_bytes():
            count_languages(corpus, embedded_tokenizer(), progress).save(folder)
            files.append(folder / languages.FILE)
    except OSError as error:
        raise InputError(unwritable(folder, error)) from error
    return files


def count_languages(
    corpus: Corpus, tokenizer: UnigramTokenizer, progress: StepProgress | None = None
) -> PieceLanguages:
    """Count the pieces of each language and return the languages that each piece speaks for. Deterministic.

    Raises `InputError` if the corpus has too little text in two languages.
    """
    random = np.random.default_rng(0)
    sizes = np.bincount(corpus.language_of, minlength=len(corpus.languages)).astype(np.float64)
    every = np.arange(len(corpus.sentences))
    # Every translation has an English sentence, so the corpus does not say how widely English is written.
    parts = [(ENGLISH, corpus.sentences, every, corpus.sentence_source_of, 2.0 * sizes.max(initial=1.0))]
    for number, language in enumerate(corpus.languages):
        if language not in _NOT_SPOKEN:
            rows = np.flatnonzero(corpus.language_of == number)
            parts.append((language, corpus.translations, rows, corpus.source_of[rows], sizes[number]))
    codes, rates, sizes_told = [], [], []
    for place, (language, texts, rows, sources, size) in enumerate(parts):
        if progress is not None:
            progress("counting pieces", place, len(parts))
        counts = _counts(texts, rows[_spread(sources, random, _MOST_OF_A_SOURCE)], tokenizer)
        if counts.sum() >= _FEWEST_PIECES:
            codes.append(language)
            rates.append(counts / counts.sum())
            sizes_told.append(size)
    if len(codes) < 2:
        raise InputError("the corpus has too little text to tell languages apart")
    prior = _PRIOR * np.log(np.array(sizes_told) / max(sizes_told))
    return PieceLanguages(codes, *_most_likely(np.array(rates), _tells(tokenizer)), prior.astype(np.float32))


def measure_translations(corpus: Corpus, encoder: Encoder, progress: StepProgress | None = None) -> Translations:
    """Return the distances of random translations from their sentences, all sources and languages mixed. Deterministic.

    Raises `InputError` if the corpus has no translation of a usable length.
    """
    counts = np.bincount(corpus.language_of, minlength=len(corpus.languages))
    enough = counts >= min(_FEWEST_TRANSLATIONS, int(counts.max(initial=0)))
    random = np.random.default_rng(0)
    usable = np.flatnonzero(enough[corpus.language_of])
    lengths = np.array([len(corpus.sentences[row]) for row in corpus.rows[usable].tolist()])
    usable = usable[(lengths >= _SHORTEST) & (lengths <= _LONGEST)]
    # Not all of a large source, so that no kind of text decides alone.
    chosen = usable[_spread(corpus.source_of[usable], random, _MOST_PAIRS_OF_A_SOURCE)]
    chosen = random.permutation(chosen)[: 2 * _PAIRS]
    if not len(chosen):
        raise InputError("the corpus has no translations of a usable length")
    if progress is not None:
        progress("measuring translations", 0, None)
    sentences = encoder.encode([corpus.sentences[corpus.rows[row]] for row in chosen.tolist()])
    translated = encoder.encode([corpus.translations[row] for row in chosen.tolist()])
    return Translations.between(sentences, translated).first(_PAIRS)


def _spread(sources: NDArray[np.int16], random: np.random.Generator, most: int) -> NDArray[np.int64]:
    """Return positions in random order, at most so many of each source."""
    order = random.permutation(len(sources))
    shuffled = sources[order]
    by_source = np.argsort(shuffled, kind="stable")
    _, firsts, counts = np.unique(shuffled[by_source], return_index=True, return_counts=True)
    rank = np.empty(len(order), dtype=np.int64)
    rank[by_source] = np.arange(len(order)) - np.repeat(firsts, counts)
    return order[rank < most]


def _counts(texts: Sequence[str], rows: NDArray[np.int64], tokenizer: UnigramTokenizer) -> NDArray[np.intp]:
    """Return how often each piece occurs in some texts, shape `(pieces,)`."""
    ids: list[int] = []
    for row in rows.tolist():
        ids += tokenizer.encode(texts[row], MAX_PIECES)
    return np.bincount(np.array(ids, dtype=np.intp), minlength=tokenizer.size)


def _tells(tokenizer: UnigramTokenizer) -> NDArray[np.bool_]:
    """Return which pieces have letters, shape `(pieces,)`: numbers, marks and emoji are used in all languages."""
    tells = np.zeros(tokenizer.size, dtype=bool)
    for piece, number in tokenizer.pieces().items():
        tells[number] = any(map(str.isalpha, piece))
    tells[tokenizer.unknown] = False
    return tells


def _most_likely(rates: NDArray[np.float64], tells: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return the likeliest languages of each piece and their levels of evidence above all other languages.

    `rates` holds the share of each piece in each language, shape `(languages, pieces)`.
    """
    shares = rates + _SMOOTHING
    shares /= shares.sum(axis=0)
    each = min(EACH, len(rates) - 1)
    first = np.zeros((rates.shape[1], EACH), dtype=np.uint8)
    levels = np.zeros((rates.shape[1], EACH), dtype=np.uint16)
    order = np.argsort(-shares, axis=0, kind="stable")[:each].T
    best = np.take_along_axis(shares.T, order, axis=1)
    others = ((1.0 - best.sum(axis=1)) / (len(rates) - each)).clip(1e-4)
    seen = tells & rates.any(axis=0)
    first[:, :each] = order
    above = np.log(best / others[:, None]).clip(0.0)
    levels[:, :each] = np.where(seen[:, None], np.rint(above / STEP).clip(0, LEVELS - 1), 0)
    shifted = levels << np.arange(0, 4 * EACH, 4, dtype=np.uint16)
    return first, np.bitwise_or.reduce(shifted, axis=1)
