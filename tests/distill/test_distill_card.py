"""The model card: read by the library itself, and by people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from intentmatch.distill import Corpus, read_corpus
from intentmatch.distill.card import write_card
from intentmatch.distill.student import Table
from intentmatch.encoders.hub import card_languages


def card_of(folder: Path, corpus: Corpus, rows: int = 1234) -> str:
    table = Table(np.zeros((rows, 24), np.float32), np.zeros(1234, np.int32), np.ones(1234, np.float32))
    write_card(folder / "README.md", corpus, table, "fake:teacher", 0.98765)
    return (folder / "README.md").read_text(encoding="utf-8")


def corpus_of(folder: Path, *pairs: str) -> Corpus:
    (folder / "pairs.tsv").write_text("\n".join(pairs), encoding="utf-8")
    return read_corpus([folder / "pairs.tsv"])


def test_lists_languages_with_enough_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And English; one of fewer is named in the text, and not at the head. Norwegian is no `false`."""
    monkeypatch.setattr("intentmatch.distill.card._FEWEST_PAIRS", 3)
    lines = [
        f"line {n}\t{code}\tline {n}" for code, count in (("no", 3), ("pt-BR", 4), ("xh", 2)) for n in range(count)
    ]

    text = card_of(tmp_path, corpus_of(tmp_path, *lines))

    assert card_languages(tmp_path) == {"en", "no", "pt-BR"}
    assert yaml.safe_load(text.split("---\n")[1])["language"] == ["en", "no", "pt-BR"]
    assert "pt-BR 4, no 3, xh 2" in text
    assert "fewer than 3 are" in text


def test_a_toy_covers_nothing_but_english(toy: Corpus, tmp_path: Path) -> None:
    """A thousand pairs are the least."""
    card_of(tmp_path, toy)

    assert card_languages(tmp_path) == {"en"}


def test_says_what_it_was_made_of(toy: Corpus, tmp_path: Path) -> None:
    """Size, teacher and how much of it fits, and each source with its pairs and its sentences."""
    text = card_of(tmp_path, toy)

    assert "24 numbers for each of 1,234 subword pieces; a text's" in text
    assert "the 1,234 rows" in text
    assert "mapping" not in text
    assert "fake:teacher, 98.8% of whose variance" in " ".join(text.split())
    assert "English from 180 sentences" in text
    assert "| mirror | 90 | 90 |\n| paper | 0 | 90 |\n| pen | 90 | 0 |\n" in text
    assert "Left out: nothing." in text
    assert yaml.safe_load(text.split("---\n")[1])["library_name"] == "sentence-transformers"


def test_says_that_rows_are_shared(toy: Corpus, tmp_path: Path) -> None:
    """Where there are fewer of them than pieces."""
    text = " ".join(card_of(tmp_path, toy, rows=1000).split())

    assert "each of 1,234 subword pieces, the least used of which share the rows of others; a text's" in text
    assert "the 1,000 rows of the table" in text
    assert "`mapping`, int32, the row of each piece." in text


def test_says_what_was_left_out(tmp_path: Path) -> None:
    """By reason; a source without a name has a dash."""
    text = card_of(tmp_path, corpus_of(tmp_path, "a\tde\tb", "a\tde\tb", "\tde\tb", "\tfr\tb"))

    assert "| - | 1 | 1 |" in text
    assert "Left out: 2 pairs: empty, 1 pairs: twice." in text


def test_no_pairs_are_none(tmp_path: Path) -> None:
    """A corpus of English alone is said to be that."""
    text = card_of(tmp_path, corpus_of(tmp_path, "Hello\ten\tHi"))

    assert card_languages(tmp_path) == {"en"}
    assert "\nnone\n" in text
