"""Time a search of every row with vectors stored as float32, float16, bfloat16 or int8, beside reading them once.

    python tests/benchmarks/bench_storage.py
    python tests/benchmarks/bench_storage.py --rows 1000000

README.md beside this file says what is measured and how.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import thread_time_ns

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import numpy as np
from entry import option_parser
from metrics import plain_table
from numpy.typing import NDArray

from intentmatch.index.half import Scan
from intentmatch.index.products import products

_SEED, _DIM, _BLOCK = 20240501, 256, 1024
# A few of a thousand such random rows are nearer than this cosine.
_ALL, _NEAR = slice(None), 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 0."""
    parser = option_parser(__doc__)
    parser.add_argument("--rows", type=int, default=300_000, help="number of vectors of 256 dimensions (300000)")
    parser.add_argument("--runs", type=int, default=7, help="rounds, of which the median counts (7)")
    options = parser.parse_args(arguments)
    vectors = np.random.default_rng(_SEED).standard_normal((options.rows, _DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = vectors[0].copy()
    exact = vectors @ query
    rows = []
    for name, (stored, search) in kept(vectors).items():
        reads, searches = [], []
        for _ in range(options.runs):
            reads.append(_milliseconds(lambda stored=stored: np.bitwise_or.reduce(stored.view(np.int64).reshape(-1))))
            searches.append(_milliseconds(lambda search=search: search(query)))
        found, cosines = search(query)
        error = float(np.abs(cosines - exact[found]).max())
        ratio = median(search_ms / read_ms for search_ms, read_ms in zip(searches, reads, strict=True))
        size = stored.nbytes / 2**20
        cells = [f"{size:.0f}", f"{median(reads):.1f}", f"{median(searches):.1f}", f"{ratio:.2f}", f"{error:.0e}"]
        rows.append([name, *cells])
    titles = ["kept as", "MiB", "read once, ms", "search of every row, ms", "search/read", "furthest cosine"]
    sys.stdout.write(plain_table(titles, rows) + "\n")
    return 0


Search = Callable[[NDArray[np.float32]], tuple[NDArray[np.int64] | slice, NDArray[np.float32]]]


def kept(vectors: NDArray[np.float32]) -> dict[str, tuple[NDArray[np.generic], Search]]:
    """Each way to keep vectors, what is kept, and what finds rows and their cosines, all or the near ones."""
    half = vectors.astype(np.float16)
    brain = ((vectors.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
    scales = np.abs(vectors).max(axis=1) / np.float32(127)
    small = np.rint(vectors / scales[:, None]).astype(np.int8)

    def shift(block: NDArray[np.float32], start: int, end: int) -> None:
        np.left_shift(brain[start:end], 16, out=block.view(np.uint32), dtype=np.uint32, casting="unsafe")

    of_half, near = products(half).one_query, Scan(half).above
    of_wide = blockwise(len(vectors), lambda block, start, end: np.copyto(block, half[start:end]))
    of_brain = blockwise(len(vectors), shift)
    of_small = blockwise(len(vectors), lambda block, start, end: np.copyto(block, small[start:end]))
    return {
        "float32": (vectors, lambda query: (_ALL, vectors @ query)),
        "float16": (half, lambda query: near(query, _NEAR)),
        "float16/numkong": (half, lambda query: (_ALL, of_half(half, query))),
        "float16/numpy": (half, lambda query: (_ALL, of_wide(query))),
        "bfloat16": (brain, lambda query: (_ALL, of_brain(query))),
        "int8": (small, lambda query: (_ALL, of_small(query) * scales)),
    }


def blockwise(
    rows: int, read: Callable[[NDArray[np.float32], int, int], None]
) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Cosines by way of blocks of float32 that `read` fills, small enough to stay in the processor's cache."""

    def search(query: NDArray[np.float32]) -> NDArray[np.float32]:
        cosines = np.empty(rows, dtype=np.float32)
        buffer = np.empty((_BLOCK, _DIM), dtype=np.float32)
        for start in range(0, rows, _BLOCK):
            end = min(rows, start + _BLOCK)
            block = buffer[: end - start]
            read(block, start, end)
            np.dot(block, query, out=cosines[start:end])
        return cosines

    return search


def _milliseconds(call: Callable[[], object]) -> float:
    start = thread_time_ns()
    call()
    return (thread_time_ns() - start) / 1e6


if __name__ == "__main__":
    sys.exit(main())
