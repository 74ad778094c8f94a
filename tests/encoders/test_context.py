"""The network of a static model: what it may change, and when it is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.distill.context_network import save_network
from intentmatch.encoders.context import FILE
from intentmatch.encoders.static import StaticEncoder
from intentmatch.pieces.embedded import EMBEDDED, embedded_tokenizer

WIDTH, DIM = 8, 256
TEXTS = [
    "where is my parcel",
    "parcel",
    "wo ist mein Paket?",
    "我的包裹在哪里",
    "is my parcel where",
    "a b c d e f g " * 9,
]


def network(scale: float) -> dict[str, NDArray[np.float32]]:
    """A random network; with the scale 0 it changes nothing."""
    random = np.random.default_rng(3)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    return {
        "first": drawn(DIM + 1, 3 * WIDTH),
        "first_bias": drawn(WIDTH),
        "second": drawn(3 * WIDTH, WIDTH),
        "second_bias": drawn(WIDTH),
        "question": drawn(2 * WIDTH, WIDTH),
        "question_bias": drawn(WIDTH),
        "salience_bias": drawn(1),
        "residual": drawn(2 * WIDTH, DIM) / 10,
    }


Maker = Callable[..., StaticEncoder]


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    """Makes an encoder of the embedded table with a network, or without one."""

    def encoder(tensors: dict[str, NDArray[np.float32]] | None) -> StaticEncoder:
        for name in ("tokenizer.json", "model.safetensors"):
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).symlink_to(EMBEDDED / name)
        if tensors is not None:
            save_network(tmp_path / FILE, tensors)
        return StaticEncoder(tmp_path)

    return encoder


def test_untrained_network_leaves_vectors_as_they_are(made: Maker) -> None:
    without = made(None)
    encoder = made(network(0.0))

    assert encoder.encode(TEXTS) == pytest.approx(without.encode(TEXTS), abs=1e-5)
    assert encoder.salience([5000, 6000]) == pytest.approx(np.ones(2))


def test_one_text_and_many_have_the_same_vectors(made: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block ends between texts; a text longer than a block is a block of its own."""
    encoder = made(network(0.5))
    one_by_one = np.concatenate([encoder.encode([text]) for text in TEXTS])

    for pieces in (1024, 12, 1):
        monkeypatch.setattr("intentmatch.encoders.context.CONTEXT_PIECES", pieces)
        assert np.abs(encoder.encode(TEXTS) - one_by_one).max() < encoder.tolerance
    assert np.linalg.norm(one_by_one, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_vectors_depend_on_word_order(made: Maker) -> None:
    one, other = made(network(0.5)).encode(["where is my parcel", "is my parcel where"])

    assert one @ other < 0.999


def test_text_without_known_pieces_has_a_vector_of_zeros(made: Maker) -> None:
    encoder = made(network(0.5))

    assert not encoder.encode([""]).any()
    assert encoder.encode(["", "parcel", ""]).any(axis=1).tolist() == [False, True, False]


def test_pieces_give_the_vectors_of_their_text(made: Maker) -> None:
    encoder = made(network(0.5))
    for text in TEXTS:
        assert np.array_equal(encoder.vector_of(embedded_tokenizer().encode(text, 512)), encoder.encode([text])[0])


def test_pieces_of_low_salience_leave_the_vector(made: Maker) -> None:
    """The salience bias alone makes all pieces count equally little, which changes no direction."""
    encoder = made(network(0.0) | {"salience_bias": np.array([-3.0], dtype=np.float32)})
    salience = encoder.salience(embedded_tokenizer().encode("my parcel", 512))

    assert salience == pytest.approx(np.full(2, 2 / (1 + np.exp(3.0))), rel=1e-3)


def test_model_without_a_network_has_no_salience(made: Maker) -> None:
    assert made(None).salience([5000]) is None


def test_unknown_pieces_have_no_salience(made: Maker) -> None:
    salience = made(network(0.5)).salience([embedded_tokenizer().unknown or 0, 5000])

    assert salience is not None
    assert salience[0] == 0.0 < salience[1]


def test_network_is_part_of_the_fingerprint(made: Maker) -> None:
    fingerprints = [made(tensors).fingerprint for tensors in (None, network(0.5), network(0.6))]

    assert len({*fingerprints}) == 3


def test_many_threads_get_the_same_vectors(made: Maker) -> None:
    """Threads add pieces to the table of the network at the same time."""
    texts = [" ".join(chr(97 + (i * j) % 26) * (1 + j % 3) for j in range(12)) for i in range(200)]
    expected = made(network(0.5)).encode(texts)
    encoder = made(network(0.5))

    with ThreadPoolExecutor(8) as threads:
        found = np.concatenate(list(threads.map(lambda text: encoder.encode([text]), texts)))

    assert np.abs(found - expected).max() < encoder.tolerance


@pytest.mark.parametrize("fault", ["damaged", "missing", "shape", "other width"])
def test_network_that_does_not_fit_is_refused(made: Maker, tmp_path: Path, fault: str) -> None:
    tensors = network(0.5)
    match fault:
        case "damaged":
            (tmp_path / FILE).write_bytes(b"\x08\0\0\0\0\0\0\0 broken ")
        case "missing":
            del tensors["residual"]
        case "shape":
            tensors["first"] = tensors["first"][:-1]
        case _:
            tensors["first_bias"] = np.zeros(WIDTH + 1, dtype=np.float32)

    with pytest.raises(ModelUnavailableError, match=rf"is not a static model: {FILE} (is damaged|does not fit)"):
        made(None if fault == "damaged" else tensors)
