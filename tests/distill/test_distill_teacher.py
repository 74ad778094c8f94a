"""The teacher's vectors: cached on disk and projected to the student's size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder
from safetensors.numpy import save_file

from intentmatch.core.types import Kind, Vectors
from intentmatch.distill.teacher import Half, Targets, project, teacher_vectors

SENTENCES = [f"sentence number {number} of {number * number}" for number in range(22)]


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six files of at most four vectors, and products of seven rows at a time."""
    monkeypatch.setattr("intentmatch.distill.teacher._SHARD", 4)
    monkeypatch.setattr("intentmatch.distill.teacher.DISTILL_TARGET_ROWS", 7)


class StoppedError(Exception):
    """Simulates an interruption."""


class WordHashThatStops(WordHashEncoder):
    """Raises `StoppedError` after a number of texts."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        if len(self.encoded) + len(texts) > self._most:
            raise StoppedError
        return super().encode(texts, kind=kind)


def expected(sentences: Sequence[str] = SENTENCES) -> Half:
    return WordHashEncoder().encode(sentences).astype(np.float16)


def encoded_texts(
    folder: Path, sentences: Sequence[str] = SENTENCES, teacher: WordHashEncoder | None = None
) -> list[str]:
    """Return the texts that the teacher encodes, and check the vectors."""
    teacher = teacher or WordHashEncoder()
    assert np.array_equal(teacher_vectors(teacher, sentences, folder), expected(sentences))
    return teacher.encoded


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.safetensors"))


def test_each_sentence_is_encoded_once(tmp_path: Path) -> None:
    assert encoded_texts(tmp_path / "work") == SENTENCES
    assert encoded_texts(tmp_path / "work") == []
    assert len(shards(tmp_path / "work")) == 6


def test_resumed_run_encodes_only_the_lost_shard(tmp_path: Path) -> None:
    stopping = WordHashThatStops(10)
    with pytest.raises(StoppedError):
        teacher_vectors(stopping, SENTENCES, tmp_path)

    assert stopping.encoded == SENTENCES[:8]
    assert encoded_texts(tmp_path) == SENTENCES[8:]
    assert encoded_texts(tmp_path) == []


def test_only_new_sentences_are_encoded(tmp_path: Path) -> None:
    encoded_texts(tmp_path)

    assert encoded_texts(tmp_path, SENTENCES[::-1]) == []
    assert encoded_texts(tmp_path, SENTENCES[5:9]) == []
    assert encoded_texts(tmp_path, ["first", *SENTENCES[3:], "last"]) == ["first", "last"]
    assert encoded_texts(tmp_path, ["last", SENTENCES[0], "first"]) == []


def test_vectors_of_another_teacher_are_not_reused(tmp_path: Path) -> None:
    encoded_texts(tmp_path)

    assert encoded_texts(tmp_path, teacher=WordHashEncoder(fingerprint="word-hash-2")) == SENTENCES
    assert encoded_texts(tmp_path) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "other"])
def test_a_damaged_shard_is_encoded_again(tmp_path: Path, damage: str) -> None:
    encoded_texts(tmp_path)
    file = shards(tmp_path)[2]
    content = file.read_bytes()
    file.write_bytes({"cut": content[:-50], "empty": b"", "garbage": b"no tensors" * 20, "other": b""}[damage])
    if damage == "other":
        save_file({"numbers": np.zeros(3)}, file)

    assert encoded_texts(tmp_path) == SENTENCES[8:12]
    assert encoded_texts(tmp_path) == []


def test_unfinished_shard_is_ignored(tmp_path: Path) -> None:
    encoded_texts(tmp_path, SENTENCES[:4])
    (shards(tmp_path)[0].parent / "unfinished").write_bytes(b"half of a shar")

    assert encoded_texts(tmp_path) == SENTENCES[4:]
    assert encoded_texts(tmp_path) == []


def test_progress_counts_all_sentences(tmp_path: Path) -> None:
    encoded_texts(tmp_path, SENTENCES[:12])
    steps: list[tuple[str, int, int | None]] = []

    teacher_vectors(WordHashEncoder(), SENTENCES, tmp_path, lambda *step: steps.append(step))

    assert steps == [("encoding with the teacher", done, 22) for done in (12, 16, 20)]


def cosines(vectors: np.ndarray) -> np.ndarray:
    rows = vectors.astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


@pytest.fixture(scope="module")
def some() -> Half:
    """A hundred vectors of 12 numbers, some of which vary much more than others."""
    random = np.random.default_rng(5)
    spread = random.normal(size=(100, 12)) * np.array([1, 8, 2, 5, 1, 0.1, 3, 1, 0.5, 4, 1, 2]) + 1
    turn = np.linalg.qr(random.normal(size=(12, 12)))[0]
    return (spread @ turn).astype(np.float16)


def test_projection_to_all_dimensions_keeps_every_cosine(some: Half) -> None:
    found = project(some, 12)

    assert found.kept == pytest.approx(1.0)
    assert found.vectors.shape == (100, 12)
    assert np.abs(cosines(found.vectors) - cosines(some)).max() < 3e-3


@pytest.mark.parametrize("dim", [1, 3, 12])
def test_targets_are_of_unit_length(some: Half, dim: int) -> None:
    lengths = np.linalg.norm(project(some, dim).vectors.astype(np.float32), axis=1)

    assert lengths == pytest.approx(1.0, abs=2e-3)


def test_dimensions_are_ordered_by_variance(some: Half) -> None:
    whole, part = project(some, 12), project(some, 5)
    unit = some.astype(np.float32)
    turned = whole.vectors.astype(np.float32) * np.linalg.norm(unit, axis=1, keepdims=True)
    strength = np.square(turned).sum(0)

    assert (np.diff(strength) < 0).all()
    assert strength == pytest.approx(np.linalg.eigvalsh(unit.T @ unit)[::-1], rel=0.05)
    assert part.kept == pytest.approx(strength[:5].sum() / strength.sum(), abs=1e-3)
    assert np.abs(cosines(part.vectors) - cosines(whole.vectors[:, :5])).max() < 3e-3


def test_projection_has_at_most_the_teachers_dimensions(some: Half) -> None:
    assert project(some, 50).vectors.shape == (100, 12)
    assert project(some, 50).kept == pytest.approx(1.0)


def test_zero_vector_stays_zero(some: Half) -> None:
    with_zeros = np.concatenate([some, np.zeros((1, 12), dtype=np.float16)])

    found: Targets = project(with_zeros, 4)

    assert not found.vectors[-1].any()
    assert np.isfinite(found.vectors).all()


def test_signs_of_the_axes_do_not_depend_on_the_order(some: Half) -> None:
    order = np.random.default_rng(0).permutation(len(some))

    there = project(some[order], 12).vectors.astype(np.float32)

    assert np.abs(there - project(some, 12).vectors[order].astype(np.float32)).max() < 5e-3
