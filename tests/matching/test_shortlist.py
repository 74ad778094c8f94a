"""The shortlist compared with scoring every utterance, on random registries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import WordHashEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.index import ExactIndex
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.head import Head
from intentmatch.learning.token_features import DIM, SparseVector
from intentmatch.matching.shortlist import SearchResult, Shortlist

RANKED = 5


class Case:
    """A registry of random vectors and token features, and one message."""

    def __init__(self, seed: int, intents: int, spread: float, aggregation: str) -> None:
        chance = np.random.default_rng(seed)
        sizes = chance.integers(1, 8, intents)
        self.owners = np.repeat(np.arange(intents), sizes)
        centres = chance.normal(size=(intents, 8))
        vectors = centres[self.owners] + spread * chance.normal(size=(len(self.owners), 8))
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        self.index = ExactIndex(vectors, self.owners.tolist(), aggregation)
        self.vector = vectors[chance.integers(len(vectors))] + 0.3 * chance.normal(size=8).astype(np.float32)
        self.vector = (self.vector / np.linalg.norm(self.vector)).astype(np.float32)
        values = chance.normal(size=5).astype(np.float32)
        self.words = SparseVector(np.sort(chance.choice(40, 5, replace=False)), values / np.linalg.norm(values))
        self.head = Head(
            np.concatenate(
                [
                    4 * (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T,
                    0.3 * chance.normal(size=(DIM, intents)),
                    chance.normal(size=(1, intents)),
                ]
            ).astype(np.float32)
        )
        self.logits = self.head.for_vectors(8).logits(self.vector, self.words)
        scores, cosines = self.index.scores(self.vector[None, :])
        self.scores, self.cosines = scores[0], cosines[0]
        self.evidence = fused_score(self.scores, self.logits)

    def shortlist(self) -> Shortlist:
        return Shortlist(self.index, self.head.for_vectors(8))

    def search(self, needed: tuple[int, ...] = (), allowed: set[int] | None = None) -> SearchResult:
        return self.shortlist().search(self.vector, self.words, needed, allowed)


CASES = st.builds(
    Case, st.integers(0, 2**20), st.integers(30, 90), st.floats(0.05, 2.0), st.sampled_from(["mean2", "max"])
)


@given(CASES, st.data())
@settings(max_examples=200, deadline=None)
def test_search_scores_equal_those_of_the_whole_index(case, data):
    """It has enough intents for a ranking, and those needed."""
    needed = tuple(data.draw(st.sets(st.integers(0, len(case.scores) - 1), max_size=3)))

    found = case.search(needed)

    assert {one.intent for one in found.scored} >= {*needed}
    assert len({one.intent for one in found.scored}) == len(found.scored) >= RANKED
    assert found.least <= case.evidence.min() + case.scores.max() + 1
    for one in found.scored:
        assert one.evidence == pytest.approx(case.evidence[one.intent], abs=1e-5)
        assert one.score == pytest.approx(case.scores[one.intent], abs=1e-5)
        assert one.row == case.index.nearest(case.cosines, one.intent)


@given(CASES)
@settings(deadline=None)
def test_clear_first_intent_is_in_the_shortlist(case):
    first, second = np.argsort(-case.evidence, kind="stable")[:2].tolist()

    if case.evidence[first] > case.evidence[second] + 1.0:
        assert max(case.search().scored, key=lambda one: one.evidence).intent == first


@given(CASES, st.data())
@settings(deadline=None)
def test_only_allowed_intents_are_scored(case, data):
    """All of them if they are few."""
    allowed = data.draw(st.sets(st.integers(0, len(case.scores) - 1), min_size=1))

    found = {one.intent for one in case.search(allowed=allowed).scored}

    assert found <= allowed
    assert len(found) >= min(RANKED, len(allowed))


@given(CASES, st.integers(1, 40))
@settings(deadline=None)
def test_search_many_equals_search_for_each_message(case, count):
    chance = np.random.default_rng(count)
    vectors = chance.normal(size=(count, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.zeros((count, DIM), dtype=np.float32)
    rows[:, :40] = chance.normal(size=(count, 40)) * (chance.random((count, 40)) < 0.1)
    shortlist = case.shortlist()

    together = shortlist.search_many(vectors, case.head.for_vectors(8).logits_many(vectors, rows))

    assert len(together) == count
    for vector, row, batched in zip(vectors, rows, together, strict=True):
        alone = shortlist.search(vector, SparseVector(np.flatnonzero(row), row[row != 0]), (), None)
        assert batched.least == pytest.approx(alone.least, abs=1e-5)
        evidence = {one.intent: one.evidence for one in alone.scored}
        # Of two intents with the same head term, either may be shortlisted.
        same = [one for one in batched.scored if one.intent in evidence]
        assert len(same) >= len(evidence) - 1
        assert [one.evidence for one in same] == pytest.approx([evidence[one.intent] for one in same], abs=1e-4)


THINGS = [
    a + b for a in ("red", "tall", "old", "loud", "wet", "thin", "odd") for b in ("cat", "car", "cup", "cap", "can")
]


def test_matches_with_a_shortlist_equal_those_without(monkeypatch):
    """With negatives and typing mistakes.

    The confidence is divided among the intents found, so it may differ a little. Three messages of 75 are therefore
    asked about with one and matched with the other: their best three intents have about 85% of the confidence.
    """
    lines = ("where is the {0}", "i want a {0} now", "my {0} broke", "about {0} and things", "show the {0} to me")
    bot = Registry(
        tuple(
            Intent(
                name,
                tuple(Utterance(line.format(name)) for line in lines),
                negatives=(Utterance(f"a {name} of feelings"),) if number % 5 == 0 else (),
            )
            for number, name in enumerate(THINGS)
        )
    )
    with_shortlist = Matcher.load(bot, encoder=WordHashEncoder(), cache="off")
    monkeypatch.setattr(Shortlist, "pays_off", staticmethod(lambda *_: False))
    without = Matcher.load(bot, encoder=WordHashEncoder(), cache="off")
    searches = []
    search = Shortlist.search
    monkeypatch.setattr(Shortlist, "search", lambda *arguments: searches.append(search(*arguments)) or searches[-1])
    asked = [
        f"{first} {name} {second}" for name in THINGS for first, second in (("a", "of feelings"), ("the", "borke"))
    ]
    asked += ["whree is the redcat", "hello there", "now", "my tallcar and my redcup broke", "things about loudcan"]

    borderline = {f"a {name} of feelings" for name in ("tallcat", "wetcat", "thincat")}
    for message in asked:
        one, other = with_shortlist.match(message), without.match(message)
        if message in borderline:
            assert [c.intent for c in one.candidates[:2]] == [c.intent for c in other.candidates[:2]]
            continue
        assert (one.verdict, one.intent) == (other.verdict, other.intent)
        # A third rival may have a low logit, and then it is not on the shortlist.
        assert [c.intent for c in one.rivals[:2]] == [c.intent for c in other.rivals[:2]]
        first = other.candidates[0]
        assert one.candidates[0] == replace(
            first,
            score=pytest.approx(first.score),
            confidence=pytest.approx(first.confidence, abs=0.15),
            evidence=pytest.approx(first.evidence),
        )
    assert searches
    together = with_shortlist.match_many(asked)
    assert [(r.verdict, r.intent, r.trace.decided_by) for r in together if r.message not in borderline] == [
        (r.verdict, r.intent, r.trace.decided_by) for r in map(without.match, asked) if r.message not in borderline
    ]


def test_small_registry_has_no_shortlist():
    assert not Shortlist.pays_off(8)
    assert Shortlist.pays_off(150)
