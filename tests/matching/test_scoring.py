"""Candidates with their scores and evidence, before the decision."""

from __future__ import annotations

import pytest
from fakes import WordHashEncoder

from intentmatch import Intent, Registry, Settings, Utterance
from intentmatch.artefact.build import build
from intentmatch.core.result import Candidate
from intentmatch.matching.scoring import RANKED, Scoring
from intentmatch.matching.shortlist import Scored, SearchResult
from intentmatch.matching.spelling import SpellingHit
from intentmatch.matching.thresholds import policy_of

NAMES = ("order", "refund", "parcel", "card", "address", "hours", "job")
BOT = Registry(
    tuple(
        Intent(
            name,
            (Utterance(f"about the {name}"), Utterance(f"my {name} please")),
            negatives=(Utterance("a refund of feelings"),) if name == "refund" else (),
        )
        for name in NAMES
    )
)


@pytest.fixture(scope="module")
def scoring() -> Scoring:
    settings = Settings(threshold={"default": 0.99})
    artefact = build(BOT, WordHashEncoder(), settings)
    return Scoring(artefact, policy_of(BOT, settings, artefact.calibration))


def candidates(scoring: Scoring, text: str, *about: object) -> list[Candidate]:
    return scoring.candidates(WordHashEncoder().encode([text])[0], text, *about)  # type: ignore[arg-type]


def test_nearest_intent_comes_first(scoring: Scoring) -> None:
    """With its nearest utterance; at least `RANKED` candidates are returned."""
    found = candidates(scoring, "where is the parcel")

    assert found[0].intent == "parcel"
    assert found[0].utterance in BOT["parcel"].utterances
    assert len(found) == RANKED
    assert [c.rank for c in found] == sorted((c.rank for c in found), reverse=True)


def test_negative_lowers_its_intent_to_zero(scoring: Scoring) -> None:
    """Other intents keep their scores."""
    with_it, without = candidates(scoring, "a refund of feelings"), candidates(scoring, "my refund please")

    assert {one.intent: one.score for one in with_it}.get("refund", 0.0) == pytest.approx(0.0, abs=1e-6)
    assert without[0].intent == "refund"
    assert without[0].score > 0.5


def test_spelling_hit_raises_but_never_lowers_a_score(scoring: Scoring) -> None:
    """The evidence rises by as much; the candidate has the utterance of the hit."""
    text, job, parcel = "where is the parcel", NAMES.index("job"), NAMES.index("parcel")
    before = candidates(scoring, text)

    found = candidates(scoring, text, {job: SpellingHit(2 * job + 1, 0.9), parcel: SpellingHit(2 * parcel, -1.0)})

    assert (found[0].intent, found[0].score, found[0].evidence) == ("job", 0.9, pytest.approx(0.9))
    assert found[0].utterance == BOT["job"].utterances[1]
    assert found[1] == before[0]


def test_given_search_result_is_used(scoring: Scoring) -> None:
    """Unless a hit is not in it, or only some intents are allowed."""
    job = NAMES.index("job")
    given = SearchResult([Scored(job, 0.25, 0.25, 2 * job)], 0.0)

    assert [(c.intent, c.score) for c in candidates(scoring, "where", {}, None, given)] == [("job", 0.25)]
    assert len(candidates(scoring, "where", {job - 1: SpellingHit(0, 0.1)}, None, given)) == RANKED
    assert candidates(scoring, "where", {}, frozenset({0}), given)[0].intent == "order"


def test_only_allowed_intents_are_candidates(scoring: Scoring) -> None:
    allowed = frozenset({NAMES.index("job"), NAMES.index("card")})

    found = candidates(scoring, "where is the card", {}, allowed)

    assert [c.intent for c in found] == ["card", "job"]
