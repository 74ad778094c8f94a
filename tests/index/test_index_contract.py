"""What every index keeps, exact or approximate: near rows, the owners worth a look, and scores that are exact."""

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
    """Unit rows around a few hundred centres, as the utterances of many intents are."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(300, DIM))
    rows = (centres[chance.integers(0, 300, count)] + 0.4 * chance.normal(size=(count, DIM))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def index_of(kind: str, vectors: np.ndarray, owners: list[int], aggregation: str = "mean2") -> ExactIndex:
    name, _, numbers = kind.partition(" ")
    return load_index(name, vectors.astype(numbers or np.float32), owners, aggregation, device="cpu")


def within(kind: str) -> float:
    """How far a cosine may be from that of float32."""
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
def test_of_the_ten_nearest_rows_at_least_99_in_100_are_found(kind, loaded, vectors):
    """Recall at 10 against every cosine; each row comes once, best first, with its own cosine."""
    index, found = loaded(kind), 0
    queries = rows_of(200, seed=8)
    for query in queries:
        rows, cosines = index.search(query, 10)
        assert len(set(rows.tolist())) == len(rows) == 10
        assert cosines == pytest.approx(vectors[rows] @ query, abs=within(kind))
        assert (np.diff(cosines) <= 0).all()
        found += len({*rows.tolist()} & {*np.argsort(-(vectors @ query))[:10].tolist()})

    assert found >= 0.99 * 10 * len(queries)


@pytest.mark.parametrize("kind", KINDS)
def test_the_owners_of_the_nearest_rows_are_worth_a_look(kind, loaded, vectors):
    """Whoever has the nearest row is looked at, and the look gives the very score that a look at all rows gives."""
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
def test_those_that_lead_have_the_highest_scores(kind, aggregation, vectors, monkeypatch):
    """Whatever the blocks that the rows are taken in, however uneven the owners, and among whomever one asks."""
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
def test_a_gpu_finds_what_the_processor_finds(vectors):
    """The same leaders for a large batch, but for those that tie to the last digits."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    owners = np.repeat(np.arange(OWNERS), ROWS // OWNERS).tolist()
    queries = rows_of(5000, seed=11)
    found = load_index("torch", vectors, owners, "mean2", device="cuda").best_owners(queries, 1)
    expected = load_index("exact", vectors, owners, "mean2").best_owners(queries, 1)

    assert np.mean(np.concatenate(found) == np.concatenate(expected)) > 0.999


@pytest.mark.parametrize("kind", KINDS)
def test_a_look_for_many_queries_is_a_look_for_each(kind, loaded, vectors):
    """Scores and nearest rows."""
    index, queries = loaded(kind), rows_of(20, seed=9)
    for column in (0, 7, OWNERS - 1):
        scores, rows = index.score_column_many(queries, column)
        alone = [index.score_column(query, column) for query in queries]

        assert scores == pytest.approx([score for score, _ in alone], abs=within(kind))
        assert rows.tolist() == [row for _, row in alone]


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_may_search(kind, loaded, vectors):
    """At once, each with the answer that it gets alone."""
    index, queries = loaded(kind), vectors[::20]
    alone = [index.search(query, 10)[0].tolist() for query in queries]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: index.search(query, 10)[0].tolist(), queries))

    assert together == alone


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_than_there_are_is_all_of_them(kind):
    """Asking for more than there is gives what there is, also where one owner has it all."""
    index = index_of(kind, rows_of(3), [0, 0, 0], "max")
    rows, _ = index.search(rows_of(1)[0], 10)

    assert sorted(rows.tolist()) == [0, 1, 2]
    assert [columns.tolist() for columns in index.best_owners(rows_of(2), 5)] == [[0], [0]]


@needs_usearch
def test_the_same_rows_make_the_same_graph(vectors):
    """Byte by byte, so that an artefact depends on its content alone."""
    assert (make_graph(vectors[:2000]) == make_graph(vectors[:2000])).all()


@needs_usearch
def test_a_graph_that_cannot_be_used_is_made_again(vectors, caplog):
    """One of another release costs time and is said in the log; the answers are those of a new one."""
    owners = [0] * 1000 + [1] * 1000
    made = ApproximateIndex(vectors[:2000], owners, "mean2")
    with caplog.at_level(logging.WARNING):
        mended = ApproximateIndex(vectors[:2000], owners, "mean2", np.frombuffer(b"garbage" * 99, dtype=np.uint8))

    assert "making it again" in caplog.text
    for query in vectors[2000:2010]:
        assert mended.search(query, 10)[0].tolist() == made.search(query, 10)[0].tolist()


@pytest.mark.parametrize(
    ("package", "settings"),
    [("usearch", {"index": "usearch"}), ("numkong", {"vectors": "float16"}), ("faiss", {"vectors": "float16"})],
)
def test_a_missing_extra_says_what_to_install(package, settings, monkeypatch):
    """Before anything is encoded or learned."""
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
def test_a_matcher_answers_alike_with_either_index(bots):
    """What leads is the same; confidences are of the same scores. A restricted question is looked up in all rows."""
    for intent in list(bots["exact"].registry)[::5]:
        message = f"please {intent.utterances[0].text} again"
        exact, approximate = (bots[kind].match(message) for kind in ("exact", "usearch"))
        assert approximate.verdict == exact.verdict
        assert_same(approximate.candidates[:1], exact.candidates[:1])
        of_two = [bots[kind].match(message, allowed=[intent.name, "parcel0"]) for kind in ("exact", "usearch")]
        assert_same(*(result.candidates for result in of_two))


def assert_same(some: tuple[Candidate, ...], others: tuple[Candidate, ...]) -> None:
    """But for the last digits, in which a product with all rows and one with a few may differ."""
    assert [(c.intent, c.utterance) for c in some] == [(c.intent, c.utterance) for c in others]
    assert [c.score for c in some] == pytest.approx([c.score for c in others], abs=1e-5)
    assert [c.confidence for c in some] == pytest.approx([c.confidence for c in others], abs=1e-5)


@needs_usearch
def test_the_graph_travels_with_the_artefact(bots, tmp_path, monkeypatch):
    """What was built is not made again where it is loaded, and loading it exactly is a matter of a setting."""
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
def test_a_head_needs_no_graph():
    """It finds the leading intents by itself; nothing is made for it."""
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
