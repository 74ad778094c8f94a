"""Subsampling of large registries: bounded, evenly spread, deterministic and reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intentmatch.core.errors import Location
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.learning import subsampling
from intentmatch.learning.subsampling import beyond_a_head, sample, subsampling_problems
from intentmatch.matching.matcher import Matcher

FORMS = ("where is my", "I lost the", "tell me about the", "what about this", "help with a", "no", "please check", "my")


def registry_of(*sizes: int) -> Registry:
    return Registry(
        tuple(
            Intent(f"intent_{number}", tuple(Utterance(f"{number} {line}") for line in range(size)))
            for number, size in enumerate(sizes)
        )
    )


@pytest.fixture
def low_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the bounds so that low_bounds registries reach them."""
    monkeypatch.setattr(subsampling, "MOST_UTTERANCES", 40)
    monkeypatch.setattr(subsampling, "MOST_NUMBERS", 100)


SIZES = st.lists(st.integers(1, 60), min_size=2, max_size=12)


@given(SIZES)
def test_small_registry_is_not_sampled(sizes):
    registry = registry_of(*sizes)

    assert sample(registry).tolist() == list(range(sum(sizes)))
    assert subsampling_problems(registry, Settings()) == []


@pytest.mark.usefixtures("low_bounds")
def test_sample_takes_as_many_utterances_from_every_intent():
    """Or all utterances of a smaller intent."""
    registry = registry_of(30, 3, 30)

    chosen = sample(registry)

    counts = np.bincount(np.asarray(registry.owners)[chosen]).tolist()
    assert counts == [15, 3, 15]
    assert sum(counts) == 33 == subsampling.MOST_NUMBERS // 3


@pytest.mark.usefixtures("low_bounds")
@pytest.mark.parametrize("sizes", [(2,) * 50, (100, 1), (1, 100, 7, 9), (20, 20), (60,) * 12, (1,)])
def test_sample_is_sorted_and_has_every_intent(sizes):
    """As long as there is room for one utterance each."""
    registry = registry_of(*sizes)

    chosen = sample(registry)

    assert (np.diff(chosen) > 0).all()
    assert len(chosen) <= subsampling.MOST_UTTERANCES
    if len(sizes) <= subsampling.MOST_UTTERANCES:
        assert set(np.asarray(registry.owners)[chosen].tolist()) == set(range(len(sizes)))
    assert chosen.tolist() == sample(registry).tolist()


@pytest.mark.usefixtures("low_bounds")
def test_sample_is_spread_evenly_over_an_intent():
    """Authors list one language after the other: each is in the sample."""
    assert sample(registry_of(100, 1)).tolist() == [*(i * 100 // 39 for i in range(39)), 100]


@pytest.mark.usefixtures("low_bounds")
def test_too_few_utterances_each_mean_no_head():
    """Unless the intents have no more."""
    assert not beyond_a_head(registry_of(*[10] * 4))
    assert beyond_a_head(registry_of(*[10] * 10))
    assert beyond_a_head(registry_of(*[3] * 10))
    assert not beyond_a_head(registry_of(*[1] * 10))


@pytest.mark.usefixtures("low_bounds")
def test_sampling_is_reported_at_the_first_intent():
    """As info for a sample, as a warning without a head."""
    place = Location("a.yaml", 3, 1)
    first = Intent("a", registry_of(60).utterances, location=place)

    [sampled] = subsampling_problems(Registry((first, *registry_of(30).intents)), Settings())
    [handed_over] = subsampling_problems(Registry((first, *registry_of(*[10] * 10).intents)), Settings())

    assert str(sampled).startswith("a.yaml:3:1: info [head-sampled] the head is trained on 40 of 90 utterances")
    assert str(handed_over).startswith("a.yaml:3:1: warning [head-too-large] 160 utterances of 11 intents are too many")


@pytest.mark.usefixtures("low_bounds")
def test_cosine_scorer_has_no_sampling_problems():
    assert subsampling_problems(registry_of(60, 60), Settings(scorer="cosine")) == []


def test_empty_registry_has_an_empty_sample():
    assert sample(Registry(())).tolist() == []
    assert subsampling_problems(Registry(()), Settings()) == []


@pytest.mark.usefixtures("low_bounds")
def test_matcher_without_a_head_reports_it_and_answers():
    """Thresholds are calibrated all the same."""
    words = ["parcel", "refund", "invoice", "password", "voucher", "address", "delivery", "account", "size", "stock"]
    registry = Registry(
        tuple(Intent(word, tuple(Utterance(f"{form} {word}") for form in FORMS)) for word in words),
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


@pytest.mark.usefixtures("low_bounds")
def test_nearest_utterance_may_be_outside_the_sample():
    """Loading again gives the same head."""
    texts = [f"{form} {word}" for form in FORMS for word in ("parcel", "package", "shipment", "delivery")]
    others = [f"{form} {word}" for form in FORMS for word in ("password", "login", "account", "profile")]
    registry = Registry(
        tuple(Intent(name, tuple(map(Utterance, lines))) for name, lines in (("a", texts), ("b", others)))
    )

    matcher = Matcher.load(registry, cache="off")
    best = {text: matcher.match(f"{text} now please").candidates[0] for text in (*texts, *others)}

    assert [problem.rule for problem in matcher.problems] == ["head-sampled"]
    assert all(candidate.intent == ("a" if text in texts else "b") for text, candidate in best.items())
    assert len({candidate.utterance.text for candidate in best.values()}) > subsampling.MOST_UTTERANCES
    again = Matcher.load(registry, cache="off").artefact
    assert (again.trained_head.head.weights == matcher.artefact.trained_head.head.weights).all()
    assert again.calibration == matcher.artefact.calibration
