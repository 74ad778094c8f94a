"""Parallel computation on all cores: results, thread counts and numpy's threads afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from intentmatch.learning.cross_validation import Scorer, cross_validate
from intentmatch.learning.fold_plan import Utterances
from intentmatch.learning.head import fit_head, held_out_head, prepare
from intentmatch.learning.token_features import DIM
from intentmatch.runtime.threads import all_cores, one_by_one

pytestmark = pytest.mark.skipif(
    not any(library["user_api"] == "blas" for library in threadpool_info()),
    reason="this numpy has no known BLAS library",
)


def numpy_threads() -> int:
    """Return the number of threads of numpy's own BLAS, not of other packages' libraries."""
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    own = [library for library in blas if "numpy" in library["filepath"]]
    return max(library["num_threads"] for library in own or blas)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_uses_as_many_threads_as_numpy_would(threads):
    """Each works on an item at the same time, and numpy has one thread in each."""
    together = threading.Barrier(threads, timeout=10)

    def at_once(item: int) -> tuple[int, int]:
        together.wait()
        return item, numpy_threads()

    with threadpool_limits(threads, user_api="blas"), all_cores() as each:
        assert list(each(at_once, range(threads))) == [(item, 1) for item in range(threads)]
        assert numpy_threads() == 1


def test_numpy_threads_are_restored_after_an_error():
    with threadpool_limits(3, user_api="blas"):
        before = numpy_threads()
        with pytest.raises(ZeroDivisionError), all_cores() as each:
            list(each(lambda item: 1 // item, [1, 0, 1]))
        assert numpy_threads() == before


def test_second_user_gets_one_thread_and_leaves_the_first_its_pool():
    with threadpool_limits(2, user_api="blas"):
        before = numpy_threads()
        with all_cores() as first:
            with all_cores() as second:
                assert second is one_by_one
            assert numpy_threads() == 1
            assert list(first(str, [1, 2])) == ["1", "2"]
        with all_cores() as third:
            assert third is not one_by_one
        assert numpy_threads() == before


def test_numpy_keeps_one_thread_until_the_last_block_ends():
    """Otherwise the second block would compute with another number of threads, and round differently."""
    with threadpool_limits(2, user_api="blas"):
        before = numpy_threads()
        first, second = all_cores(), all_cores()
        first.__enter__()
        with second as each:
            first.__exit__(None, None, None)
            assert each is one_by_one
            assert numpy_threads() == 1
        assert numpy_threads() == before


def test_numpy_limit_holds_beside_another_blas_library():
    """faiss loads a library that reads `OMP_NUM_THREADS` only."""
    pytest.importorskip("faiss", reason="the extra [ann] is not installed")
    program = (
        "import faiss; from intentmatch.runtime.threads import *\nwith all_cores() as each: print(each is one_by_one)"
    )
    limited = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    limited["OPENBLAS_NUM_THREADS"] = "1"
    done = subprocess.run([sys.executable, "-c", program], env=limited, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("size", [30, 700])
def test_training_is_bitwise_equal_for_any_number_of_threads(size):
    """The head, and every cross-validated case."""
    random = np.random.default_rng(3)
    owners = (np.arange(4 * size) // size).tolist()
    vectors = random.normal(size=(4 * size, 16)).astype(np.float32) + np.eye(4, 16, dtype=np.float32)[owners]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = (random.random((4 * size, DIM)) < 0.004).astype(np.float32)
    words /= np.linalg.norm(words, axis=1, keepdims=True).clip(1.0)
    results = set()
    for threads in (1, 2, 5):
        with threadpool_limits(threads, user_api="blas"), all_cores() as each:
            fitting = prepare(vectors, words, owners, 4)
            head = fit_head(fitting, each=each)
            left_out = np.arange(4 * size) % 3 == 0
            logits = held_out_head(fitting, left_out).logits(fitting.features[left_out])
            held_out = cross_validate(Utterances(vectors, owners), Scorer("mean2", fitting), each=each)[0]
        results.add((head.weights.tobytes(), logits.tobytes(), held_out.evidence.tobytes(), held_out.first.tobytes()))

    assert len(results) == 1
