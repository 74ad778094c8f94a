"""A toy corpus: 180 English sentences with translations into reversed words and into Greek letters."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from intentmatch.distill import Corpus, Recipe, read_corpus

NOUNS = ("parcel", "letter", "ticket", "train", "doctor", "garden")
VERBS = ("arrives", "waits", "leaves", "burns", "sleeps")
TIMES = ("today", "tomorrow", "never", "upstairs", "yesterday", "outside")
ENGLISH = [f"the {' '.join(words)}" for words in product(NOUNS, VERBS, TIMES)]
GREEK = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβξδεφγηιϊκλμνοπθρστυϋωχψζ")


def backwards(sentence: str) -> str:
    return " ".join(word[::-1] for word in sentence.split())


@pytest.fixture(scope="session")
def toy_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files of pairs and of English sentences; half of the sentences have no translation."""
    folder = tmp_path_factory.mktemp("toy")
    pairs = [f"{s}\tde\t{backwards(s)}\tmirror" for s in ENGLISH[::2]]
    pairs += [f"{s}\tel\t{s.translate(GREEK)}\tpen" for s in ENGLISH[::2]]
    (folder / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    (folder / "english.tsv").write_text("\n".join(f"{s}\tpaper" for s in ENGLISH), encoding="utf-8")
    return folder / "pairs.tsv", folder / "english.tsv"


@pytest.fixture(scope="session")
def toy(toy_files: tuple[Path, Path]) -> Corpus:
    """The toy corpus."""
    return read_corpus(toy_files[:1], toy_files[1:])


@pytest.fixture
def small() -> Recipe:
    """A recipe for the toy corpus."""
    return Recipe(pieces=120, dim=24, steps=40, pairs=32, sentences=16, learning_rate=0.03)


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the sampling before and after the training."""
    monkeypatch.setattr("intentmatch.distill.student._INITIAL_LINES", 2_048)
    monkeypatch.setattr("intentmatch.distill.student.DISTILL_DRAWN_LINES", 1_024)
    monkeypatch.setattr("intentmatch.distill.run._WHITENING_SAMPLE", 400)
