"""Block sizes: how many items each loop over a large registry handles per step.

Every size is a number of the unit that its name ends with. Results do not depend on the sizes, except for rounding in
the last digits; speed and memory do. The sizes were chosen by measurement on ordinary processors: change one only with
`tests/benchmarks/bench_growth.py` before and after. Limits of what users may send are not block sizes and stay where
they are enforced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Encoding

ENCODE_TEXTS: Final = 1024
"""Texts per call of an encoder in a build. Each finished block goes to the vector cache, so an interrupted build
resumes there. An encoder overrides the number with an attribute `texts_at_once`."""

ENCODE_TEXTS_BY_DEVICE: Final[Mapping[str, int]] = {"cpu": 1024, "mps": 4096, "cuda": 32_768}
"""The same for sentence-transformers, per device: a GPU should stay busy for seconds between two cache writes."""

CONTEXT_PIECES: Final = 1024
"""Pieces that the network of a static model reads per step: its numbers stay in the cache of one core."""

COPY_ROWS: Final = 512
"""Vectors copied per step from an earlier build: a block stays in the processor's cache on the way."""

ONNX_ROWS: Final = 8
"""Texts per run of an ONNX model: eight keep one core as busy as more would, and need less padding."""

REMOTE_TEXTS: Final = 32
"""Texts per HTTP request to a remote encoder: the default limit of text-embeddings-inference."""

# Storage

CACHE_ROWS: Final = 900
"""Rows per SQL statement of the vector cache: older SQLite versions allow at most 999 variables in a statement."""

INBOX_ENTRIES: Final = 500
"""Inbox entries per database transaction: a burst of messages needs few commits, and none holds the lock for long."""

# Search

SEARCH_QUERIES: Final = 512
"""Queries per block of an exact search, which bounds the memory for their scores."""

SEARCH_COSINES: Final = 1 << 22
"""Cosines per block of an exact search (queries times rows): 16 MiB of float32, about a processor's last cache."""

HALF_PRODUCT_ROWS: Final = 4096
"""float16 rows per product with one query: the float64 cosines of a block stay in the processor's cache."""

ALIGNED_TEXTS: Final = 256
"""Texts per block of word alignment: the vectors of their pieces and of the utterances' take about 4 MiB."""

# Training

CROSS_VALIDATION_COSINES: Final = 1 << 20
"""Cosines per block of cross-validation (cases times utterances): 4 MiB of float32, in the cache of one core."""

CROSS_VALIDATION_MIN_CASES: Final = 32
"""Fewest cases per block of cross-validation, however many utterances: every block reads all vectors once."""

CROSS_VALIDATION_MAX_CASES: Final = 512
"""Most cases per block of cross-validation, however few utterances; also the rows per near-duplicate comparison."""

HEAD_ROWS: Final = 1024
"""Utterances per part of a head's training step. Parts are spread over the cores and fit their caches. The number does
not depend on the cores, so sums, and with them the trained head, are the same on every machine."""

TOKEN_FEATURE_TEXTS: Final = 512
"""Texts per block of token features: their dense intermediate matrix stays in the processor's cache."""

LANGUAGE_ID_TEXTS: Final = 4096
"""Utterances per block when language statistics are counted, which bounds memory: each character adds a pair."""

# Matching

SCORING_MESSAGES: Final = 4096
"""Messages per block when many are scored: the more there are, the more share the search within one intent."""

SCORING_FEATURE_ROWS: Final = 512
"""Messages per block of token features within a block of scored messages: dense rows should fit the cache."""

SPELLING_TEXTS: Final = 512
"""Utterances per block when the spelling index is built: the letters of a block stay in the processor's cache."""

# Tools

EVALUATION_MESSAGES: Final = 500
"""Messages per step of an evaluation: enough to encode together, few enough for steady progress reports."""

LINT_ROWS: Final = 512
"""Utterances per block when `lint` compares every utterance with every other, which bounds memory."""

DISTILL_DRAWN_LINES: Final = 8192
"""Lines drawn per step when the first embedding table of a student is averaged."""

DISTILL_PIECES: Final = 2048
"""Rare pieces per step when they are assigned to the nearest kept row, which bounds memory."""

DISTILL_TARGET_ROWS: Final = 65_536
"""Teacher vectors per step of the principal component analysis, widened from float16 to float32 a block at a time."""
