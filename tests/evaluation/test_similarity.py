"""Pairs with human scores: reading them, and the agreement of an encoder with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intentmatch.core.errors import RegistryError
from intentmatch.core.settings import Settings
from intentmatch.encoders import load_encoder
from intentmatch.evaluation.similarity import Agreement, ScoredPair, agreement, read_pairs

SHIPPED = Path(__file__).with_name("similarity_pairs.tsv")


class Angles:
    """An encoder of numbers: "30" is the unit vector at 30 degrees."""

    name, dim, fingerprint, tolerance = "angles", 2, "angles-1", 0.0

    def encode(self, texts, *, kind="utterance"):
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32).reshape(-1, 2)


def test_agreement_of_known_cosines():
    """Cosines of 0, 60 and 90 degrees: 1, 0.5 and 0, in the order of the scores 5, 1, 3 but for the last two."""
    pairs = [ScoredPair("10", "10", 5), ScoredPair("0", "60", 1), ScoredPair("0", "90", 3)]
    found = agreement(Angles(), pairs)

    assert found.spearman == pytest.approx(0.5)
    assert found.pearson == pytest.approx(np.corrcoef([1, 0.5, 0], [5, 1, 3])[0, 1], abs=1e-6)
    assert agreement(Angles(), [ScoredPair("0", "0", score) for score in (1, 2, 3)]) == Agreement(None, None)


def test_embedded_encoder_agrees_with_the_shipped_pairs():
    """The values were compared with those of `scipy.stats`."""
    found = agreement(load_encoder(Settings()), read_pairs(SHIPPED))

    assert found.spearman == pytest.approx(0.6178, abs=2e-3)
    assert found.pearson == pytest.approx(0.7800, abs=2e-3)


def test_header_comments_and_empty_lines_are_skipped(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text('﻿sentence1\tsentence2\tscore\n# a note\n\na\tb\t1\n c \td\t2.5\r\ne\t"f\t-1e1\n', encoding="utf-8")

    assert read_pairs(file) == (ScoredPair("a", "b", 1), ScoredPair("c", "d", 2.5), ScoredPair("e", '"f', -10))


def test_lines_end_in_any_way_and_have_any_length(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_bytes(b"a\tb\t1\rc\td\t2\r" + b"e" * 140_000 + b"\tf\t3")

    assert [len(pair.one) for pair in read_pairs(file)] == [1, 1, 140_000]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("a\tb\t1\na\tb\nc\td\t2\ne\tf\t3\n", 2, "not two sentences and a score"),
        ("a\tb\t1\na\tb\thigh\nc\td\t2\ne\tf\t3\n", 2, "not two sentences and a score"),
        ("a\tb\t1\na\tb\tnan\nc\td\t2\ne\tf\t3\n", 2, "not two sentences and a score"),
        ("a\tb\t1\n\tb\t1\nc\td\t2\ne\tf\t3\n", 2, "not two sentences and a score"),
        ("one\tother\tscore\na\tb\thigh\nc\td\t2\ne\tf\t3\ng\th\t4\n", 2, "'high' is not a number"),
        ("2.5\ta\tb\n1\tc\td\n3\te\tf\n", 1, "'b' is not a number"),
        ("a,b,1\nc,d,2\n", 1, "not two sentences and a score"),
        ("a\tb\t1\nc\td\t2\n", None, "at least 3 pairs"),
        ("a\tb\t1\nc\td\t1\ne\tf\t1\n", None, "different scores"),
        ("", None, "at least 3 pairs"),
    ],
)
def test_wrong_lines_are_located(tmp_path, content, line, message):
    file = tmp_path / "pairs.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(RegistryError) as raised:
        read_pairs(file)

    assert message in raised.value.problems[0].message
    assert raised.value.problems[0].location.path == str(file)
    assert line is None or raised.value.problems[0].location.line == line
