"""Try a stored graph out in a process of its own: usearch trusts its bytes, and a crafted graph ends the process.

The process gets the graph and some vectors on its standard input, and ends with 0 if it found rows for each of them.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import KeptVectors

# Searches that are tried; of a smaller registry all rows.
_SEARCHES = 2000
_SECONDS = 120.0


def graph_works(graph: NDArray[np.uint8], vectors: KeptVectors) -> bool:
    """Return whether usearch can search a graph of these vectors, shape `(rows, dim)`, and finds rows of theirs.

    False too if no process can be started. Raises `MissingExtraError` without usearch.
    """
    rows, dim = vectors.shape
    some = np.ascontiguousarray(vectors[:: max(1, rows // _SEARCHES)], dtype="<f4")
    sizes = [str(number) for number in (rows, dim, len(some))]
    try:
        finished = subprocess.run(  # noqa: S603 - this program, with numbers as arguments
            [sys.executable, "-m", "intentmatch.index.graph_check", *sizes],
            input=some.tobytes() + graph.tobytes(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return finished.returncode == 0


def main(rows: int, dim: int, searches: int) -> int:
    """Search the graph on standard input for each of the vectors before it; return 0 if all is well."""
    from intentmatch.index.approximate import empty_graph

    vectors = np.frombuffer(sys.stdin.buffer.read(searches * dim * 4), dtype="<f4").reshape(searches, dim)
    graph = empty_graph(dim)
    content = np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8)
    graph.view(content)
    if len(graph) != rows:
        return 1
    for vector in vectors:
        found = np.asarray(graph.search(vector, 64, threads=1).keys, dtype=np.int64)
        if not len(found) or found.min() < 0 or found.max() >= rows:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
