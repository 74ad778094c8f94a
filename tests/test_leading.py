"""The leading intents against a look at every row, on random registries of vectors and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import WordHashEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

import intentmatch.leading as room
from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.heldout import evidence
from intentmatch.index import ExactIndex
from intentmatch.leading import Leading
from intentmatch.words import DIM, OwnedWords, WordRows, Words

RANKED = 5


class Case:
    """A registry of random vectors and words, and one message."""

    def __init__(self, seed: int, intents: int, spread: float, aggregation: str) -> None:
        chance = np.random.default_rng(seed)
        sizes = chance.integers(1, 8, intents)
        self.owners = np.repeat(np.arange(intents), sizes)
        centres = chance.normal(size=(intents, 8))
        vectors = centres[self.owners] + spread * chance.normal(size=(len(self.owners), 8))
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        words = np.zeros((len(self.owners), DIM), dtype=np.float32)
        for number in range(len(words)):
            if chance.random() < 0.9:  # the others have no words
                places = chance.choice(40, 4, replace=False)
                words[number, places] = chance.normal(size=4)
                words[number] /= np.linalg.norm(words[number])
        self.rows = WordRows.of(words)
        self.index = ExactIndex(vectors, self.owners.tolist(), aggregation)
        self.vector = vectors[chance.integers(len(vectors))] + 0.3 * chance.normal(size=8).astype(np.float32)
        self.vector = (self.vector / np.linalg.norm(self.vector)).astype(np.float32)
        values = chance.normal(size=5).astype(np.float32)
        self.words = Words(np.sort(chance.choice(40, 5, replace=False)), values / np.linalg.norm(values))
        noise = chance.normal(size=intents)
        self.logits = (4 * (centres @ self.vector) / np.linalg.norm(centres, axis=1) + noise).astype(np.float32)
        scores, cosines = self.index.scores(self.vector[None, :])
        self.scores, self.cosines = scores[0], cosines[0]
        self.evidence = evidence(self.scores, self.index.best(self.rows.cosines(self.words)), self.logits)

    def look(self, enough: float, needed: tuple[int, ...] = ()) -> room.Scores | None:
        leading = Leading(self.index, OwnedWords(self.rows, self.owners), enough, RANKED)
        return leading.look(self.vector, self.words, self.logits, needed)


CASES = st.builds(
    Case, st.integers(0, 2**20), st.integers(30, 90), st.floats(0.05, 2.0), st.sampled_from(["mean2", "max"])
)


@given(CASES, st.floats(-1.0, 4.0), st.data())
@settings(max_examples=200, deadline=None)
def test_what_matters_is_as_if_everything_were_looked_at(case, enough, data):
    """The first two, all with evidence enough, and those needed: their evidence, scores and nearest rows are right."""
    needed = tuple(data.draw(st.sets(st.integers(0, len(case.scores) - 1), max_size=3)))

    found = case.look(enough, needed)

    if found is None:
        return
    matter = {
        *np.argsort(-case.evidence, kind="stable")[:2].tolist(),
        *np.flatnonzero(case.evidence >= enough),
        *needed,
    }
    for intent in matter:
        assert found.evidence[intent] == pytest.approx(case.evidence[intent], abs=1e-5)
        assert found.scores[intent] == pytest.approx(case.scores[intent], abs=1e-5)
        assert case.index.nearest(found.cosines, intent) == case.index.nearest(case.cosines, intent)
    looked = np.isfinite(found.evidence)
    assert found.evidence[looked] == pytest.approx(case.evidence[looked], abs=1e-5)
    assert looked.sum() >= RANKED


@given(CASES)
@settings(deadline=None)
def test_a_bound_of_words_is_a_bound(case):
    """No text of an owner is nearer, and the best of some owners are those of all."""
    owned = OwnedWords(case.rows, case.owners)
    best = case.index.best(case.rows.cosines(case.words))
    some = list(range(0, len(best), 3))

    assert (owned.at_most(case.words) >= best - 1e-6).all()
    assert owned.best(case.words, some) == pytest.approx(best[some], abs=1e-6)


@given(CASES)
@settings(deadline=None)
def test_a_look_at_some_owners_is_a_part_of_the_look_at_all(case):
    """Scores and cosines of the owners asked for; of no other row is anything said."""
    some = list(range(1, len(case.scores), 4))
    cosines = np.full(len(case.owners), -np.inf, dtype=np.float32)

    scores = case.index.look(case.vector, some, cosines)

    asked = np.isin(case.owners, some)
    assert scores == pytest.approx(case.scores[some], abs=1e-6)
    assert cosines[asked] == pytest.approx(case.cosines[asked], abs=1e-6)
    assert np.isneginf(cosines[~asked]).all()


def test_most_messages_need_no_look_at_everything():
    """Where a threshold is as high as learned ones are."""
    found = [Case(seed, 90, 0.5, "mean2") for seed in range(40)]

    assert sum(case.look(float(np.sort(case.evidence)[-3])) is None for case in found) < 20


def test_where_anything_could_pass_everything_is_looked_at():
    """A threshold of nothing leaves no intent out, and then one product over all rows is quicker."""
    assert Case(1, 90, 0.5, "mean2").look(-np.inf) is None


THINGS = [
    a + b for a in ("red", "tall", "old", "loud", "wet", "thin", "odd") for b in ("cat", "car", "cup", "cap", "can")
]


def test_answers_are_those_of_a_look_at_everything(monkeypatch):
    """Verdict, rivals, confidence, reason and the first two candidates, with negatives and typing mistakes about."""
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
    whole = Matcher.load(bot, encoder=WordHashEncoder(), cache="off")
    monkeypatch.setattr(Leading, "worth_it", staticmethod(lambda *_: True))
    some = Matcher.load(bot, encoder=WordHashEncoder(), cache="off")
    looks = []
    look = Leading.look
    monkeypatch.setattr(Leading, "look", lambda *said: looks.append(look(*said)) or looks[-1])
    asked = [
        f"{first} {name} {second}" for name in THINGS for first, second in (("a", "of feelings"), ("the", "borke"))
    ]
    asked += ["whree is the redcat", "hello there", "now", "my tallcar and my redcup broke", "things about loudcan"]

    for message in asked:
        one, other = some.match(message), whole.match(message)
        assert (one.verdict, one.intent, one.trace.reason) == (other.verdict, other.intent, other.trace.reason)
        assert [c.intent for c in one.rivals] == [c.intent for c in other.rivals]
        assert one.candidates[:2] == tuple(
            replace(
                c,
                score=pytest.approx(c.score),
                confidence=pytest.approx(c.confidence),
                evidence=pytest.approx(c.evidence),
            )
            for c in other.candidates[:2]
        )
    assert any(found is not None for found in looks)


def test_a_small_registry_is_looked_at_as_a_whole():
    """It takes many intents and many utterances to be worth the trouble."""
    assert not Leading.worth_it(32, 100_000)
    assert not Leading.worth_it(1000, 1000)
    assert Leading.worth_it(150, 15_000)
