"""The teacher's vectors: encoded once, whatever happens in between, and turned to the student's size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder
from safetensors.numpy import save_file

from intentmatch.core.types import Kind, Vectors
from intentmatch.distill.teacher import Half, Targets, targets, teach

SENTENCES = [f"sentence number {number} of {number * number}" for number in range(22)]


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six files of at most four vectors, and products of seven rows at a time."""
    monkeypatch.setattr("intentmatch.distill.teacher._SHARD", 4)
    monkeypatch.setattr("intentmatch.distill.teacher.DISTILL_TARGET_ROWS", 7)


class StoppedError(Exception):
    """Somebody pulled the plug."""


class WordHashThatStops(WordHashEncoder):
    """Encodes so many texts, and then is stopped."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        if len(self.encoded) + len(texts) > self._most:
            raise StoppedError
        return super().encode(texts, kind=kind)


def expected(sentences: Sequence[str] = SENTENCES) -> Half:
    return WordHashEncoder().encode(sentences).astype(np.float16)


def asked_for(folder: Path, sentences: Sequence[str] = SENTENCES, teacher: WordHashEncoder | None = None) -> list[str]:
    """What the teacher is asked for; the vectors are right."""
    teacher = teacher or WordHashEncoder()
    assert np.array_equal(teach(teacher, sentences, folder), expected(sentences))
    return teacher.encoded


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.safetensors"))


def test_asks_once_and_never_again(tmp_path: Path) -> None:
    """Each sentence, in its order; a second time nothing."""
    assert asked_for(tmp_path / "work") == SENTENCES
    assert asked_for(tmp_path / "work") == []
    assert len(shards(tmp_path / "work")) == 6


def test_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """What was encoded before stays; only the shard that was being made is lost."""
    stopping = WordHashThatStops(10)
    with pytest.raises(StoppedError):
        teach(stopping, SENTENCES, tmp_path)

    assert stopping.encoded == SENTENCES[:8]
    assert asked_for(tmp_path) == SENTENCES[8:]
    assert asked_for(tmp_path) == []


def test_asks_only_for_what_is_new(tmp_path: Path) -> None:
    """A corpus that grew, shrank or changed its order shares what it has with the earlier one."""
    asked_for(tmp_path)

    assert asked_for(tmp_path, SENTENCES[::-1]) == []
    assert asked_for(tmp_path, SENTENCES[5:9]) == []
    assert asked_for(tmp_path, ["first", *SENTENCES[3:], "last"]) == ["first", "last"]
    assert asked_for(tmp_path, ["last", SENTENCES[0], "first"]) == []


def test_another_teacher_shares_nothing(tmp_path: Path) -> None:
    """Vectors belong to a fingerprint."""
    asked_for(tmp_path)

    assert asked_for(tmp_path, teacher=WordHashEncoder(fingerprint="word-hash-2")) == SENTENCES
    assert asked_for(tmp_path) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "other"])
def test_a_damaged_shard_is_encoded_again(tmp_path: Path, damage: str) -> None:
    """And nothing but that; afterwards all is there."""
    asked_for(tmp_path)
    file = shards(tmp_path)[2]
    content = file.read_bytes()
    file.write_bytes({"cut": content[:-50], "empty": b"", "garbage": b"no tensors" * 20, "other": b""}[damage])
    if damage == "other":
        save_file({"numbers": np.zeros(3)}, file)

    assert asked_for(tmp_path) == SENTENCES[8:12]
    assert asked_for(tmp_path) == []


def test_a_shard_that_was_not_finished_is_none(tmp_path: Path) -> None:
    """A file is there whole or not at all; what a stopped run left beside them does no harm."""
    asked_for(tmp_path, SENTENCES[:4])
    (shards(tmp_path)[0].parent / "unfinished").write_bytes(b"half of a shar")

    assert asked_for(tmp_path) == SENTENCES[4:]
    assert asked_for(tmp_path) == []


def test_tells_how_far_it_is(tmp_path: Path) -> None:
    """Of all sentences, with those that were there before."""
    asked_for(tmp_path, SENTENCES[:12])
    told: list[tuple[str, int, int | None]] = []

    teach(WordHashEncoder(), SENTENCES, tmp_path, lambda *news: told.append(news))

    assert told == [("asking the teacher", done, 22) for done in (12, 16, 20)]


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


def test_targets_of_all_numbers_keep_every_cosine(some: Half) -> None:
    """They are only turned; the origin stays where it is."""
    found = targets(some, 12)

    assert found.kept == pytest.approx(1.0)
    assert found.vectors.shape == (100, 12)
    assert np.abs(cosines(found.vectors) - cosines(some)).max() < 3e-3


@pytest.mark.parametrize("dim", [1, 3, 12])
def test_targets_are_of_unit_length(some: Half, dim: int) -> None:
    """However many numbers are kept."""
    lengths = np.linalg.norm(targets(some, dim).vectors.astype(np.float32), axis=1)

    assert lengths == pytest.approx(1.0, abs=2e-3)


def test_the_first_numbers_tell_most(some: Half) -> None:
    """Variance falls from number to number, and fewer numbers are the first of more."""
    whole, part = targets(some, 12), targets(some, 5)
    unit = some.astype(np.float32)
    turned = whole.vectors.astype(np.float32) * np.linalg.norm(unit, axis=1, keepdims=True)
    strength = np.square(turned).sum(0)

    assert (np.diff(strength) < 0).all()
    assert strength == pytest.approx(np.linalg.eigvalsh(unit.T @ unit)[::-1], rel=0.05)
    assert part.kept == pytest.approx(strength[:5].sum() / strength.sum(), abs=1e-3)
    assert np.abs(cosines(part.vectors) - cosines(whole.vectors[:, :5])).max() < 3e-3


def test_more_numbers_than_the_teacher_has_are_not_invented(some: Half) -> None:
    """They are as many as the teacher's."""
    assert targets(some, 50).vectors.shape == (100, 12)
    assert targets(some, 50).kept == pytest.approx(1.0)


def test_a_sentence_the_teacher_knows_nothing_about_stays_zero(some: Half) -> None:
    """And is no division by it."""
    with_zeros = np.concatenate([some, np.zeros((1, 12), dtype=np.float16)])

    found: Targets = targets(with_zeros, 4)

    assert not found.vectors[-1].any()
    assert np.isfinite(found.vectors).all()


def test_the_axes_have_signs_that_do_not_depend_on_the_order(some: Half) -> None:
    """The same sentences in another order are put in the same places."""
    order = np.random.default_rng(0).permutation(len(some))

    there = targets(some[order], 12).vectors.astype(np.float32)

    assert np.abs(there - targets(some, 12).vectors[order].astype(np.float32)).max() < 5e-3
