"""Rules of every index, exact or approximate: near rows, candidate owners, and exact scores."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.core import plugins
from intentmatch.core.errors import MissingExtraError
from intentmatch.core.result import Candidate
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.index import ApproximateIndex, ExactIndex, exact, load_index, make_graph
from intentmatch.matching.matcher import Matcher

needs_usearch = pytest.mark.skipif(not plugins.installed("usearch"), reason="the extra [ann] is not installed")
needs_numkong = pytest.mark.skipif(
    not (plugins.installed("numkong") and plugins.installed("faiss")), reason="the extra [ann] is not installed"
)
needs_torch = pytest.mark.skipif(not plugins.installed("torch"), reason="the extra [torch] is not installed")
# The index, and the numbers that rows are kept in where they are not float32.
EXACT = [
    "exact",
    pytest.param("exact float16", marks=needs_numkong),
    pytest.param("torch", marks=needs_torch),
    pytest.param("torch float16", marks=[needs_torch, needs_numkong]),
]
KINDS = [*EXACT, *(pytest.param(kind, marks=needs_usearch) for kind in ("usearch", "usearch float16"))]
ROWS, OWNERS, DIM = 6000, 60, 32


def rows_of(count: int, seed: int = 7) -> np.ndarray:
    """Return unit rows around a few hundred centres, like the utterances of many intents."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(300, DIM))
    rows = (centres[random.integers(0, 300, count)] + 0.4 * random.normal(size=(count, DIM))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def index_of(kind: str, vectors: np.ndarray, owners: list[int], aggregation: str = "mean2") -> ExactIndex:
    name, _, numbers = kind.partition(" ")
    return load_index(name, vectors.astype(numbers or np.float32), owners, aggregation, device="cpu")


def tolerance(kind: str) -> float:
    """Return the tolerance of a cosine compared with float32."""
    return 5e-4 if "float16" in kind else 1e-6


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return rows_of(ROWS)


@pytest.fixture(scope="module")
def loaded(vectors: np.ndarray) -> Callable[[str], ExactIndex]:
    owners = np.repeat(np.arange(OWNERS), ROWS // OWNERS).tolist()
    made: dict[str, ExactIndex] = {}
    return lambda kind: made.setdefault(kind, index_of(kind, vectors, owners))


@pytest.mark.parametrize("kind", KINDS)
def test_recall_at_10_is_at_least_99_percent(kind, loaded, vectors):
    """Each row occurs once, best first, with its own cosine."""
    index, found = loaded(kind), 0
    queries = rows_of(200, seed=8)
    for query in queries:
        rows, cosines = index.search(query, 10)
        assert len(set(rows.tolist())) == len(rows) == 10
        assert cosines == pytest.approx(vectors[rows] @ query, abs=tolerance(kind))
        assert (np.diff(cosines) <= 0).all()
        found += len({*rows.tolist()} & {*np.argsort(-(vectors @ query))[:10].tolist()})

    assert found >= 0.99 * 10 * len(queries)


@pytest.mark.parametrize("kind", KINDS)
def test_owner_of_the_nearest_row_is_a_candidate_with_its_exact_score(kind, loaded, vectors):
    index = loaded(kind)
    for query in vectors[::500]:
        columns = index.best_owners(query[None], 10)[0].tolist()
        scores, rows = zip(*(index.score_column(query, column) for column in columns), strict=True)

        assert int(np.argmax(vectors @ query)) // (ROWS // OWNERS) in columns
        assert int(np.argmax(vectors @ query)) in rows
        assert scores == pytest.approx(index.scores(query[None])[0][0][columns], abs=1e-6)
        assert index.nearest_rows(query, columns[0], 3)[0] == rows[0]


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("aggregation", ["mean2", "max"])
def test_best_owners_have_the_highest_scores(kind, aggregation, vectors, monkeypatch):
    """For any block size, uneven owners, and any subset of owners."""
    sizes = np.random.default_rng(3).integers(1, 200, OWNERS)
    owners = np.repeat(np.arange(OWNERS), sizes)
    queries, among = rows_of(30, seed=10), np.arange(0, OWNERS, 3)
    index = index_of(kind, vectors[: len(owners)], owners.tolist(), aggregation)
    scores, _ = index.scores(queries)

    for numbers in (1, 30 * 500, 1 << 22):
        monkeypatch.setattr(exact, "SEARCH_COSINES", numbers)
        for asked, open_to in ((None, np.arange(OWNERS)), (among, among)):
            for row, found in zip(scores, index.best_owners(queries, 4, asked), strict=True):
                assert sorted(row[found]) == pytest.approx(np.sort(row[open_to])[-4:].tolist(), abs=1e-6)
                assert {*found.tolist()} <= {*open_to.tolist()}
    assert sorted(index.best_owners(queries[:1], 1000)[0].tolist()) == list(range(OWNERS))


@pytest.mark.gpu
def test_gpu_finds_the_same_owners_as_the_cpu(vectors):
    """Except for ties in the last digits."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    owners = np.repeat(np.arange(OWNERS), ROWS // OWNERS).tolist()
    queries = rows_of(5000, seed=11)
    found = load_index("torch", vectors, owners, "mean2", device="cuda").best_owners(queries, 1)
    expected = load_index("exact", vectors, owners, "mean2").best_owners(queries, 1)

    assert np.mean(np.concatenate(found) == np.concatenate(expected)) > 0.999


@pytest.mark.parametrize("kind", KINDS)
def test_score_column_many_equals_score_column(kind, loaded, vectors):
    index, queries = loaded(kind), rows_of(20, seed=9)
    for column in (0, 7, OWNERS - 1):
        scores, rows = index.score_column_many(queries, column)
        alone = [index.score_column(query, column) for query in queries]

        assert scores == pytest.approx([score for score, _ in alone], abs=tolerance(kind))
        assert rows.tolist() == [row for _, row in alone]


@pytest.mark.parametrize("kind", KINDS)
def test_concurrent_searches_agree(kind, loaded, vectors):
    index, queries = loaded(kind), vectors[::20]
    alone = [index.search(query, 10)[0].tolist() for query in queries]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: index.search(query, 10)[0].tolist(), queries))

    assert together == alone


@pytest.mark.parametrize("kind", KINDS)
def test_count_above_the_number_of_rows_returns_all_rows(kind):
    index = index_of(kind, rows_of(3), [0, 0, 0], "max")
    rows, _ = index.search(rows_of(1)[0], 10)

    assert sorted(rows.tolist()) == [0, 1, 2]
    assert [columns.tolist() for columns in index.best_owners(rows_of(2), 5)] == [[0], [0]]


@needs_usearch
def test_equal_rows_give_an_equal_graph(vectors):
    """An artefact depends on its content alone."""
    assert (make_graph(vectors[:2000]) == make_graph(vectors[:2000])).all()


@needs_usearch
def test_unusable_graph_is_built_again_with_a_warning(vectors, caplog):
    owners = [0] * 1000 + [1] * 1000
    made = ApproximateIndex(vectors[:2000], owners, "mean2")
    with caplog.at_level(logging.WARNING):
        mended = ApproximateIndex(vectors[:2000], owners, "mean2", np.frombuffer(b"garbage" * 99, dtype=np.uint8))

    assert "building it again" in caplog.text
    for query in vectors[2000:2010]:
        assert mended.search(query, 10)[0].tolist() == made.search(query, 10)[0].tolist()


@pytest.mark.parametrize(
    ("package", "settings"),
    [("usearch", {"index": "usearch"}), ("numkong", {"vectors": "float16"}), ("faiss", {"vectors": "float16"})],
)
def test_missing_extra_names_the_pip_command_before_encoding(package, settings, monkeypatch):
    monkeypatch.setattr(plugins, "installed", lambda module: module != package)
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[ann\]"'):
        Matcher.load(Registry((Intent("a", (Utterance("hello"),)),)), cache="off", **settings)


@pytest.fixture(scope="module")
def bots() -> dict[str, Matcher]:
    words = [f"{first}{second}" for first in ("par", "re", "in", "vou", "ad") for second in ("cel", "fund", "voice")]
    registry = Registry(
        tuple(
            Intent(f"{word}{number}", tuple(Utterance(f"{how} {word} {number}") for how in ("my", "the", "no", "what")))
            for number in range(8)
            for word in words
        )
    )
    settings = {"scorer": "cosine", "cache": "off"}
    return {kind: Matcher.load(registry, index=kind, **settings) for kind in ("exact", "usearch")}


@needs_usearch
def test_matcher_gives_the_same_results_with_every_index(bots):
    """Restricted questions use an exact search."""
    for intent in list(bots["exact"].registry)[::5]:
        message = f"please {intent.utterances[0].text} again"
        exact, approximate = (bots[kind].match(message) for kind in ("exact", "usearch"))
        assert approximate.verdict == exact.verdict
        assert_same(approximate.candidates[:1], exact.candidates[:1])
        of_two = [bots[kind].match(message, allowed=[intent.name, "parcel0"]) for kind in ("exact", "usearch")]
        assert_same(*(result.candidates for result in of_two))


def assert_same(some: tuple[Candidate, ...], others: tuple[Candidate, ...]) -> None:
    """Compare candidates, except for the last digits, which depend on the shape of the matrix product."""
    assert [(c.intent, c.utterance) for c in some] == [(c.intent, c.utterance) for c in others]
    assert [c.score for c in some] == pytest.approx([c.score for c in others], abs=1e-5)
    assert [c.confidence for c in some] == pytest.approx([c.confidence for c in others], abs=1e-5)


@needs_usearch
def test_graph_is_stored_in_the_artefact(bots, tmp_path, monkeypatch):
    """Loading it with another index needs only a setting."""
    path = tmp_path / "bot.intentmatch"
    save_artefact(bots["usearch"].artefact, path)
    stored = load_artefact(path).graph
    assert stored is not None
    assert (stored == bots["usearch"].artefact.graph).all()

    monkeypatch.setattr("intentmatch.index.approximate.make_graph", lambda vectors: pytest.fail("made again"))
    message = "please my parcel 3 again"
    assert Matcher.load(path).match(message).candidates == bots["usearch"].match(message).candidates
    assert Matcher.load(path, index="exact").match(message).candidates[0] == bots["exact"].match(message).candidates[0]


@needs_usearch
def test_no_graph_is_built_for_a_head():
    registry = Registry(
        tuple(
            Intent(
                word, tuple(Utterance(f"{how} {word} {more}") for how in ("my", "the", "no", "what") for more in "xyz")
            )
            for word in ("parcel", "refund", "invoice", "voucher")
        )
    )
    matcher = Matcher.load(registry, index="usearch", cache="off")

    assert matcher.artefact.trained_head is not None
    assert matcher.artefact.graph is None
