"""What is learned from of a registry of any size: bounded, spread evenly, the same every time, and told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.learning import subsampling as extent
from intentmatch.learning.subsampling import beyond_a_head, sample, subsampling_problems
from intentmatch.matching.matcher import Matcher

HOW = ("where is my", "I lost the", "tell me about the", "what about this", "help with a", "no", "please check", "my")


def registry_of(*sizes: int) -> Registry:
    return Registry(
        tuple(
            Intent(f"intent_{number}", tuple(Utterance(f"{number} {line}") for line in range(size)))
            for number, size in enumerate(sizes)
        )
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a small registry reaches."""
    monkeypatch.setattr(extent, "MOST_UTTERANCES", 40)
    monkeypatch.setattr(extent, "MOST_NUMBERS", 100)


SIZES = st.lists(st.integers(1, 60), min_size=2, max_size=12)


@given(SIZES)
def test_all_of_a_registry_of_usual_size_is_learned_from(sizes):
    """Below the bounds nothing is left out, and nothing is said."""
    registry = registry_of(*sizes)

    assert sample(registry).tolist() == list(range(sum(sizes)))
    assert subsampling_problems(registry, Settings()) == []


@pytest.mark.usefixtures("small")
def test_a_sample_is_bounded_and_takes_from_every_intent_alike():
    """An intent gives as many as any other, or all it has; together they are as many as may be."""
    registry = registry_of(30, 3, 30)

    chosen = sample(registry)

    counts = np.bincount(np.asarray(registry.owners)[chosen]).tolist()
    assert counts == [15, 3, 15]
    assert sum(counts) == 33 == extent.MOST_NUMBERS // 3


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("sizes", [(2,) * 50, (100, 1), (1, 100, 7, 9), (20, 20), (60,) * 12, (1,)])
def test_a_sample_is_rising_and_has_every_intent(sizes):
    """Rows of the registry, each once and in order; never none of an intent, as long as there is room for one each."""
    registry = registry_of(*sizes)

    chosen = sample(registry)

    assert (np.diff(chosen) > 0).all()
    assert len(chosen) <= extent.MOST_UTTERANCES
    if len(sizes) <= extent.MOST_UTTERANCES:
        assert set(np.asarray(registry.owners)[chosen].tolist()) == set(range(len(sizes)))
    assert chosen.tolist() == sample(registry).tolist()


@pytest.mark.usefixtures("small")
def test_a_sample_is_spread_over_an_intent():
    """Authors list one language after the other: each of them has its part."""
    assert sample(registry_of(100, 1)).tolist() == [*(i * 100 // 39 for i in range(39)), 100]


@pytest.mark.usefixtures("small")
def test_many_intents_hand_over_to_cosine():
    """Where too few utterances of each would be left there is no head; where intents have no more there is one."""
    assert not beyond_a_head(registry_of(*[10] * 4))
    assert beyond_a_head(registry_of(*[10] * 10))
    assert beyond_a_head(registry_of(*[3] * 10))
    assert not beyond_a_head(registry_of(*[1] * 10))


@pytest.mark.usefixtures("small")
def test_what_is_not_learned_from_is_told():
    """A note for a sample, a warning for no head, both at the first intent."""
    place = Location("a.yaml", 3, 1)
    first = Intent("a", registry_of(60).utterances, location=place)

    [sampled] = subsampling_problems(Registry((first, *registry_of(30).intents)), Settings())
    [handed_over] = subsampling_problems(Registry((first, *registry_of(*[10] * 10).intents)), Settings())

    assert str(sampled).startswith("a.yaml:3:1: info [head-sampled] the head is trained on 40 of 90 utterances")
    assert str(handed_over).startswith("a.yaml:3:1: warning [head-too-large] 160 utterances of 11 intents are too many")


@pytest.mark.usefixtures("small")
def test_who_wants_cosine_is_told_nothing():
    """Without a head there is nothing that it is not fitted to."""
    assert subsampling_problems(registry_of(60, 60), Settings(scorer="cosine")) == []


def test_a_registry_of_nothing_has_nothing_to_learn_from():
    """No intents, no sample, no problem."""
    assert sample(Registry(())).tolist() == []
    assert subsampling_problems(Registry(()), Settings()) == []


@pytest.mark.usefixtures("small")
def test_a_matcher_beyond_a_head_says_so_and_answers():
    """No head is there, the trace and the problems say why, and thresholds are learned all the same."""
    words = ["parcel", "refund", "invoice", "password", "voucher", "address", "delivery", "account", "size", "stock"]
    registry = Registry(
        tuple(Intent(word, tuple(Utterance(f"{how} {word}") for how in HOW)) for word in words),
    )

    matcher = Matcher.load(registry, cache="off")
    result = matcher.match("hey where can my refund be found")

    assert matcher.artefact.trained_head is None
    assert [problem.rule for problem in matcher.problems] == ["head-too-large"]
    assert [stage.says for stage in result.trace.stages if stage.name == "head"] == [
        "not trained: too many utterances and intents; cosine similarity decides"
    ]
    assert result.candidates[0].intent == "refund"
    assert matcher.artefact.calibration.cases > 0


@pytest.mark.usefixtures("small")
def test_a_sampled_head_knows_every_utterance_by_score():
    """The head is fitted on some utterances; the nearest may be any of them, and reloading gives the same again."""
    texts = [f"{how} {word}" for how in HOW for word in ("parcel", "package", "shipment", "delivery")]
    others = [f"{how} {word}" for how in HOW for word in ("password", "login", "account", "profile")]
    registry = Registry(tuple(Intent(name, tuple(map(Utterance, of))) for name, of in (("a", texts), ("b", others))))

    matcher = Matcher.load(registry, cache="off")
    best = {text: matcher.match(f"{text} now please").candidates[0] for text in (*texts, *others)}

    assert [problem.rule for problem in matcher.problems] == ["head-sampled"]
    assert all(candidate.intent == ("a" if text in texts else "b") for text, candidate in best.items())
    assert len({candidate.utterance.text for candidate in best.values()}) > extent.MOST_UTTERANCES
    again = Matcher.load(registry, cache="off").artefact
    assert (again.trained_head.head.weights == matcher.artefact.trained_head.head.weights).all()
    assert again.calibration == matcher.artefact.calibration
