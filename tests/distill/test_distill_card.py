"""The model card, as read by the library and by people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from intentmatch.distill import Corpus, read_corpus
from intentmatch.distill.card import write_card
from intentmatch.distill.student import TokenVectors
from intentmatch.encoders.hub import card_languages


def card_of(folder: Path, corpus: Corpus, rows: int = 1234) -> str:
    table = TokenVectors(np.zeros((rows, 24), np.float32), np.zeros(1234, np.int32), np.ones(1234, np.float32))
    write_card(folder / "README.md", corpus, table, "fake:teacher", 0.98765)
    return (folder / "README.md").read_text(encoding="utf-8")


def corpus_of(folder: Path, *pairs: str) -> Corpus:
    (folder / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    return read_corpus([folder / "pairs.tsv"])


def test_lists_languages_with_enough_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Languages with fewer pairs are only in the text; Norwegian is not read as `false`."""
    monkeypatch.setattr("intentmatch.distill.card._FEWEST_PAIRS", 3)
    lines = [
        f"line {n}\t{code}\tline {n}" for code, count in (("no", 3), ("pt-BR", 4), ("xh", 2)) for n in range(count)
    ]

    text = card_of(tmp_path, corpus_of(tmp_path, *lines))

    assert card_languages(tmp_path) == {"en", "no", "pt-BR"}
    assert yaml.safe_load(text.split("---\n")[1])["language"] == ["en", "no", "pt-BR"]
    assert "pt-BR 4, no 3, xh 2" in text
    assert "at least 3 pairs" in text


def test_small_corpus_lists_only_english(toy: Corpus, tmp_path: Path) -> None:
    card_of(tmp_path, toy)

    assert card_languages(tmp_path) == {"en"}


def test_card_names_size_teacher_and_sources(toy: Corpus, tmp_path: Path) -> None:
    text = card_of(tmp_path, toy)

    assert "24 dimensions for each of 1,234 subword tokens. The vector" in text
    assert "the 1,234 rows" in text
    assert "mapping" not in text
    assert "from fake:teacher, with the recipe" in " ".join(text.split())
    assert "hold 98.8% of the teacher's variance" in " ".join(text.split())
    assert "180 English sentences" in text
    assert "| mirror | 90 | 90 |\n| paper | 0 | 90 |\n| pen | 90 | 0 |\n" in text
    assert "Filtered out: nothing." in text
    assert yaml.safe_load(text.split("---\n")[1])["library_name"] == "sentence-transformers"


def test_card_mentions_shared_rows(toy: Corpus, tmp_path: Path) -> None:
    text = " ".join(card_of(tmp_path, toy, rows=1000).split())

    assert "each of 1,234 subword tokens (rare tokens share the rows of others). The vector" in text
    assert "the 1,000 rows of the table" in text
    assert "`mapping`, int32, the row of each token." in text


def test_card_counts_filtered_lines(tmp_path: Path) -> None:
    text = card_of(tmp_path, corpus_of(tmp_path, "a\tde\tb", "a\tde\tb", "\tde\tb", "\tfr\tb"))

    assert "| - | 1 | 1 |" in text
    assert "Filtered out: 1 pairs: duplicate, 2 pairs: empty." in text


def test_card_of_an_english_corpus_has_no_pairs(tmp_path: Path) -> None:
    text = card_of(tmp_path, corpus_of(tmp_path, "Hello\ten\tHi"))

    assert card_languages(tmp_path) == {"en"}
    assert "\nnone\n" in text
