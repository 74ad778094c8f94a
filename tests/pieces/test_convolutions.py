"""Two convolutions over the pieces of a text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from intentmatch.pieces.convolutions import Convolutions, blocks

WIDTH, DIM, PIECES = 4, 6, 3000
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.standard_normal((PIECES, DIM)).astype(np.float32)
TENSORS = {
    "first": RANDOM.standard_normal((DIM + 1, 3 * WIDTH)),
    "first_bias": RANDOM.standard_normal(WIDTH),
    "second": RANDOM.standard_normal((3 * WIDTH, WIDTH)),
    "second_bias": RANDOM.standard_normal(WIDTH),
}


def convolutions(**changed: np.ndarray) -> Convolutions:
    return Convolutions(TENSORS | changed, ROWS, None, None, keeps_vectors=True)


def plain(pieces: list[int]) -> np.ndarray:
    """What the convolutions are, piece by piece."""
    lengths = np.linalg.norm(ROWS, axis=1, keepdims=True)
    inputs = np.concatenate([ROWS / lengths, 0.2 * np.log(lengths)], 1)[pieces]
    nothing = np.zeros((1, WIDTH))
    before, here, after = np.split(inputs @ TENSORS["first"], 3, axis=1)
    x = np.vstack([nothing, before[:-1]]) + here + np.vstack([after[1:], nothing]) + TENSORS["first_bias"]
    x = np.maximum(x, 0)
    around = np.hstack([np.vstack([nothing, x[:-1]]), x, np.vstack([x[1:], nothing])])
    return x + np.maximum(around @ TENSORS["second"] + TENSORS["second_bias"], 0)


@pytest.mark.parametrize("pieces", [[7], [7, 8], [1, 2, 3, 2, 1], [*range(40)]])
def test_one_text_and_many_give_what_the_definition_gives(pieces):
    read = convolutions()
    hidden, vectors = read.read(pieces)
    block = read.read_block([[5, 6], pieces, [9]])

    assert hidden == pytest.approx(plain(pieces), abs=1e-4)
    assert vectors == pytest.approx(ROWS[pieces])
    start, length = block.starts[1], block.lengths[1]
    assert block.hidden[start : start + length] == pytest.approx(hidden, abs=1e-4)
    assert not block.hidden[block.gaps].any()
    assert not block.vectors[block.gaps].any()


@pytest.mark.parametrize("lengths", [[1], [3, 1, 2], [2, 2], [5, 40, 1], [32, 33]])
def test_reduced_rows_are_those_of_each_text(lengths):
    """Of short texts, and of long ones among them."""
    block = convolutions().read_block([[*range(length)] for length in lengths])

    sums, greatest = block.reduced(block.vectors, np.add, np.maximum)

    for row, (start, length) in enumerate(zip(block.starts, block.lengths, strict=True)):
        own = block.vectors[start : start + length]
        assert sums[row] == pytest.approx(own.sum(axis=0), abs=1e-4)
        assert greatest[row] == pytest.approx(own.max(axis=0))


def test_narrow_second_convolution_gives_what_its_product_gives():
    narrow, widened = RANDOM.standard_normal((3 * WIDTH, 2)), RANDOM.standard_normal((2, WIDTH))

    found = convolutions(second=narrow, widened=widened).read([1, 2, 3])[0]

    assert found == pytest.approx(convolutions(second=narrow @ widened).read([1, 2, 3])[0], abs=1e-4)


def test_what_is_remembered_of_a_piece_does_not_depend_on_the_pieces_read_with_it():
    """BLAS rounds a row otherwise alone than among others; a process must not answer by what it has read before."""
    width, dim, pieces = 128, 256, [*range(100)]
    rows = RANDOM.standard_normal((len(pieces), dim)).astype(np.float32)
    shapes = {"first": (dim + 1, 3 * width), "first_bias": width, "second": (3 * width, width), "second_bias": width}
    tensors = {name: RANDOM.standard_normal(shape) for name, shape in shapes.items()}
    at_once, one_by_one, by_threes = (Convolutions(tensors, rows, None, None, keeps_vectors=True) for _ in range(3))
    for piece in pieces:
        one_by_one.read([piece])
    for start in reversed(range(0, len(pieces), 3)):
        by_threes.read(pieces[start : start + 3])

    expected = at_once.read(pieces)[0].tobytes()

    assert one_by_one.read(pieces)[0].tobytes() == expected
    assert by_threes.read(pieces)[0].tobytes() == expected


def test_many_threads_read_many_new_pieces():
    read = convolutions()
    texts = [[int(piece) for piece in RANDOM.integers(PIECES, size=12)] for _ in range(400)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pieces: read.read(pieces)[0], texts))

    for pieces, hidden in zip(texts, found, strict=True):
        assert hidden == pytest.approx(plain(pieces), abs=1e-4)


@pytest.mark.parametrize(
    "changed",
    [
        {"first": np.zeros((DIM, 3 * WIDTH))},
        {"second": np.zeros((WIDTH, WIDTH))},
        {"second_bias": np.zeros(WIDTH + 1)},
        {"widened": np.zeros((2, WIDTH))},
        {"second": np.zeros((3 * WIDTH, 2)), "widened": np.zeros((2, WIDTH + 1))},
        {"widened": np.zeros(())},
        {"first_bias": np.zeros(0)},
    ],
)
def test_tensors_of_another_shape_are_an_error(changed):
    with pytest.raises(ValueError, match="is missing or has the wrong shape"):
        convolutions(**changed)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([], []), ([3, 3, 4], [(0, 3)]), ([3, 3, 5], [(0, 2), (2, 3)]), ([20, 1], [(0, 1), (1, 2)])],
)
def test_texts_are_read_in_blocks(lengths, expected):
    found = blocks([range(length) for length in lengths], 10)

    assert [(some.start, some.stop) for some in found] == expected
